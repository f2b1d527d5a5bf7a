/// A fault of a release.
package struct ReleaseFinding: Hashable, Sendable {
  /// The rule that it breaks.
  package let rule: ReleaseRule
  /// The severity.
  package var level: FindingLevel
  /// The kind of fault.
  package var kind: FindingKind
  /// The pack at fault, if it is about one pack.
  package var pack: String?
  /// The released app version that is affected, if it is about one.
  package var app: String?
  /// The file at fault, as the caller named it or below a directory that the caller named.
  package var file: String?
  /// The line in that file.
  package var line: Int?
  /// The number that was found, if the fault is about numbers.
  package var actual: UInt64?
  /// The number that was expected, or the limit.
  package var limit: UInt64?
  /// The error that the fault causes on a phone.
  package var phone: BackgroundAssetsError?
  /// The fault, for a person: lower case, no period, with the thing at fault and both numbers.
  package var message: String
  /// The single faults if there are several, one line each.
  package var details: [String]
  /// What to do about it, preferably a command.
  package var hint: String?
  /// The reason why it is accepted; nil if it is not accepted.
  package var acceptedBecause: String?

  /// Creates a finding with the level, kind and phone error of its rule, unless others are given.
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

  /// Whether it is accepted: it is shown, but does not count.
  package var isAccepted: Bool { acceptedBecause != nil }

  /// The message, with the pack in front if it is about one.
  package var headline: String { pack.map { "\($0): \(message)" } ?? message }

  /// Sorts the most severe findings first, in the same order on every machine.
  static func precedes(_ left: ReleaseFinding, _ right: ReleaseFinding) -> Bool {
    if left.isAccepted != right.isAccepted { return right.isAccepted }
    if left.level != right.level { return left.level < right.level }
    if left.kind != right.kind { return left.kind < right.kind }
    return left.place.lexicographicallyPrecedes(right.place)
  }

  private var place: [String] { [rule.id, pack ?? "", app ?? "", message] }
}
