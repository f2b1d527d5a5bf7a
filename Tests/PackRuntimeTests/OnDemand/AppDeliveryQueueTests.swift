import TestSupport
import Testing

/// Tests of an app's queue with downloads that arrive or end in other ways.
@Suite("An app's queue and the system's downloads", .bounded)
struct AppDeliveryQueueTests {
  private let place: DeliveryStage
  private var stage: StoreStage { place.stage }

  init() throws {
    place = try DeliveryStage()
  }

  /// Returns an app with a manifest of one pack.
  private func started() async throws -> (core: StoreStage.Offer, transport: FaultyTransport, app: AppDelivery) {
    let core = try await stage.offer("core", 1)
    let transport = try place.network([core])
    let app = try await place.app(transport)
    try await app.adopt(stage.manifest(1, [core]).bytes)
    return (core, transport, app)
  }

  @Test("a transport uses the same identifier for a download as the extension")
  func names() async throws {
    let (_, transport, app) = try await started()
    let plan = try await app.plan(downloads: [])
    try await app.fetch(plan)
    try await app.queue?.run(until: .idle)
    #expect(transport.calls.map(\.request.identifier) == plan.downloads.map(\.identifier.description))
    #expect(transport.calls.allSatisfy { DownloadIdentifier($0.request.identifier)?.id == "core" })
  }

  @Test("a pack that arrived in another way leaves the queue, and is not fetched again")
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

  @Test("a cancelled pack leaves the queue, and is downloaded again if the app asks for it")
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
