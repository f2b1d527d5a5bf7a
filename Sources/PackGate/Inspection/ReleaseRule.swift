/// A fault that a release can have, with its explanation.
package struct ReleaseRule: Hashable, Sendable {
  /// The stable identifier, such as `PK3007`. The first digit is the topic: 1 configuration and keys, 2 packs and files, 3 budgets and released
  /// apps, 4 Info.plist and hosts, 5 versions and signature, 6 stores and hygiene, 7 the published release, 8 web portals.
  package let id: String
  /// The fault in one line: lower case, no period.
  package let title: String
  /// The severity of its findings, unless a finding has its own.
  package let level: FindingLevel
  /// The kind of fault, which decides the exit status.
  package let kind: FindingKind
  /// The error that the fault causes on a phone.
  package let phone: BackgroundAssetsError?
  /// The condition that the rule checks.
  package let what: String
  /// The consequence if the release is shipped with the fault.
  package let onPhone: String
  /// How to correct the fault.
  package let remedy: String
  /// The facts that it takes.
  private let facts: [any Fact.Type]
  private let check: @Sendable (Facts) -> [Finding]?

  /// Creates a rule that is checked with the facts that `check` takes, and skipped if one of them is missing.
  init<each Part: Fact, Found: Findings>(
    _ id: String, _ title: String, _ level: FindingLevel = .error, _ kind: FindingKind = .other,
    phone: BackgroundAssetsError? = nil, check: @escaping @Sendable (repeat each Part) -> Found
  ) {
    self.id = id
    self.title = title
    self.level = level
    self.kind = kind
    self.phone = phone
    let texts = Self.texts[id] ?? ["", "", ""]
    (what, onPhone, remedy) = (texts[0], texts[1], texts[2])
    var parts: [any Fact.Type] = []
    repeat parts.append((each Part).self)
    facts = parts
    self.check = { facts in
      do throws(MissingFact) {
        return check(repeat try (each Part).required(in: facts)).all
      } catch {
        return nil
      }
    }
  }

  /// The explanations of all rules, by their ids. The file has four lines for each: its id, the condition, the consequence and the remedy.
  private static let texts: [String: [String]] = {
    let lines = PackageResources.rules_txt.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    return Dictionary(uniqueKeysWithValues: stride(from: 0, to: lines.count, by: 4).map { (lines[$0], Array(lines[($0 + 1)..<($0 + 4)])) })
  }()

  /// The inputs that are needed to check the rule.
  package var needs: Set<ReleaseInput> { Set(facts.compactMap { $0.input }) }

  /// Returns the missing inputs, in ascending order; empty if the rule can be checked.
  func missing(in facts: Facts) -> [ReleaseInput] {
    Set(self.facts.compactMap { $0.missing(in: facts) }).sorted { $0.rawValue < $1.rawValue }
  }

  /// Returns all findings of the rule; none if a fact is missing.
  func findings(in facts: Facts) -> [ReleaseFinding] { (check(facts) ?? []).map { ReleaseFinding(self, $0) } }

  package static func == (left: ReleaseRule, right: ReleaseRule) -> Bool { left.id == right.id }

  package func hash(into hasher: inout Hasher) { hasher.combine(id) }

  /// Whether its findings may be accepted with a reason. Damage, truncation, an untrusted signature and a wrong key cannot be accepted.
  package var isIgnorable: Bool {
    switch kind {
    case .other, .budget, .released, .live: true
    case .wrongKey, .signature, .damaged, .truncated: false
    }
  }

  /// Whether its findings are accepted only for one app version and until a day, because players would be locked out.
  package var protectsReleasedApps: Bool { kind == .released }

  /// Where players meet the fault.
  private var place: String { id.hasPrefix("PK8") ? "at a portal" : "on a phone" }

  /// The explanation of the rule as lines of text.
  package var story: [String] {
    var lines = ["\(id)  \(title)", "  checks  \(what)", "  \(place)  \(onPhone)"]
    if let phone { lines.append("  error  \(phone)") }
    lines.append("  remedy  \(remedy)")
    lines += sources.map { "  \($0)" }
    lines.append(
      "  \(level.rawValue), kind \(kind.rawValue)\(isIgnorable ? protectsReleasedApps ? "; ignored only with 'app' and 'until' in packer.yml" : "" : "; it cannot be ignored")"
    )
    return lines
  }
}

/// The severity of a finding.
package enum FindingLevel: String, Hashable, Sendable, CaseIterable, Comparable {
  /// The release must not be published.
  case error
  /// The release should not be published. Counts only with `--strict`.
  case warning
  /// Information that never counts.
  case note

  package static func < (left: FindingLevel, right: FindingLevel) -> Bool { left.rank < right.rank }
}

