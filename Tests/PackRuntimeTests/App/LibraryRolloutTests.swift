import Foundation
import TestSupport
import Testing

@testable import PackApp

/// Tests of an app and its extension whose pack has a candidate.
@Suite("An app's packs during a rollout", .bounded)
struct LibraryRolloutTests {
  private let place: DeliveryStage
  private var stage: StoreStage { place.stage }
  private let published = Monitor<[UInt8]?>(nil)
  private let asked = Monitor<Int>(0)
  /// The requests, in order: the kind of a file of the server, or the address and the fields of a download.
  private let requests = Monitor<[String]>([])
  private let isHeld = Monitor(false)

  init() throws { place = try DeliveryStage(waits: true) }

  private struct Sample {
    var stable: StoreStage.Offer
    var candidate: StoreStage.Offer
    let entry: ManifestPack
  }

  private func sample() async throws -> Sample {
    var (stable, candidate) = (try await stage.offer("core", 1, size: 50_000), try await stage.offer("core", 2, size: 60_000))
    let entry = stage.entry(stable, offering: candidate)
    stable.entry.url = entry.url
    candidate.entry.url = StoreStage.base + ManifestPack.publishedName("core", candidate.entry.sha256)
    return Sample(stable: stable, candidate: candidate, entry: entry)
  }

  private func publish(_ version: UInt64, _ sample: Sample, _ change: (inout Rollout) -> Void = { _ in }) throws -> SignedManifest {
    var rollout = StoreStage.rollout
    change(&rollout)
    let document = try stage.manifest(version, [sample.entry], [rollout])
    published.withLock { $0 = document.bytes }
    return document
  }

