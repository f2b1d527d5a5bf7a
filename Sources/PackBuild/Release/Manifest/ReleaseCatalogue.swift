/// All packs of a release: those that its manifest lists itself, and those of its catalogue (FORMAT.md §9.7).
///
/// Time and memory grow with the number of packs. Devices rarely need all of them.
package struct ReleaseCatalogue: Sendable {
  /// The packs, in the order of the manifest. If it has a catalogue, in ascending order of their ids.
  package let packs: [ManifestPack]
  /// Every edition that devices may take: those of ``packs``, and after each pack with a candidate that one.
  package let editions: [ManifestPack]

  /// Reads and checks the shards of a manifest, in the directory that it is in.
  ///
  /// - Throws: ``PackError/Code/missingInput`` if a shard does not exist, ``PackError/Code/wrongShard`` if it is another file,
  ///   ``PackError/Code/damagedManifest`` if it breaks a rule.
  package init(_ manifest: Manifest, in directory: String, files: any FileSystem = SystemFiles()) throws(PackError) {
    do throws(PackError) {
      try self.init(manifest) { (shard) throws(PackError) in
        guard let bytes = try Self.read(shard, in: directory, files: files) else {
          throw PackError(
            .missingInput, of: Self.path(of: shard, in: directory), "does not exist, but the manifest names it", hint: "packer build")
        }
        return bytes
      }
    } catch {
      guard error.code == .wrongShard || error.code == .damagedManifest else { throw error }
      // A device would fetch the shard again.
      throw error.advising(.developer("packer build"))
    }
  }

  /// Reads and checks the shards of a manifest.
  ///
  /// - Parameter source: Returns the bytes of a shard.
  init(_ manifest: Manifest, from source: (Shard) throws(PackError) -> [UInt8]) throws(PackError) {
    var packs = manifest.packs
    for (number, shard) in manifest.catalogue.enumerated() {
      try Task.checkpoint()
      let bytes = try source(shard)
      packs += try ShardFile.packs(bytes.byteSpan, number, of: manifest)
    }
    if !manifest.catalogue.isEmpty { packs.sort { $0.id.precedes($1.id) } }
    self.packs = packs
    editions = manifest.rollouts.isEmpty ? packs : packs.flatMap { $0.editions(manifest.defaults) }
  }

  // MARK: Files

  /// Returns the path of the file of a shard.
  package static func path(of shard: Shard, in directory: String) -> String { ReleaseFolder.path(shard.fileName, in: directory) }

  /// Reads the file of a shard, and no more of it than a shard may have. Returns nil if it does not exist.
  package static func read(_ shard: Shard, in directory: String, files: any FileSystem) throws(PackError) -> [UInt8]? {
    do throws(PackError) {
      return try files.contents(of: path(of: shard, in: directory), limit: Int(shard.size))
    } catch {
      switch error.code {
      case .missingInput: return nil
      case .limitExceeded:
        throw PackError(.wrongShard, "\(shard.fileName) is more than the \(shard.size) bytes that the manifest says")
      default: throw error
      }
    }
  }
}
