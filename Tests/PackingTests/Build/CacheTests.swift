import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackProject

/// A place in memory.
final class Shelf: StoragePlace {
  struct State {
    var files: [String: [UInt8]] = [:]
    var reading: PackError?
    var writing: PackError?
    var visits = 0
    /// The number of names that were asked for.
    var asked = 0
  }

  let title = "games:cache"
  let state = Monitor(State())

  var files: [String: [UInt8]] {
    get { state.withLock { $0.files } }
    set { state.withLock { $0.files = newValue } }
  }

  /// Keeps other bytes under the name of their own digest, and lets them have the place of a pack or delta.
  func forge(_ name: String, _ bytes: [UInt8]) throws {
    let digest = try CryptoBackends.standard.digest(of: bytes.byteSpan).hex
    let others = files.filter { $0.value == Array(name.dropLast(".pack".count).utf8) }.keys
    for other in others { files[other] = Array(digest.utf8) }
    files["\(digest).pack"] = bytes
  }

  /// The packs and deltas, without the files that name them.
  var packs: [String: [UInt8]] { files.filter { $0.key.hasSuffix(".pack") } }

  func bring(_ wanted: [(name: String, limit: UInt64)], to directory: String) throws(PackError) -> Brought {
    let found = try state.withLock { (state) throws(PackError) -> [String: [UInt8]] in
      state.visits += 1
      state.asked += wanted.count
      if let error = state.reading { throw error }
      return state.files.filter { file in wanted.contains { $0.name == file.key } }
    }
    for (name, bytes) in found { try OutputFile.write(bytes, to: "\(directory)/\(name)", files: SystemFiles()) }
    return Brought()
  }

  func add(_ names: [String], from directory: String) throws(PackError) {
    for name in names {
      let bytes = try SystemFiles().contents(of: "\(directory)/\(name)", limit: 1 << 30)
      try state.withLock { (state) throws(PackError) in
        if let error = state.writing { throw error }
        state.files[name] = bytes
      }
    }
  }
}

@Suite("The cache that machines share", .bounded)
struct CacheTests {
  private static let updates = "updates: {worth: 1}\n" + ReleaseProject.configuration

  @discardableResult
  private func build(
    _ project: ReleaseProject, with shelf: Shelf?, on day: Int64 = 1, _ change: (inout ReleaseBuild) -> Void = { _ in }
  ) async throws -> ReleaseBuildReport {
    try await project.build(on: day) {
      $0.cache = shelf.map { PackCache($0, maker: "1.0") }
      change(&$0)
    }
  }

  /// Returns a project whose first release has 5 packs in the cache, and the contents of that release.
  private func filled() async throws -> (ReleaseProject, Shelf, [String: [UInt8]]) {
    let (project, shelf) = (try ReleaseProject(), Shelf())
    try await build(project, with: shelf)
    let expected = project.contents()
    try project.remove("dist")
    return (project, shelf, expected)
  }

  @Test("has every pack once, and a build elsewhere takes them instead of packing, with the same release")
  func taken() async throws {
    let (project, shelf, expected) = try await filled()
    #expect(shelf.packs.count == 5 && shelf.files.count == 10)
    let entries = shelf.files
    let report = try await build(project, with: shelf)
    #expect(report.ids(.cached).count == 5 && report.ids(.packed).isEmpty && report.remarks.isEmpty)
    #expect(project.contents() == expected && shelf.files == entries)
    // What is at the place of the release is not asked for.
    let visits = shelf.state.withLock { $0.visits }
    #expect(try await build(project, with: shelf).ids(.reused).count == 5)
    #expect(shelf.state.withLock { $0.visits } == visits)
    #expect(!project.directory.names().contains { $0.hasPrefix(".") })
  }

