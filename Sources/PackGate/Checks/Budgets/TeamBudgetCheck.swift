import PackManifest
import PackProject

/// PK3018.
enum TeamBudgetCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3018", "a pack is larger than its budget in packer.yml", .error, .budget, needs: [.manifest, .configuration],
    what: "No pack is larger than its 'budget' in packer.yml: 'download' counts the pack as served, 'installed' its size on the device.",
    onPhone: "Players wait longer, and delete the app sooner.",
    remedy: "Make the pack smaller, or raise its budget in packer.yml, so that the change is reviewed.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let packs = release.configuredPacks
    return release.entries.flatMap { entry -> [ReleaseFinding] in
      guard let configuration = release.configuration, let budget = packs[entry.id]?.budget else { return [] }
      let sizes = [("download", entry.size, budget.download), ("installed", entry.sizeOnDevice, budget.installed)]
      return sizes.compactMap { what, actual, limit in
        guard let limit, actual > limit else { return nil }
        let sizes = SizeText.pair(limit, actual)
        return finding(
          "budget.\(what) allows \(sizes.0); the pack needs \(sizes.1) (\(SizeText.short(actual - limit)) too much)", pack: entry.id,
          file: configuration.path, line: budget.position.line, actual: actual, limit: limit,
          hint: budget.message ?? "make it smaller, or raise budget.\(what) in \(configuration.path)")
      }
    }
  }
}
