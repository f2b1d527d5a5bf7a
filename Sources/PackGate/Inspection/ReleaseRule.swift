/// One thing that can be wrong with a release, and what there is to tell about it.
package struct ReleaseRule: Hashable, Sendable {
  /// The stable identifier, such as `PK3007`. The first digit is the topic: 1 configuration and keys, 2 packs and files, 3 budgets and released
  /// apps, 4 Info.plist and hosts, 5 versions and signature, 6 stores and hygiene.
  package let id: String
  /// What is wrong, in one line: lower case, no period.
  package let title: String
  /// How much it weighs, unless a finding says otherwise.
  package let level: FindingLevel
  /// What kind of fault it is, which decides the exit status.
  package let kind: FindingKind
  /// What it would have become on a phone.
  package let phone: BackgroundAssetsError?
  /// What must be there for the rule to be checked.
  package let needs: Set<ReleaseInput>
  /// What is checked.
  package let what: String
  /// What happens where it is shipped nevertheless.
  package let onPhone: String
  /// How to put it right.
  package let remedy: String

  init(
    _ id: String, _ title: String, _ level: FindingLevel = .error, _ kind: FindingKind = .other,
    phone: BackgroundAssetsError? = nil, needs: Set<ReleaseInput>, what: String, onPhone: String, remedy: String
  ) {
    self.id = id
    self.title = title
    self.level = level
    self.kind = kind
    self.phone = phone
    self.needs = needs
    self.what = what
    self.onPhone = onPhone
    self.remedy = remedy
  }

  /// Whether a finding of it may be accepted with a reason. Tampering, a foreign signature and a wrong key are never a matter of taste.
  package var isIgnorable: Bool {
    switch kind {
    case .other, .budget, .released: true
    case .wrongKey, .signature, .damaged, .truncated: false
    }
  }

  /// The story as lines of text.
  package var story: [String] {
    var lines = ["\(id)  \(title)", "  checks  \(what)", "  on a phone  \(onPhone)"]
    if let phone { lines.append("  error  \(phone)") }
    lines.append("  remedy  \(remedy)")
    lines.append("  \(level.rawValue), kind \(kind.rawValue)\(isIgnorable ? "" : "; it cannot be ignored")")
    return lines
  }
}

/// How much a finding weighs.
package enum FindingLevel: String, Hashable, Sendable, CaseIterable, Comparable {
  /// The release must not go out.
  case error
  /// It should not; it counts with `--strict` only.
  case warning
  /// Somebody should know.
  case note

  package static func < (left: FindingLevel, right: FindingLevel) -> Bool { left.weight < right.weight }

  private var weight: Int {
    switch self {
    case .error: 0
    case .warning: 1
    case .note: 2
    }
  }
}

/// What kind of fault a finding is, in ascending order of what the exit status tells first.
package enum FindingKind: String, Hashable, Sendable, CaseIterable, Comparable {
  /// A pack was made with another key.
  case wrongKey = "wrong-key"
  /// Nobody who is trusted signed the manifest.
  case signature
  /// Something is damaged, or was tampered with.
  case damaged
  /// A file ends before its end.
  case truncated
  /// An app version in players' hands could not take the release.
  case released
  /// Anything else.
  case other
  /// Only a number that was promised is passed.
  case budget

  package static func < (left: FindingKind, right: FindingKind) -> Bool { left.rank < right.rank }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// What a rule may need to be checked.
package enum ReleaseInput: String, Hashable, Sendable, CaseIterable {
  /// A manifest that could be read.
  case manifest
  /// The files beside the manifest.
  case files = "pack files"
  /// The content key.
  case key = "content key"
  /// All bytes of the packs: not with `--quick`.
  case payload
  /// The app's Info.plist.
  case plist = "Info.plist"
  /// `packer.lock.json`.
  case lock = "lock file"
  /// `packer.yml`.
  case configuration = "packer.yml"

  /// Why a rule was skipped, with the option that provides what was missing.
  package var absence: String {
    switch self {
    case .manifest: "no readable manifest"
    case .files: "no pack files"
    case .key: "no content key (--key REF)"
    case .payload: "pack contents not read (--quick)"
    case .plist: "no Info.plist (--plist FILE)"
    case .lock: "no lock file (--lock FILE)"
    case .configuration: "no packer.yml (--config FILE)"
    }
  }
}

/// What a fault in a release becomes in an app that uses Background Assets.
package struct BackgroundAssetsError: Hashable, Sendable, CustomStringConvertible {
  /// The number in `BAErrorDomain`, where the fault has one.
  package let code: Int?
  /// What the system means by it.
  package let meaning: String

  /// The download would exceed the allowance: the extension is told when it schedules it.
  package static let exceedsAllowance = Self(code: 112, meaning: "the download would exceed the allowance")
  /// The host is not in the allow list.
  package static let hostNotPermitted = Self(code: 202, meaning: "the host is not permitted before the first launch")
  /// The allowance is used up.
  package static let outOfAllowance = Self(code: 203, meaning: "the download is out of allowance")
  /// The file is not of the size that was declared.
  package static let sizeMismatch = Self(code: nil, meaning: "the download fails, because its size is not the one declared")
  /// The server has no such file.
  package static let notFound = Self(code: nil, meaning: "the download fails, because the server has no such file")
  /// App Store Connect refuses the app.
  package static let uploadRefused = Self(code: nil, meaning: "App Store Connect refuses the upload")

  /// The number and what it means.
  package var description: String { code.map { "\($0): \(meaning)" } ?? meaning }
}
