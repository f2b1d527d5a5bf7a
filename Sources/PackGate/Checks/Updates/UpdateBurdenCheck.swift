import PackManifest

/// PK6012.
enum UpdateBurdenCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6012", "an update is large for a reason that can be mended", .note, needs: [.files, .pages, .payload, .lock, .configuration],
    what: """
      Compares each pack with its last recorded version, if that is on this machine: archives inside the pack, pictures, sounds and films of \
      the same size with other bytes, and many files that differ in a few bytes.
      """,
    onPhone: "Players download what they have already in another form.",
    remedy: """
      Put the files of an archive into the pack, which compresses them itself. Keep the encoded files of the last release where their sources \
      did not change. Write times and build numbers into one file.
      """)

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.burdens.map { burden in
      finding(
        message(burden), pack: burden.id, actual: burden.download, details: burden.paths.count > 1 ? Array(burden.paths.prefix(20)) : [],
        hint: hint(burden.reason))
    }
  }

  private static func message(_ burden: UpdateBurden) -> String {
    let update = "the update from version \(burden.version) is \(SizeText.short(burden.download))"
    let first = "'\(burden.paths.first ?? "")'"
    let files = burden.paths.count > 1 ? "\(first)\(burden.paths.andMore)" : first
    let size = SizeText.short(burden.size)
    return switch burden.reason {
    case .archive: "\(update), and the changed archive \(files) has \(size), which a delta cannot look into"
    case .encodedAgain: "\(update): \(files), \(size), has the size of before and nearly all bytes differ, as if it was encoded again"
    case .stamps: "\(update): \(burden.paths.count) files differ in a few bytes each, such as \(first): a time or a build number in each?"
    }
  }

  private static func hint(_ reason: UpdateBurden.Reason) -> String {
    switch reason {
    case .archive: "put the files of the archive into the pack"
    case .encodedAgain: "keep the encoded files of the last release, if their sources did not change"
    case .stamps: "write the time or build number into one file"
    }
  }
}
