import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate
@testable import PackProject

/// A project with many on-demand packs of one small file.
struct OnDemandProject {
  let project: ReleaseProject
  let count: Int

  /// - Parameter additions: Further lines at the top level of packer.yml.
  init(_ count: Int, additions: String = "") throws {
    self.count = count
    project = try ReleaseProject(Self.configuration(count) + additions)
    for number in 0..<count { try project.add(Self.file(number), Array("level \(number)".utf8)) }
  }

  private static func configuration(_ count: Int) -> String {
    """
    app: {bundleID: com.example.arcade, group: group.com.example.arcade}
    serve: {baseURL: "https://cdn.example.com/packs/"}
    packs:
      - {id: core, root: build/core, delivery: essential, tags: [boot]}

    """
      + (count > 0 ? "  - {id: \"even-${name}\", each: \"build/even/*\", delivery: onDemand, tags: [all, even]}\n" : "")
      + (count > 1 ? "  - {id: \"odd-${name}\", each: \"build/odd/*\", delivery: onDemand, tags: [all, odd]}\n" : "")
  }

  static func id(_ number: Int) -> String { "\(number % 2 == 0 ? "even" : "odd")-\(1000 + number)" }
  static func file(_ number: Int) -> String { "\(number % 2 == 0 ? "even" : "odd")/\(1000 + number)/level.txt" }

  var ids: [String] { (["core"] + (0..<count).map(Self.id)).sorted() }

  func catalogue() throws -> ReleaseCatalogue { try ReleaseCatalogue(try project.manifest(), in: project.directory("dist")) }

  /// The contents of the release's shards, by name.
  func shards() -> [String: [UInt8]] { project.contents().filter { $0.key.hasSuffix(".shard") } }

  /// Makes a catalogue that this project has in the lock file, of some number of shards.
  func setShards(_ count: Int) throws {
    var lock = try project.lock()
    lock.released?.shards = count
    try lock.write(to: project.directory("packer.lock.json"))
  }

  /// Signs and writes a changed manifest.
  func write(_ manifest: Manifest) throws {
    let signed = try manifest.signedBytes()
    let document = try SignedManifest(
      signed: signed, signatures: [SignedManifest.signature(of: signed, by: try ReleaseProject.signingKey(0))])
    try project.directory.write(document.bytes, to: "dist/manifest.json")
  }

  /// Verifies the release without its payloads.
  func report(_ change: (inout ReleaseVerification) -> Void = { _ in }) async throws -> ReleaseReport {
    var verification = ReleaseVerification(project.directory("dist"), now: ReleaseProject.time().now)
    verification.trusted = TrustedKeys([try ReleaseProject.signingKey(0).publicKey])
    verification.configuration = try PackerConfiguration.read(project.directory("packer.yml"))
    verification.isQuick = true
    verification.jobs = 2
    change(&verification)
    return try await verification.run(key: Shared(try TestSupport.key(filledFrom: 0)))
  }
}

extension ReleaseReport {
  /// The rules of its errors.
  fileprivate var errors: Set<String> { Set(findings.filter { $0.level == .error }.map(\.rule.id)) }
}

@Suite("A release with many on-demand packs", .bounded)
struct ReleaseCatalogueTests {
  @Test("lists all of them in its catalogue, also a single one", arguments: [0, 1, 70])
  func catalogue(_ count: Int) async throws {
    let sample = try OnDemandProject(count)
    let report = try await sample.project.build()
    let manifest = try sample.project.manifest()
    #expect(try sample.catalogue().packs.map(\.id) == sample.ids)
    #expect(manifest.packs.map(\.id) == ["core"])
    #expect(manifest.catalogue.count == (count == 0 ? 0 : 1) && report.release?.shards == manifest.catalogue.count)
    #expect(manifest.catalogue.map(\.maxCount) == (count == 0 ? [] : [UInt64(count)]))
    #expect(Set(manifest.catalogue.map(\.fileName)) == Set(sample.shards().keys))
    let record = try BuildRecord.read(in: sample.project.directory("dist"))
    #expect(record.files == sample.project.contents().keys.filter { $0 != BuildRecord.fileName }.sorted())
    #expect(record.packs.map(\.id) == sample.ids)
    for pack in try sample.catalogue().packs {
      #expect(pack.url == "https://cdn.example.com/packs/\(pack.fileName)")
      #expect(sample.project.directory.bytes(of: "dist/\(pack.fileName)")?.count == Int(pack.size))
    }
  }

