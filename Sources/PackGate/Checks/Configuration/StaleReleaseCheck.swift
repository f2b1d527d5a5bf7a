import PackBuild
import PackFormat
import PackManifest
import PackProject

/// PK1004.
enum StaleReleaseCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK1004", "the release does not match packer.yml", needs: [.manifest, .pages, .configuration],
    what:
      "The manifest has exactly the packs of packer.yml, with the same delivery, install mode, tags, platforms, language and kind of key, and the budget that follows from manifestCeiling and headroom.",
    onPhone: "Players get the packs of an earlier configuration: a pack may be missing, or be fetched at the wrong time.",
    remedy: "Run 'packer build'.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let configuration = release.configuration else { return [] }
    var findings: [ReleaseFinding] = []
    let entries = Dictionary(release.entries.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for pack in configuration.packs {
      let id = pack.id.text
      guard let entry = entries[id] else {
        findings.append(
          finding(
            "it is in \(configuration.path), but not in the manifest", pack: id, file: configuration.path, line: pack.position.line,
            hint: "packer build"))
        continue
      }
      var differences: [String] = []
      func compare(_ what: String, _ built: String, _ asked: String) {
        if built != asked { differences.append("\(what) is \(built), but \(configuration.path) says \(asked)") }
      }
      compare("delivery", entry.delivery.rawValue, pack.delivery.rawValue)
      compare("install", entry.install.rawValue, pack.install.rawValue)
      compare("tags", list(entry.tags), list(pack.tags))
      compare("platforms", list(entry.platforms), list(pack.platforms))
      compare("language", entry.language ?? "none", pack.language ?? "none")
      let hasOwnKey = release.hasOwnKey(entry) ?? configuration.perPackKeys
      if hasOwnKey != configuration.perPackKeys {
        differences.append(
          "it was made with \(hasOwnKey ? "its own key" : "the key of all packs"), but \(configuration.path) says 'perPackKeys: \(configuration.perPackKeys)'"
        )
      }
      guard let first = differences.first else { continue }
      findings.append(
        finding(
          first, pack: id, file: configuration.path, line: pack.position.line, details: Array(differences.dropFirst()),
          hint: "packer build"))
    }
    let known = Set(configuration.packs.map(\.id.text))
    for entry in release.entries where !known.contains(entry.id) {
      findings.append(
        finding("it is in the manifest, but not in \(configuration.path)", pack: entry.id, file: configuration.path, hint: "packer build"))
    }
    if configuration.updates == nil, let delta = release.deltas.first {
      findings.append(
        finding(
          "it lists \(release.deltas.count == 1 ? "a delta" : "\(release.deltas.count) deltas"), but \(configuration.path) turns them off",
          pack: delta.id, file: configuration.path, hint: "packer build"))
    }
    return findings + budget(release, configuration)
  }

  /// Returns findings for budgets that are large enough for the packs, but do not follow from this configuration. Budgets that are too small are
  /// reported by PK3013.
  private static func budget(_ release: ReleaseContext, _ configuration: PackerConfiguration) -> [ReleaseFinding] {
    guard let built = release.manifest.manifest?.budget, let ceiling = release.manifestCeiling,
      let asked = try? ReleaseBudget(packs: release.entries, manifestCeiling: ceiling, headroom: configuration.headroom).install
    else { return [] }
    let numbers = zip(zip(built.named, asked.named), release.demand.named)
    guard numbers.allSatisfy({ ReleaseDemand.fits($1.bytes, in: $0.0.bytes, $1.key) }) else { return [] }
    let differences = numbers.filter { $0.0.0.bytes != $0.0.1.bytes }.map { pair, _ in
      let sizes = SizeText.pair(pair.0.bytes, pair.1.bytes)
      return "\(pair.0.key) is \(sizes.0), but must be \(sizes.1) according to \(configuration.path)"
    }
    guard let first = differences.first else { return [] }
    return [
      finding("the manifest's budget: \(first)", file: configuration.path, details: Array(differences.dropFirst()), hint: "packer build")
    ]
  }

  private static func list(_ words: [String]) -> String {
    words.isEmpty ? "none" : words.sorted().joined(separator: ", ")
  }
}
