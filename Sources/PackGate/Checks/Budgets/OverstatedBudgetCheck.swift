import PackBuild
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
    let wanted = wanted(release)
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

  /// Returns the numbers that a merge would write: those of the manifest, less what the platform of the plist does not have.
  private static func wanted(_ release: ReleaseContext) -> [(key: String, bytes: UInt64)] {
    let (all, own) = (release.demand, release.plistDemand)
    guard let budget = release.manifest.manifest?.budget else { return own.named }
    return budget.named.map { key, bytes in
      // This number includes room for the largest essential pack.
      if key == BudgetKey.download { return (key, bytes.less(all.largestRetry.less(own.largestRetry))) }
      let others = zip(all.named, own.named).first { $0.0.key == key }.map { $0.bytes.less($1.bytes) } ?? 0
      return (key, bytes.less(others))
    }
  }
}
