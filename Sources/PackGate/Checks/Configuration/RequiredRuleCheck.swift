/// PK1007.
enum RequiredRuleCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK1007", "a required rule was not checked", needs: [],
    what: "Every rule that --require names was checked: its inputs were given.",
    onPhone: "No effect by itself. But a pipeline that lost its Info.plist or lock file checks far less, and still ends with 0.",
    remedy: "Give the missing input, or do not require the rule.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard !release.unchecked.isEmpty else { return [] }
    let missing = Set(release.unchecked.flatMap(\.missing))
    let reasons = ReleaseInput.allCases.filter(missing.contains).map(\.absence).joined(separator: ", ")
    let count = release.unchecked.count
    return [
      finding(
        "\(count) required \(count == 1 ? "rule was" : "rules were") not checked: \(reasons)",
        details: [release.unchecked.map(\.rule.id).joined(separator: ", ")])
    ]
  }
}
