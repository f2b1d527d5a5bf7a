import PackBuild
import PackProject

/// PK4005.
enum AllowListEntryCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4005", "an entry of the domain allow list can never match", phone: .hostNotPermitted, needs: [.plist],
    what: """
      Entries are host names in lower case, or *. and a host name, without scheme, path, port, space or IP address, and in punycode. A bare * \
      is an error, and so is a wildcard for a public suffix. A wildcard for a shared host of a company is a warning.
      """,
    onPhone: "The entry matches no host, and downloads fail with 202. There is no entry that allows every host.",
    remedy: "Write only the host, such as cdn.example.com, or run 'packer plist merge Info.plist'.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist, let list = plist.keys.allowList else { return [] }
    return list.entries.compactMap { entry in
      if AppTargets.isVariable(entry) {
        return finding(
          "the entry \(entry) has a variable that Xcode replaces, so it is not checked", level: .warning, file: plist.path,
          hint: "give the Info.plist of the built app")
      }
      if let problem = AllowList.problem(of: entry) {
        return finding(problem, file: plist.path, hint: plist.mergeHint)
      }
      return AllowList.warning(about: entry).map { finding($0, level: .warning, file: plist.path) }
    }
  }
}
