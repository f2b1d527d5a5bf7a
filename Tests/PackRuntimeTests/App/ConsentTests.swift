import TestSupport
import Testing

@testable import PackApp

@Suite("Asking before downloads, and coming to the foreground", .bounded)
struct ConsentTests {
  private let place: DeliveryStage
  private var stage: StoreStage { place.stage }
  /// The manifest on the server, and how often it was asked for.
  private let published = Monitor<(document: [UInt8]?, calls: Int)>((nil, 0))
  /// The questions so far, and the answer to give. Without one, the user thinks.
  private let asked = Monitor<(questions: [DownloadQuestion], answer: Bool?)>(([], nil))

  init() throws {
    place = try DeliveryStage(waits: true)
  }

  private var questions: [DownloadQuestion] { asked.withLock { $0.questions } }

  private func answer(_ answer: Bool?) { asked.withLock { $0.answer = answer } }

  private func publish(_ version: UInt64, _ offers: [StoreStage.Offer]) throws {
    let document = try stage.manifest(version, offers).bytes
    published.withLock { $0.document = document }
  }

  private func library(
    _ transport: any Transport, limit: UInt64 = 20_000, isListExact: Bool = true, largestBatch: Int = 500
  ) async throws -> PackLibrary {
    let app = try await place.app(transport, largestBatch: largestBatch)
    var options = PackLibrary.Options()
    options.consent = DownloadConsent(above: limit) { [asked] question in
      asked.withLock { $0.questions.append(question) }
      while true {
        if let answer = asked.withLock({ $0.answer }) { return answer }
        try? await Task.sleep(for: .milliseconds(2))
      }
    }
    return try await PackLibrary(
      app.delivery, service: InexactService(service: app.service, isListExact: isListExact),
      exports: FileExports(stage.directory("exports")), options,
      sleep: { [clock = place.clock] seconds in
        try? await Task.sleep(for: .milliseconds(50))
        clock.advance(Int64(clamping: seconds))
      },
      source: { [published] (_) async throws(PackError) in
        published.withLock { $0.calls += 1 }
        guard let document = published.withLock({ $0.document }) else { throw PackError(.offline, "there is no network", advice: .connect) }
        return document
      })
  }

  private func ensuring(_ packs: PackLibrary, _ id: String) -> Task<PackError?, Never> {
    Task { await failure { () async throws(PackError) in try await packs.ensure(id) } }
  }

  @Test("a download that the user declines is cancelled, stays so, and is asked about again if it is wanted again")
  func declined() async throws {
    let offers = try await [stage.offer("film", size: 30_000, delivery: .onDemand), stage.offer("core", size: 30_000)]
    let network = try place.network(offers)
    try publish(1, offers)
    answer(false)
    let packs = try await library(network)
    try await eventually("nothing is asked about") { questions.count == 1 }
    #expect(questions == [DownloadQuestion(packs: ["core"], size: offers[1].entry.size)])
    let error = await ensuring(packs, "film").value
    #expect(error?.code == .cancelled && error?.message == "the download of pack 'film' was declined")
    try await packs.refresh()
    #expect(questions.map(\.packs) == [["core"], ["film"]])
    #expect(network.calls.isEmpty)
    answer(true)
    try await packs.ensure("film")
    #expect(questions.map(\.packs) == [["core"], ["film"], ["film"]])
    #expect(network.calls.map(\.request.identifier) == [TagStage.identifier(offers[0])])
  }

  @Test("who asks again at the moment of the answer no is asked again, as often as it happens", arguments: [true, false])
  func declinedAgain(_ isDeclined: Bool) async throws {
    let film = try await stage.offer("film", size: 30_000, delivery: .onDemand)
    let network = try place.network([film])
    try publish(1, [film])
    answer(isDeclined ? false : nil)
    let packs = try await library(network)
    for number in 1...40 {
      let task = ensuring(packs, "film")
      if isDeclined {
        try await eventually("question \(number) is lost") { questions.count == number }
      } else {
        for await status in packs.status(of: "film") { if case .waiting(.consent) = status { break } }
        try await packs.cancel("film")
      }
      #expect(await task.value?.code == .cancelled)
    }
    answer(true)
    if isDeclined { try await packs.ensure("film") }
    #expect(network.calls.count == (isDeclined ? 1 : 0))
  }

