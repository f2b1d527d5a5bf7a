import Foundation
import TestSupport
import Testing

@Suite("A store with as many packs as a manifest can name", .bounded)
struct StoreScaleTests {
  /// Writes a full store directly in its documented layout, which is much faster than installing.
  private func fill(_ stage: StoreStage, _ count: Int) async throws -> SignedManifest {
    _ = try await stage.open()
    let sample = try await stage.offer(size: 10)
    var offers: [StoreStage.Offer] = []
    for number in 0..<count {
      var offer = sample
      offer.entry.id = "pack-\(number)"
      offer.entry.sha256 = try CryptoBackends.standard.digest(of: Array(offer.entry.id.utf8).byteSpan)
      offer.entry.url = "https://cdn.example.com/\(offer.entry.id)"
      offers.append(offer)
      let hex = offer.entry.sha256.hex
      try stage.directory.write(
        [UInt8](repeating: 1, count: 100), to: "store/packs/\(offer.entry.id)@1-\(hex.prefix(16)).pack")
      let bytes = "\"sha256\":\"\(hex)\",\"version\":1"
      let record =
        "{\"contents\":[{\"mode\":\"packed\",\"proven\":1,\"sha256\":\"\(hex)\",\"size\":100,\"sizeOnDevice\":4096,\"version\":1}],\"current\":{\(bytes)},"
        + "\"failures\":[],\"id\":\"\(offer.entry.id)\",\"lastUse\":0,\"schema\":\"packer-store-state/1\"}"
      try stage.directory.write(Array(record.utf8), to: "store/state/\(offer.entry.id)")
    }
    return try stage.manifest(1, offers)
  }

  @Test("can be opened, listed and purged")
  func large() async throws {
    let stage = try StoreStage()
    // The maximum only if everything is tried, because a debug build reads records slowly.
    let count = Effort.number(quick: 250, full: 2000)
    let manifest = try await fill(stage, count)
    let store = try await stage.open()
    var times = Times()
    let plan = try await times.take("adopt") { () async throws(PackError) in try await store.adopt(manifest) }
    #expect(plan.installed.count == count)
    let second = try await times.take("open") { () async throws(PackError) in try await stage.open(as: "two") }
    let known = try await times.take("manifest") { () async throws(PackError) in await second.manifest }
    #expect(known?.manifest.packs.count == count)
    #expect(try await times.take("reconcile") { () async throws(PackError) in try await store.reconcile() } == [])
    #expect(try await times.take("plan") { () async throws(PackError) in try await store.plan() }.isEmpty)
    #expect(try await times.take("installed") { () async throws(PackError) in try await store.installed() }.count == count)
    let usage = try await times.take("usage") { () async throws(PackError) in try await store.usage() }
    #expect(usage.reduce(0) { $0 + $1.sizeOnDevice } == (try stage.sizeOnDevice()))
    let report = try await times.take("purge of 10") { () async throws(PackError) in try await store.purge(toFree: 40_960) }
    #expect(report.removed.count == 10)
    print("\(count) packs: \(times.text)")
  }
}

/// The durations of the steps.
private struct Times {
  var text = ""

  mutating func take<Value: Sendable>(_ name: String, _ body: () async throws(PackError) -> Value) async throws(PackError) -> Value {
    let start = ContinuousClock().now
    let value = try await body()
    text += "\(text.isEmpty ? "" : ", ")\(name) \(ContinuousClock().now - start)"
    return value
  }
}