  @Test("has no catalogue if Apple serves the packs")
  func apple() async throws {
    let sample = try OnDemandProject(70, additions: "hosting: apple\n")
    try await sample.project.build()
    #expect(try sample.project.packs().map(\.id) == sample.ids)
    #expect(sample.shards().isEmpty)
  }

  @Test("has as few shards as stay below half a megabyte, never fewer than before, and no more than 1024")
  func number() throws {
    let defaults = ManifestDefaults(baseURL: "https://cdn.example.com/packs/")
    func assembly(_ count: Int, _ description: Int = 0, atLeast least: Int = 1) throws(PackError) -> CatalogueAssembly {
      let packs = (0..<count).map { number in
        var pack = ManifestPack.sample("p\(10_000 + number)")
        pack.description = String(repeating: "x", count: description)
        return pack
      }
      return try CatalogueAssembly(packs, atLeast: least, defaults: defaults, backend: CryptoBackends.standard)
    }
    #expect(try assembly(0, atLeast: 8).shards.isEmpty)
    for count in [1, 1000, 2000, 4000] {
      let shards = try assembly(count).shards
      #expect(shards.allSatisfy { $0.contentSize < 512 << 10 } && shards.reduce(0) { $0 + $1.maxCount } == UInt64(count))
      // With half as many, one would be too large.
      let size = shards.reduce(0) { $0 + $1.contentSize }
      #expect(shards.count == 1 || size > UInt64(shards.count / 2) * 450_000, "\(count): \(shards.count)")
      #expect(shards.count & (shards.count - 1) == 0)
    }
    #expect(try assembly(1, atLeast: 16).shards.count == 16)
    #expect(try assembly(16, 100_000, atLeast: 2).shards.count > 4)
    // Two that are in the same of 1024.
    #expect(failure { () throws(PackError) in _ = try assembly(300, 400_000) }?.code == .invalidManifest)
  }

  @Test("keeps the number of its shards, which the lock file has, whatever becomes of its packs")
  func keptNumber() async throws {
    let sample = try OnDemandProject(6)
    try await sample.project.build()
    try sample.project.record()
    try sample.setShards(4)
    let lock = String(decoding: sample.project.directory.bytes(of: "packer.lock.json") ?? [], as: UTF8.self)
    #expect(lock.contains("\"shards\": 4"))
    try sample.project.add(OnDemandProject.file(0), [9])
    try await sample.project.build(on: 2)
    #expect(try sample.project.manifest().catalogue.count == 4)
    #expect(try sample.catalogue().packs.map(\.id) == sample.ids)
    #expect(try sample.project.record().lock.released?.shards == 4)
    for number in [0, 3, 5, 1024 * 2] {
      let text = lock.replacing("\"shards\": 4", with: "\"shards\": \(number)")
      #expect(failure { () throws(PackError) in _ = try ReleaseLock(JSON(parsing: Array(text.utf8))) }?.code == .invalidRecord, "\(number)")
    }
  }

  @Test("is the same whatever the number of threads, and an unchanged one stays byte for byte, with the files of its shards")
  func determinism() async throws {
    let sample = try OnDemandProject(600)
    try await sample.project.build { $0.jobs = 2 }
    let first = sample.project.contents()
    let other = try OnDemandProject(600)
    try await other.project.build { $0.jobs = 1 }
    #expect(other.project.contents() == first)
    // The same file, as a second name.
    func nodes() -> Set<UInt64> {
      Set(
        sample.shards().keys.compactMap { name in
          try? SystemFiles().status(of: sample.project.directory("dist/\(name)"), in: nil, following: .asThemselves).inode
        })
    }
    let before = nodes()
    let report = try await sample.project.build(on: 9, isFixed: false)
    #expect(report.release?.isManifestUnchanged == true)
    #expect(sample.project.contents() == first)
    #expect(nodes() == before && !before.isEmpty)
  }

