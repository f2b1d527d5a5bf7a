import PackManifest

/// PK2026.
enum UnprovenDeltaCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2026", "a delta was not checked, because its base is not on this machine", .note, needs: [.files, .pages, .payload],
    what: "The packs over which deltas are read are beside the manifest, or in the directory that 'updates.packs' of packer.yml names.",
    onPhone: "Nothing, if the delta is sound: it was checked when it was made. A device that cannot use it downloads the full pack.",
    remedy: "Verify on a machine with the directory in which 'packer release record' keeps the packs of releases.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.deltas.compactMap { sighting in
      guard let reason = sighting.unproven else { return nil }
      return finding("\(sighting.title) was not checked: \(reason)", pack: sighting.id, file: sighting.path)
    }
  }
}