/// The kind of fault of a finding. If findings of several kinds count, the first kind in this order decides the exit status.
package enum FindingKind: String, Hashable, Sendable, CaseIterable, Comparable {
  /// A pack was made with another key.
  case wrongKey = "wrong-key"
  /// No trusted key signed the manifest.
  case signature
  /// A file is damaged, or was tampered with.
  case damaged
  /// A file is truncated.
  case truncated
  /// An app version that is already released could not use the release.
  case released
  /// What devices get from the server is not the release.
  case live
  /// Any other fault.
  case other
  /// A budget is exceeded.
  case budget

  package static func < (left: FindingKind, right: FindingKind) -> Bool { left.rank < right.rank }
}

extension CaseIterable where Self: Equatable, AllCases == [Self] {
  /// The place among all cases.
  fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// An input that a rule may need.
package enum ReleaseInput: String, Hashable, Sendable, CaseIterable {
  /// A manifest that could be read.
  case manifest
  /// The files beside the manifest.
  case files = "pack files"
  /// All shards of the catalogue, if the manifest has one.
  case catalogue
  /// The content key.
  case key = "content key"
  /// All bytes of the packs, which `--quick` does not read, and which a key that opens none of them does not show.
  case payload
  /// The app's Info.plist.
  case plist = "Info.plist"
  /// The app as it was built. Rules that need it are left out without it, unless an option names them.
  case app = "built app"
  /// The Info.plist of the extension, or entitlements, as files. Rules that need them are left out without them, unless an option names them.
  case targets = "files of the extension"
  /// The entitlements of that app and its downloader extension.
  case entitlements
  /// `packer.lock.json`.
  case lock = "lock file"
  /// `packer.yml`.
  case configuration = "packer.yml"
  /// The directories that `packer.yml` packs.
  case sources = "source directories"
  /// What browsers loaded. Rules that need it are left out without it, unless an option names them.
  case run = "recorded run"
  /// What the server sends. Rules that need it are left out without it, unless an option names them.
  case live = "published release"
  /// A web portal. Rules that need it are left out without one, unless an option names them.
  case portal = "web portal"

  /// The reason for a skipped rule, with the option that provides the missing input.
  package var absence: String {
    switch self {
    case .manifest: "no readable manifest"
    case .files: "no pack files"
    case .catalogue: "not all shards can be read"
    case .key: "no content key (--key REF)"
    case .payload: "pack contents not read (--quick, or another key)"
    case .plist: "no Info.plist (--plist FILE)"
    case .app: "no built app (--app FILE)"
    case .targets: "no files of the extension (--extension FILE, --entitlements FILE)"
    case .entitlements: "no entitlements (--app with a signed app)"
    case .lock: "no lock file (--lock FILE)"
    case .configuration: "no packer.yml (--config FILE)"
    case .sources: "no source directories"
    case .run: "no recorded run (--run FILE)"
    case .live: "server not asked (--live)"
    case .portal: "no web portal (--for NAME)"
    }
  }
}

/// The error that a fault in a release causes in an app that uses Background Assets.
package struct BackgroundAssetsError: Hashable, Sendable, CustomStringConvertible {
  /// The code in `BAErrorDomain`; nil if the error has no code there.
  package let code: Int?
  /// The meaning of the error.
  package let meaning: String

  /// The download would exceed the allowance. The extension gets this error when it schedules the download.
  package static let exceedsAllowance = Self(code: 112, meaning: "the download would exceed the allowance")
  /// The host is not in the allow list.
  package static let hostNotPermitted = Self(code: 202, meaning: "the host is not permitted before the first launch")
  /// The allowance is used up.
  package static let outOfAllowance = Self(code: 203, meaning: "the download is out of allowance")
  /// The file does not have the declared size.
  package static let sizeMismatch = Self(code: nil, meaning: "the download fails, because its size is not the one declared")
  /// The server has no such file.
  package static let notFound = Self(code: nil, meaning: "the download fails, because the server has no such file")
  /// The server refuses to send the file.
  package static let notAllowed = Self(code: nil, meaning: "the download fails, because the server refuses it")
  /// App Store Connect refuses the app.
  package static let uploadRefused = Self(code: nil, meaning: "App Store Connect refuses the upload")

  /// The code and its meaning.
  package var description: String { code.map { "\($0): \(meaning)" } ?? meaning }
}

extension ReleaseRule {
  package var json: JSON {
    [
      "type": "rule", "id": .text(id), "title": .text(title), "level": .text(level.rawValue), "kind": .text(kind.rawValue),
      "checks": .text(what), "onPhone": .text(onPhone), "remedy": .text(remedy), "baCode": .number(phone?.code),
      "ignorable": .flag(isIgnorable), "sources": sources.isEmpty ? nil : .texts(sources),
    ]
  }
}
