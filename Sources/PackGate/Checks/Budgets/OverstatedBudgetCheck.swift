import PackFormat
import PackManifest

/// PK3014.
enum OverstatedBudgetCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3014", "the Info.plist asks for far more than the packs need", .warning, .budget, needs: [.manifest, .plist],
    what: "Each of the four numbers is at most a quarter and 1 MiB above what the release needs with its headroom.",
    onPhone: "The App Store shows an app that is larger than it is, and the progress of the install jumps.",
    remedy: "Run 'packer plist merge Info.plist', unless room for later releases is wanted: then accept it with a reason in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist else { return [] }
    let wanted = release.manifest.manifest?.budget.map(\.named) ?? release.demand.named
    return plist.numbers.compactMap { key, value in
      guard let needed = wanted.first(where: { $0.key == key })?.bytes else { return nil }
      let bound = needed.adding(needed / 4).adding(1 << 20)
      guard value > bound, !CountedTwiceCheck.isCountedTwice(release, key), !SwappedSizesCheck.isSwapped(release, key) else { return nil }
      return finding(
        "\(key) is \(value) bytes, but \(needed) are enough", file: plist.path, actual: value, limit: needed,
        hint: plist.mergeHint)
    }
  }
}
