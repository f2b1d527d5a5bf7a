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
    /// - Parameter hasFull: Whether the server has the full pack. Otherwise it has other bytes.
    mutating func publish(_ version: UInt64, from olds: [UInt64], hasFull: Bool = true) async throws {
      var listed: [ManifestDelta] = []
      for old in olds {
        let delta = try await deltas.delta(old, version)
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

  @Test("a device that follows all releases takes a delta each time", arguments: InstallMode.allCases)
  func chain(_ mode: InstallMode) async throws {
    var world = try await World(mode)
    for version in DeltaStage.versions {
      try await world.publish(version, from: version == 1 ? [] : [version - 1])
      try await world.work()
      #expect(world.cameAsDelta(version) == (version > 1), "version \(version)")
      #expect(try await world.deltas.difference(world.app.store, version) == [], "version \(version)")
    }
    #expect(world.fallbacks == [])
    #expect(try world.place.state().content().files == [])
  }
}