  @Test("changes one shard and the manifest if one pack changes")
  func oneChange() async throws {
    let sample = try OnDemandProject(60)
    try await sample.project.build()
    try sample.project.record()
    try sample.setShards(8)
    try sample.project.add(OnDemandProject.file(7), [1])
    try await sample.project.build(on: 2)
    try sample.project.record()
    let (before, old) = (sample.shards(), try sample.project.manifest())
    try sample.project.add(OnDemandProject.file(30), [1, 2, 3])
    let report = try await sample.project.build(on: 3)
    #expect(report.ids(.packed) == [OnDemandProject.id(30)])
    let after = sample.shards()
    #expect(Set(after.keys).subtracting(before.keys).count == 1)
    #expect(Set(before.keys).subtracting(after.keys).count == 1)
    #expect(try sample.project.manifest().version == old.version + 1)
    #expect(try sample.catalogue().packs.first { $0.id == OnDemandProject.id(30) }?.version == 2)
    #expect(try sample.project.record().lock.released?.packs.first { $0.id == OnDemandProject.id(30) }?.version == 2)
  }

  @Test("keeps the bytes of an earlier shard that another zstd made")
  func otherCompression() throws {
    let packs = (0..<100).map { number in
      ManifestPack.sample("p\(1000 + number)")
    }
    let defaults = ManifestDefaults(baseURL: "https://cdn.example.com/packs/")
    let assembly = try CatalogueAssembly(packs, atLeast: 1, defaults: defaults, backend: CryptoBackends.standard)
    let json = try ShardContent.bytes(packs, defaults)
    let digest = try CryptoBackends.standard.digest(of: json.byteSpan)
    let other: [UInt8] = [1, 2, 3]
    let later = try CatalogueAssembly(packs, atLeast: 1, defaults: defaults, backend: CryptoBackends.standard, earlier: [digest: other])
    #expect(later.files.map(\.isReused) == [true])
    #expect(later.files.map(\.bytes) == [other] && later.shards[0].size == 3)
    #expect(assembly.files.map(\.isReused) == [false])
  }

  @Test("replaces a shard of the earlier build that was changed, and refuses to remove one that packer did not make")
  func earlierShards() async throws {
    let sample = try OnDemandProject(70)
    try await sample.project.build()
    let first = sample.project.contents()
    let shard = try #require(sample.shards().keys.sorted().first)
    try sample.project.directory.write([0], to: "dist/\(shard)")
    try await sample.project.build()
    #expect(sample.project.contents() == first)
    try sample.project.remove("dist/\(shard)")
    try await sample.project.build()
    #expect(sample.project.contents() == first)
    try sample.project.directory.write([0], to: "dist/catalogue-0000000000000000.shard")
    #expect(await sample.project.refusal()?.code == .outputExists)
  }

  @Test("is the earlier one or the new one if a build stops at any file operation")
  func everyStop() async throws {
    let sample = try OnDemandProject(66)
    try await sample.project.build()
    let before = sample.project.contents()
    try sample.project.add(OnDemandProject.file(3), [1, 2, 3])
    let counting = FaultyFiles()
    try await sample.project.build {
      $0.files = counting
      $0.jobs = 1
    }
    let after = sample.project.contents()
    for number in stride(from: 5, to: counting.calls.count, by: 397) {
      try sample.project.remove("dist")
      for (name, bytes) in before { try sample.project.directory.write(bytes, to: "dist/\(name)") }
      _ = await sample.project.refusal {
        $0.files = FaultyFiles.stopping(at: number)
        $0.jobs = 1
      }
      let contents = sample.project.contents()
      let isWhole = contents == before || contents == after
      #expect(isWhole, "from call \(number) on")
    }
  }

