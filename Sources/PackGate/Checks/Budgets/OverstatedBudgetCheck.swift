import PackFormat
import PackManifest

/// PK3014.
enum OverstatedBudgetCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3014", "the Info.plist reserves far more than the packs need", .note, needs: [.manifest, .plist],
    what: "Each of the four numbers is at most 25 % plus 1 MiB above the number that the release needs, including headroom.",
    onPhone: "The App Store shows too large a size, and the progress of the install jumps.",
    remedy: "Run 'packer plist merge Info.plist', or accept the finding with a reason in packer.yml if later releases need the room.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist else { return [] }
    let wanted = release.manifest.manifest?.budget.map(\.named) ?? release.demand.named
    return plist.numbers.compactMap { key, value in
      guard let needed = wanted.first(where: { $0.key == key })?.bytes else { return nil }
      let bound = needed.adding(needed / 4).adding(1 << 20)
      guard value > bound else { return nil }
      let sizes = SizeText.pair(value, needed)
      return finding(
        "\(key) allows \(sizes.0); this release needs only \(sizes.1)", file: plist.path, actual: value, limit: needed,
        hint: plist.mergeHint)
    }
  }
}
