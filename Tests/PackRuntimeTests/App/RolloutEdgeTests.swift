import Foundation
import TestSupport
import Testing

@testable import PackApp

/// Tests of a halt with a real server and an edge before it that keeps the manifest for a while.
@Suite("A halt behind an edge of a CDN", .bounded)
struct RolloutEdgeTests {
  private let place: DeliveryStage
  private var stage: StoreStage { place.stage }
  private let server: NginxServer
  /// For how long the edge keeps the manifest: the minute that packer asks for, or less in a quick run.
  private static let edgeSeconds = Effort.isFull ? 60 : 2

  init() throws {
    place = try DeliveryStage(waits: true)
    server = try NginxServer(in: try TemporaryDirectory(), edgeSeconds: Self.edgeSeconds)
  }

  private func publish(_ version: UInt64, _ entry: ManifestPack, _ change: (inout Rollout) -> Void = { _ in }) throws {
    var rollout = StoreStage.rollout
    change(&rollout)
    _ = try server.directory.write(stage.manifest(version, [entry], [rollout]).bytes, to: "www/manifest.json")
  }

  private func library(_ transport: any Transport, _ session: String, at path: String = "edge/manifest.json") async throws -> PackLibrary {
    let app = try await place.app(transport, session: session)
    let manifest = try #require(URL(string: "\(server.url)/\(path)"))
    return try await PackLibrary(
      app.delivery, service: app.service, manifest: manifest, exports: FileExports(stage.directory("exports")), PackLibrary.Options())
  }

  private func end(_ packs: PackLibrary, _ session: String) async {
    await packs.back.stop()
    stage.end(session)
  }

  @Test(
    "when the edge has the new manifest, no activation starts the candidate, no pack is fetched, and a device gets some kilobytes",
    .enabled(if: NginxServer.program != nil, "nginx is not installed"))
  func halt() async throws {
    var (stable, candidate) = (try await stage.offer("core", 1, size: 50_000), try await stage.offer("core", 2, size: 60_000))
    let entry = stage.entry(stable, offering: candidate)
    stable.entry.url = entry.url
    candidate.entry.url = StoreStage.base + ManifestPack.publishedName("core", candidate.entry.sha256)
    let network = try place.network([stable, candidate])
    try publish(1, entry) { $0.share = 0 }
    var packs = try await library(network, "one", at: "manifest.json")
    try await packs.ensure("core")
    try publish(2, entry)
    try await eventually("the candidate is not installed") {
      _ = try? await packs.refresh()
      return try await packs.store.installed("core").count == 2
    }
    try await packs.ensure("core")
    #expect(try await packs.store.current("core")?.version == 2)
    await end(packs, "one")
    let calls = network.calls.count
    // The edge has just got the manifest before, which devices see until its time is over.
    place.clock.advance(61)
    packs = try await library(network, "two")
    try await packs.ensure("core")
    #expect(try await packs.store.current("core")?.version == 2)
    await end(packs, "two")
    let halted = ContinuousClock.now
    let before = Int(Date().timeIntervalSince1970 * 1000)
    try publish(3, entry) { $0.state = .halted }
    var starts = 0
    while true {
      starts += 1
      place.clock.advance(61)
      packs = try await library(network, "start \(starts)")
      let asked = halted.duration(to: .now)
      try await packs.ensure("core")
      let version = try await packs.store.current("core")?.version
      await end(packs, "start \(starts)")
      if version == 1 { break }
      #expect(asked < .seconds(Self.edgeSeconds + 5), "\(asked) after the halt")
      guard asked < .seconds(Self.edgeSeconds + 5) else { break }
      try await Task.sleep(for: .milliseconds(500))
    }
    #expect(network.calls.count == calls, "nothing of a pack is fetched")
    let log = try server.log().filter { $0.path == "/edge/manifest.json" && $0.start >= before }
    print(
      "the halt came after \(halted.duration(to: .now)), \(starts) starts, \(log.count) requests, \(log.reduce(0) { $0 + $1.size }) bytes")
    // Those that found the manifest before got no content; each start may ask twice.
    #expect(log.filter { $0.status == 200 }.reduce(0) { $0 + $1.size } / starts <= 16_384)
  }
}
