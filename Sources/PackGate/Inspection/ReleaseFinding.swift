/// One thing that is wrong with a release.
package struct ReleaseFinding: Hashable, Sendable {
  /// The rule that it breaks.
  package let rule: ReleaseRule
  /// How much it weighs.
  package var level: FindingLevel
  /// What kind of fault it is.
  package var kind: FindingKind
  /// The pack it is about.
  package var pack: String?
  /// The app version in players' hands that it is about.
  package var app: String?
  /// The file at fault, as the caller named it or as a path from there.
  package var file: String?
  /// The line in that file.
  package var line: Int?
  /// What was found, as a number where the fault is one of numbers.
  package var actual: UInt64?
  /// What would have been right.
  package var limit: UInt64?
  /// What it would have become on a phone.
  package var phone: BackgroundAssetsError?
  /// What is wrong, for a person: lower case, no period, naming the thing at fault, with both numbers.
  package var message: String
  /// The single things at fault where there are several, one line each.
  package var details: [String]
  /// What to do about it, best a command.
  package var hint: String?
  /// Why it is accepted, where it is.
  package var acceptedBecause: String?

  /// Makes a finding that weighs what its rule says.
  package init(
    _ rule: ReleaseRule, _ message: String, level: FindingLevel? = nil, kind: FindingKind? = nil, pack: String? = nil, app: String? = nil,
    file: String? = nil, line: Int? = nil, actual: UInt64? = nil, limit: UInt64? = nil, phone: BackgroundAssetsError? = nil,
    details: [String] = [], hint: String? = nil
  ) {
    self.rule = rule
    self.level = level ?? rule.level
    self.kind = kind ?? rule.kind
    self.pack = pack
    self.app = app
    self.file = file
    self.line = line
    self.actual = actual
    self.limit = limit
    self.phone = phone ?? rule.phone
    self.message = message
    self.details = details
    self.hint = hint
  }

  /// Whether it is shown, but does not count.
  package var isAccepted: Bool { acceptedBecause != nil }

  /// The message with the pack in front, where it is about one.
  package var headline: String { pack.map { "\($0): \(message)" } ?? message }

  /// The most severe first, and the same order on every machine.
  static func precedes(_ left: ReleaseFinding, _ right: ReleaseFinding) -> Bool {
    if left.isAccepted != right.isAccepted { return right.isAccepted }
    if left.level != right.level { return left.level < right.level }
    if left.kind != right.kind { return left.kind < right.kind }
    return left.place.lexicographicallyPrecedes(right.place)
  }

  private var place: [String] { [rule.id, pack ?? "", app ?? "", message] }
}
