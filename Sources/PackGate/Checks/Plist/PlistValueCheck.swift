import PackBuild

/// PK4001.
enum PlistValueCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4001", "a value of the Info.plist has the wrong type", phone: .uploadRefused, needs: [.plist],
    what:
      "Sizes are integers in bytes that fit 64 bits. URLs and groups are strings, the allow list is an array, the restrictions are a dictionary.",
    onPhone: "A value of another type counts as missing: an allowance of 0, an empty allow list.",
    remedy: "Run 'packer plist merge Info.plist', or write <integer>…</integer> instead of <string> or <real>.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist else { return [] }
    return plist.keys.problems.map { problem in
      finding(problem.message, file: plist.path, hint: problem.hint ?? plist.mergeHint)
    }
  }
}
