import PackBuild
import PackFormat
import PackManifest
import PackProject

/// A limit of a store, with the place it is from: stores change them, so each has a date.
struct StoreLimit: Sendable {
  let title: String
  /// What the source says.
  let value: UInt64
  let unit: String
  /// From where on there is a finding: 80 % of the value where it is a sum that grows.
  let warnsFrom: UInt64
  /// Above what it is an error. More than the value where sources disagree.
  let failsAbove: UInt64
  let hosting: PackerConfiguration.Hosting
  let source: String
  /// When the source was read, as year and month.
  let asOf: String
  let advice: String
  let measure: @Sendable (ReleaseContext) -> UInt64

  private static let limitsPage = "developer.apple.com/help/app-store-connect/reference/apple-hosted-asset-pack-size-limits"

  static let all = [
    StoreLimit(
      title: "all packs together", value: 200_000_000_000, unit: "bytes", warnsFrom: 160_000_000_000, failsAbove: 200_000_000_000,
      hosting: .apple, source: limitsPage, asOf: "2026-11", advice: "archive packs that no app version needs, or serve them yourself",
      measure: { release in release.entries.reduce(0) { $0.adding($1.size) } }),
    StoreLimit(
      // The page says 100, and people who have seen a newer one say 200.
      title: "packs of one app", value: 100, unit: "packs", warnsFrom: 80, failsAbove: 200, hosting: .apple, source: limitsPage,
      asOf: "2026-11", advice: "merge packs that are always needed together",
      measure: { release in UInt64(release.entries.count) }),
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
