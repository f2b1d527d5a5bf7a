import Foundation
import TestSupport
import Testing

@testable import PackPublish

/// A place whose operations can be changed.
private struct ChangedPlace: PublishingPlace {
  let base: FolderPlace
  /// Called before the manifest is replaced.
  var beforeManifest: @Sendable () -> Void = {}
  /// Called after the manifest was replaced.
  var afterManifest: @Sendable () -> Void = {}
  /// Called after files were added, with their names.
  var afterAdding: @Sendable ([String]) -> Void = { _ in }

  var title: String { base.title }
  func sizes() throws(PackError) -> [String: UInt64] { try base.sizes() }
  func contents(of name: String, limit: Int) throws(PackError) -> [UInt8]? { try base.contents(of: name, limit: limit) }
  func bring(_ files: [(name: String, limit: UInt64)], to directory: String) throws(PackError) -> Brought {
    try base.bring(files, to: directory)
  }
  func add(_ names: [String], from directory: String) throws(PackError) {
    try base.add(names, from: directory)
    afterAdding(names)
  }
  func add(_ path: String, as name: String) throws(PackError) { try base.add(path, as: name) }
  /// Whether comparing needs a download.
  var lacksDigests = false
  func hasDigests() throws(PackError) -> Bool { !lacksDigests }
  func different(_ files: [ReleaseFiles.File], from directory: String) throws(PackError) -> [ReleaseFiles.File] {
    try base.different(files, from: directory)
  }
  func remove(_ names: [String]) throws(PackError) { try base.remove(names) }
  func replaceManifest(with path: String, known: [UInt8]?) throws(PackError) {
    beforeManifest()
    try base.replaceManifest(with: path, known: known)
    afterManifest()
  }
}

extension ReleaseProject {
  /// The manifests that are signed with one key, or recorded.
  func own(signer: UInt8 = 0) throws(PackError) -> OwnManifests {
    OwnManifests(
      trusted: TrustedKeys([try Self.signingKey(signer).publicKey]), lock: try ReleaseLock.readIfPresent(directory("packer.lock.json")),
      records: ReleasedPacks(directory("released")))
  }
}

@Suite("A publication", .bounded)
struct PublicationTests {
  private let project: ReleaseProject
  private var place: String { project.directory("www") }

  init() async throws {
    project = try ReleaseProject()
    try await project.build()
  }

  private func publication(_ place: (any PublishingPlace)? = nil, signer: UInt8 = 0, replacing: UInt64? = nil) throws -> Publication {
    Publication(
      try ReleaseFiles(project.directory("dist")), at: place ?? FolderPlace(self.place, files: FaultyFiles()),
      own: try project.own(signer: signer), replacing: replacing)
  }

  private func publish(_ publication: Publication, files: any FileSystem = FaultyFiles()) throws(PackError) {
    let plan = try publication.plan()
    _ = try publication.upload(plan, files: files)
    try publication.publish(plan)
  }

  /// The next release, in which one pack has other content.
  private func next(_ movie: [UInt8] = [1, 2, 3]) async throws {
    _ = try ReleaseRecording(dist: project.directory("dist"), lockPath: project.directory("packer.lock.json")).record()
    try project.add("movie/intro.mp4", movie)
    try await project.build(on: 2)
  }

  /// The names in the release that the manifest at the place names, all of which must be there with the right bytes. Nil without a manifest.
  private func whole() throws -> UInt64? {
    guard project.directory.bytes(of: "www/manifest.json") != nil else { return nil }
    let release = try ReleaseFiles(place)
    try release.check(release.files, files: FaultyFiles())
    return release.manifest.version
  }