  @Test("a question is about all downloads, also those that follow when the first have ended", arguments: [true, false])
  func batches(isAgreed: Bool) async throws {
    let offers = try await (0..<7).map { "pack-\($0)" }.asyncMap { try await stage.offer($0, size: 9_000) }
    let network = try place.network(offers)
    try publish(1, offers)
    answer(isAgreed)
    // Each batch is below the limit.
    let packs = try await library(network, largestBatch: 2)
    try await eventually("the packs do not come to rest") {
      // The next batch may have been declined, too.
      await packs.offers().packs.count {
        switch $0.status {
        case .ready: isAgreed
        case .failed(let error): !isAgreed && error.code == .cancelled
        default: false
        }
      } >= (isAgreed ? 7 : 2)
    }
    // A plan for each of the other batches.
    for _ in 0..<4 { try await packs.refresh() }
    #expect(questions.count == 1 && Set(questions[0].packs) == Set(offers.map(\.entry.id)))
    #expect(questions[0].size == offers.reduce(0) { $0 + $1.entry.size })
    #expect(network.calls.count == (isAgreed ? 7 : 0))
    guard !isAgreed else { return }
    try await eventually("the packs are not cancelled") { await packs.loop.declined.isEmpty }
    answer(true)
    try await packs.ensure("pack-6")
    #expect(network.calls.map(\.request.identifier) == [TagStage.identifier(offers[6])])
  }

  @Test("downloads wait for the answer, and begin with it, whether or not the service's list is exact", arguments: [true, false])
  func agreed(isListExact: Bool) async throws {
    let offers = try await ["a", "b", "c", "d"].asyncMap {
      try await stage.offer($0, size: $0 == "d" ? 30_000 : 15_000, delivery: .onDemand)
    }
    let network = try place.network(offers)
    try publish(1, offers)
    let packs = try await library(network, isListExact: isListExact)
    // Below the limit.
    try await packs.ensure("a")
    #expect(questions.isEmpty && network.calls.count == 1)
    let task = Task { await failure { () async throws(PackError) in try await packs.ensure(["b", "c"]) } }
    try await eventually("nothing is asked about") { questions.count == 1 }
    #expect(questions == [DownloadQuestion(packs: ["b", "c"], size: offers[1].entry.size + offers[2].entry.size)])
    for await status in packs.status(of: "b") { if case .waiting(.consent) = status { break } }
    // Everything else goes on.
    try await packs.refresh()
    try await packs.ensure("a")
    try await packs.remove("a")
    let other = ensuring(packs, "d")
    for await status in packs.status(of: "d") { if case .waiting = status { break } }
    #expect(questions.count == 1 && network.calls.count == 1)
    answer(true)
    #expect(await task.value == nil)
    #expect(await other.value == nil)
    #expect(questions.map(\.packs) == [["b", "c"], ["d"]] && network.calls.count == 4)
  }

  @Test("a download that was agreed to is not asked about again after a failure, and an update is")
  func later() async throws {
    let (old, new) = (try await stage.offer("core", 1, size: 30_000), try await stage.offer("core", 2, size: 30_000))
    let network = try place.network([old, new]) { $0.attempt == 0 ? .cut(at: 1000, .timedOut) : nil }
    try publish(1, [old])
    answer(true)
    let packs = try await library(network)
    try await packs.ensure("core")
    #expect(questions.count == 1 && network.calls.map(\.offset) == [0, 1000])
    try publish(2, [new])
    try await packs.refresh()
    for await status in packs.status(of: "core") { if case .ready(_, .installed) = status { break } }
    #expect(questions.count == 2)
  }

  @Test("in the foreground, what the extension brought is installed, and the manifest is fetched only if it is old")
  func foreground() async throws {
    let core = try await stage.offer("core", 1)
    let network = try place.network([core]) { _ in .stuck(at: 100) }
    try publish(1, [core])
    let packs = try await library(network)
    try await packs.refresh()
    try await eventually("it does not begin") { try packs.loop.delivery.state.status(of: "core")?.state.kind == .loading }
    let calls = published.withLock { $0.calls }
    // The app hears nothing of it.
    _ = try place.extension().finished(try place.download(core), download: TagStage.identifier(core))
    await packs.resume()
    for await status in packs.status(of: "core") { if case .ready = status { break } }
    #expect(published.withLock { $0.calls } == calls)
    place.clock.advance(3600)
    await packs.resume()
    #expect(published.withLock { $0.calls } > calls)
  }
}

extension Sequence where Element: Sendable {
  fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await body(element)) }
    return values
  }
}

/// A service whose list of downloads may be older than the records, as the system's is.
private struct InexactService: DownloadService {
  let service: TransferService
  let isListExact: Bool

  func events() -> AsyncStream<ServiceNotice> { service.events() }
  func stop() async { await service.stop() }
  func underWay() async -> Set<String>? { await service.underWay() }
  func hand(_ plan: DeliveryPlan, asked: Set<String>) async throws(PackError) { try await service.hand(plan, asked: asked) }
  func setPriority(_ priority: Double, of identifier: String) async { await service.setPriority(priority, of: identifier) }
  func cancel(_ id: String) async throws(PackError) { try await service.cancel(id) }
  func availableSpace() async -> UInt64? { await service.availableSpace() }
  func freeSpace(keeping ids: Set<String>, launchesOf required: [PlannedDownload]) async throws(PackError) -> Bool {
    try await service.freeSpace(keeping: ids, launchesOf: required)
  }
}
