import PackManifest

/// PK2003.
enum PackSizeCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2003", "a pack is not of the size that the manifest says", .error, .damaged, phone: .sizeMismatch, needs: [.files],
    what: "The size of every pack file is the one of its entry, to the byte.",
    onPhone: "The size is declared with the download; where the bytes that come are more or fewer, it fails, an essential one always.",
    remedy: "Run 'packer build' and upload all of it. A shorter file was cut by a transfer.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard let size = file.size, size != entry.size else { return nil }
      return finding(
        "\(file.path) is \(size) bytes, but the manifest says \(entry.size)", kind: size < entry.size ? .truncated : .damaged,
        pack: entry.id, file: file.path, actual: size, limit: entry.size, hint: release.rebuild(entry.id))
    }
  }
}
