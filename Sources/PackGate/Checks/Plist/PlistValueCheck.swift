import PackBuild

/// PK4001.
enum PlistValueCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4001", "a value of the Info.plist has the wrong type", needs: [.plist],
    what:
      "Sizes are integers in bytes that fit 64 bits. URLs and groups are strings, the allow list is an array, the restrictions are a dictionary.",
    onPhone: "A value of another type counts as missing: an allowance of 0, an empty allow list.",
    remedy: "Run 'packer plist merge Info.plist', or write <integer>…</integer> instead of <string> or <real>.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist else { return [] }
    return plist.keys.problems.map { problem in
      if AppTargets.isVariable(problem.value) {
        return finding(
          "\(problem.key) is \(problem.value), with a variable that Xcode replaces, so it is not checked", level: .warning,
          file: plist.path,
          hint: "give the Info.plist of the built app")
      }
      return finding(problem.message, file: plist.path, phone: .uploadRefused, hint: problem.hint ?? plist.mergeHint)
    }
  }
}
