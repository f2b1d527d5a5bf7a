/// The files of a release that devices fetch: its manifest, and the packs, deltas, leads, openers and shards that the manifest names.
package struct ReleaseFiles: Sendable {
  /// A pack, a delta, a lead, an opener or a shard.
  package typealias File = ManifestPack.File

  /// The path of the directory.
  package let directory: String
  package let manifest: Manifest
  /// The path of the manifest.
  let manifestPath: String
  /// The bytes of the manifest's file.
  package let manifestBytes: [UInt8]
  /// In ascending order of their names. Without the openers whose time was to come when the release was built.
  package let files: [File]
  /// The openers with a time, and that time.
  package let openers: [File: ManifestTime]
  /// The name of a copy of the manifest that stays at the place. It says which files the release has, after a newer manifest has replaced this one.
  package let copyName: String

  /// Reads the manifest and its catalogue. Their signature is not checked.
  ///
  /// - Parameter target: the directory that 'packer build' made, or the manifest in it.
  /// - Throws: the error of a manifest or shard that is missing or damaged.
  package init(_ target: String, files: any FileSystem = SystemFiles()) throws(PackError) {
    let folder = ReleaseFolder(target)
    directory = ReleasePlaces.directory(of: target)
    manifestPath = folder.manifestPath
    let bytes = try files.contents(of: manifestPath, limit: Manifest.largestSize, code: .damagedManifest)
    manifestBytes = bytes
    manifest = try attributing(to: manifestPath) { () throws(PackError) in
      try SignedManifest(bytes).parsed()
    }
    copyName = ManifestCopy.name(manifest.version, try CryptoBackends.standard.digest(of: bytes.byteSpan))
    let catalogue = try ReleaseCatalogue(manifest, in: directory, files: files)
    var found: Set<File> = []
    var openers: [File: ManifestTime] = [:]
    for pack in catalogue.editions {
      found.insert(File(name: pack.fileName, size: pack.size, sha256: pack.sha256))
      found.formUnion(pack.filesBeside)
      guard let opener = pack.opener, let file = pack.openerFile else { continue }
      if let opens = opener.opens { openers[file] = opens }
      if opener.opens == nil || ReleasePlaces.exists(ReleaseFolder.path(file.name, in: directory)) { found.insert(file) }
    }
    self.openers = openers
    for shard in manifest.catalogue { found.insert(File(name: shard.fileName, size: shard.size, sha256: shard.sha256)) }
    self.files = found.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// Compares files in the directory with what the manifest says of them.
  ///
  /// - Throws: the error of the first one that is missing, or whose bytes are others.
  func check(_ wanted: [File], files: any FileSystem) throws(PackError) {
    let backend = CryptoBackends.standard
    for file in wanted {
      let path = ReleaseFolder.path(file.name, in: directory)
      let found = try FileDigest.run(path, in: nil, title: path, files: files, backend: backend)
      guard found.size == file.size, found.sha256 == file.sha256 else {
        throw PackError(.wrongPack, of: path, "is not the file that the manifest names", hint: "packer build, then packer verify")
      }
    }
  }
}
