/// Looks for one thing that can be wrong with a release.
protocol ReleaseCheck: Sendable, SendableMetatype {
  /// What it looks for.
  static var rule: ReleaseRule { get }
  /// Everything of that kind that is wrong. Called only where what the rule needs is there.
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
