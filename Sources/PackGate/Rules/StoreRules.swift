/// Rules about the App Store and managed packs.
enum StoreRules {
  static let all: [ReleaseRule] = [
    storeLimit, collidingPath,
  ]

  static let storeLimit = ReleaseRule(
    "PK6002", "a limit of the App Store is reached"
  ) { (listing: Listing, configuration: PackerConfiguration, releases: RecordedReleases?) -> [Finding] in
    StoreLimit.all.filter { $0.hosting == configuration.hosting }.compactMap { limit in
      let actual = limit.measure(listing, releases)
      guard actual >= limit.warnsFrom else { return nil }
      let texts = limit.texts(actual)
      return Finding(
        "\(limit.title): \(texts.0); the limit is \(texts.1) (\(limit.source), \(limit.asOf)\(limit.dissent.map { "; \($0)" } ?? ""))",
        level: actual > limit.failsAbove ? .error : .warning, file: listing.path, actual: actual, limit: limit.value, hint: limit.advice)
    }
  }

  static let collidingPath = ReleaseRule(
    "PK6007", "managed packs have the same file name"
  ) { (listing: Listing, configuration: PackerConfiguration) -> [Finding] in
    guard configuration.hosting != .unmanaged else { return [] }
    var findings: [Finding] = []
    var first: [String: ManifestPack] = [:]
    for entry in listing.entries {
      let name = BAPackageManifest.payloadName(for: entry.id).lowercased()
      if let other = first.updateValue(entry, forKey: name), other.id != entry.id {
        findings.append(
          Finding(
            "its file name '\(name)' is also used by '\(other.id)'", pack: entry.id, file: configuration.path,
            hint: "give it another id in \(configuration.path)"))
      }
    }
    return findings
  }
}

/// A limit of a store, with its source and the date when it was read, because stores change their limits.
struct StoreLimit: Sendable {
  let title: String
  /// The limit that the source gives.
  let value: UInt64
  let unit: String
  /// The smallest amount that is a finding: 80 % of the limit if the amount grows over time.
  let warnsFrom: UInt64
  /// The amount above which the finding is an error. Above the limit if sources disagree.
  let failsAbove: UInt64
  let hosting: PackerConfiguration.Hosting
  let source: String
  /// The year and month in which the source was read.
  let asOf: String
  let advice: String
  let measure: @Sendable (Listing, RecordedReleases?) -> UInt64

  /// What other sources say, if they disagree.
  var dissent: String?

  /// Returns an amount and the limit, each with its unit.
  func texts(_ amount: UInt64) -> (String, String) {
    unit == "bytes" ? SizeText.pair(amount, value) : ("\(amount) \(unit)", "\(value) \(unit)")
  }

  private static let limitsPage = "developer.apple.com/help/app-store-connect/reference/apple-hosted-asset-pack-size-limits"

  static let all = [
    StoreLimit(
      title: "all packs together", value: 200_000_000_000, unit: "bytes", warnsFrom: 160_000_000_000, failsAbove: 200_000_000_000,
      hosting: .apple, source: limitsPage, asOf: "2026-11", advice: "archive packs that no app version needs, or serve them yourself",
      measure: { listing, _ in listing.entries.reduce(0) { $0.adding($1.size) } }),
    StoreLimit(
      // The page says 100; readers of a newer version report 200.
      title: "packs of one app", value: 100, unit: "packs", warnsFrom: 80, failsAbove: 200, hosting: .apple, source: limitsPage,
      asOf: "2026-11", advice: "merge packs that are always needed together",
      measure: { listing, _ in UInt64(listing.entries.count) }, dissent: "others report 200; an error above that"),
    StoreLimit(
      title: "new and changed packs of one review submission", value: 10, unit: "packs", warnsFrom: 11, failsAbove: .max, hosting: .apple,
      source: "App Store Connect Help, submit background assets", asOf: "2026-11", advice: "submit them in several steps",
      measure: { listing, releases in
        guard let releases, releases.newest != nil else { return 0 }
        let known = Set(releases.records(of: listing.entries).filter { $0.entry.sha256 == $0.recorded.sha256 }.map(\.entry.id))
        return UInt64(listing.entries.count { !known.contains($0.id) })
      }),
  ]
}
