import PackDelivery
import PackFiles
import PackFormat
import PackManifest
import PackOnDemand
import TestSupport
import Testing

/// What the queue of an app has to do with downloads that come and go by other ways.
@Suite("An app's queue beside the system's downloads")
struct AppDeliveryQueueTests {
  private let place: DeliveryStage
  private var stage: StoreStage { place.stage }

  init() throws {
    place = try DeliveryStage()
  }

  /// An app that has a manifest of one pack.
  private func started() async throws -> (core: StoreStage.Offer, transport: FaultyTransport, app: AppDelivery) {
    let core = try await stage.offer("core", 1)
    let transport = try place.network([core])
    let app = try await place.app(transport)
    try await app.adopt(stage.manifest(1, [core]).bytes)
    return (core, transport, app)
  }

  @Test("a transport knows a download by the name that the extension knows it by")
  func names() async throws {
    let (_, transport, app) = try await started()
    let plan = try await app.plan(downloads: [])
    try await app.fetch(plan)
    try await app.queue?.run(until: .idle)
    #expect(transport.calls.map(\.request.identifier) == plan.downloads.map(\.identifier.description))
    #expect(transport.calls.allSatisfy { DownloadIdentifier($0.request.identifier)?.id == "core" })
  }

  @Test("a pack that came by another way leaves the queue, and is not fetched a second time")
  func cameOtherwise() async throws {
    let (core, transport, app) = try await started()
    let plan = try await app.plan(downloads: [])
    try await app.fetch(plan)
    let identifier = try #require(plan.downloads.first).identifier.description
    guard case .recorded = try app.state.park(try place.download(core), asDownload: identifier) else {
      Issue.record("the file was not taken")
      return
    }
    let next = try await app.plan(downloads: [])
    #expect(next.handOver.map(\.id) == ["core"])
    try await app.fetch(next)
    try await app.queue?.run(until: .idle)
    #expect(transport.calls.isEmpty)
    #expect(try await app.install(next).first?.status?.state == .ready)
  }

  @Test("a pack that is given up leaves the queue, and comes again when it is asked for")
  func givenUp() async throws {
    let (_, transport, app) = try await started()
    try await app.fetch(try await app.plan(downloads: []))
    try await app.cancel("core")
    try await app.cancel("nothing")
    #expect(try app.state.status(of: "core")?.state == .notLoaded(.cancelled))
    try await app.fetch(try await app.plan(downloads: []))
    try await app.queue?.run(until: .idle)
    #expect(transport.calls.isEmpty)
    let asked = try await app.plan(asked: ["core"], downloads: [])
    #expect(asked.downloads.map(\.id) == ["core"])
    try await app.fetch(asked)
    try await app.queue?.run(until: .idle)
    #expect(transport.calls.count == 1)
  }
}
