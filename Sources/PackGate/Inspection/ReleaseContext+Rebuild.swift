import PackManifest

extension ReleaseContext {
  /// The command that makes a pack anew.
  ///
  /// A build of one pack takes all others as they are, and refuses where one of them is unsound, too: then it has to be all of them.
  func rebuild(_ id: String) -> String {
    let isAlone = pairs.allSatisfy { $0.entry.id == id || $0.file.isSound(as: $0.entry) }
    return isAlone ? "packer build \(id)" : "packer build"
  }
}

extension PackSighting {
  /// Whether it is the pack that its entry describes, as far as it was looked at, and nothing in it asks for another build.
  fileprivate func isSound(as entry: ManifestPack) -> Bool {
    guard size == entry.size, failure == nil, sha256 ?? entry.sha256 == entry.sha256 else { return false }
    if let start, start.packVersion != entry.version || start.keyID != entry.keyID { return false }
    let wanted = Content(
      isNamed: true, contentRoot: entry.contentRoot, contentSize: entry.contentSize, files: entry.files, maxFrame: entry.maxFrame)
    guard content ?? wanted == wanted, installSize ?? entry.installSize == entry.installSize else { return false }
    return junk.isEmpty && visible.isEmpty && differences?.isEmpty ?? true
  }
}
