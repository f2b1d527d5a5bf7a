import PackManifest

extension ReleaseContext {
  /// Returns the command that builds a pack again.
  ///
  /// A build of one pack keeps all others and fails if one of them is unsound. In that case the command builds all packs.
  func rebuild(_ id: String) -> String {
    let isAlone = zip(entries, packs).allSatisfy { $0.id == id || $1.isSound(as: $0) }
    return isAlone ? "packer build \(id)" : "packer build"
  }
}

extension PackSighting {
  /// Returns whether everything that was inspected matches the manifest entry, and nothing in the pack requires another build.
  fileprivate func isSound(as entry: ManifestPack) -> Bool {
    guard size == entry.size, failure == nil, sha256 ?? entry.sha256 == entry.sha256 else { return false }
    if let start, start.packVersion != entry.version || start.keyID != entry.keyID { return false }
    let wanted = Content(
      isNamed: true, contentRoot: entry.contentRoot, contentSize: entry.contentSize, files: entry.files, maxFrame: entry.maxFrame)
    guard content ?? wanted == wanted, installSize ?? entry.installSize == entry.installSize else { return false }
    return junk.isEmpty && visible.isEmpty && differences?.isEmpty ?? true
  }
}
