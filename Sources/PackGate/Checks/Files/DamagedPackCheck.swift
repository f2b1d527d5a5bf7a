import PackFormat
import PackManifest

/// PK2005.
enum DamagedPackCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2005", "a pack is damaged, or was tampered with", .error, .damaged, needs: [.files],
    what: """
      Every pack opens with the client library. Without --quick, every tag, every frame, every digest and the tar inside are checked, and \
      no path leaves its directory. Deltas are opened over their bases, if those are on this machine.
      """,
    onPhone: "The app refuses the pack when it opens or installs it, and keeps the version it has.",
    remedy: "Run 'packer build'. If a new build is damaged, too, check the disk and the programs that copy the files.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard let failure = file.failure, codes.contains(failure.code) else { return nil }
      // A file of another size cannot be opened for that reason, which PK2003 reports.
      guard file.size == entry.size else { return nil }
      return finding(
        failure.message, pack: entry.id, file: file.path, details: failure.details,
        hint: release.wording(failure) ?? release.rebuild(entry.id))
    }
      + release.deltas.compactMap { sighting in
        // Other bytes than those of the page are a finding of PK2003 or PK2004.
        guard let failure = sighting.failure, codes.contains(failure.code), sighting.isPublished else { return nil }
        return finding(
          failure.message, pack: sighting.id, file: sighting.path, details: failure.details,
          hint: release.wording(failure) ?? "packer build")
      }
  }

  static let codes: Set<PackError.Code> = [
    .damagedHeader, .authenticationFailed, .damagedPayload, .damagedArchive, .digestMismatch, .illegalPath, .limitExceeded,
  ]
}
