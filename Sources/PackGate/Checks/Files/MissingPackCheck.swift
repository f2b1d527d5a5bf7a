import PackManifest

/// PK2001.
enum MissingPackCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2001", "a pack of the manifest is missing", phone: .notFound, needs: [.files],
    what: "Every pack of the manifest, and every delta of its pages, is in the same directory, named after the last component of its URL.",
    onPhone:
      "The download fails with 404, and the app does not have the pack at its first launch. For a delta it then downloads the full pack.",
    remedy: "Run 'packer build', and upload the whole directory: packs first, the manifest last.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.filter { $0.file.size == nil }.map { entry, file in
      finding(
        "\(file.path) \(file.absence), but the manifest names it", pack: entry.id, file: file.path, limit: entry.size,
        hint: release.rebuild(entry.id))
    }
      + release.deltas.filter { $0.size == nil }.map { sighting in
        finding(
          "\(sighting.title) \(sighting.absence), but a page names it", pack: sighting.id, file: sighting.path, limit: sighting.delta.size,
          hint: "packer build")
      }
  }
}
