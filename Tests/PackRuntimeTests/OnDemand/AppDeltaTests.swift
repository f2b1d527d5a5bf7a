import Foundation
import TestSupport
import Testing

@testable import PackStore

@Suite("Updates by deltas, from the manifest to the store", .bounded)
struct AppDeltaTests {
  /// A server with releases of one pack, and a device that follows them.
  private struct World {
    let place: DeliveryStage
    let deltas: DeltaStage
    let app: AppDelivery
    /// What the server has, by the identifier of the download.
    var files: [String: [UInt8]] = [:]
    /// The identifiers of what was downloaded.
    var downloaded: [String] = []
    /// The reasons of full packs in place of deltas.
    var fallbacks: [FailureReason] = []

    init(_ install: InstallMode = .packed) async throws {
      place = try DeliveryStage()
      deltas = try await DeltaStage(install, in: place.stage)
      app = try await place.app()
      _ = try await app.start()
    }

    private func identifier(_ size: UInt64, _ version: UInt64, _ sha256: [UInt8]) -> String {
      DownloadIdentifier(id: DeltaStage.id, bytes: PackBytes(version: version, size: size, sha256: sha256)).description
    }

    /// Publishes a version with deltas from others, and has the app accept it.
    ///
    /// - Parameters:
    ///   - hops: Deltas to versions in between.
    ///   - hasFull: Whether the server has the full pack. Otherwise it has other bytes.
    mutating func publish(
      _ version: UInt64, from olds: [UInt64], through hops: [(from: UInt64, to: UInt64)] = [], hasFull: Bool = true
    ) async throws {
      var listed: [ManifestDelta] = []
      for (old, new) in hops + olds.map({ ($0, version) }) {
        let delta = try await deltas.delta(old, new, final: version)
        listed.append(delta.offer)
        files[identifier(delta.offer.size, version, delta.offer.sha256)] = [UInt8](try Data(contentsOf: URL(fileURLWithPath: delta.path)))
      }
      let entry = deltas.offer(version).entry
      var full = [UInt8](try Data(contentsOf: URL(fileURLWithPath: deltas.offer(version).path)))
      if !hasFull { full[full.count / 2] ^= 1 }
      files[identifier(entry.size, version, entry.sha256)] = full
      try await app.adopt(deltas.release(version, listed).bytes)
    }

    /// Plans, downloads and installs until nothing is left to do.
    mutating func work() async throws {
      for _ in 0..<8 {
        place.clock.advance(200_000)
        var plan = try await app.plan(downloads: [])
        for download in plan.downloads {
          let name = download.identifier.description
          downloaded.append(name)
          if let reason = download.fallback { fallbacks.append(reason) }
          let path = try place.stage.directory.write(files[name] ?? [], to: "system-file")
          _ = try place.state().park(path, asDownload: name)
        }
        plan = try await app.plan(downloads: [])
        for installation in try await app.install(plan) where installation.installed != nil {
          try await app.store.activate(installation.id, onTrial: false)
        }
        if plan.downloads.isEmpty, plan.handOver.isEmpty, try await app.plan(downloads: []).downloads.isEmpty { return }
      }
    }

    /// Whether the last download of a pack was a delta.
    func cameAsDelta(_ version: UInt64) -> Bool {
      let entry = deltas.offer(version).entry
      return downloaded.last.map { $0 != identifier(entry.size, version, entry.sha256) && $0.contains("@\(version)-") } ?? false
    }
  }

  // MARK: Refusals

  @Test("a delta over a damaged base is given up, the reason is told, and the full pack comes", arguments: InstallMode.allCases)
  func damagedBase(_ mode: InstallMode) async throws {
    var world = try await World(mode)
    try await world.publish(1, from: [])
    try await world.work()
    let current = try #require(try await world.app.store.current(DeltaStage.id))
    let path = mode == .packed ? current.path : current.path + "/js/same.bin"
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    bytes[bytes.count / 2] ^= 1
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    try await world.publish(2, from: [1])
    try await world.work()
    #expect(world.fallbacks == [.base] && !world.cameAsDelta(2) && world.downloaded.count == 3)
    #expect(try await world.deltas.difference(world.app.store, 2) == [])
  }

