import PackManifest
import PackProject

/// PK2012.
enum UnportablePathCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2012", "a pack has paths that some platforms cannot store", needs: [.files, .payload],
    what:
      "No path is too long, has characters or names that a platform refuses, or differs from another path only in case.",
    onPhone: "A device may treat two such paths as one file, so that the second one replaces the first or fails.",
    remedy: "Rename the files, or set allowUnportablePaths for the pack in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let packs = release.configuredPacks
    return release.pairs.compactMap { entry, file in
      guard let first = file.unportable.first, packs[entry.id]?.allowsUnportablePaths != true else { return nil }
      let more = file.unportable.count - 1
      return finding(
        first + (more > 0 ? ", and \(more) more" : ""), pack: entry.id, file: file.path,
        details: Array(file.unportable.prefix(20)), hint: "rename them, or set allowUnportablePaths for '\(entry.id)' in packer.yml")
    }
  }
}
