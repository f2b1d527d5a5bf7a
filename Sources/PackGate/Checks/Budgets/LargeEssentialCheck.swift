import PackBuild
import PackManifest

/// PK3020.
enum LargeEssentialCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3020", "the essential download takes long", .warning, needs: [.manifest],
    what: "Essential packs download within the 30 minutes that Apple advises, at 5 Mbit/s: at most 1.13 GB.",
    onPhone: "The app cannot be opened before the download is complete, and people cancel an install that takes that long.",
    remedy: "Keep only the packs for the first minutes essential, and make the others prefetch or onDemand.")

  /// 30 minutes at 5 Mbit/s, in bytes.
  static let limit: UInt64 = 30 * 60 * 5_000_000 / 8

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let size = release.demand.essentialDownload
    guard size > limit else { return [] }
    let sizes = SizeText.pair(size, limit)
    return [
      finding(
        "the essential download is \(sizes.0), more than the \(sizes.1) that 30 minutes at 5 Mbit/s allow", file: release.manifest.path,
        actual: size, limit: limit, hint: "set 'delivery: prefetch' for packs that the first minutes do not need")
    ]
  }
}
