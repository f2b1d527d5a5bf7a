import PackFormat
import PackManifest

/// PK2007.
enum UnknownPackCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2007", "a file is not a pack that this build can read", needs: [.files],
    what:
      "Every file in the manifest is readable and starts like a pack, with a version, suite and kind that the client library knows.",
    onPhone: "The app refuses the file when it opens it.",
    remedy: "Build with the packer version that matches the app's runtime, or update packer.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard let failure = file.failure, !told.contains(failure.code) else { return nil }
      // A newer reader does not help if the version was changed after the build, which PK2004 reports.
      guard failure.code != .unsupported || !file.isChanged(since: entry) else { return nil }
      return finding(failure.message, pack: entry.id, file: file.path, hint: release.wording(failure))
    }
      + release.deltas.compactMap { sighting in
        guard let failure = sighting.failure, !told.contains(failure.code), failure.code != .wrongBase else { return nil }
        // Other bytes than those of the page are another finding, but of a file that cannot be read no bytes are known.
        guard sighting.isPublished || failure.code == .cannotRead && sighting.sha256 == nil else { return nil }
        return finding(failure.message, pack: sighting.id, file: sighting.path, hint: release.wording(failure))
      }
  }

  /// The errors that other rules report.
  private static let told = DamagedPackCheck.codes.union([.wrongKey, .notWrapped, .truncated])
}
