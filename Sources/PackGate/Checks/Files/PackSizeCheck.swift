import PackManifest

/// PK2003.
enum PackSizeCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2003", "the size of a pack is not the one in the manifest", .error, .damaged, phone: .sizeMismatch, needs: [.files],
    what: "The size of every pack file, deltas included, is exactly the one in the manifest or page.",
    onPhone: "If the server sends more or fewer bytes than declared, a download may fail, and an essential download always fails.",
    remedy: "Run 'packer build' and upload all of it. A shorter file was truncated in transfer.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard let size = file.size, size != entry.size else { return nil }
      let sizes = SizeText.pair(size, entry.size)
      return finding(
        "\(file.path) is \(sizes.0), but the manifest says \(sizes.1)", kind: size < entry.size ? .truncated : .damaged,
        pack: entry.id, file: file.path, actual: size, limit: entry.size, hint: release.rebuild(entry.id))
    }
      + release.deltas.compactMap { sighting in
        guard let size = sighting.size, size != sighting.delta.size else { return nil }
        let sizes = SizeText.pair(size, sighting.delta.size)
        return finding(
          "\(sighting.title) is \(sizes.0), but its page says \(sizes.1)", kind: size < sighting.delta.size ? .truncated : .damaged,
          pack: sighting.id, file: sighting.path, actual: size, limit: sighting.delta.size, hint: "packer build")
      }
  }
}
