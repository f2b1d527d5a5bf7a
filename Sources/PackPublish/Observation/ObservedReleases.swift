/// The files of releases, by their names in access logs.
package struct ObservedReleases: Sendable {
  /// What a file is.
  package enum Kind: String, Hashable, Sendable {
    case manifest, pack, delta, lead, shard
    /// A file of no known release: a pack or a delta to one, which have names of one form.
    case unknown
  }

  /// A file that devices request.
  package struct File: Hashable, Sendable {
    package let kind: Kind
    package let name: String
    /// The id and version of the pack; of a delta and a lead, of the pack that they are for.
    package var pack: String?
    package var version: UInt64?
    /// What a delta is applied over, as texts such as `core 3`.
    package var bases: [String] = []
    /// The size in bytes, if it is known.
    package var size: UInt64?
    /// The manifest version of the oldest known release that has it.
    package var release: UInt64?
    /// The number of the pack that a delta makes.
    var target: Int?
  }

  /// The manifest, then the files of the releases, those of the oldest first.
  package private(set) var files = [File(kind: .manifest, name: ReleaseFile.manifest)]
  private var numbers: [String: Int] = [ReleaseFile.manifest: 0]
  /// The manifest versions, in ascending order.
  package private(set) var versions: [UInt64] = []

  package init() {}

  /// - Parameters:
  ///   - manifests: each with its packs.
  ///   - recorded: what is known of other releases, by their records. These have no deltas.
  package init(_ manifests: [(manifest: Manifest, packs: [ManifestPack])], recorded: [ReleaseLock.Release] = []) {
    struct Release {
      let version: UInt64
      var shards: [Shard] = []
      var packs: [ManifestPack] = []
      var recorded: [ReleaseLock.Pack] = []
    }
    var releases = manifests.map { published in
      let manifest = published.manifest
      return Release(
        version: manifest.version, shards: manifest.catalogue, packs: published.packs.flatMap { $0.editions(manifest.defaults) })
    }
    releases += recorded.map { Release(version: $0.manifestVersion, recorded: $0.packs.filter { !$0.isRemoved }) }
    // Content roots are of trees, and several versions may have one, made with other keys or settings.
    var roots: [[UInt8]: String] = [:]
    for release in releases.sorted(by: { $0.version < $1.version }) {
      for pack in release.recorded { roots[pack.contentRoot] = roots[pack.contentRoot] ?? "\(pack.id) \(pack.version)" }
      for pack in release.packs { roots[pack.contentRoot] = roots[pack.contentRoot] ?? "\(pack.id) \(pack.version)" }
    }
    for release in releases.sorted(by: { $0.version < $1.version }) {
      let version = release.version
      if versions.last != version { versions.append(version) }
      for pack in release.recorded {
        let name = ManifestPack.publishedName(pack.id, pack.sha256)
        add(File(kind: .pack, name: name, pack: pack.id, version: pack.version, size: pack.size, release: version))
      }
      for pack in release.packs {
        let target = add(File(kind: .pack, name: pack.fileName, pack: pack.id, version: pack.version, size: pack.size, release: version))
        for delta in pack.deltas {
          let name = ManifestPack.publishedName(pack.id, delta.sha256)
          let bases = delta.bases.map { roots[$0] ?? "another" }
          add(
            File(
              kind: .delta, name: name, pack: pack.id, version: pack.version, bases: bases, size: delta.size, release: version,
              target: target))
        }
        if let lead = pack.stream {
          let name = ManifestPack.leadName(pack.id, lead.sha256)
          add(File(kind: .lead, name: name, pack: pack.id, version: pack.version, size: lead.size, release: version))
        }
      }
      for shard in release.shards { add(File(kind: .shard, name: shard.fileName, size: shard.size, release: version)) }
    }
  }

  @discardableResult
  private mutating func add(_ file: File) -> Int {
    if let known = numbers[file.name] {
      // Records do not always have it.
      if files[known].size == nil { files[known].size = file.size }
      return known
    }
    numbers[file.name] = files.count
    files.append(file)
    return files.count - 1
  }

  /// Reads releases as they were built or published, and those that were recorded beside them.
  ///
  /// - Parameters:
  ///   - targets: directories or manifests. Of a directory, the copies of manifests count, too, that publications leave.
  ///   - faults: gets what could not be used, as sentences.
  /// - Throws: the error of a manifest that was named, or of a lock file or record that is damaged.
  package static func read(_ targets: [String], faults: inout [String]) throws(PackError) -> ObservedReleases {
    var manifests: [(Manifest, [ManifestPack])] = []
    var recorded: [ReleaseLock.Release] = []
    let system = SystemFiles()
    for target in targets {
      if ReleasePlaces.exists(ReleaseFolder(target).manifestPath) { manifests.append(try manifest(target)) }
      if ReleasePlaces.isDirectory(target) {
        for name in try reading(target, system.names(in: system.open(target, .directory, in: nil))).map(\.text).sorted()
        where ManifestCopy.version(name) != nil {
          do throws(PackError) {
            manifests.append(try manifest(ReleaseFolder.path(name, in: target)))
          } catch {
            guard error.code != .cancelled else { throw error }
            faults.append("\(name) was not used: \(error.message)")
          }
        }
      }
      let configuration = try ReleasePlaces.configuration(above: target).map { (path) throws(PackError) in
        try PackerConfiguration.read(path, sources: .optional)
      }
      guard let path = ReleasePlaces.lockFile(nil, beside: configuration, of: target) else { continue }
      if let last = try ReleaseLock.read(path).released { recorded.append(last) }
      try ReleasedPacks(of: configuration).forEachRelease { recorded.append($0) }
    }
    return ObservedReleases(manifests, recorded: recorded)
  }

  private static func manifest(_ target: String) throws(PackError) -> (Manifest, [ManifestPack]) {
    let folder = ReleaseFolder(target)
    let manifest = try attributing(to: folder.manifestPath) { () throws(PackError) in try SignedManifest.read(folder.manifestPath).parsed()
    }
    return (manifest, try folder.packs(of: manifest))
  }
}