  @Test("has all packs and pages of the release, its manifest and a copy of that, and nothing else")
  func all() throws {
    let publication = try publication()
    let plan = try publication.plan()
    #expect(
      plan.missing.count == publication.release.files.count && plan.present.count == 0 && !plan.isPublished && plan.publishedVersion == nil)
    try publish(publication)
    let names = publication.release.files.map(\.name) + ["manifest.json", publication.release.copyName]
    #expect(Set(project.contents(of: "www").keys) == Set(names))
    #expect(project.directory.bytes(of: "www/\(publication.release.copyName)") == publication.release.manifestBytes)
    #expect(try whole() == 1)
  }

  @Test("of a published release uploads nothing, and of the next one only what is new; files of earlier ones stay")
  func again() async throws {
    try publish(publication())
    let before = project.contents(of: "www")
    let plan = try publication().plan()
    #expect(plan.isPublished && plan.missing.isEmpty && plan.publishedVersion == 1)
    try await next()
    let second = try publication().plan()
    #expect(
      second.missing.count == 1 && second.missing[0].name.hasPrefix("movie-") && second.others.count == 1 && second.publishedVersion == 1)
    try publish(publication())
    let after = project.contents(of: "www")
    #expect(try whole() == 2)
    for (name, bytes) in before where name != "manifest.json" { #expect(after[name] == bytes) }
  }

  @Test("that is only planned names files there that have other bytes and the same size")
  func changed() throws {
    try publish(publication())
    #expect(try publication().changed(publication().plan()).isEmpty)
    let name = try publication().release.files[0].name
    var bytes = try #require(project.directory.bytes(of: "www/\(name)"))
    bytes[bytes.count / 2] ^= 1
    try project.directory.write(bytes, to: "www/\(name)")
    #expect(try publication().changed(publication().plan()) == [name])
    #expect(project.directory.bytes(of: "www/\(name)") == bytes)
  }

  @Test("that loses to another publisher is taken back from the lock file and the records, and not if something else was recorded since")
  func takenBack() async throws {
    var recording = ReleaseRecording(dist: project.directory("dist"), lockPath: project.directory("packer.lock.json"))
    recording.configuration = try PackerConfiguration.read(project.directory("packer.yml"))
    let first = try recording.record()
    try recording.takeBack(first)
    #expect(
      project.directory.bytes(of: "packer.lock.json") == nil && project.contents(of: "released").keys.allSatisfy { $0 == ".gitignore" })
    _ = try recording.record()
    let before = project.directory.bytes(of: "packer.lock.json")
    let kept = project.contents(of: "released")
    try await next()
    let second = try recording.record()
    try recording.takeBack(second)
    #expect(project.directory.bytes(of: "packer.lock.json") == before && project.contents(of: "released") == kept)
    let third = try recording.record()
    try await next([4])
    let last = try recording.record()
    #expect(throws: PackError.self) { try recording.takeBack(third) }
    #expect(try ReleaseLock.read(project.directory("packer.lock.json")) == last.lock)
  }

  @Test("is refused if its manifest is more than 2^32 versions above the published one")
  func jump() async throws {
    try publish(publication())
    _ = try ReleaseRecording(dist: project.directory("dist"), lockPath: project.directory("packer.lock.json")).record()
    let lock = String(decoding: try #require(project.directory.bytes(of: "packer.lock.json")), as: UTF8.self)
    for (version, code) in [("4294967297", .releaseConflict), ("4294967296", nil)] as [(String, PackError.Code?)] {
      let changed = lock.replacing("\"manifestVersion\": 1", with: "\"manifestVersion\": \(version)")
      try project.directory.write(Array(changed.utf8), to: "packer.lock.json")
      try project.remove("dist")
      try project.add("movie/intro.mp4", [7])
      try await project.build(on: 2)
      let before = try whole()
      var failure: PackError?
      let next = try publication()
      do throws(PackError) { try publish(next) } catch { failure = error }
      #expect(failure?.code == code)
      #expect(try code == nil ? whole() == 4_294_967_297 : whole() == before)
    }
  }

  @Test(
    "of another product, or of a thief, is replaced only by name, and then whatever its version", arguments: [1, 4_000_000_000] as [UInt64])
  func foreign(version: UInt64) async throws {
    let other = try ReleaseProject()
    if version > 1 {
      try await other.build(signers: [9])
      _ = try other.record()
      let lock = String(decoding: try #require(other.directory.bytes(of: "packer.lock.json")), as: UTF8.self)
      let changed = lock.replacing("\"manifestVersion\": 1", with: "\"manifestVersion\": \(version - 1)")
      try other.directory.write(Array(changed.utf8), to: "packer.lock.json")
      try other.remove("dist")
    }
    try other.add("movie/intro.mp4", [7])
    try await other.build(signers: [9])
    for (name, bytes) in other.contents() { try project.directory.write(bytes, to: "www/\(name)") }
    try await next()
    let before = project.contents(of: "www")
    let error = #expect(throws: PackError.self) { try publication().plan() }
    #expect(error?.code == .releaseConflict && error?.message.contains("manifest \(version) for https://") == true)
    #expect(error?.message.contains("no trusted key") == true && error?.advice?.description.contains("--replace \(version)") == true)
    #expect(#expect(throws: PackError.self) { try publication(replacing: version + 1).plan() }?.code == .releaseConflict)
    #expect(project.contents(of: "www") == before)
    // What it names is compared, too: of the same size, with other bytes.
    let name = try #require(try publication().release.files.first { $0.name.hasPrefix("core-") })
    try project.directory.write([UInt8](repeating: 0, count: Int(name.size)), to: "www/\(name.name)")
    try publish(publication(replacing: version))
    #expect(try whole() == 2)
  }

  @Test("for another address is refused, unless the manifest there is recorded, or named; a newer one of a trusted key stays")
  func address() async throws {
    try publish(publication())
    try project.configure(ReleaseProject.configuration.replacing("cdn.example.com", with: "staging.example.com"))
    try await next()
    try publish(publication())
    try project.remove("packer.lock.json")
    try project.remove("dist")
    try project.configure(ReleaseProject.configuration)
    try await project.build(on: 3)
    let error = #expect(throws: PackError.self) { try publication().plan() }
    #expect(error?.code == .releaseConflict && error?.message.contains("this release is for https://cdn.example.com") == true)
    let newer = #expect(throws: PackError.self) { try publication(replacing: 2).plan() }
    #expect(newer?.message.contains("newer than manifest 1") == true)
  }

  @Test("of a project that was copied with its lock file, and has a key and an address of its own, is refused")
  func copied() async throws {
    try publish(publication())
    try project.configure(ReleaseProject.configuration.replacing("cdn.example.com", with: "other.example.com"))
    try await next()
    _ = try publication().plan()
    let error = #expect(throws: PackError.self) { try publication(signer: 9).plan() }
    #expect(error?.code == .releaseConflict && error?.advice?.description.contains("--replace 1") == true)
    try publish(publication(signer: 9, replacing: 1))
  }

  @Test("over a manifest of a dropped key needs its record")
  func dropped() async throws {
    try publish(publication())
    try await next()
    _ = try publication(signer: 9).plan()
    try project.remove("packer.lock.json")
    #expect(#expect(throws: PackError.self) { try publication(signer: 9).plan() }?.code == .releaseConflict)
  }

  @Test("to an empty place is refused with a version that nobody can have reached")
  func reached() async throws {
    try await next()
    let lock = String(decoding: try #require(project.directory.bytes(of: "packer.lock.json")), as: UTF8.self)
    try project.directory.write(
      Array(lock.replacing("\"manifestVersion\": 1", with: "\"manifestVersion\": 9007199254740990").utf8), to: "packer.lock.json")
    try project.remove("dist")
    try await project.build(on: 2)
    #expect(#expect(throws: PackError.self) { try publication().plan() }?.code == .releaseConflict)
  }

  @Test("was recorded as the last release, or is not the one to publish without recording it")
  func recorded() async throws {
    let path = project.directory("packer.lock.json")
    let release = try publication().release
    #expect(#expect(throws: PackError.self) { try project.own().checkLast(release, in: path) }?.code == .releaseConflict)
    _ = try project.record()
    try project.own().checkLast(release, in: path)
  }

  @Test("replaces a file that has another size or other bytes, and refuses one of the release that is not the one of the manifest")
  func damaged() throws {
    let name = try #require(try publication().release.files.first { $0.name.hasSuffix(".pack") }?.name)
    try project.directory.write([1, 2, 3], to: "www/\(name)")
    try publish(publication())
    #expect(try whole() == 1)
    // As an upload that was stopped may leave it: of the right size.
    try FileManager.default.removeItem(atPath: project.directory("www/manifest.json"))
    let size = try #require(project.directory.bytes(of: "www/\(name)")).count
    try project.directory.write([UInt8](repeating: 0, count: size), to: "www/\(name)")
    try publish(publication())
    #expect(try whole() == 1)
    // The same in a release that is published.
    try project.directory.write([UInt8](repeating: 0, count: size), to: "www/\(name)")
    let repair = try publication()
    #expect(try repair.upload(repair.plan()) == 1)
    #expect(try whole() == 1)
    try FileManager.default.removeItem(atPath: place)
    var bytes = try #require(project.directory.bytes(of: "dist/\(name)"))
    bytes[bytes.count - 1] ^= 1
    try project.directory.write(bytes, to: "dist/\(name)")
    #expect(#expect(throws: PackError.self) { try publish(publication()) }?.code == .wrongPack)
    #expect(project.contents(of: "www").keys.allSatisfy { $0.hasPrefix("manifest-1-") })
  }

  @Test("to a folder without room for it is refused before anything is copied")
  func full() throws {
    let files = FaultyFiles { $0.operation == .freeSpace ? .freeSpace(1000) : nil }
    let error = #expect(throws: PackError.self) { try publish(publication(FolderPlace(place, files: files))) }
    #expect(error?.code == .noSpace && error?.message.contains("bytes are missing") == true)
    #expect(project.contents(of: "www").isEmpty)
  }

  @Test("of an older release, or of another one of the same version, is refused before anything is uploaded")
  func older() async throws {
    let first = project.contents()
    try await next()
    try publish(publication())
    let before = project.contents(of: "www")
    try FileManager.default.removeItem(atPath: project.directory("dist"))
    for (name, bytes) in first { try project.directory.write(bytes, to: "dist/\(name)") }
    let older = #expect(throws: PackError.self) { try publication().plan() }
    #expect(older?.code == .releaseConflict && older?.message.contains("manifest 2, which is newer than manifest 1") == true)
    try project.add("movie/intro.mp4", [4])
    try await project.build(on: 3)
    #expect(try publication().release.manifest.version == 2)
    #expect(#expect(throws: PackError.self) { try publication().plan() }?.code == .releaseConflict)
    #expect(project.contents(of: "www") == before)
  }

  @Test("that is stopped at any file operation leaves the earlier release or the new one whole, and the next run completes it")
  func stopped() async throws {
    try publish(publication())
    let first = project.contents(of: "www")
    try await next()
    let counting = FaultyFiles()
    try publish(publication(FolderPlace(place, files: counting)))
    let last = project.contents(of: "www")
    var states: Set<UInt64> = []
    for number in 0..<counting.calls.count {
      try FileManager.default.removeItem(atPath: place)
      for (name, bytes) in first { try project.directory.write(bytes, to: "www/\(name)") }
      #expect(throws: PackError.self) { try publish(publication(FolderPlace(place, files: FaultyFiles.stopping(at: number)))) }
      states.insert(try #require(try whole()))
      try publish(publication())
      let names = Set(project.contents(of: "www").keys.filter { !$0.hasPrefix(".") })
      #expect(try whole() == 2 && names == Set(last.keys))
    }
    #expect(counting.calls.count > 20 && states.contains(1))
  }

  @Test("removes a file that arrived as another one, so that the next run uploads it again", arguments: [false, true])
  func damagedOnTheWay(lacksDigests: Bool) async throws {
    try publish(publication())
    try await next()
    let directory = project.directory
    var broken = ChangedPlace(base: FolderPlace(place, files: FaultyFiles()))
    broken.lacksDigests = lacksDigests
    broken.afterAdding = { names in
      guard let name = names.first, var bytes = directory.bytes(of: "www/\(name)") else { return }
      bytes[0] ^= 1
      _ = try? directory.write(bytes, to: "www/\(name)")
    }
    #expect(#expect(throws: PackError.self) { try publish(publication(broken)) }?.code == .wrongPack)
    #expect(try whole() == 1)
    #expect(try publication().release.files.filter { directory.bytes(of: "www/\($0.name)") == nil }.count == 1)
    // Stopped before it was compared.
    let plan = try publication().plan()
    try broken.add(plan.missing.map(\.name), from: project.directory("dist"))
    broken.afterAdding = { _ in }
    try publish(publication(broken))
    #expect(try whole() == 2)
  }

  @Test(
    "refuses a place whose manifest.json is no manifest of packs, unless it is the start of the new one", arguments: ["{}", "[1]", "x"])
  func otherManifest(text: String) throws {
    try project.directory.write(Array(text.utf8), to: "www/manifest.json")
    let error = #expect(throws: PackError.self) { try publication().plan() }
    #expect(error?.code == .releaseConflict && error?.message.contains("cannot be read") == true)
    try project.directory.write(Array(try publication().release.manifestBytes.prefix(100)), to: "www/manifest.json")
    try publish(publication())
    #expect(try whole() == 1)
  }

  @Test("does not publish a manifest whose files were removed meanwhile")
  func removedMeanwhile() async throws {
    try publish(publication())
    try await next()
    let name = try #require(try publication().release.files.first { $0.name.hasPrefix("core-") }?.name)
    let (place, before) = (place, project.directory.bytes(of: "www/manifest.json"))
    var changed = ChangedPlace(base: FolderPlace(place, files: FaultyFiles()))
    changed.afterAdding = { _ in try? FileManager.default.removeItem(atPath: "\(place)/\(name)") }
    let error = #expect(throws: PackError.self) { try publish(publication(changed)) }
    #expect(error?.code == .releaseConflict && error?.message.contains("does not have \(name) any more") == true)
    #expect(project.directory.bytes(of: "www/manifest.json") == before)
    try publish(publication())
    #expect(try whole() == 2)
  }

  @Test("notices another publisher before and after it replaces the manifest, and a file that arrived as another one")
  func others() async throws {
    try publish(publication())
    try await next()
    let (place, directory) = (place, project.directory)
    let first = try #require(directory.bytes(of: "www/manifest.json"))
    let other: @Sendable () -> Void = { _ = try? directory.write(Array("other".utf8), to: "www/manifest.json") }
    var before = ChangedPlace(base: FolderPlace(place, files: FaultyFiles()))
    before.beforeManifest = other
    #expect(#expect(throws: PackError.self) { try publish(publication(before)) }?.code == .releaseConflict)
    #expect(directory.bytes(of: "www/manifest.json") == Array("other".utf8))
    try directory.write(first, to: "www/manifest.json")
    var after = ChangedPlace(base: FolderPlace(place, files: FaultyFiles()))
    after.afterManifest = other
    let error = #expect(throws: PackError.self) { try publish(publication(after)) }
    #expect(error?.code == .releaseConflict && error?.message.contains("another manifest than was uploaded") == true)
    try FileManager.default.removeItem(atPath: place)
    var broken = ChangedPlace(base: FolderPlace(place, files: FaultyFiles()))
    broken.afterAdding = { names in _ = try? directory.write([0], to: "www/\(names[0])") }
    #expect(#expect(throws: PackError.self) { try publish(publication(broken)) }?.code == .wrongPack)
    #expect(directory.bytes(of: "www/manifest.json") == nil)
  }
}
