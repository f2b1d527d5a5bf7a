/// Rules about the configuration and the keys of a release.
enum ConfigurationRules {
  static let all: [ReleaseRule] = [
    wrongKey, missingKey, mixedKeys, staleRelease, baseURL, ignoredRule, requiredRule, missingLock, rootKey,
    missingFallback,
  ]

  static let wrongKey = ReleaseRule(
    "PK1001", "a pack was made with another key", .error, .wrongKey
  ) { (files: Files, key: GivenKey, setting: Setting, document: ManifestSighting) -> [Finding] in
    let findings = files.pairs.compactMap { entry, file -> Finding? in
      guard let failure = file.failure, failure.code == .wrongKey || failure.code == .notWrapped else { return nil }
      // If the given key is the one in the manifest, a header with another key id was changed, which PK2004 reports.
      guard !file.isChanged(since: entry) || !key.opens(entry) else { return nil }
      return Finding(
        failure.message, pack: entry.id, file: file.path, hint: setting.wording(failure) ?? "packer inspect \(ShellWord.path(file.path))")
    }
    guard findings.count > 1, let first = findings.first else { return findings }
    let wanted = Set(findings.compactMap(\.pack))
    let keys = Set(files.pairs.filter { wanted.contains($0.entry.id) }.compactMap { $0.file.start?.keyID })
    let isOne = keys.count == 1
    let fault = isOne ? "were made with key \(keys.first ?? "")" : "were made with \(keys.count) other keys"
    return [
      Finding(
        "\(findings.count) packs \(fault), but the key given is \(key.id)", file: document.path,
        details: isOne ? findings.compactMap(\.pack) : findings.map(\.headline),
        hint: isOne ? first.hint : "give the root key that their keys are derived from, or: packer build")
    ]
  }

  static let missingKey = ReleaseRule(
    "PK1002", "no content key was given, so no pack was opened", .warning
  ) { (files: Files, setting: Setting, keys: ContentKeys) -> Finding? in
    guard keys.id == nil, !files.entries.isEmpty else { return nil }
    return Finding(
      "no content key was given: headers were read, but not authenticated",
      hint: "packer verify \(ShellWord.path(setting.directory)) --quick --key game.key")
  }

  static let mixedKeys = ReleaseRule(
    "PK1003", "packs of one release need different keys", .warning
  ) { (listing: Listing, configuration: PackerConfiguration?, keys: ContentKeys) -> Finding? in
    let packs = Dictionary(grouping: listing.entries) { keys.roots[$0.keyID] ?? $0.keyID }
    let ids = packs.keys.sorted()
    guard ids.count > 1 else { return nil }
    // Without a known root key, keys of single packs cannot be traced to one root.
    if configuration?.perPackKeys ?? false, keys.roots.isEmpty { return nil }
    let lines = ids.map { id in "\(id): \((packs[id] ?? []).map(\.id).joined(separator: ", "))" }
    return Finding("the packs need \(ids.count) keys: \(ids.joined(separator: ", "))", details: lines, hint: "packer build")
  }