  @Test("reserves what the manifest holds and half as much again, whatever was configured before, and the checks agree")
  func reserve() async throws {
    let sample = try OnDemandProject(70, additions: "manifestCeiling: 1 KiB\n")
    let report = try await sample.project.build()
    #expect(report.release?.manifestCeiling == 64 << 10)
    #expect(report.remarks.isEmpty)
    #expect(try await sample.report().errors.isEmpty)
    // 300 packs that a first launch needs, at some 400 bytes each.
    var manifest = try sample.project.manifest()
    manifest.packs = (0..<300).map { number in
      var pack = ManifestPack.sample("p\(1000 + number)")
      pack.delivery = .prefetch
      return pack
    }
    let held = try manifest.contentBytes().count
    let size = try ManifestReserve.size(for: manifest, keysSize: 2000, configured: 64 << 10)
    #expect(size % (64 << 10) == 0 && size > UInt64(held) * 3 / 2 && size < UInt64(held) * 3 / 2 + (70 << 10))
    #expect(try ManifestReserve.size(for: manifest, keysSize: 0, configured: 1 << 19) == 1 << 19)
    manifest.catalogue = []
    #expect(try ManifestReserve.size(for: manifest, keysSize: 0, configured: 1024) == 1024)
  }

  @Test("cannot be recorded or followed with a shard that is missing or changed")
  func recording() async throws {
    let sample = try OnDemandProject(70)
    try await sample.project.build()
    let place = sample.project.directory("dist/manifest.json")
    let keys = TrustedKeys([try ReleaseProject.signingKey(0).publicKey])
    #expect(try PublishedManifest.read(place, trusting: keys).packs.map(\.id) == sample.ids)
    for (name, bytes) in sample.shards() {
      var changed = bytes
      changed[bytes.count / 2] ^= 1
      try sample.project.directory.write(changed, to: "dist/\(name)")
      #expect(failure { () throws(PackError) in try sample.project.record() }?.code == .wrongShard)
      #expect(failure { () throws(PackError) in _ = try PublishedManifest.read(place, trusting: keys) }?.code == .wrongShard)
      try sample.project.remove("dist/\(name)")
      #expect(failure { () throws(PackError) in try sample.project.record() }?.code == .missingInput)
      try sample.project.directory.write(bytes, to: "dist/\(name)")
    }
    try sample.project.record()
    #expect(try sample.project.lock().released?.packs.map(\.id) == sample.ids)
  }

  @Test("follows the versions of packs that only a published catalogue knows")
  func published() async throws {
    let sample = try OnDemandProject(70)
    try await sample.project.build()
    try sample.project.record()
    try sample.project.add(OnDemandProject.file(8), [1])
    try await sample.project.build(on: 2)
    // Published, but its record was lost.
    let published = try PublishedManifest.read(
      sample.project.directory("dist/manifest.json"), trusting: TrustedKeys([try ReleaseProject.signingKey(0).publicKey]))
    try sample.project.remove("dist")
    try sample.project.add(OnDemandProject.file(8), [2])
    try await sample.project.build(on: 3) { $0.published = published }
    #expect(try sample.catalogue().packs.first { $0.id == OnDemandProject.id(8) }?.version == 3)
    #expect(try sample.project.manifest().version == 3)
  }
}

@Suite("The checks of a release with a catalogue", .bounded)
struct CatalogueCheckTests {
  @Test("a sound release passes, also with --quick and without a key")
  func sound() async throws {
    let sample = try OnDemandProject(70)
    try await sample.project.build()
    let report = try await sample.report()
    #expect(report.errors.isEmpty, "\(report.findings.map(\.headline))")
    #expect(report.facts.first { $0.name == "packs" }?.value == "71 of 71 opened, headers and digests checked")
    #expect(try await sample.report { $0.isQuick = false }.errors.isEmpty)
  }

  @Test("a missing shard is found, and its packs are not taken for strangers")
  func missing() async throws {
    let sample = try OnDemandProject(70)
    try await sample.project.build()
    let name = try #require(sample.shards().keys.first)
    try sample.project.remove("dist/\(name)")
    let report = try await sample.report()
    #expect(report.errors == ["PK2021"])
    #expect(report.findings.first { $0.rule.id == "PK2021" }?.file?.hasSuffix("dist/\(name)") == true)
    let skipped = Set(report.rules.filter { $0.missing.contains(.catalogue) }.map(\.rule.id))
    let updates: Set = ["PK2025", "PK2026", "PK2027", "PK3023", "PK5018", "PK6012"]
    #expect(skipped == updates.union(["PK1004", "PK2002", "PK2017", "PK2023", "PK5013"]))
  }

