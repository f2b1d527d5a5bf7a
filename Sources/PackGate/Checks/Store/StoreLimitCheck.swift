import PackManifest
import PackProject

/// PK6002.
enum StoreLimitCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6002", "a limit of the App Store is reached", needs: [.manifest, .configuration],
    what: "With Apple hosting, the packs stay within Apple's published limits. From 80 % on, this is a warning.",
    onPhone: "No device gets the packs: App Store Connect refuses the upload.",
    remedy: "Merge packs or make them smaller; packs of old versions can be removed in App Store Connect.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let hosting = release.configuration?.hosting else { return [] }
    return StoreLimit.all.filter { $0.hosting == hosting }.compactMap { limit in
      let actual = limit.measure(release)
      guard actual >= limit.warnsFrom else { return nil }
      let texts = limit.texts(actual)
      return finding(
        "\(limit.title): \(texts.0); the limit is \(texts.1) (\(limit.source), \(limit.asOf)\(limit.dissent.map { "; \($0)" } ?? ""))",
        level: actual > limit.failsAbove ? .error : .warning, file: release.manifest.path, actual: actual, limit: limit.value,
        hint: limit.advice)
    }
  }
}
