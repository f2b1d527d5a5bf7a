import PackManifest

/// PK6003.
enum JunkCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6003", "a pack holds files that do not belong in a release", needs: [.files, .payload],
    what: """
      No entry is metadata of Finder, of Windows or of an archive (.DS_Store, ._*, __MACOSX, Thumbs.db), or part of a Git repository; none is a \
      file of packer, a source map, a source of images, a Node package, a backup, a log, an unfinished download, or a file of an editor, a debugger \
      or the system (a warning).
      """,
    onPhone: "Players download these files, which may reveal names and paths of the machine they were made on.",
    remedy: "Run 'packer build', which skips metadata and prints its names. Exclude the others in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.flatMap { entry, file in
      [(file.junk, FindingLevel.error, nil), (file.unneeded, .warning, "exclude them in packer.yml, or accept this")]
        .compactMap { paths, level, hint in
          guard let first = paths.first else { return nil }
          return finding(
            "it holds \(first)\(paths.andMore)", level: level, pack: entry.id, file: file.path,
            details: Array(paths.prefix(20)), hint: hint ?? release.rebuild(entry.id))
        }
    }
  }
}
