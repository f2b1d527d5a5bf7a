import TestSupport

@testable import PackStore

/// Twenty releases of one pack, and the deltas between them.
struct UpdateChain: Sendable {
  struct Release: Sendable {
    let tree: SampleTree
    let pack: [UInt8]
    let entry: ManifestPack
    let manifest: SignedManifest
  }

  static let id = DeltaStage.id
  static let count: UInt64 = 20

  /// By version, from 1.
  let releases: [UInt64: Release]
  /// By SHA-256.
  let deltas: [[UInt8]: [UInt8]]

  private static let small = Task { try await UpdateChain(scale: 1, reach: [1, 2, 4, 8]) }
  private static let large = Task { try await UpdateChain(scale: 150, reach: [1]) }

  /// Returns the releases, which are made once. Packs are some kilobytes with deltas from several releases, or a megabyte in many frames with deltas
  /// from the last one.
  static func shared(isLarge: Bool = false) async throws -> UpdateChain { try await (isLarge ? large : small).value }

  func release(_ version: UInt64) -> Release {
    guard let release = releases[version] else { preconditionFailure("there is no release \(version)") }
    return release
  }

  /// - Parameters:
  ///   - scale: What the sizes of files are multiplied by.
  ///   - reach: From how many releases before there are deltas.
  private init(scale: Int, reach: [UInt64]) async throws {
    let directory = try TemporaryDirectory()
    var trees: [UInt64: SampleTree] = [:]
    var opened: [UInt64: Pack] = [:]
    var random = SeededGenerator(seed: 20)
    for version in 1...Self.count {
      trees[version] = Self.tree(after: trees[version - 1], earlier: trees[version > 3 ? version - 3 : 0], version, scale, &random)
      try trees[version]?.write(to: "\(version)", in: directory)
      var job = PackJob(source: directory("\(version)"), output: directory("\(version).pack"), name: try PackName(Self.id))
      (job.packVersion, job.settings.segmentSize, job.settings.frameSize) = (version, 4096, 65_536)
      (job.jobs, job.files) = (1, FaultyFiles())
      _ = try await job.run(key: try knownKey())
      opened[version] = try open(directory("\(version).pack"))
    }
    var (deltas, releases): ([[UInt8]: [UInt8]], [UInt64: Release]) = ([:], [:])
    for (version, pack) in opened.sorted(by: { $0.key < $1.key }) {
      var offers: [ManifestDelta] = []
      for distance in reach where version > distance {
        guard let base = opened[version - distance] else { continue }
        let name = "\(version - distance)-\(version).delta"
        var job = DeltaJob(from: base, to: pack, output: directory(name))
        (job.jobs, job.files) = (1, FaultyFiles())
        _ = try await job.run(key: try knownKey())
        let bytes = directory.bytes(of: name) ?? []
        let digest = try CryptoBackends.standard.digest(of: bytes.byteSpan)
        deltas[digest] = bytes
        let offer = ManifestDelta(bases: [base.contentRoot], size: UInt64(bytes.count), sha256: digest)
        if !offers.contains(where: { $0.bases == offer.bases }) { offers.append(offer) }
      }
      releases[version] = try Self.release(pack, trees[version], offers, directory.bytes(of: "\(version).pack") ?? [])
    }
    (self.deltas, self.releases) = (deltas, releases)
  }

  /// Changes one file, and sometimes renames, adds or removes one. Every fifth release is the same as an earlier one.
  private static func tree(
    after last: SampleTree?, earlier: SampleTree?, _ version: UInt64, _ scale: Int, _ random: inout SeededGenerator
  ) -> SampleTree {
    if version % 5 == 0, let earlier { return earlier }
    guard var tree = last else {
      return SampleTree(
        [
          "index.html": .init(Array("<title>1</title>".utf8)), "run": .init([1], isExecutable: true), "empty.txt": .init([]),
          "a/large.bin": .init(random.bytes(3000 * scale)), "a/same.bin": .init(random.bytes(900 * scale)),
          "b/other.bin": .init(random.bytes(500 * scale)), "b/always.bin": .init(random.bytes(2000 * scale)),
        ], emptyDirectories: ["saves"])
    }
    tree.files["index.html"] = .init(Array("<title>\(version)</title>".utf8))
    tree.files["a/large.bin"]?.bytes[Int(version) * 100 * scale] ^= 0x55
    switch version % 4 {
    case 0: tree.files["b/other-\(version).bin"] = tree.files.removeValue(forKey: "a/same.bin") ?? .init(random.bytes(700 * scale))
    case 1: tree.files["new-\(version).bin"] = .init(random.bytes(400 * scale))
    case 2: tree.files["a/same.bin"] = tree.files["b/other.bin"]
    default: tree.files.removeValue(forKey: tree.files.keys.sorted().last { $0.hasPrefix("new-") } ?? "")
    }
    return tree
  }

  private static func release(_ pack: Pack, _ tree: SampleTree?, _ offers: [ManifestDelta], _ bytes: [UInt8]) throws -> Release {
    let entry = DeltaStage.entry(try DeltaStage.entry(of: pack, bytes, .packed), offers)
    guard let tree else { preconditionFailure("there is no tree \(pack.header.packVersion)") }
    return Release(tree: tree, pack: bytes, entry: entry, manifest: try DeltaStage.release(of: entry))
  }
}
