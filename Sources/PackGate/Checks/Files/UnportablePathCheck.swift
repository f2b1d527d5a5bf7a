import PackManifest
import PackProject

/// PK2012.
enum UnportablePathCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2012", "a pack holds paths that some platform cannot hold", needs: [.files, .payload],
    what:
      "No path is too long, holds characters or names that a platform refuses, or is the same as another one where case does not count.",
    onPhone: "Devices take two such paths for one file, and the second one replaces the first or fails.",
    remedy: "Rename the files; where they are wanted all the same, set allowUnportablePaths for the pack in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard let first = file.unportable.first, release.configured(entry.id)?.allowsUnportablePaths != true else { return nil }
      let more = file.unportable.count - 1
      return finding(
        first + (more > 0 ? ", and \(more) more such paths" : ""), pack: entry.id, file: file.path,
        details: Array(file.unportable.prefix(20)), hint: "rename them, or set allowUnportablePaths for '\(entry.id)' in packer.yml")
    }
  }
}
