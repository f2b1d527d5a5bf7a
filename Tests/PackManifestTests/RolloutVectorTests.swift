import TestSupport
import Testing

@Suite("A device takes the edition that the vector of a choice expects")
struct RolloutVectorTests {
  /// What a vector is about.
  private struct Case {
    let vector: RolloutVector
    let manifest: Manifest
    let pack: ManifestPack
    let candidate: ManifestCandidate
    let rollout: Rollout

    init(_ name: String) throws {
      let vector = try RolloutVector(named: name)
      let manifest = try Manifest(parsingSigned: vector.bytes.byteSpan)
      let pack = try #require(manifest.packs.first)
      let candidate = try #require(pack.candidate)
      rollout = try #require(manifest.rollouts.first { $0.id == candidate.rollout })
      (self.vector, self.manifest, self.pack, self.candidate) = (vector, manifest, pack, candidate)
    }

    var choice: RolloutChoice { RolloutChoice(installation: vector.installation, groups: vector.groups) }

    /// The entry as a device sees it.
    func edition(_ choice: RolloutChoice?, _ backend: any CryptoBackend) throws -> ManifestPack {
      let chooser = EditionChooser(manifest, choice, at: vector.time, backend: backend) { (id, bytes) throws(PackError) in
        id == pack.id && bytes == candidate.bytes ? vector.standing : .failed
      }
      return try chooser.edition(of: pack)
    }
  }

  @Test("the vectors are there, and name only editions")
  func vectorsAreThere() throws {
    #expect(RolloutVector.all.count > 40)
    for name in RolloutVector.all { #expect(["stable", "candidate"].contains(try RolloutVector(named: name).expect), "\(name)") }
  }

  @Test("an installation that takes no candidates takes the stable edition, whatever the rollout says", arguments: RolloutVector.all)
  func withoutChoice(_ name: String) throws {
    let sample = try Case(name)
    let edition = try sample.edition(nil, CryptoBackends.standard)
    #expect(edition == sample.pack.takingStable && !edition.isCandidate && edition.version == sample.pack.version)
  }

  @Test("an installation has the place of the vector, and takes the edition that the vector expects", arguments: RolloutVector.all)
  func choice(_ name: String) throws {
    let sample = try Case(name)
    let (vector, choice) = (sample.vector, sample.choice)
    let takes = vector.expect == "candidate"
    for backend in CryptoBackends.all {
      #expect(try choice.place(in: sample.rollout, backend: backend) == vector.place, "\(name) with \(backend.name)")
      #expect(
        try choice.takes(vector.standing, of: sample.rollout, at: vector.time, backend: backend) == takes, "\(name) with \(backend.name)")
      let edition = try sample.edition(choice, backend)
      #expect(edition.isCandidate == takes && edition.candidate == nil, "\(name) with \(backend.name)")
      #expect(edition.url == vector.url, "\(name) with \(backend.name)")
      #expect(edition.bytes == (takes ? sample.candidate.bytes : sample.pack.bytes), "\(name) with \(backend.name)")
      #expect(edition.lastingVersion == sample.pack.version, "\(name) with \(backend.name)")
    }
  }

  @Test("an installation has the place of the known answer of FORMAT.md §9.11", arguments: Backend.all)
  func knownAnswer(_ backend: Backend) throws {
    let until = try #require(ManifestTime("2027-01-01T00:00:00Z"))
    let rollout = Rollout(id: "winter", salt: (0..<16).map { UInt8($0) }, share: 0, state: .running, until: until)
    let choice = RolloutChoice(installation: (0..<32).map { UInt8($0) })
    #expect(try choice.place(in: rollout, backend: backend.value) == 9953)
  }

  @Test("rollouts and candidates with every key are written and read as by the second implementation")
  func golden() throws {
    let backend = CryptoBackends.standard
    func digest(_ text: String) throws -> [UInt8] { try backend.digest(of: Array(text.utf8).byteSpan) }
    func delta(_ i: Int, _ j: Int) throws -> ManifestDelta {
      let bases = try (0...j).map { (k: Int) throws -> [UInt8] in try digest("base \(i) \(j) \(k)") }
      return ManifestDelta(bases: bases, size: UInt64(1 + j), sha256: try digest("delta \(i) \(j)"))
    }
    func bytes(_ hex: String, _ count: Int) throws -> [UInt8] {
      try #require([UInt8](hex: String(repeating: hex, count: count), count: 8 * count))
    }

    var edition = ManifestPack.sample(version: 8)
    (edition.size, edition.sha256, edition.contentRoot) = (23_456, try bytes("abcdef0123456789", 4), try bytes("76543210fedcba98", 4))
    (edition.contentSize, edition.installSize, edition.files, edition.maxFrame) = (65_432, 73_728, 4, 40_000)
    var core = ManifestPack.sample()
    core.deltas = [try delta(1, 0)]
    var level = ManifestPack.sample("level-1")
    level.candidate = ManifestCandidate(edition, in: "autumn")
    edition.deltas = try [delta(0, 0), delta(0, 1)].sorted { $0.sha256.lexicographicallyPrecedes($1.sha256) }
    edition.stream = ManifestStream(
      launch: 100, tail: 23_256, leaves: try bytes("0123456789abcdef", 4), size: 428, sha256: try bytes("89abcdef01234567", 4))
    core.candidate = ManifestCandidate(edition, in: "winter")
    var manifest = Manifest.sample(packs: [core, level])
    manifest.issued = ManifestTime("2026-07-05T00:00:00Z")
    manifest.budget = nil
    manifest.defaults = ManifestDefaults(baseURL: "https://cdn.example.com/packs/", keyID: "e545120e613dd715")
    let until = try #require(ManifestTime("2026-12-24T00:00:00Z"))
    manifest.rollouts = [
      Rollout(id: "autumn", salt: try bytes("f0f0f0f0f0f0f0f0", 2), share: 0, state: .paused, until: until),
      Rollout(
        id: "winter", salt: (0..<16).map { UInt8($0) }, share: 2500, groups: ["beta", "staff"], state: .running, until: until),
    ]

    let golden = try SignedManifest(ManifestVector(named: "rollouts-all-keys").manifest)
    #expect(try manifest.signedBytes() == Array(golden.bytes[golden.signedBytes]))
    #expect(try golden.verify(trusting: [signingKey().publicKey]).manifest == manifest)
    // A shard has the same candidate.
    let shard = try ShardVector(named: "candidate-all-keys")
    let packs = try ShardFile.packs(shard.bytes.byteSpan, shard.shard, of: Manifest(parsingSigned: shard.signed.byteSpan))
    #expect(packs.map(\.candidate) == [core.candidate])
  }
}
