import PackManifest

/// PK6003.
enum JunkCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6003", "a pack holds files that do not belong in a release", needs: [.files, .payload],
    what: "No entry is metadata of Finder, of Windows or of an archive (.DS_Store, ._*, __MACOSX, Thumbs.db), or part of a Git repository.",
    onPhone: "Players download these files, which may reveal names and paths of the machine they were made on.",
    remedy: "Run 'packer build', which skips such files and prints their names.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard let first = file.junk.first else { return nil }
      return finding(
        "it holds \(first)\(file.junk.count > 1 ? ", and \(file.junk.count - 1) more" : "")", pack: entry.id,
        file: file.path,
        details: Array(file.junk.prefix(20)), hint: release.rebuild(entry.id))
    }
  }
}
