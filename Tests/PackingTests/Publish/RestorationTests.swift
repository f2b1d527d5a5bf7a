import Foundation
import TestSupport
import Testing

@testable import PackProject
@testable import PackPublish

/// Three releases with other movies, the third with another game.
@Suite("A rollback", .bounded)
struct RestorationTests {
  private let project: ReleaseProject

  init() async throws {
    project = try ReleaseProject()
    for day in 1...3 {
      try project.add("movie/intro.mp4", [UInt8](repeating: UInt8(day), count: 5000 + day))
      if day == 3 { try project.add("games/chess/index.html", [1, 2, 3]) }
      try await project.build(on: Int64(day))
      let publication = Publication(
        try ReleaseFiles(project.directory("dist")), at: FolderPlace(project.directory("www")), own: try project.own())
      _ = try publication.upload(publication.plan())
      try publication.publish(publication.plan())
      _ = try project.record(keepsPacks: true)
    }
    // What the sources have now is of no matter.
    try project.add("movie/intro.mp4", [9])
    try project.add("voices/hello.wav", [9])
  }

  private func restore(_ version: UInt64, key: UInt8 = 0, earlier: [UInt8] = []) async throws -> Restoration {
    let scratch = project.directory("scratch")
    try? FileManager.default.removeItem(atPath: scratch)
    try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
    return try await Restoration.run(
      version, of: try PackerConfiguration.read(project.directory("packer.yml")), lockPath: project.directory("packer.lock.json"),
      from: FolderPlace(project.directory("www")), key: Shared(try TestSupport.key(filledFrom: key)),
      earlierKeys: try earlier.map { Shared(try TestSupport.key(filledFrom: $0)) }, in: scratch, isTrial: false, jobs: 2)
  }

  private func roots(_ version: UInt64) throws -> [String: [UInt8]] {
    let lock = try project.lock()
    let last = try #require(lock.released)
    let release = try ReleasedPacks(project.directory("released")).release(version, orLast: last)
    return Dictionary(uniqueKeysWithValues: release.packs.map { ($0.id, $0.contentRoot) })
  }