  @Test("a delta that is another file on the server is given up, and the full pack comes")
  func damagedDelta() async throws {
    var world = try await World()
    try await world.publish(1, from: [])
    try await world.work()
    try await world.publish(2, from: [1])
    for (name, bytes) in world.files where bytes.count < 4000 && name.contains("@2-") {
      world.files[name] = Array(bytes.dropLast()) + [bytes[bytes.count - 1] ^ 1]
    }
    try await world.work()
    #expect(world.fallbacks == [.wrongBytes])
    #expect(try await world.deltas.difference(world.app.store, 2) == [])
  }

  // MARK: Updates

  @Test("with every full pack corrupted on the server, every base that is listed still arrives", arguments: InstallMode.allCases)
  func withoutFullPacks(_ mode: InstallMode) async throws {
    for old in 1...4 as ClosedRange<UInt64> {
      var world = try await World(mode)
      try await world.publish(old, from: [])
      try await world.work()
      try await world.publish(5, from: [1, 2, 3, 4], hasFull: false)
      try await world.work()
      #expect(world.cameAsDelta(5) && world.fallbacks == [], "from \(old)")
      #expect(try await world.deltas.difference(world.app.store, 5) == [], "from \(old)")
    }
  }

  @Test(
    "two deltas through a version in between are downloaded and installed together, and nothing of them is left over",
    arguments: InstallMode.allCases)
  func twoHops(_ mode: InstallMode) async throws {
    var world = try await World(mode)
    try await world.publish(1, from: [])
    try await world.work()
    try await world.publish(5, from: [3], through: [(1, 3)], hasFull: false)
    try await world.work()
    #expect(world.downloaded.count == 3 && world.fallbacks == [])
    #expect(try await world.deltas.difference(world.app.store, 5) == [])
    #expect(try await world.app.store.installed().map(\.version).max() == 5)
    #expect(try world.place.state().content().files == [])
  }

  @Test("the first of two deltas is kept while the second is downloaded, also from a plan that is older")
  func keepsFirst() async throws {
    var world = try await World()
    try await world.publish(1, from: [])
    try await world.work()
    try await world.publish(5, from: [3], through: [(1, 3)])
    var files: [String] = []
    for _ in 0..<2 {
      world.place.clock.advance(200_000)
      let plan = try await world.app.plan(downloads: [])
      let download = try #require(plan.downloads.first)
      #expect(plan.downloads.count == 1 && plan.orphans == [])
      let path = try world.place.stage.directory.write(world.files[download.identifier.description] ?? [], to: "system-file")
      files.append(download.identifier.description)
      if files.count < 2 { _ = try world.place.state().park(path, asDownload: download.identifier.description) }
    }
    let state = try world.place.state()
    #expect(try state.status(of: DeltaStage.id)?.identifier.description == files[1])
    #expect(try state.discard([files[0]]) == 0)
    #expect(try state.content().files.map(\.identifier.description) == [files[0]])
  }

  @Test("if one of two deltas is another file on the server, the full pack comes, and the reason is told", arguments: [1, 3] as [UInt64])
  func damagedHop(_ base: UInt64) async throws {
    var world = try await World()
    try await world.publish(1, from: [])
    try await world.work()
    try await world.publish(5, from: [3], through: [(1, 3)])
    let size = try await world.deltas.delta(base, base + 2).offer.size
    for (name, bytes) in world.files where bytes.count == size && name.contains("@5-") {
      world.files[name] = Array(bytes.dropLast()) + [bytes[bytes.count - 1] ^ 1]
    }
    try await world.work()
    #expect(world.fallbacks == [.wrongBytes])
    #expect(try await world.deltas.difference(world.app.store, 5) == [])
    #expect(try world.place.state().content().files == [])
  }

  @Test(
    "a device that follows all releases takes three deltas, then a full pack, if it keeps packs packed", arguments: InstallMode.allCases)
  func chain(_ mode: InstallMode) async throws {
    var world = try await World(mode)
    var ways: [Bool] = []
    for version in DeltaStage.versions {
      try await world.publish(version, from: version == 1 ? [] : [version - 1])
      try await world.work()
      ways.append(world.cameAsDelta(version))
      #expect(try await world.deltas.difference(world.app.store, version) == [], "version \(version)")
    }
    #expect(ways == (mode == .packed ? [false, true, true, true, false] : [false, true, true, true, true]))
    #expect(world.fallbacks == [])
  }
}
