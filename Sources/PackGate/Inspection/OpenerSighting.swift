/// One inspected opener that the manifest lists.
struct OpenerSighting: SideFile {
  let id: String
  /// What the entry of the pack says about it.
  let opener: ManifestOpener
  let path: String
  var size: UInt64?
  let absence: String
  var sha256: [UInt8]?
  /// Whether the entry names what follows from the root key; nil if that was not given.
  var isOfPack: Bool?

  var title: String { "the opener \(path)" }
  var published: (size: UInt64, sha256: [UInt8]) { (opener.size, opener.sha256) }

  /// Whether it must be in the release: the others are made again when their time has come.
  var isExpected: Bool { opener.opens == nil }

  init(id: String, opener: ManifestOpener, path: String, size: UInt64?, absence: String, sha256: [UInt8]?, isOfPack: Bool?) {
    (self.id, self.opener, self.path, self.size, self.absence) = (id, opener, path, size, absence)
    (self.sha256, self.isOfPack) = (sha256, isOfPack)
  }

  /// - Parameter key: the content key; the opener follows from it if it is the root key.
  init(
    _ opener: ManifestOpener, of entry: ManifestPack, in place: ReleaseInspection.Place, key: Shared<PackKey>?, files: any FileSystem
  ) throws(PackError) {
    (id, self.opener, path) = (entry.id, opener, place.path(ManifestPack.openerName(entry.id, opener.sha256)))
    let file = PublishedFile(path, files: files)
    (size, absence) = (file.size, file.absence)
    if let key, key.key.isRoot(of: entry) {
      let made = try Opener(of: entry.edition(), root: key.key)
      isOfPack = try ManifestOpener(of: made, opens: opener.opens) == opener
    }
    guard size != nil else { return }
    do throws(PackError) {
      sha256 = try FileDigest.run(path, in: nil, title: path, files: files, backend: CryptoBackends.standard).sha256
    } catch {
      guard error.code != .cancelled, error.code != .internalError else { throw error }
    }
  }
}
