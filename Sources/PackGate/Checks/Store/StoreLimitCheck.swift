import PackManifest
import PackProject

/// PK6002.
enum StoreLimitCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6002", "a limit of the store is reached", needs: [.manifest, .configuration],
    what: "With Apple hosting the packs stay within Apple's limits, as of the table in StoreLimits.swift. From 80 % on it is a warning.",
    onPhone: "Nothing gets there: App Store Connect refuses the upload.",
    remedy: "Put packs together or make them smaller; packs of old versions can be removed in App Store Connect.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let hosting = release.configuration?.hosting else { return [] }
    return StoreLimit.all.filter { $0.hosting == hosting }.compactMap { limit in
      let actual = limit.measure(release)
      guard actual >= limit.warnsFrom else { return nil }
      return finding(
        "\(limit.title): \(actual) \(limit.unit), and \(limit.value) are the most (\(limit.source), \(limit.asOf))",
        level: actual > limit.failsAbove ? .error : .warning, file: release.manifest.path, actual: actual, limit: limit.value,
        hint: limit.advice)
    }
  }
}