  static let staleRelease = ReleaseRule(
    "PK1004", "the release does not match packer.yml"
  ) { (listing: Listing, catalogue: WholeCatalogue, configuration: PackerConfiguration, keys: ContentKeys) -> [Finding] in
    var findings: [Finding] = []
    let entries = Dictionary(listing.entries.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    var grouped = listing.entries
    LanguageGroup.complete(&grouped, fallback: configuration.fallbackLanguage)
    let fallbacks = Dictionary(grouped.map { ($0.id, $0.fallbackLanguage) }, uniquingKeysWith: { first, _ in first })
    for pack in configuration.packs {
      let id = pack.id.text
      guard let entry = entries[id] else {
        findings.append(
          Finding(
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
      compare("the fallback of its language", entry.fallbackLanguage ?? "none", (fallbacks[id] ?? nil) ?? "none")
      let hasOwnKey = keys.hasOwnKey(entry) ?? configuration.perPackKeys
      if hasOwnKey != configuration.perPackKeys {
        differences.append(
          "it was made with \(hasOwnKey ? "its own key" : "the key of all packs"), but \(configuration.path) says 'perPackKeys: \(configuration.perPackKeys)'"
        )
      }
      guard let first = differences.first else { continue }
      findings.append(
        Finding(
          first, pack: id, file: configuration.path, line: pack.position.line, details: Array(differences.dropFirst()),
          hint: "packer build"))
    }
    let known = Set(configuration.packs.map(\.id.text))
    for entry in listing.entries where !known.contains(entry.id) {
      findings.append(
        Finding("it is in the manifest, but not in \(configuration.path)", pack: entry.id, file: configuration.path, hint: "packer build"))
    }
    if configuration.updates == nil, let delta = catalogue.deltas.first {
      findings.append(
        Finding(
          "it lists \(catalogue.deltas.count == 1 ? "a delta" : "\(catalogue.deltas.count) deltas"), but \(configuration.path) turns them off",
          pack: delta.id, file: configuration.path, hint: "packer build"))
    }
    return findings + budget(listing, configuration)
  }

  static let baseURL = ReleaseRule(
    "PK1005", "a pack is not served from the base URL", phone: .notFound
  ) { (listing: Listing, configuration: PackerConfiguration) -> [Finding] in
    let base = configuration.serve.baseURL
    return listing.entries.compactMap { entry in
      guard !entry.url.hasPrefix(base) else { return nil }
      return Finding(
        "its URL is \(entry.url), but packs are served from \(base)", pack: entry.id, file: configuration.path, hint: "packer build")
    }
  }

  static let ignoredRule = ReleaseRule(
    "PK1006", "an entry of 'ignore' in packer.yml has no effect", .warning
  ) { (configuration: PackerConfiguration, listing: Listing?, releases: RecordedReleases?, setting: Setting) -> [Finding] in
    let known = Set(configuration.packs.map(\.id.text)).union(listing?.entries.map(\.id) ?? [])
    return configuration.ignored.compactMap { ignored in
      let problem: String
      if let rule = ReleaseRule.all.first(where: { $0.id == ignored.rule }) {
        if !rule.isIgnorable {
          problem = "'\(rule.id)' cannot be ignored: \(rule.title)"
        } else if rule.protectsReleasedApps, ignored.app == nil || ignored.until == nil {
          problem = "'\(rule.id)' protects players of a released app, so an entry must name its version as 'app' and a last day as 'until'"
        } else if let until = ignored.until, until < setting.now {
          problem = "'\(rule.id)' is ignored until \(until.description.prefix(10)), which is over"
        } else if let app = ignored.app, releases?.lock.apps.contains(where: { $0.version == app }) == false {
          problem = "'\(rule.id)' is ignored for app \(app), which is not recorded"
        } else if let pack = ignored.pack, !known.contains(pack) {
          problem = "'\(rule.id)' is ignored for '\(pack)', which does not exist"
        } else {
          return nil
        }
      } else {
        problem = "there is no rule '\(ignored.rule)'"
      }
      return Finding(problem, file: configuration.path, line: ignored.position.line, hint: "packer explain")
    }
  }

  static let requiredRule = ReleaseRule("PK1007", "a required rule was not checked") { (unchecked: UncheckedRules) -> Finding? in
    guard !unchecked.outcomes.isEmpty else { return nil }
    let missing = Set(unchecked.outcomes.flatMap(\.missing))
    let reasons = ReleaseInput.allCases.filter(missing.contains).map(\.absence).joined(separator: ", ")
    let count = unchecked.outcomes.count
    return Finding(
      "\(count) required \(count == 1 ? "rule was" : "rules were") not checked: \(reasons)",
      details: [unchecked.outcomes.map(\.rule.id).joined(separator: ", ")])
  }

  static let missingLock = ReleaseRule(
    "PK1008", "the lock file is missing"
  ) { (configuration: PackerConfiguration, releases: RecordedReleases?) -> Finding? in
    guard configuration.lock == .required, releases == nil else { return nil }
    let path = configuration.path(of: ReleaseFile.lock)
    return Finding(
      "there is no \(path), but \(configuration.path) says 'lock: required'", file: configuration.path,
      hint: ReleaseLock.recovery(of: path))
  }

  static let rootKey = ReleaseRule("PK1009", "a root signing key is on this machine", .error) { (setting: Setting) -> [Finding] in
    setting.rootKeyPlaces.map { place in
      Finding(
        "\(place) holds a root signing key, which belongs on a machine without a network", file: place.hasPrefix("variable ") ? nil : place,
        hint: "move it away, and make another one if this machine may have been read")
    }
  }

  static let missingFallback = ReleaseRule(
    "PK1010", "devices of other languages get no pack of a group", .warning
  ) { (listing: Listing, configuration: PackerConfiguration?) -> [Finding] in
    guard configuration?.hosting ?? .unmanaged == .unmanaged else { return [] }
    return LanguageGroup.groups(of: listing.entries).compactMap { group in
      guard let pack = group.packs.first(where: { $0.fallbackLanguage == nil }) else { return nil }
      let named = configuration?.fallbackLanguage.map { ", and 'fallbackLanguage' is '\($0)'" } ?? ""
      return Finding(
        "a device gets none of '\(group.name)' if its languages are not close to \(group.languages.joined(separator: ", "))\(named)",
        pack: pack.id, file: configuration?.path, details: group.packs.map(\.id),
        hint: "set fallbackLanguage in \(configuration?.path ?? PackerConfiguration.defaultPath) to one of them, then: packer build")
    }
  }

  /// Returns findings for budgets that are large enough for the packs, but do not follow from this configuration. Budgets that are too small are
  /// reported by PK3013.
  private static func budget(_ listing: Listing, _ configuration: PackerConfiguration) -> [Finding] {
    let ceiling = listing.ceiling(configuration)
    guard let built = listing.content.budget,
      let asked = try? ReleaseBudget(packs: listing.entries, manifestCeiling: ceiling, headroom: configuration.headroom).install
    else { return [] }
    let numbers = zip(zip(built.named, asked.named), listing.demand.named)
    guard numbers.allSatisfy({ ReleaseDemand.fits($1.bytes, in: $0.0.bytes, $1.key) }) else { return [] }
    let differences = numbers.filter { $0.0.0.bytes != $0.0.1.bytes }.map { pair, _ in
      let sizes = SizeText.pair(pair.0.bytes, pair.1.bytes)
      return "\(pair.0.key) is \(sizes.0), but must be \(sizes.1) according to \(configuration.path)"
    }
    guard let first = differences.first else { return [] }
    return [
      Finding("the manifest's budget: \(first)", file: configuration.path, details: Array(differences.dropFirst()), hint: "packer build")
    ]
  }

  private static func list(_ words: [String]) -> String {
    words.isEmpty ? "none" : words.sorted().joined(separator: ", ")
  }
}
