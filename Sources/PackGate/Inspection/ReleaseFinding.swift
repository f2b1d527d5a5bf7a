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

  /// Creates a finding with the level, kind and phone error of its rule, unless the rule's check gave others.
  init(_ rule: ReleaseRule, _ finding: Finding) {
    self.rule = rule
    level = finding.level ?? rule.level
    kind = finding.kind ?? rule.kind
    (pack, app, file, line) = (finding.pack, finding.app, finding.file, finding.line)
    (actual, limit, phone) = (finding.actual, finding.limit, finding.phone ?? rule.phone)
    (message, details, hint) = (finding.message, finding.details, finding.hint)
  }

  /// Whether it is accepted: it is shown, but does not count.
  package var isAccepted: Bool { acceptedBecause != nil }

  /// The message, with the pack in front if it is about one.
  package var headline: String { Finding(message, pack: pack).headline }

  /// Sorts the most severe findings first, in the same order on every machine.
  static func precedes(_ left: ReleaseFinding, _ right: ReleaseFinding) -> Bool {
    if left.isAccepted != right.isAccepted { return right.isAccepted }
    if left.level != right.level { return left.level < right.level }
    if left.kind != right.kind { return left.kind < right.kind }
    return left.place.lexicographicallyPrecedes(right.place)
  }

  private var place: [String] { [rule.id, pack ?? "", app ?? "", message] }
}

/// What the check of a rule returns: a fault, with what differs from the rule.
struct Finding: Sendable {
  let message: String
  let level: FindingLevel?
  let kind: FindingKind?
  let pack: String?
  let app: String?
  let file: String?
  let line: Int?
  let actual: UInt64?
  let limit: UInt64?
  let phone: BackgroundAssetsError?
  let details: [String]
  let hint: String?

  init(
    _ message: String, level: FindingLevel? = nil, kind: FindingKind? = nil, pack: String? = nil, app: String? = nil, file: String? = nil,
    line: Int? = nil, actual: UInt64? = nil, limit: UInt64? = nil, phone: BackgroundAssetsError? = nil, details: [String] = [],
    hint: String? = nil
  ) {
    (self.message, self.level, self.kind, self.phone) = (message, level, kind, phone)
    (self.pack, self.app, self.file, self.line) = (pack, app, file, line)
    (self.actual, self.limit, self.details, self.hint) = (actual, limit, details, hint)
  }

  /// The message, with the pack in front if it is about one.
  var headline: String { pack.map { "\($0): \(message)" } ?? message }
}

/// What the check of a rule returns: all findings, or the only one.
protocol Findings: Sendable {
  var all: [Finding] { get }
}

extension [Finding]: Findings {
  var all: [Finding] { self }
}

extension Finding?: Findings {
  var all: [Finding] { map { [$0] } ?? [] }
}

extension [String] {
  /// How many follow the first, for a message that names only that one; empty if none do.
  var andMore: String { count > 1 ? ", and \(count - 1) more" : "" }

  /// The only pack in quotes, or the number of packs.
  var summary: String { count == 1 ? "'\(self[0])'" : "\(count) packs" }
}

extension ReleaseFinding {
  package var json: JSON {
    [
      "type": "finding", "rule": .text(rule.id), "level": .text(level.rawValue), "kind": .text(kind.rawValue), "title": .text(rule.title),
      "message": .text(message), "pack": .text(pack), "app": .text(app), "file": .text(file), "line": .number(line),
      "actual": .number(actual), "limit": .number(limit), "baCode": .number(phone?.code), "onPhone": .text(phone?.meaning),
      "details": details.isEmpty ? nil : .texts(details), "hint": .text(hint), "acceptedBecause": .text(acceptedBecause),
    ]
  }
}
