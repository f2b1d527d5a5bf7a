/// The rules for the values of a manifest (FORMAT.md §9.3), for reading and for writing.
enum ManifestRules {
  /// Returns all faults of a manifest, as texts that follow its name.
  static func faults(of manifest: Manifest) -> [String] {
    var faults: [String] = []
    if manifest.version > CanonicalCursor.largestInteger {
      faults.append("version \(manifest.version) is above \(CanonicalCursor.largestInteger)")
    }
    for (key, bytes) in manifest.budget?.named ?? [] where bytes > CanonicalCursor.largestInteger {
      faults.append("\(key) \(bytes) is above \(CanonicalCursor.largestInteger)")
    }
    faults += self.faults(of: manifest.defaults)
    faults += Shard.faults(of: manifest.catalogue)
    faults += Rollout.faults(of: manifest.rollouts)
    if manifest.defaults.baseURL == nil, !manifest.catalogue.isEmpty { faults.append("a catalogue needs a base") }
    var entries = Entries(manifest.defaults)
    let rollouts = Set(manifest.rollouts.map { $0.id })
    for pack in manifest.packs {
      faults += entries.faults(of: pack)
      if let candidate = pack.candidate, !rollouts.contains(candidate.rollout) {
        faults.append("pack '\(pack.id)': there is no rollout '\(candidate.rollout)'")
      }
    }
    return faults
  }

  /// The rules for the entries of a manifest, one after the other.
  struct Entries {
    private var ids: Set<String> = []
    private let hasBase: Bool

    init(_ defaults: ManifestDefaults) { hasBase = defaults.baseURL != nil }

    /// Returns all faults of the next entry, as texts that name it.
    mutating func faults(of pack: ManifestPack) -> [String] {
      var faults = ManifestRules.faults(of: pack).map { "pack '\(pack.id)': \($0)" }
      if !hasBase, !pack.deltas.isEmpty { faults.append("pack '\(pack.id)' has deltas, which need a base") }
      if !hasBase, pack.stream != nil { faults.append("pack '\(pack.id)' has a lead, which needs a base") }
      if !hasBase, pack.candidate != nil { faults.append("pack '\(pack.id)' has a candidate, which needs a base") }
      if !hasBase, pack.opener != nil { faults.append("pack '\(pack.id)' has an opener, which needs a base") }
      if !ids.insert(pack.id).inserted { faults.append("pack '\(pack.id)' is listed twice") }
      return faults
    }
  }

  /// Returns the faults of the defaults.
  static func faults(of defaults: ManifestDefaults) -> [String] {
    var faults: [String] = []
    if let base = defaults.baseURL {
      if let fault = fault(ofURL: base) {
        faults.append("base \(fault)")
      } else if !base.hasSuffix("/") || base.contains("?") {
        faults.append("base does not end with the slash of a path")
      }
    }
    if let keyID = defaults.keyID, !isKeyID(keyID) { faults.append("keyId is not 16 lower-case hexadecimal digits") }
    return faults
  }

  /// Returns the faults of one entry.
  static func faults(of pack: ManifestPack) -> [String] {
    var faults: [String] = []
    if (try? PackName(pack.id)) == nil { faults.append("id is not a pack name") }
    let integers = [
      ("version", pack.version), ("size", pack.size), ("contentSize", pack.contentSize), ("installSize", pack.installSize),
      ("files", pack.files), ("maxFrame", pack.maxFrame),
    ]
    for (name, value) in integers where value > CanonicalCursor.largestInteger {
      faults.append("\(name) \(value) is above \(CanonicalCursor.largestInteger)")
    }
    for (name, bytes) in [("sha256", pack.sha256), ("contentRoot", pack.contentRoot)] where bytes.count != 32 {
      faults.append("\(name) is \(bytes.count) bytes, not 32")
    }
    if !isKeyID(pack.keyID) { faults.append("keyId is not 16 lower-case hexadecimal digits") }
    if let fault = fault(ofURL: pack.url) { faults.append("url \(fault)") }
    if pack.language == "" { faults.append("language is empty") }
    faults += languageFaults(of: pack)
    if let base = pack.basePack, base == pack.id || (try? PackName(base)) == nil {
      faults.append("basePack is not the name of another pack")
    }
    if let stream = pack.stream { faults += stream.faults(packSize: pack.size) }
    if let opener = pack.opener { faults += opener.faults(in: pack) }
    return faults + pack.candidateFaults + ManifestDelta.faults(of: pack.deltas)
  }

  /// Returns the faults of the list of languages and of the fallback.
  private static func languageFaults(of pack: ManifestPack) -> [String] {
    var faults: [String] = []
    let all = pack.languages.isEmpty ? pack.language.map { [$0] } ?? [] : pack.languages
    func lists(_ tag: String?) -> Bool { all.contains { $0.utf8.elementsEqual((tag ?? "").utf8) } }
    if !pack.languages.isEmpty, all.count == 1 || !lists(pack.language) { faults.append("languages are not its own and others") }
    if !zip(all, all.dropFirst()).allSatisfy({ $0.precedes($1) }) { faults.append("languages do not ascend") }
    if let fallback = pack.fallbackLanguage, !lists(fallback) { faults.append("fallback is none of its languages") }
    return faults
  }

  static func isKeyID(_ text: String) -> Bool { [UInt8](hex: text, count: 8) != nil }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
  }

  /// Returns what is wrong with a pack's URL, or nil. The rules are strict because clients pass the URL to the system unchanged.
  static func fault(ofURL text: String) -> String? {
    let scheme = Array("https://".utf8)
    let bytes = Array(text.utf8)
    guard bytes.starts(with: scheme) else { return "does not start with https://" }
    let rest = bytes.dropFirst(scheme.count)
    guard !rest.contains(UInt8(ascii: "#")) else { return "has a fragment, which is never sent" }
    let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    guard !authority.contains(UInt8(ascii: "@")) else { return "contains a user name or a password, which everyone can read" }
    let host = authority.prefix { $0 != UInt8(ascii: ":") }
    guard !host.isEmpty else { return "names no host" }
    guard host.allSatisfy({ isAlphanumeric($0) || "-._".utf8.contains($0) }) else { return "has a host that is no name" }
    let port = authority.dropFirst(host.count)
    guard port.isEmpty || (2...6).contains(port.count) && port.dropFirst().allSatisfy({ (0x30...0x39).contains($0) }) else {
      return "has a port that is no number"
    }
    let tail = rest.dropFirst(authority.count)
    for (index, byte) in zip(tail.indices, tail) {
      let next = tail[index...].dropFirst().prefix(2)
      let isEscape = byte == UInt8(ascii: "%") && next.count == 2 && next.allSatisfy({ "0123456789ABCDEFabcdef".utf8.contains($0) })
      guard isEscape || isAlphanumeric(byte) || "-._~!$&'()*+,;=:@/?".utf8.contains(byte) else {
        return "has a character that must be written as %XX"
      }
    }
    return nil
  }
}
