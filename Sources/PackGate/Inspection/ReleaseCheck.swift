/// A check of a release for one rule.
protocol ReleaseCheck: Sendable, SendableMetatype {
  /// The rule that it checks.
  static var rule: ReleaseRule { get }
  /// Returns all findings of the rule. Called only if all inputs that the rule needs are available.
  static func run(_ release: ReleaseContext) -> [ReleaseFinding]
}

extension ReleaseCheck {
  static func finding(
    _ message: String, level: FindingLevel? = nil, kind: FindingKind? = nil, pack: String? = nil, app: String? = nil, file: String? = nil,
    line: Int? = nil, actual: UInt64? = nil, limit: UInt64? = nil, phone: BackgroundAssetsError? = nil, details: [String] = [],
    hint: String? = nil
  ) -> ReleaseFinding {
    ReleaseFinding(
      rule, message, level: level, kind: kind, pack: pack, app: app, file: file, line: line, actual: actual, limit: limit, phone: phone,
      details: details, hint: hint)
  }
}
