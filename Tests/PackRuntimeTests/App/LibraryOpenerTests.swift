import Foundation
import TestSupport
import Testing

@testable import PackApp

/// Tests of an app with packs that open later. The server has an opener from the moment on when a test publishes it.
@Suite("An app's packs that open later", .bounded)
struct LibraryOpenerTests {
  private let place: DeliveryStage
  private var stage: StoreStage { place.stage }
  private let published = Monitor<[UInt8]>([])
  private let openers = Monitor<[String: [UInt8]]>([:])
  private let asked = Monitor<[String]>([])
  private let slept = Monitor<[UInt64]>([])
  private let isOffline = Monitor(false)

  init() throws {
    place = try DeliveryStage(waits: true)
  }

  private func publish(_ version: UInt64, _ offer: SealedOffer) throws {
    let document = try stage.manifest(version, of: [offer]).bytes
    published.withLock { $0 = document }
  }

  private func open(_ offer: SealedOffer) { openers.withLock { $0[offer.openerURL] = offer.opener } }

  /// Starts the app.
  ///
  /// - Parameter isPatient: Whether no time passes while it waits.
  private func library(_ offers: [SealedOffer], isPatient: Bool = true, session: String = "one") async throws -> PackLibrary {
    let app = try await place.app(place.network(offers.map(\.offer)), session: session, keys: KeyRing(StoreStage.ownKey()))
    return try await PackLibrary(
      app.delivery, service: app.service, exports: FileExports(stage.directory("exports")), PackLibrary.Options(),
      sleep: { [clock = place.clock, slept] seconds in
        slept.withLock { $0.append(seconds) }
        guard (try? await Task.sleep(for: isPatient ? .seconds(1000) : .milliseconds(20))) != nil else { return }
        clock.advance(Int64(clamping: seconds))
      },
      source: { [published, openers, asked, isOffline] (file) async throws(PackError) in
        switch file {
        case .manifest: return published.withLock { $0 }
        case .shard, .seen: throw PackError(.internalError, "there is nothing else")
        case .opener(let address, let size):
          asked.withLock { $0.append(address) }
          if isOffline.withLock({ $0 }) { throw PackError(.offline, "there is no network", advice: .connect) }
          guard let bytes = openers.withLock({ $0[address] }) else {
            throw PackError(.sealed, "the opener is not published", advice: .tryAgain)
          }
          guard bytes.count == size else { throw PackError(.limitExceeded, "the content is larger") }
          return bytes
        }
      })
  }

  private func status(_ packs: PackLibrary) async -> PackLibrary.Status? {
    for await status in packs.status(of: "core") { return status }
    return nil
  }

  private func isSealed(_ packs: PackLibrary) async -> Bool {
    if case .sealed(let opens?)? = await status(packs) { opens == Date(timeIntervalSince1970: 1_800_000_600) } else { false }
  }

  private func code(_ packs: PackLibrary) async -> PackError.Code? {
    await failure { () async throws(PackError) in try await packs.ensure("core") }?.code
  }

  @Test("the status says until when, and a call for it ends with that; when the opener is there, the next call opens it")
  func opening() async throws {
    let offer = try await stage.offer("core", 1, isSealed: true)
    try publish(1, offer)
    let packs = try await library([offer])
    #expect(await code(packs) == .sealed)
    #expect(await isSealed(packs))
    #expect(await packs.offers().packs.map(\.id) == ["core"])
    open(offer)
    // Within ten seconds nobody asks again.
    let count = asked.withLock { $0.count }
    #expect(await code(packs) == .sealed && asked.withLock { $0.count } == count)
    place.clock.advance(11)
    try await packs.ensure("core")
    #expect(try packs.data("core", "run") == Data([1]))
    #expect(Set(asked.withLock { $0 }) == [offer.openerURL])
    if case .ready(version: 1, update: nil)? = await status(packs) {} else { Issue.record("it is not ready") }
  }

  @Test("an update that opens later: the version before is ready until then, and the status says so")
  func update() async throws {
    let old = try await stage.offer("core", 1, isSealed: false)
    let new = try await stage.offer("core", 2, isSealed: true)
    try publish(1, old)
    let packs = try await library([old, new])
    try await packs.ensure("core")
    try publish(2, new)
    _ = try await packs.refresh()
    try await eventually("the update is not sealed") {
      if case .ready(version: 1, update: .sealed(opens: .some))? = await status(packs) { true } else { false }
    }
    try await packs.ensure("core")
    #expect(try packs.opened("core").installed.version == 1)
    open(new)
    place.clock.advance(11)
    await packs.resume()
    try await eventually("it does not open") { try await packs.store.sealed().isEmpty }
    try await packs.ensure("core")
    #expect(try packs.opened("core").installed.version == 2)
  }

  @Test("a pack that nobody asks for opens by itself, and the server is asked once each hour whatever the clock says")
  func byItself() async throws {
    let offer = try await stage.offer("core", 1, isSealed: true)
    try publish(1, offer)
    // Years before the time in the manifest.
    place.clock.advance(-300_000_000)
    let packs = try await library([offer], isPatient: false)
    try await eventually("it is asked for only a few times") { asked.withLock { $0.count } > 5 }
    #expect(try await packs.store.sealed().count == 1)
    #expect(slept.withLock { $0.filter { $0 > 60 } }.allSatisfy { $0 <= 3600 })
    open(offer)
    try await eventually("it does not open") { try await packs.store.sealed().isEmpty }
    try await packs.ensure("core")
  }

  @Test("a call waits while there is no network, and ends when the opener came")
  func offline() async throws {
    let offer = try await stage.offer("core", 1, isSealed: true)
    try publish(1, offer)
    isOffline.withLock { $0 = true }
    open(offer)
    let packs = try await library([offer], isPatient: false)
    async let ensured: Void = packs.ensure("core")
    try await eventually("nobody asks") { asked.withLock { $0.count } > 1 }
    isOffline.withLock { $0 = false }
    try await ensured
    #expect(try packs.opened("core").installed.version == 1)
  }

  @Test("a file that is not the opener is refused, and what was opened needs no server in the next process")
  func again() async throws {
    let offer = try await stage.offer("core", 1, isSealed: true)
    try publish(1, offer)
    openers.withLock { $0[offer.openerURL] = Array(offer.opener.reversed()) }
    do {
      let packs = try await library([offer], isPatient: false)
      try await eventually("nobody asks") { asked.withLock { $0.count } > 0 }
      #expect(try await packs.store.sealed().count == 1)
      open(offer)
      try await packs.ensure("core")
      await packs.stop()
    }
    stage.end("one")
    isOffline.withLock { $0 = true }
    let count = asked.withLock { $0.count }
    let packs = try await library([offer], session: "two")
    try await packs.ensure("core")
    #expect(asked.withLock { $0.count } == count)
  }
}