  @Test("has the contents of the earlier release under higher versions; packs that it did not have stay", arguments: [1, 2] as [UInt64])
  func contents(version: UInt64) async throws {
    let restoration = try await restore(version)
    #expect(restoration.others == ["game-chess"])
    let configuration = restoration.configuration
    try await project.build(on: 4) { $0.configuration = configuration }
    let (wanted, last) = (try roots(version), try roots(3))
    let packs = try project.packs()
    #expect(try project.manifest().version == 4 && packs.count == 6)
    for pack in packs { #expect(pack.contentRoot == wanted[pack.id] ?? last[pack.id], "\(pack.id)") }
    #expect(try project.pack("movie")?.version == 4 && project.pack("voices-de")?.version == 1)
  }

  @Test("copies no more of a pack than was recorded")
  func large() async throws {
    try project.remove("released")
    let lock = try #require(try project.lock().released)
    let pack = try #require(lock.packs.first { $0.id == "movie" })
    let name = ManifestPack.publishedName(pack.id, pack.sha256)
    try project.directory.write([UInt8](repeating: 0, count: 1 << 20), to: "www/\(name)")
    let place = FolderPlace(project.directory("www"))
    try project.directory.makeDirectory("copies")
    let error = #expect(throws: PackError.self) { try place.fetch([(name, pack.size ?? 0)], to: project.directory("copies")) }
    #expect(error?.code == .wrongPack && error?.message.contains("more than \(pack.size ?? 0) bytes") == true)
    #expect(project.directory.names(in: "copies").isEmpty)
  }

  @Test("over a change of the key takes both keys, and is refused with the earlier one, or without it")
  func keyChange() async throws {
    try await project.build(on: 4, key: 5)
    _ = try project.record(keepsPacks: true)
    let back = await #expect(throws: PackError.self) { try await restore(2) }
    #expect(back?.code == .wrongKey && back?.message.contains("has replaced since") == true)
    let alone = await #expect(throws: PackError.self) { try await restore(2, key: 5) }
    #expect(alone?.code == .wrongKey && alone?.advice?.description.contains("--old-key") == true)
    let configuration = try await restore(2, key: 5, earlier: [7, 0]).configuration
    try await project.build(on: 5, key: 5) { $0.configuration = configuration }
    let (wanted, key) = (try roots(2), "\(try TestSupport.key(filledFrom: 5).id)")
    for pack in try project.packs() where wanted[pack.id] != nil { #expect(pack.contentRoot == wanted[pack.id] && pack.keyID == key) }
  }

  @Test("costs players of each earlier release a delta, also those who have the contents that come back")
  func deltas() async throws {
    var random = SeededGenerator(seed: 7)
    let movie = random.bytes(90_000)
    for day in 4...5 {
      try project.add("movie/intro.mp4", movie[..<80_000] + [UInt8(day)])
      try await project.build(on: Int64(day))
      _ = try project.record(keepsPacks: true)
    }
    let configuration = try await restore(4).configuration
    let report = try await project.build(on: 6) { $0.configuration = configuration }
    let full = try #require(try project.pack("movie")?.size)
    for manifest in [4, 5] as [UInt64] {
      let update = try #require(report.downloads.first { $0.manifest == manifest }?.packs.first { $0.id == "movie" })
      #expect(update.isDelta && update.size < 1000 && full > 80_000, "\(update)")
    }
    #expect(report.updates.count { $0.id == "movie" && $0.action == .made } == 2)
  }

  @Test("brings packs of all editions back that were not kept, as far as the place has them, and no others")
  func bases() async throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: project.directory("released")).filter { $0.hasSuffix(".pack") }
    let before = names.map { ($0, project.directory.bytes(of: "released/\($0)")) }
    let movies = names.filter { $0.hasPrefix("movie-") }
    try #require(movies.count == 3)
    for name in names { try project.remove("released/\(name)") }
    // One is gone, and one is another file there.
    let last = try #require(try project.lock().released)
    let release = try ReleasedPacks(project.directory("released")).release(2, orLast: last)
    let second = try #require(release.packs.first { $0.id == "movie" })
    let gone = ManifestPack.publishedName("movie", second.sha256)
    try project.remove("www/\(gone)")
    let wrong = ManifestPack.publishedName("movie", try #require(last.packs.first { $0.id == "movie" }).sha256)
    try project.directory.write([1, 2, 3], to: "www/\(wrong)")
    _ = try await restore(1)
    for (name, bytes) in before {
      #expect(project.directory.bytes(of: "released/\(name)") == (name == gone || name == wrong ? nil : bytes), "\(name)")
    }
  }

  @Test("takes a pack from the place if it was not kept, or is damaged, and refuses without either")
  func fetched() async throws {
    let lock = try project.lock()
    let kept = ReleasedPacks(project.directory("released"))
    let last = try #require(lock.released)
    let pack = try #require(try kept.release(1, orLast: last).packs.first { $0.id == "movie" })
    let path = kept.path(of: pack)
    let name = try #require(path.split(separator: "/").last)
    let bytes = try #require(FileManager.default.contents(atPath: path))
    try FileManager.default.removeItem(atPath: path)
    _ = try await restore(1)
    #expect(FileManager.default.contents(atPath: path) == bytes)
    try Data(bytes.reversed()).write(to: URL(fileURLWithPath: path))
    _ = try await restore(1)
    #expect(FileManager.default.contents(atPath: path) == bytes)
    try Data(bytes.reversed()).write(to: URL(fileURLWithPath: path))
    try FileManager.default.removeItem(atPath: project.directory("www/\(name)"))
    await #expect(throws: PackError.self) { try await restore(1) }
    try Data(bytes.reversed()).write(to: URL(fileURLWithPath: project.directory("www/\(name)")))
    let wrong = await #expect(throws: PackError.self) { try await restore(1) }
    #expect(wrong?.code == .wrongPack)
  }

  @Test("brings settings and packs back that packer.yml does not have any more, and leaves out what was never released")
  func settings() async throws {
    let renamed = ReleaseProject.configuration.replacingOccurrences(of: "id: movie", with: "id: film")
    try project.configure(
      renamed.replacingOccurrences(of: "delivery: onDemand", with: "delivery: essential")
        + "  - {id: extra, root: build/voices, delivery: prefetch}\n")
    let restoration = try await restore(1)
    #expect(restoration.unreleased == ["film", "extra"] && restoration.others == ["game-chess"])
    let packs = Dictionary(uniqueKeysWithValues: restoration.configuration.packs.map { ($0.id.text, $0) })
    #expect(packs["voices-de"]?.delivery == .onDemand && packs["movie"] != nil && packs["film"] == nil)
    #expect(restoration.changes == ["movie: comes back", "voices-de: delivery essential → onDemand"])
    let configuration = restoration.configuration
    try await project.build(on: 4) { $0.configuration = configuration }
    #expect(try project.pack("movie")?.version == 4)
  }

  @Test("says which releases can be brought back if a file of one is gone")
  func restorable() async throws {
    let last = try #require(try project.lock().released)
    let kept = ReleasedPacks(project.directory("released"))
    let pack = try #require(try kept.release(1, orLast: last).packs.first { $0.id == "movie" })
    let name = ManifestPack.publishedName("movie", pack.sha256)
    try project.remove("www/\(name)")
    try project.remove("released/\(name)")
    let error = await #expect(throws: PackError.self) { try await restore(1) }
    #expect(error?.code == .missingInput && error?.advice?.description == "these can: 2")
  }

  @Test("needs the packs of the newest releases, and those from which deltas are made; others that are kept may go")
  func unneeded() throws {
    let kept = ReleasedPacks(project.directory("released"))
    let lock = try project.lock()
    func names(_ from: UInt64, keep: UInt64) throws -> [String] {
      var configuration = try PackerConfiguration.read(project.directory("packer.yml"))
      configuration.updates?.from = from
      return try kept.unneeded(lock, configuration, keep: keep, deltas: 8).map(\.name)
    }
    let last = try #require(lock.released)
    let old = try ([1, 2] as [UInt64]).map { version in
      let pack = try #require(try kept.release(version, orLast: last).packs.first { $0.id == "movie" })
      return ManifestPack.publishedName(pack.id, pack.sha256)
    }
    #expect(try names(0, keep: 1).isEmpty && names(3, keep: 3).isEmpty)
    #expect(try names(2, keep: 1) == [old[0]] && names(3, keep: 2) == [old[0]])
    #expect(try names(3, keep: 1) == old.sorted())
    try kept.remove(old)
    #expect(try names(3, keep: 1).isEmpty && project.contents(of: "released").count { $0.key.hasSuffix(".pack") } > 0)
  }

  @Test("to the last release, an unknown one, or one with a pack that neither packer.yml nor the place's copy has is refused")
  func refused() async throws {
    for (version, code) in [(3, .usage), (4, .usage), (0, .missingInput)] as [(UInt64, PackError.Code)] {
      let error = await #expect(throws: PackError.self) { try await restore(version) }
      #expect(error?.code == code)
    }
    try project.configure(ReleaseProject.configuration.replacingOccurrences(of: "id: movie", with: "id: film"))
    for name in try FileManager.default.contentsOfDirectory(atPath: project.directory("www")) where name.hasPrefix("manifest-1-") {
      try FileManager.default.removeItem(atPath: project.directory("www/\(name)"))
    }
    let gone = await #expect(throws: PackError.self) { try await restore(1) }
    #expect(gone?.code == .usage && gone?.message.contains("has no pack 'movie', which manifest 1 had") == true)
  }
}
