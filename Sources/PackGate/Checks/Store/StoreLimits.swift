import PackBuild
import PackFormat
import PackManifest
import PackProject

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
  let measure: @Sendable (ReleaseContext) -> UInt64

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
      measure: { release in release.entries.reduce(0) { $0.adding($1.size) } }),
    StoreLimit(
      // The page says 100; readers of a newer version report 200.
      title: "packs of one app", value: 100, unit: "packs", warnsFrom: 80, failsAbove: 200, hosting: .apple, source: limitsPage,
      asOf: "2026-11", advice: "merge packs that are always needed together",
      measure: { release in UInt64(release.entries.count) }, dissent: "others report 200; an error above that"),
    StoreLimit(
      title: "new and changed packs of one review submission", value: 10, unit: "packs", warnsFrom: 11, failsAbove: .max, hosting: .apple,
      source: "App Store Connect Help, submit background assets", asOf: "2026-11", advice: "submit them in several steps",
      measure: { release in
        guard release.lock?.released != nil else { return 0 }
        let known = Set(release.recorded.filter { $0.entry.sha256 == $0.recorded.sha256 }.map(\.entry.id))
        return UInt64(release.entries.count { !known.contains($0.id) })
      }),
  ]
}
