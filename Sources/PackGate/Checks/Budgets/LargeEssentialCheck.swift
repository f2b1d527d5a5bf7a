import PackManifest

/// PK3020.
enum LargeEssentialCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3020", "the essential download takes long", .warning, .budget, needs: [.manifest],
    what: "Essential packs come within the 30 minutes that Apple advises for a first download, at 5 Mbit/s: 1 125 000 000 bytes.",
    onPhone: "The app cannot be opened before all of it is there, and people give up on an install that takes that long.",
    remedy: "Make essential what the first minutes need, and the rest prefetch or onDemand.")

  /// 30 minutes at 5 Mbit/s, in bytes.
  static let limit: UInt64 = 30 * 60 * 5_000_000 / 8

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let size = release.demand.essentialDownload
    guard size > limit else { return [] }
    return [
      finding(
        "essential packs are \(size) bytes, more than the \(limit) that come in 30 minutes at 5 Mbit/s", file: release.manifest.path,
        actual: size,
        limit: limit, hint: "set 'delivery: prefetch' for what the first minutes do not need")
    ]
  }
}