  @Test("and other places are left at the next piece of a file if the task is cancelled")
  func cancelled() async throws {
    let project = try ReleaseProject()
    try project.add("core/large.bin", [1, 2, 3])
    let (source, place) = (project.directory("build/core/large.bin"), project.directory("copy.bin"))
    let codes = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      func code(_ body: () throws(PackError) -> Void) -> PackError.Code? {
        do throws(PackError) {
          try body()
          return nil
        } catch {
          return error.code
        }
      }
      return [
        code { () throws(PackError) in try FileCopy.run(source, to: place, files: SystemFiles()) },
        code { () throws(PackError) in
          _ = try FileDigest.run(source, in: nil, title: source, files: SystemFiles(), backend: CryptoBackends.standard)
        },
      ]
    }.value
    #expect(codes == [.cancelled, .cancelled] && !FileManager.default.fileExists(atPath: place))
  }

  @Test("is asked for another entry if content, key, settings or version is another one")
  func names() async throws {
    let (project, shelf, _) = try await filled()
    let first = Set(shelf.packs.keys)
    try project.add("games/kart/index.html", [1])
    try project.configure(ReleaseProject.configuration.replacingOccurrences(of: "install: packed", with: "install: packed, level: 7"))
    let report = try await build(project, with: shelf)
    #expect(report.ids(.packed) == ["game-kart", "movie"] && report.remarks.isEmpty)
    #expect(Set(shelf.packs.keys).subtracting(first).count == 2)
    try project.remove("dist")
    _ = try await project.build(on: 1, key: 9) { $0.cache = PackCache(shelf, maker: "1.0") }
    #expect(shelf.packs.count == 12)
    // The next version of the same content.
    try project.record()
    try project.add("games/kart/index.html", Array("<title>kart</title>".utf8))
    try project.remove("dist")
    let again = try await build(project, with: shelf)
    #expect(again.ids(.packed).contains("game-kart"))
  }

  @Test("is not trusted: an entry that was changed is made anew, repaired and reported", arguments: 0..<8)
  func poisoned(kind: Int) async throws {
    let (project, shelf, expected) = try await filled()
    let good = shelf.files
    let names = shelf.packs.keys.sorted()
    var random = SeededGenerator(seed: UInt64(kind))
    for name in names {
      let bytes = try #require(good[name])
      shelf.files[name] =
        switch kind {
        case 0: []
        case 1: Array(bytes.dropLast())
        case 2: bytes + [0]
        case 3: random.bytes(bytes.count)
        case 4: bytes.enumerated().map { $0 == 20 ? $1 ^ 1 : $1 }
        case 5: bytes.enumerated().map { $0 == bytes.count / 2 ? $1 ^ 1 : $1 }
        case 6: bytes.enumerated().map { $0 == bytes.count - 1 ? $1 ^ 1 : $1 }
        default: good[names[(names.firstIndex(of: name)! + 1) % names.count]] ?? []
        }
    }
    let report = try await build(project, with: shelf)
    #expect(report.ids(.packed).count == 5)
    #expect(report.remarks.count == 5 && report.remarks.allSatisfy { $0.isWarning && $0.message.contains("not what it should be") })
    for name in names { #expect(report.remarks.contains { $0.hint?.contains(name) == true }) }
    #expect(project.contents() == expected && shelf.files == good)
  }

  @Test("is not trusted where the names of changed files are right, too", arguments: [20, 400, -16, -1])
  func forged(place: Int) async throws {
    let (project, shelf, expected) = try await filled()
    let good = shelf.files
    for (name, bytes) in shelf.packs {
      var forged = bytes
      forged[place < 0 ? bytes.count + place : min(place, bytes.count / 2)] ^= 1
      try shelf.forge(name, forged)
    }
    let report = try await build(project, with: shelf)
    #expect(report.ids(.packed).count == 5)
    #expect(report.remarks.count == 5 && report.remarks.allSatisfy { $0.isWarning && $0.message.contains("not what it should be") })
    #expect(project.contents() == expected && good.allSatisfy { shelf.files[$0.key] == $0.value })
  }

  @Test("has no other pack of the same contents under the name of one")
  func otherBytes() async throws {
    func made(_ settings: String) async throws -> (ReleaseProject, Shelf, String) {
      let (project, shelf) = (try ReleaseProject(), Shelf())
      try project.configure(ReleaseProject.configuration.replacingOccurrences(of: "install: packed", with: settings))
      try project.add("movie/intro.mp4", (0..<200_000).map { UInt8($0 / 7 % 251) })
      try await build(project, with: shelf)
      return (project, shelf, try #require(try project.pack("movie")?.sha256.hex) + ".pack")
    }
    let (project, shelf, name) = try await made("install: packed")
    let expected = project.contents()
    let (_, others, other) = try await made("install: packed, level: smallest")
    #expect(other != name)
    shelf.files[name] = others.files[other]
    try project.remove("dist")
    #expect(try await build(project, with: shelf).ids(.packed) == ["movie"])
    #expect(project.contents() == expected)
  }

  @Test("has the bytes that were released; if they are lost, those that replaced them")
  func released() async throws {
    let (project, shelf, expected) = try await filled()
    try await build(project, with: shelf)
    try project.record()
    try project.remove("dist")
    // As if another zstd had made the pack that was released.
    let lock = try String(contentsOfFile: project.directory("packer.lock.json"), encoding: .utf8)
    let sha256 = try #require(expected.keys.first { $0.hasPrefix("movie-") }).dropFirst("movie-".count).prefix(16)
    try project.directory.write(lock.replacingOccurrences(of: sha256, with: String(sha256.reversed())).utf8, to: "packer.lock.json")
    let report = try await build(project, with: shelf)
    #expect(report.ids(.cached).count == 4 && report.ids(.packed) == ["movie"])
    #expect(report.items.first { $0.id == "movie" }?.version == 2)
    #expect(!report.remarks.contains { $0.message.contains("cache") })
    let second = project.contents()
    try project.remove("dist")
    let again = try await build(project, with: shelf)
    #expect(again.ids(.cached).count == 5 && again.items.first { $0.id == "movie" }?.version == 2)
    #expect(project.contents() == second)
    // A released pack is found without the file that names it, whichever packer made it.
    try project.directory.write(lock.utf8, to: "packer.lock.json")
    try project.remove("dist")
    for name in shelf.files.keys where !name.hasSuffix(".pack") { shelf.files[name] = nil }
    #expect(try await build(project, with: shelf) { $0.cache = PackCache(shelf, maker: "2.0") }.ids(.cached).count == 5)
    #expect(project.contents() == expected)
  }

  @Test("has what another packer made for that only")
  func makers() async throws {
    let (project, shelf, _) = try await filled()
    let report = try await build(project, with: shelf) { $0.cache = PackCache(shelf, maker: "2.0") }
    #expect(report.ids(.packed).count == 5 && shelf.packs.count == 5 && shelf.files.count == 15)
  }

  @Test("names files that lead elsewhere, or nowhere, without harm", arguments: 0..<4)
  func references(kind: Int) async throws {
    let (project, shelf, expected) = try await filled()
    let good = shelf.files
    let names = good.keys.filter { !$0.hasSuffix(".pack") }.sorted()
    for (number, name) in names.enumerated() {
      shelf.files[name] =
        switch kind {
        case 0: Array("../../../../etc/passwd".utf8)
        case 1: good[names[(number + 1) % names.count]] ?? []
        case 2: Array(String(repeating: "0", count: 64).utf8)
        default: Array(repeating: 0x61, count: 100_000)
        }
    }
    let report = try await build(project, with: shelf)
    #expect(report.ids(.packed).count == 5 && project.contents() == expected && shelf.files == good)
    #expect(report.remarks.count == (kind == 1 ? 5 : 0))
  }

  @Test("a file that is larger than it can be is not read")
  func large() async throws {
    let (project, shelf, expected) = try await filled()
    let name = try #require(shelf.packs.min { $0.value.count < $1.value.count }?.key)
    let good = shelf.files
    shelf.files[name] = (shelf.files[name] ?? []) + [UInt8](repeating: 0, count: 2_000_000)
    let report = try await build(project, with: shelf)
    #expect(report.ids(.packed).count == 1 && report.remarks.map(\.message).contains { $0.contains("it is larger than") })
    #expect(project.contents() == expected && shelf.files == good)
  }

  @Test("that cannot be read or written is said once, and the release is made")
  func unreachable() async throws {
    let project = try ReleaseProject()
    let shelf = Shelf()
    shelf.state.withLock { $0.writing = PackError(.cannotRead, "access denied") }
    let report = try await build(project, with: shelf)
    #expect(report.ids(.packed).count == 5 && shelf.files.isEmpty)
    #expect(report.remarks.map(\.message) == ["the cache games:cache gets nothing from this build: access denied"])
    #expect(!report.remarks[0].isWarning)
    let expected = project.contents()
    try project.remove("dist")
    shelf.state.withLock { ($0.reading, $0.writing, $0.visits, $0.asked) = (PackError(.cannotRead, "no route to host"), nil, 0, 0) }
    let other = try await build(project, with: shelf)
    #expect(other.remarks.map(\.message) == ["the cache games:cache cannot be read, and what it may have is made here: no route to host"])
    #expect(other.remarks[0].isWarning && shelf.state.withLock { ($0.visits, $0.asked) == (1, 1) && $0.files.isEmpty })
    #expect(project.contents() == expected)
    // Released packs, others and deltas are asked for one after the other.
    let (second, full) = try await updated()
    full.state.withLock { ($0.reading, $0.visits) = (PackError(.cannotRead, "no route to host"), 0) }
    try await build(second, with: full)
    #expect(full.state.withLock { $0.visits } == 1)
    try project.remove("dist")
    shelf.state.withLock { $0.reading = PackError(.cancelled, "cancelled") }
    #expect(await project.refusal { $0.cache = PackCache(shelf, maker: "1.0") }?.code == .cancelled)
    #expect(!project.directory.names().contains("dist"))
  }

  /// A project whose second release has a delta, and the earlier pack only in the cache.
  private func updated(adding count: Int = 0) async throws -> (ReleaseProject, Shelf) {
    let (project, shelf) = (try ReleaseProject(Self.updates), Shelf())
    try await build(project, with: shelf)
    try project.record(keepsPacks: true)
    var random = SeededGenerator(seed: 4)
    _ = random.bytes(5000)
    var cards = random.bytes(70_000)
    cards[100] ^= 1
    try project.add("games/poker/cards.bin", cards)
    if count > 0 { try project.add("games/poker/new.bin", random.bytes(count)) }
    try project.remove("dist")
    for name in try FileManager.default.contentsOfDirectory(atPath: project.directory("released")) where name.hasSuffix(".pack") {
      try project.remove("released/\(name)")
    }
    return (project, shelf)
  }

  @Test("has the packs of earlier releases for deltas, and the deltas")
  func deltas() async throws {
    let (project, shelf) = try await updated()
    let report = try await build(project, with: shelf)
    #expect(report.ids(.packed) == ["game-poker"] && report.updates.map(\.action) == [.made])
    #expect(!report.remarks.contains { $0.isWarning })
    let expected = project.contents()
    #expect(shelf.packs.count == 7)
    try project.remove("dist")
    let again = try await build(project, with: shelf)
    #expect(again.updates.map(\.action) == [.cached] && again.updates[0].size == report.updates[0].size)
    #expect(again.ids(.packed).isEmpty && project.contents() == expected)
  }

  @Test("has a delta that is not worth it, too, which is then not made again")
  func unworthy() async throws {
    let (project, shelf) = try await updated()
    try project.configure("updates: {worth: 99.99}\n" + ReleaseProject.configuration)
    let report = try await build(project, with: shelf)
    #expect(report.updates.map(\.action) == [.omitted] && shelf.packs.count == 7)
    let files = shelf.files
    try project.remove("dist")
    let again = try await build(project, with: shelf)
    #expect(again.updates.map(\.reason) == report.updates.map(\.reason) && again.updates[0].size == report.updates[0].size)
    #expect(shelf.files == files)
  }

  @Test("a delta that was changed anywhere is made anew, from a pack of the cache", arguments: 0..<6, [false, true])
  func poisonedDelta(kind: Int, isForged: Bool) async throws {
    let (project, shelf) = try await updated()
    let before = Set(shelf.packs.keys)
    try await build(project, with: shelf)
    let (expected, good, packs) = (project.contents(), shelf.files, shelf.packs)
    let delta = try #require(
      expected.values.first { bytes in packs.contains { $0.value == bytes && !before.contains($0.key) } && bytes.count < 20_000 })
    let name = try #require(packs.first { $0.value == delta }?.key)
    let full = try #require(packs.first { $0.value.count > 50_000 }?.value)
    try project.remove("dist")
    let changed: [UInt8] =
      switch kind {
      case 0: Array(delta.dropLast(20))
      case 1: delta.enumerated().map { $0 == delta.count / 3 ? $1 ^ 1 : $1 }
      case 2: delta.enumerated().map { $0 == delta.count - 1 ? $1 ^ 1 : $1 }
      case 3: full
      case 4: []
      default: Array(delta.prefix(300))
      }
    if isForged { try shelf.forge(name, changed) } else { shelf.files[name] = changed }
    let report = try await build(project, with: shelf)
    #expect(report.updates.map(\.action) == [.made])
    #expect(report.remarks.filter { $0.message.contains("the delta of pack 'game-poker' from version 1 in the cache") }.count == 1)
    #expect(project.contents() == expected && good.allSatisfy { shelf.files[$0.key] == $0.value } && (isForged || shelf.files == good))
  }

  @Test("a delta of several segments is read to its end")
  func lastSegment() async throws {
    let (project, shelf) = try await updated(adding: 200_000)
    let before = Set(shelf.packs.keys)
    #expect(try await build(project, with: shelf).updates.map(\.action) == [.made])
    let (expected, good) = (project.contents(), shelf.files)
    let new = shelf.packs.filter { !before.contains($0.key) }
    let (name, delta) = try #require(new.min { $0.value.count < $1.value.count })
    #expect(new.count == 2 && delta.count > 190_000)
    var forged = delta
    forged[delta.count - 40_000] ^= 1
    try shelf.forge(name, forged)
    try project.remove("dist")
    let report = try await build(project, with: shelf)
    #expect(report.updates.map(\.action) == [.made] && report.remarks.contains { $0.message.contains("the delta of pack 'game-poker'") })
    #expect(project.contents() == expected && good.allSatisfy { shelf.files[$0.key] == $0.value })
  }

  @Test("a delta of another pack with the same contents is refused")
  func deltaOfAnotherPack() async throws {
    let configuration = """
      serve: {baseURL: "https://cdn.example.com/packs/"}
      updates: {worth: 1}
      packs:
        - {id: a, root: build/games/poker}
        - {id: b, root: build/voices}

      """
    let project = try ReleaseProject(configuration)
    var random = SeededGenerator(seed: 9)
    let bytes = random.bytes(70_000)
    func fill(_ bytes: [UInt8]) throws {
      for path in ["games/poker/index.html", "games/poker/cards.bin", "voices/hello.wav"] { try? project.remove("build/\(path)") }
      try project.add("games/poker/x", bytes)
      try project.add("voices/x", bytes)
    }
    try fill(bytes)
    let shelf = Shelf()
    try await build(project, with: shelf)
    try project.record(keepsPacks: true)
    let before = Set(shelf.files.keys)
    try fill(bytes.enumerated().map { $0 == 7 ? $1 ^ 1 : $1 })
    try await build(project, with: shelf)
    let (expected, good) = (project.contents(), shelf.files)
    // The files that name the two deltas change places.
    let names = good.keys.filter { name in
      !before.contains(name) && !name.hasSuffix(".pack")
        && good["\(String(decoding: good[name] ?? [], as: UTF8.self)).pack"].map { $0.count < 20_000 } ?? false
    }.sorted()
    try #require(names.count == 2)
    (shelf.files[names[0]], shelf.files[names[1]]) = (good[names[1]], good[names[0]])
    try project.remove("dist")
    let report = try await build(project, with: shelf)
    #expect(report.updates.map(\.action) == [.made, .made] && report.remarks.filter { $0.message.contains("is another delta") }.count == 2)
    #expect(project.contents() == expected && shelf.files == good)
  }

  @Test("is not in the root of a pack, nor in the release")
  func place() async throws {
    let project = try ReleaseProject("cache: build/core/cache\n" + ReleaseProject.configuration)
    let error = await project.refusal()
    #expect(error?.code == .usage && error?.message.contains("would be packed") == true)
    try project.configure("cache: build/core\n" + ReleaseProject.configuration)
    #expect(await project.refusal()?.message.contains("would be packed") == true)
    try project.configure("cache: dist/cache\n" + ReleaseProject.configuration)
    #expect(await project.refusal()?.message.contains("which a build replaces") == true)
    try project.configure("cache: games:core\n" + ReleaseProject.configuration)
    #expect(await project.refusal() == nil)
  }

  @Test("a trial run without the key takes that of the last release")
  func assumedKeys() async throws {
    let project = try ReleaseProject("perPackKeys: true\n" + ReleaseProject.configuration)
    try await project.build(on: 1)
    try project.record()
    try project.add("games/kart/index.html", [1])
    func trial() async throws(PackError) -> ReleaseBuildReport {
      try await project.build(on: 1, key: 77, signers: []) { ($0.isTrial, $0.assumesKeys) = (true, true) }
    }
    #expect(try await trial().ids(.packed) == ["game-kart"])
    try project.remove("dist")
    let report = try await trial()
    #expect(report.items.filter { $0.reason == "changed since the last release" }.map(\.id) == ["game-kart"])
    #expect(report.items.map(\.version) == [1, 2, 1, 1, 1])
  }
}