  private func library(_ transport: any Transport, session: String = "one") async throws -> PackLibrary {
    let app = try await place.app(transport, session: session)
    return try await PackLibrary(
      app.delivery, service: app.service, exports: FileExports(stage.directory("exports")), PackLibrary.Options(),
      sleep: { [clock = place.clock] seconds in
        guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { return }
        clock.advance(Int64(clamping: seconds))
      },
      source: { [published, asked, isHeld, requests] (file) async throws(PackError) in
        requests.withLock { $0.append("\(file)") }
        guard file.isManifest else { throw PackError(.internalError, "there is nothing else") }
        asked.withLock { $0 += 1 }
        while isHeld.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(5)) }
        guard let document = published.withLock({ $0 }) else { throw PackError(.offline, "there is no network", advice: .connect) }
        return document
      })
  }

  /// A library in which version 1 runs, and the candidate is installed and has not begun.
  private func waiting(_ sample: Sample, _ network: any Transport) async throws -> PackLibrary {
    _ = try publish(1, sample) { $0.share = 0 }
    let packs = try await library(network)
    try await packs.ensure("core")
    #expect(try await running(packs) == 1)
    _ = try publish(2, sample)
    _ = try await packs.refresh()
    try await eventually("the candidate is not installed") { try await packs.store.installed("core").count == 2 }
    return packs
  }

  private func running(_ packs: PackLibrary) async throws -> UInt64? { try await packs.store.current("core")?.version }

  @Test("the candidate comes as an update does; when it is halted, the next call goes back without a download")
  func halt() async throws {
    let sample = try await sample()
    let network = try place.network([sample.stable, sample.candidate])
    let packs = try await waiting(sample, network)
    try await packs.ensure("core")
    #expect(try await running(packs) == 2)
    let before = network.calls.count
    _ = try publish(3, sample) { $0.state = .halted }
    _ = try await packs.refresh()
    // The session that runs goes on.
    #expect(try packs.data("core", "index.html") == Data(sample.candidate.tree.files["index.html"]?.bytes ?? []))
    try await packs.ensure("core")
    #expect(try await running(packs) == 1)
    #expect(try packs.data("core", "index.html") == Data(sample.stable.tree.files["index.html"]?.bytes ?? []))
    #expect(network.calls.count == before, "nothing of a pack is fetched")
  }

  @Test("before a candidate begins, a manifest that is older than a minute is asked for again: what was halted does not begin")
  func asksFirst() async throws {
    let sample = try await sample()
    let network = try place.network([sample.stable, sample.candidate])
    var packs = try await waiting(sample, network)
    await packs.back.stop()
    // The process ended before it began, and the rollout was halted before the next start, at which there was no network.
    stage.end("one")
    published.withLock { $0 = nil }
    packs = try await library(network, session: "two")
    _ = try publish(3, sample) { $0.state = .halted }
    let before = asked.withLock { $0 }
    try await packs.ensure("core")
    #expect(asked.withLock { $0 } > before)
    #expect(try await running(packs) == 1)
  }

  @Test("a process that did not open a candidate yet asks, also if the one before it ran it: what was halted goes back at once")
  func asksAgain() async throws {
    let sample = try await sample()
    let network = try place.network([sample.stable, sample.candidate])
    var packs = try await waiting(sample, network)
    try await packs.ensure("core")
    #expect(try await running(packs) == 2)
    await packs.back.stop()
    stage.end("one")
    published.withLock { $0 = nil }
    packs = try await library(network, session: "two")
    _ = try publish(3, sample) { $0.state = .halted }
    try await packs.ensure("core")
    #expect(try await running(packs) == 1)
    #expect(try packs.data("core", "index.html") == Data(sample.stable.tree.files["index.html"]?.bytes ?? []))
  }

  @Test("a server that does not answer holds a candidate up for a second and a half, and no longer; then what is known counts")
  func patience() async throws {
    let sample = try await sample()
    let network = try place.network([sample.stable, sample.candidate])
    let packs = try await waiting(sample, network)
    place.clock.advance(61)
    isHeld.withLock { $0 = true }
    let clock = ContinuousClock()
    let duration = try await clock.measure { try await packs.ensure("core") }
    isHeld.withLock { $0 = false }
    #expect(duration >= .milliseconds(1400))
    #expect(try await running(packs) == 2)
  }

  /// What a device asks for when a rollout of half of all devices is published, and the version that it runs then.
  private func asks() async throws -> (before: [String], after: [String], version: UInt64?) {
    let sample = try await sample()
    let network = try place.network([sample.stable, sample.candidate])
    _ = try publish(1, sample) { $0.share = 0 }
    let packs = try await library(network)
    try await packs.ensure("core")
    _ = try publish(2, sample) { $0.share = 5000 }
    _ = try await packs.refresh()
    let isPicked = try #require(try place.state().rolloutChoice()).place(in: StoreStage.rollout) < 5000
    if isPicked { try await eventually("it is not installed") { try await packs.store.installed("core").count == 2 } }
    try await packs.ensure("core")
    await packs.back.stop()
    let calls = network.calls.map { "\($0.request.url) \($0.offset) \($0.validator ?? "-")" }
    return (requests.withLock { $0 } + calls.prefix(1), Array(calls.dropFirst()), try await running(packs))
  }

  @Test("two devices of which one is picked make the same requests until then, and after that, only the names of files differ")
  func secrecy() async throws {
    var found: [UInt64: (before: [String], after: [String], version: UInt64?)] = [:]
    for _ in 0..<40 where found.count < 2 {
      let asks = try await LibraryRolloutTests().asks()
      found[asks.version ?? 0] = asks
    }
    let (picked, other) = (try #require(found[2]), try #require(found[1]))
    #expect(Set(picked.before) == Set(other.before) && picked.before.first == "manifest")
    #expect(other.after.isEmpty && picked.after.count == 1)
    // The address of the candidate, and nothing else.
    let sample = try await sample()
    #expect(picked.after == ["\(sample.candidate.entry.url) 0 -"])
  }

  @Test("app and extension choose alike, by random bytes that the first of them makes, and by the groups that the app says")
  func alike() async throws {
    let sample = try await sample()
    let document = try publish(1, sample) { ($0.share, $0.groups) = (0, ["testers"]) }
    let ours = try place.extension()
    func offered(_ document: SignedManifest) throws -> [UInt64] {
      ours.downloads(for: .periodic, manifestAt: try place.download(document), allowance: nil).downloads.map(\.bytes.version)
    }
    #expect(try offered(document) == [1], "the extension is first, and knows no group")
    let bytes = try #require(try place.state().rolloutChoice()).installation
    #expect(bytes.count == 32 && Set(bytes).count > 8)
    let app = AppDelivery(state: try place.state(), store: try await stage.open(), groups: ["testers", "no name", "a\nb"])
    _ = try await app.start()
    #expect(try place.state().rolloutChoice() == RolloutChoice(installation: bytes, groups: ["testers"]))
    #expect(try await app.plan().downloads.map(\.bytes.version) == [2])
    let second = try place.download(try publish(2, sample) { ($0.share, $0.groups) = (0, ["testers"]) })
    let plan = ours.downloads(for: .periodic, manifestAt: second, allowance: nil).plan
    #expect(plan?.underWay == ["core"], "it leaves the app's download alone")
    #expect(try offered(publish(3, sample) { ($0.share, $0.groups, $0.state) = (10_000, ["testers"], .halted) }) == [1])
    // A damaged file is made anew.
    _ = try stage.directory.write(Array("packer-delivery-installation/1\nrandom 00\n".utf8), to: "shared/installation")
    #expect(try place.state().rolloutChoice()?.installation != bytes)
  }
}
