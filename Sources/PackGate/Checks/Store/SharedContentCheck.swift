import PackFormat
import PackManifest

/// PK6006.
enum SharedContentCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6006", "the same files are in several packs", .warning, needs: [.files, .payload],
    what: "Packs share less than 1 MiB of identical files, besides what a pack shares with its 'base'.",
    onPhone: "Players download and store the same bytes twice; Background Assets does not deduplicate them.",
    remedy:
      "Move the files into a pack that the others share, or name one as their 'base', or accept the finding with a reason in packer.yml.")

  private static let smallest: UInt64 = 1 << 20

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    struct Group {
      var files: UInt64 = 0
      var wasted: UInt64 = 0
    }
    var groups: [[String]: Group] = [:]
    var largest: SharedContent?
    let bases = Dictionary(release.entries.map { ($0.id, $0.basePack) }) { first, _ in first }
    for content in release.shared {
      // A pack is a delta over its base, if there is one.
      let covered = content.packs.filter { id in (bases[id] ?? nil).map(content.packs.contains) ?? false }.count
      let copies = content.packs.count - covered
      guard copies > 1 else { continue }
      if largest.map({ ($0.size, content.path) < (content.size, $0.path) }) ?? true { largest = content }
      var group = groups[content.packs, default: Group()]
      group.files += 1
      group.wasted = group.wasted.adding(content.size.times(UInt64(copies - 1)))
      groups[content.packs] = group
    }
    let total = groups.values.reduce(0 as UInt64) { $0.adding($1.wasted) }
    guard total >= smallest else { return [] }
    let sorted = groups.sorted { ($1.value.wasted, $0.key.joined()) < ($0.value.wasted, $1.key.joined()) }
    let lines = sorted.prefix(10).map { packs, group in
      "\(packs.joined(separator: ", ")): \(group.files) \(group.files == 1 ? "file" : "files"), \(SizeText.short(group.wasted)) wasted"
    }
    return [
      finding(
        "\(SizeText.short(total)) of files are duplicates of files in other packs, such as '\(largest?.path ?? "")' of \(SizeText.short(largest?.size ?? 0)) in \(largest?.packs.joined(separator: " and ") ?? "")",
        file: release.manifest.path, actual: total, details: Array(lines),
        hint: "move them into a shared pack that the app requests together with the others")
    ]
  }
}
