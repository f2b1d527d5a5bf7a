import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackProject

/// A project with an engine, two games that contain it, and a pack that shares nothing with it.
private struct SharedProject {
  let project: ReleaseProject
  var directory: TemporaryDirectory { project.directory }

  init(_ install: InstallMode = .unpacked, _ more: String = "", base: String = "base: engine") throws {
    project = try ReleaseProject(
      """
      serve: {baseURL: "https://cdn.example.com/packs/"}
      packs:
        - {id: game-one, root: build/one, \(base), install: \(install.rawValue)}
        - {id: game-two, root: build/two, \(base), install: \(install.rawValue), delivery: onDemand}
        - {id: other, root: build/other, base: engine}
        - {id: engine, root: build/engine}
      \(more)

      """)
    var random = SeededGenerator(seed: 40)
    let engine = random.bytes(60_000)
    try fill(engine)
    for (name, seed) in [("one", 41), ("two", 42), ("other", 43)] as [(String, UInt64)] {
      var own = SeededGenerator(seed: seed)
      try project.add("\(name)/level.bin", own.bytes(name == "other" ? 30_000 : 5000))
    }
  }

  /// Puts the engine's file into its pack and into the games.
  func fill(_ engine: [UInt8]) throws {
    for name in ["engine/engine.wasm", "one/lib/engine.wasm", "two/engine.0f3c.wasm"] { try project.add(name, engine) }
  }

  func catalogue() throws -> ReleaseCatalogue { try ReleaseCatalogue(try project.manifest(), in: directory("dist")) }

  func entry(_ id: String) throws -> ManifestPack { try #require(try catalogue().packs.first { $0.id == id }) }

  func deltas(_ id: String) throws -> [ManifestDelta] { try catalogue().packs.first { $0.id == id }?.deltas ?? [] }

  func open(_ id: String) throws -> Pack { try Pack.open(directory("dist/\(try entry(id).fileName)"), key: try sampleKey()) }

  /// Opens a store that has accepted the manifest.
  func store() async throws -> AssetStore {
    try await AssetStore(
      root: directory("store"), keys: KeyRing(try sampleKey()), trusting: [try ReleaseProject.signingKey(0).publicKey],
      policy: StorePolicy(freeSpaceMargin: 0))
  }

  /// Installs the release as `packer store install` does, and returns the files that were used.
  func install(in store: AssetStore) async throws -> [String] {
    var files: [String] = []
    let outcome = try await ReleaseInstallation(release: directory("dist")).run(in: store, taking: .copying, mode: nil) {
      (file, install) async throws(PackError) in
      files.append(String(file.split(separator: "/").last ?? ""))
      return try await install(nil)
    }
    for arrival in outcome.installed { try await store.activate(arrival.pack.id, onTrial: false) }
    return files
  }

  /// The files of a pack's source that the store does not have.
  func missing(_ id: String, _ source: String, in store: AssetStore) async throws -> [String] {
    let pack = try await store.open(id)
    let names = try FileManager.default.subpathsOfDirectory(atPath: directory("build/\(source)"))
    return try names.filter { name in
      guard let bytes = directory.bytes(of: "build/\(source)/\(name)") else { return false }
      return try pack.read(name) != bytes
    }
  }
}

@Suite("Packs over a shared base", .bounded)
struct SharedBaseTests {
  private func failure(_ body: () async throws(PackError) -> Void) async -> PackError? {
    do throws(PackError) {
      try await body()
      return nil
    } catch {
      return error
    }
  }

  /// Applies a delta to a pack, and returns the content root that it makes.
  private func contentRoot(of path: String, over base: Pack) throws -> [UInt8] {
    var application = try DeltaApplication(try DeltaPack.open(path, key: try sampleKey()), over: [base])
    try application.prove()
    return application.delta.head.target
  }

