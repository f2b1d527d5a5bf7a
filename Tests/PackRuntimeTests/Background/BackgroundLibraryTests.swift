import Dispatch
import Foundation
import TestSupport
import Testing

@testable import PackApp
@testable import PackRuntime

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("A library whose downloads outlive the app", .bounded)
struct BackgroundLibraryTests {
  private let place: DeliveryStage
  private let server = FakeServer()
  private let system: FakeSystem
  private var stage: StoreStage { place.stage }

  init() throws {
    place = try DeliveryStage(waits: true)
    try place.stage.directory.makeDirectory("tmp")
    system = FakeSystem(in: place.stage.directory("tmp"), random: SeededGenerator()) { [server] in server.answer($0) }
  }

  /// Puts a pack on the server, and returns its size.
  private func serve(_ offer: StoreStage.Offer) throws -> Int {
    let bytes = try SystemFiles().contents(of: offer.path, limit: 1 << 20)
    server.serve(try #require(URL(string: offer.entry.url)).path, bytes)
    return bytes.count
  }

  /// Starts the app.
  private func library(_ session: String, _ offers: [StoreStage.Offer], version: UInt64 = 1) async throws -> PackLibrary {
    let state = try place.state()
    var policy = TransferPolicy()
    (policy.freeSpaceMargin, policy.progressInterval, policy.lockTimeout) = (0, .zero, .seconds(100_000))
    var options = URLSessionTransport.Options()
    options.largestPiece = 10_000
    let service = try await TransferService(
      state, downloads: stage.directory("downloads"), policy: policy, clock: FastClock(),
      over: BackgroundTransport(system.session(), options: options, taskCount: 5))
    let document = try stage.manifest(version, offers).bytes
    return try await PackLibrary(
      AppDelivery(state: state, store: try await stage.open(as: session, DeliveryStage.policy)), service: service,
      exports: FileExports(stage.directory("exports")), PackLibrary.Options(),
      sleep: { [clock = place.clock] seconds in
        try? await Task.sleep(for: .milliseconds(50))
        clock.advance(Int64(clamping: seconds))
      }, source: { (_) throws(PackError) in document })
  }

  private func end(_ packs: PackLibrary) async {
    system.endProcess()
    await packs.loop.stop()
  }

  @Test("the app ends in the middle of a download: at its next start the pack is installed, and no byte was sent twice")
  func relaunched() async throws {
    let core = try await stage.offer("core", 1, size: 200_000, delivery: .onDemand)
    let size = try serve(core)
    let first = try await library("one", [core])
    server.fail { [system] exchange in
      if exchange.number == 7 { system.endProcess() }
      return nil
    }
    let request = Task { try await first.ensure("core") }
    try await eventually("the app does not end") { server.exchanges.count > 7 }
    system.settle()
    request.cancel()
    await end(first)
    _ = await request.result
    #expect(server.sent < size)
    // The system starts the app for the events.
    let second = try await library("two", [core])
    system.settle()
    await end(second)
    let third = try await library("three", [core])
    try await third.ensure("core")
    #expect(String(decoding: try third.data("core", "index.html"), as: UTF8.self) == "core 1 0")
    #expect(server.sent == size)
    system.settle()
    #expect(try place.state().status(of: "core") == nil)
    #expect(stage.directory.names(in: "downloads").sorted() == ["downloads", "lock"] && stage.directory.names(in: "tmp").isEmpty)
    await end(third)
  }

  @Test(
    "without a network a request by tags that does not wait for one ends, and another says that it waits for it; the tasks wait in the system"
  )
  func offline() async throws {
    var core = try await stage.offer("core", 1, size: 50_000, delivery: .onDemand)
    core.entry.tags = ["level"]
    let size = try serve(core)
    let packs = try await library("one", [core])
    _ = try await packs.refresh()
    system.setNetwork(NetworkPath(isAvailable: false))
    #expect(await error(begin(TagRequest(["level"], of: packs)))?.code == .offline)
    let request = Task { try await packs.ensure("core") }
    for await status in packs.status(of: "core") { if case .waiting(.network) = status { break } }
    #expect(system.running.count == 1 && server.exchanges.isEmpty)
    system.setNetwork(NetworkPath())
    try await request.value
    #expect(server.sent == size && system.starts.count(where: { $0.label.contains(" 0-") }) == 1)
    await end(packs)
  }

  @Test("a user's cancel ends the tasks, and the next start does not begin the download again")
  func cancelled() async throws {
    let core = try await stage.offer("core", 1, size: 200_000, delivery: .onDemand)
    _ = try serve(core)
    let first = try await library("one", [core])
    server.fail { $0.number < 3 ? nil : .stall }
    let request = Task { try await first.ensure("core") }
    try await eventually("nothing runs") { server.exchanges.count > 3 }
    try await first.cancel("core")
    guard case .failure(let error as PackError) = await request.result else {
      Issue.record("the request did not end")
      return
    }
    #expect(error.code == .cancelled)
    system.settle()
    #expect(system.running.isEmpty && stage.directory.names(in: "downloads").sorted() == ["downloads", "lock"])
    await end(first)
    let second = try await library("two", [core])
    try await second.refresh()
    #expect(system.running.isEmpty)
    await end(second)
  }

  @Test("a pack that the manifest no longer has: at the next start its tasks end, and what they brought is removed")
  func unlisted() async throws {
    let core = try await stage.offer("core", 1, size: 200_000)
    _ = try serve(core)
    server.fail { $0.number < 3 ? nil : .stall }
    let first = try await library("one", [core])
    try await eventually("nothing runs") { server.exchanges.count > 3 }
    await end(first)
    let other = try await stage.offer("other", 1, delivery: .onDemand)
    let second = try await library("two", [other], version: 2)
    try await eventually("the tasks do not end") { system.running.isEmpty }
    try await eventually("the part stays") { stage.directory.names(in: "downloads").sorted() == ["downloads", "lock"] }
    await end(second)
  }

  @Test(
    "over HTTP: a process ends in the middle, and the server sent every byte once",
    .enabled(if: NginxServer.program != nil, "nginx is not installed"))
  func overHTTP() async throws {
    let directory = try TemporaryDirectory()
    let content = BackgroundStage.content(300_000)
    try directory.write(content, to: "www/a")
    try directory.makeDirectory("tmp")
    let server = try NginxServer(in: directory)
    let requests = Monitor(0)
    let system = FakeSystem(in: directory("tmp"), random: SeededGenerator()) { request in
      requests.withLock { $0 += 1 }
      return Self.answer(request)
    }
    let download = NumberedFile.download(
      "a", size: 300_000, sha256: NumberedFile.digest(content), from: "\(server.url)/a")
    func start() async throws(PackError) -> Transfers {
      var options = URLSessionTransport.Options()
      options.largestPiece = 1 << 16
      let transport = BackgroundTransport(system.session(), options: options)
      let transfers = try await Transfers(directory: directory("downloads"), transport: transport)
      await transport.connect(to: transfers.place)
      return transfers
    }
    let first = try await start()
    await first.add([download])
    try await eventually("the server is not asked") { requests.withLock { $0 } >= 2 }
    system.endProcess()
    system.settle()
    await first.close()
    let second = try await start()
    await second.add([download])
    #expect(await second.finish().finished.count == 1)
    #expect(directory.bytes(of: "downloads/\(download.identifier).part") == content)
    system.settle()
    let log = try server.log()
    #expect(log.map(\.status) == [206, 206, 206, 206, 206] && log.reduce(0) { $0 + $1.size } == 300_000)
    await second.close()
  }

  /// Fetches over the network, as the system does outside of the process.
  private static func answer(_ request: URLRequest) -> FakeServer.Answer? {
    let (done, result) = (DispatchSemaphore(value: 0), Monitor<FakeServer.Answer?>(nil))
    let task = URLSession.shared.dataTask(with: request) { data, response, _ in
      if let response = response as? HTTPURLResponse {
        result.withLock { $0 = FakeServer.Answer(response: response, body: [UInt8](data ?? Data()), cut: nil, isStuck: false) }
      }
      done.signal()
    }
    task.resume()
    done.wait()
    return result.withLock { $0 }
  }
}
