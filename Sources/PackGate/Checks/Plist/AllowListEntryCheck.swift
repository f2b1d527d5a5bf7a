import PackBuild
import PackProject

/// PK4005.
enum AllowListEntryCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4005", "an entry of the domain allow list can never match", phone: .hostNotPermitted, needs: [.plist],
    what: """
      Entries are names of hosts in lower case, or *. and one: no scheme, path, port, space, bare *, address, or name that is not in punycode. \
      A wildcard over what is everybody's is an error too, one over a shared host of a company a warning.
      """,
    onPhone: "The entry is kept as it is and matches no host; downloads end with 202. 'Allow everything' does not exist.",
    remedy: "Write the host alone, such as cdn.example.com; 'packer plist merge Info.plist' does.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist, let list = plist.keys.allowList else { return [] }
    return list.entries.compactMap { entry in
      if let problem = AllowList.problem(of: entry) {
        return finding(problem, file: plist.path, hint: plist.mergeHint)
      }
      return AllowList.warning(about: entry).map { finding($0, level: .warning, file: plist.path) }
    }
  }
}