  @Test("a delta over the base is made with the first release, named in the entry, and makes the whole pack")
  func made() async throws {
    let sample = try SharedProject()
    let report = try await sample.project.build()
    for id in ["game-one", "game-two"] {
      let (entry, delta) = (try sample.entry(id), try #require(try sample.deltas(id).first))
      let engine = try sample.entry("engine").contentRoot
      #expect(entry.basePack == "engine" && delta.bases == [engine])
      #expect(delta.size * 5 < entry.size)
      let name = ManifestPack.publishedName(id, delta.sha256)
      #expect(try contentRoot(of: sample.directory("dist/\(name)"), over: try sample.open("engine")) == entry.contentRoot)
    }
    #expect(report.updates.map(\.basePack) == ["engine", "engine", "engine"] && report.updates.map(\.manifest) == [nil, nil, nil])
  }

  @Test("a pack that shares too little with its base has no delta, and its entry names no base, so that no device looks for one")
  func unworthy() async throws {
    let sample = try SharedProject()
    let report = try await sample.project.build()
    #expect(report.updates.first { $0.id == "other" }?.action == .omitted)
    #expect(try sample.entry("other").basePack == nil && sample.deltas("other").isEmpty)
  }

  @Test("deltas over a base are reused while both packs stay, made again when one changes, and the same on any number of threads")
  func reused() async throws {
    let sample = try SharedProject()
    try await sample.project.build()
    let before = sample.project.contents()
    #expect(try await sample.project.build().updates.map(\.action) == [.reused, .reused, .omitted])
    #expect(sample.project.contents() == before)
    try sample.project.remove("dist")
    try await sample.project.build { $0.jobs = 1 }
    #expect(sample.project.contents() == before)
    try sample.project.add("two/level.bin", [1, 2, 3])
    #expect(try await sample.project.build(on: 2).updates.map(\.action) == [.reused, .made, .omitted])
    var random = SeededGenerator(seed: 50)
    try sample.fill(random.bytes(61_000))
    #expect(try await sample.project.build(on: 3).updates.map(\.action) == [.made, .made, .omitted])
    #expect(try await sample.project.build(on: 3) { $0.isTrial = true }.updates.map(\.action) == [.planned, .planned, .planned])
  }

  @Test("a delta over a base and one from an earlier edition of the same version are not mixed up")
  func sameVersion() async throws {
    let sample = try SharedProject()
    try await sample.project.build()
    let engine = try sample.entry("engine")
    let earlier = try Dictionary(uniqueKeysWithValues: ["game-one", "game-two"].map { ($0, try sample.entry($0)) })
    try sample.project.record(keepsPacks: true)
    for name in ["one", "two"] { try sample.project.add("\(name)/level.bin", [UInt8](repeating: 7, count: 3000)) }
    let report = try await sample.project.build(on: 2)
    #expect(report.updates.filter { $0.id != "other" }.map(\.action) == [.made, .made, .made, .made])
    for (id, old) in earlier {
      let (entry, deltas) = (try sample.entry(id), try sample.deltas(id))
      #expect(entry.version == 2 && old.version == 1 && engine.version == 1 && deltas.count == 2)
      #expect(Set(deltas.map(\.bases)) == [[engine.contentRoot], [old.contentRoot]])
      for delta in deltas {
        let base = delta.bases == [engine.contentRoot] ? "dist/\(engine.fileName)" : "released/\(old.fileName)"
        let name = ManifestPack.publishedName(id, delta.sha256)
        let opened = try Pack.open(sample.directory(base), key: try sampleKey())
        #expect(try contentRoot(of: sample.directory("dist/\(name)"), over: opened) == entry.contentRoot)
      }
    }
  }

  @Test("players of the last release pay for a new pack over a base that they have, or get before it")
  func downloads() async throws {
    let sample = try SharedProject()
    try await sample.project.build()
    var recording = ReleaseRecording(dist: sample.directory("dist"), lockPath: sample.directory("packer.lock.json"))
    recording.configuration = try PackerConfiguration.read(sample.directory("packer.yml"))
    _ = try recording.record()
    var random = SeededGenerator(seed: 51)
    try sample.fill(random.bytes(62_000))
    let report = try await sample.project.build(on: 2)
    let packs = try #require(report.downloads.first?.packs)
    #expect(packs.map { "\($0.id) \($0.isDelta)" }.sorted() == ["engine false", "game-one true", "game-two true"])
  }

  @Test(
    "the store installs the base first, and the others over it: unpacked, or packed as a file of their own", arguments: InstallMode.allCases
  )
  func installed(_ mode: InstallMode) async throws {
    let sample = try SharedProject(mode)
    try await sample.project.build()
    let store = try await sample.store()
    let files = try await sample.install(in: store)
    let delta = ManifestPack.publishedName("game-one", try #require(try sample.deltas("game-one").first).sha256)
    let engine = try #require(files.firstIndex(of: try sample.entry("engine").fileName))
    #expect(files.firstIndex(of: delta).map { $0 > engine } == true, "\(files)")
    #expect(try await sample.missing("game-one", "one", in: store) == [])
    if mode == .unpacked {
      // A second name of a file of the engine would count twice, and removing either would free nothing.
      let path = try #require(try await store.installed().first { $0.id == "game-one" }).path + "/lib/engine.wasm"
      #expect(try FileManager.default.attributesOfItem(atPath: path)[.referenceCount] as? Int == 1)
    }
    // Nothing depends on the base any more.
    try await store.remove("engine")
    #expect(try await store.reconcile(.thorough).isEmpty)
    #expect(try await sample.missing("game-one", "one", in: store) == [])
    #expect(try await store.installed().contains { $0.id == "game-one" })
  }

  @Test("over a base that is unpacked, packed, or damaged", arguments: InstallMode.allCases)
  func otherMode(_ mode: InstallMode) async throws {
    let sample = try SharedProject(mode)
    try await sample.project.build()
    let store = try await sample.store()
    let document = try SignedManifest(try #require(sample.directory.bytes(of: "dist/manifest.json")))
    try await store.adopt(document)
    try await store.takeShards(from: sample.directory("dist"))
    let other: InstallMode = mode == .packed ? .unpacked : .packed
    try await store.install(sample.directory("dist/\(try sample.entry("engine").fileName)"), as: "engine", taking: .copying, mode: other)
    let delta = sample.directory("dist/\(ManifestPack.publishedName("game-two", try #require(try sample.deltas("game-two").first).sha256))")
    try await store.install(delta, as: "game-two", taking: .copying)
    try await store.activate("game-two", onTrial: false)
    #expect(try await sample.missing("game-two", "two", in: store) == [])

    let engine = try #require(try await store.installed().first { $0.id == "engine" })
    let path = other == .packed ? engine.path : "\(engine.path)/engine.wasm"
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    bytes[bytes.count / 2] ^= 1
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let one = sample.directory("dist/\(ManifestPack.publishedName("game-one", try #require(try sample.deltas("game-one").first).sha256))")
    let refusal = await failure { () async throws(PackError) in _ = try await store.install(one, as: "game-one", taking: .copying) }
    #expect(refusal?.code == .wrongBase && refusal?.message.contains("version 1 of pack 'engine'") == true)
    try await store.remove("engine")
    let missing = await failure { () async throws(PackError) in _ = try await store.install(one, as: "game-one", taking: .copying) }
    #expect(missing?.code == .wrongBase)
  }
}