  @Test("a shard that is not the one of the manifest is found")
  func wrong() async throws {
    let sample = try OnDemandProject(70)
    try await sample.project.build()
    let other = try OnDemandProject(66)
    try await other.project.build()
    let (name, bytes) = try #require(sample.shards().first)
    let foreign = try #require(other.shards().first).value
    var changed = bytes
    changed[bytes.count - 1] ^= 1
    let faults: [(bytes: [UInt8], kind: FindingKind)] = [
      ([], .truncated), (Array(bytes.dropLast()), .truncated), (changed, .damaged), (bytes + [0], .damaged),
      (foreign, foreign.count < bytes.count ? .truncated : .damaged), ([UInt8](repeating: 0, count: 1 << 21), .damaged),
    ]
    for fault in faults {
      try sample.project.directory.write(fault.bytes, to: "dist/\(name)")
      let report = try await sample.report()
      #expect(report.errors == ["PK2022"])
      #expect(report.findings.first { $0.rule.id == "PK2022" }?.kind == fault.kind, "\(fault.bytes.count)")
    }
    try sample.project.directory.write(bytes, to: "dist/\(name)")
    #expect(try await sample.report().errors.isEmpty)
  }

  @Test("a shard that no manifest names is found")
  func stray() async throws {
    let sample = try OnDemandProject(2)
    try await sample.project.build()
    try sample.project.directory.write([1], to: "dist/catalogue-0123456789abcdef.shard")
    #expect(try await sample.report().errors == ["PK2023"])
  }

  @Test("a fault of one shard does not hide those of others, nor the packs of others")
  func oneByOne() throws {
    let directory = try TemporaryDirectory()
    try directory.makeDirectory("dist")
    let packs = (0..<100).map { ManifestPack.sample("p\(10_000 + $0)") }
    var manifest = Manifest(
      version: 1, issued: nil, expires: ReleaseProject.time().now, budget: nil,
      defaults: ManifestDefaults(baseURL: "https://cdn.example.com/packs/"), packs: [])
    let assembly = try CatalogueAssembly(packs, atLeast: 8, defaults: manifest.defaults, backend: CryptoBackends.standard)
    manifest.catalogue = assembly.shards
    for file in assembly.files { try directory.write(file.bytes, to: "dist/\(file.shard.fileName)") }
    let place = ReleaseInspection.Place(directory: directory("dist"), manifest: "")
    func sighting() throws -> CatalogueSighting { try CatalogueSighting(manifest, in: place, files: SystemFiles()) }
    #expect(try sighting().isRead && sighting().packs?.map(\.id) == packs.map(\.id))
    #expect(try ReleaseCatalogue(manifest, in: directory("dist")).packs.count == 100)
    for file in assembly.files {
      try directory.write([9], to: "dist/\(file.shard.fileName)")
      let found = try sighting()
      #expect(found.shards.filter { !$0.isRead }.map(\.shard) == [file.shard])
      #expect(found.packs?.count == 100 - Int(file.shard.maxCount))
      try directory.write(file.bytes, to: "dist/\(file.shard.fileName)")
    }
    try FileManager.default.removeItem(atPath: directory("dist/\(assembly.shards[3].fileName)"))
    #expect(try sighting().shards.filter { $0.size == nil }.map(\.shard) == [assembly.shards[3]])
    #expect(failure { () throws(PackError) in _ = try ReleaseCatalogue(manifest, in: directory("dist")) }?.code == .missingInput)
  }

