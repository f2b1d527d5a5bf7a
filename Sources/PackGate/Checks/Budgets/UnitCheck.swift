import PackBuild
import PackFormat
import PackManifest

/// PK3015.
enum UnitCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3015", "a number of the Info.plist is not in bytes", phone: .exceedsAllowance, needs: [.manifest, .plist],
    what: "No number is below 1 MiB but would be about right in megabytes or kilobytes.",
    onPhone: "35 means 35 bytes: every download fails with 112 or 203.",
    remedy: "Write bytes, as 'packer plist merge Info.plist' does.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist else { return [] }
    return plist.numbers.compactMap { key, value in
      guard let needed = release.plistDemand.named.first(where: { $0.key == key })?.bytes, let unit = unit(of: value, needed: needed) else {
        return nil
      }
      return finding(
        "\(key) is \(value), which looks like \(unit) but counts bytes; this release needs \(SizeText.short(needed))", file: plist.path,
        actual: needed,
        limit: value,
        hint: plist.mergeHint)
    }
  }

  /// Returns the unit in which a number seems to be written; nil if that is bytes.
  static func unit(of value: UInt64, needed: UInt64) -> String? {
    guard value > 0, value < 1 << 20, needed >= 1 << 20 else { return nil }
    let units: [(name: String, factor: UInt64)] = [("megabytes", 1_000_000), ("MiB", 1 << 20), ("kilobytes", 1000), ("KiB", 1 << 10)]
    return units.first { unit in
      let bytes = value.times(unit.factor)
      return bytes >= needed / 2 && bytes / 3 <= needed
    }?.name
  }
}