  @Test("a signed shard that breaks a rule is found: a bomb, another order, a pack twice, a pack of the manifest")
  func lies() async throws {
    let sample = try OnDemandProject(70)
    try await sample.project.build()
    let sound = try sample.project.manifest()
    let listed = try sample.catalogue().packs.filter { $0.delivery == .onDemand }
    func json(_ ids: [String]) -> [UInt8] {
      let entries = ids.compactMap { id in try? ShardContent.bytes(listed.filter { $0.id == id }, sound.defaults) }
      let bodies = entries.map { String(decoding: $0.dropFirst(#"{"packs":["#.utf8.count).dropLast(2), as: UTF8.self) }
      return Array("{\"packs\":[\(bodies.joined(separator: ","))]}".utf8)
    }
    let ids = listed.map(\.id)
    // Of a kilobyte that the manifest says, 16 MiB come.
    let cases: [(content: [UInt8], contentSize: UInt64?)] = [
      ([UInt8](repeating: 0x20, count: 16 << 20), 1024), (json([ids[1], ids[0]] + ids[2...]), nil),
      (json([ids[0], ids[0]] + ids[2...]), nil), (json(ids) + [0x20], nil), ([UInt8](repeating: 0x5B, count: 100_000), nil),
    ]
    for (number, item) in cases.enumerated() {
      let file = try zstdFrame(of: item.content)
      var manifest = sound
      manifest.catalogue[0].sha256 = try CryptoBackends.standard.digest(of: file.byteSpan)
      manifest.catalogue[0].size = UInt64(file.count)
      manifest.catalogue[0].contentSize = item.contentSize ?? UInt64(item.content.count)
      try sample.write(manifest)
      for name in sample.shards().keys { try sample.project.remove("dist/\(name)") }
      try sample.project.directory.write(file, to: "dist/\(manifest.catalogue[0].fileName)")
      let report = try await sample.report()
      #expect(report.errors == ["PK2022"], "\(number)")
      #expect(failure { () throws(PackError) in _ = try sample.folderPacks() }?.code == .damagedManifest, "\(number)")
    }
    // The same pack in the manifest and in a shard.
    try sample.project.remove("dist")
    try await sample.project.build()
    var manifest = sound
    var twice = listed[5]
    twice.delivery = .prefetch
    manifest.packs.append(twice)
    try sample.write(manifest)
    #expect(try await sample.report().errors.contains("PK2022"))
  }

  @Test("a manifest that passes the allowance of a released app is a failure, not only a finding about budgets")
  func releasedReserve() throws {
    var sample = try GateSample()
    let reserved = sample.release.lock?.apps[0].budget?.essentialDownloadAllowance ?? 0
    sample.release.manifest.size = reserved - 3_000_000
    sample.release.configuration?.manifestCeiling = 1 << 20
    let report = sample.report()
    #expect(report.findings.first { $0.rule.id == "PK3007" }?.kind == .released)
    #expect(report.verdict(isStrict: false) == .released)
    sample.release.manifest.size -= 1
    #expect(!sample.report().findings.contains { $0.rule.id == "PK3007" })
  }
}

/// Returns one zstd frame.
private func zstdFrame(of bytes: [UInt8]) throws(PackError) -> [UInt8] {
  let context = try CompressionContext(level: 3)
  var frame = [UInt8](repeating: 0, count: Limits.compressBound(bytes.count))
  var span = frame.mutableByteSpan
  let size = try context.compress(bytes.byteSpan, into: &span)
  return Array(frame.prefix(size))
}

private func failure(_ body: () throws(PackError) -> Void) -> PackError? {
  do throws(PackError) {
    try body()
    return nil
  } catch {
    return error
  }
}

extension ManifestPack {
  /// An on-demand pack.
  fileprivate static func sample(_ id: String) -> ManifestPack {
    let digest = GateSample.digest(id.utf8.reduce(7 as UInt8) { $0 &* 31 &+ $1 })
    return ManifestPack(
      id: id, version: 1, url: "https://cdn.example.com/packs/\(publishedName(id, digest))", size: 1000, sha256: digest,
      contentRoot: digest, contentSize: 2000, installSize: 8192, files: 3, maxFrame: 1000, keyID: GateSample.keyID, delivery: .onDemand,
      install: .unpacked)
  }
}

extension OnDemandProject {
  /// All packs, as the commands read them.
  fileprivate func folderPacks() throws(PackError) -> [ManifestPack] {
    let folder = ReleaseFolder(project.directory("dist"))
    let document = try SignedManifest(try SystemFiles().contents(of: folder.manifestPath, limit: Manifest.largestSize))
    return try folder.packs(of: try Manifest(parsingSigned: document.bytes.byteSpan.extracting(document.signedBytes)))
  }
}
