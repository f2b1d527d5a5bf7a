import Foundation
import TestSupport
import Testing

@testable import PackApp
@testable import PackBase
@testable import PackRuntime

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A device with one directory of downloads, a server, and the system's tasks.
struct BackgroundStage {
  let directory: TemporaryDirectory
  let server = FakeServer()
  let system: FakeSystem
  var chunkSize: UInt64 = 1000
  var taskCount = 20
  var headers: [String: String] = [:]
  var allowsCellular = true

  init(_ random: SeededGenerator = SeededGenerator(seed: SeededGenerator.run)) throws {
    directory = try TemporaryDirectory()
    try directory.makeDirectory("tmp")
    system = FakeSystem(in: directory("tmp"), random: random) { [server] in server.answer($0) }
  }

  static func content(_ size: Int, _ seed: UInt64 = 7) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    return generator.bytes(size)
  }

  /// Puts a file on the server, and returns its download.
  func publish(_ name: String, _ bytes: [UInt8], priority: Double = 0.5) -> PlannedDownload {
    server.serve("/\(name)", bytes)
    return NumberedFile.download(
      name, size: UInt64(bytes.count), sha256: NumberedFile.digest(bytes), from: "https://cdn.example.com/\(name)", priority: priority)
  }

  /// Starts a process of the app.
  func start(files: any FileSystem = FaultyFiles(), in name: String = "downloads") async throws(PackError) -> Transfers {
    var policy = TransferPolicy()
    (policy.freeSpaceMargin, policy.progressInterval, policy.lockTimeout) = (0, .zero, .seconds(100_000))
    var options = URLSessionTransport.Options()
    options.largestPiece = chunkSize
    options.request = { [headers, allowsCellular] in
      var request = URLRequest(url: $0)
      request.allowsCellularAccess = allowsCellular
      for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
      return request
    }
    let transport = BackgroundTransport(system.session(), options: options, taskCount: taskCount)
    let transfers = try await Transfers(
      directory: directory(name), transport: transport, policy: policy, files: files, clock: FastClock())
    await transport.connect(to: transfers.place)
    return transfers
  }

  /// Ends a process without a word to anybody.
  func kill(_ transfers: Transfers) async {
    system.endProcess()
    await transfers.close()
  }

  func part(_ download: PlannedDownload) -> [UInt8]? { directory.bytes(of: "downloads/\(download.identifier).part") }

  /// What is left of downloads and temporary files.
  var left: [String] {
    directory.names(in: "downloads").filter { name in [".part", ".tag", ".chunk"].contains { name.hasSuffix($0) } }
      + directory.names(in: "tmp")
  }
}

extension [TransferEvent] {
  fileprivate var failures: [TransferFailure] { compactMap { if case .failed(_, let failure, _) = $0 { failure } else { nil } } }
}

@Suite("Downloads that outlive the process", .bounded)
struct BackgroundTransportTests {
  private var stage: BackgroundStage

  init() throws {
    stage = try BackgroundStage(SeededGenerator())
  }

  /// Downloads a file in one process, and returns what happened.
  private func fetch(_ download: PlannedDownload, _ stage: BackgroundStage? = nil) async throws -> [TransferEvent] {
    let stage = stage ?? self.stage
    let transfers = try await stage.start()
    await transfers.add([download])
    let events = await transfers.finish()
    stage.system.settle()
    await stage.kill(transfers)
    return events
  }

  // MARK: Chunks

  @Test("chunks arrive in any order, with the validator of the first, and every byte is sent once", arguments: [1, 20], [2, 10_500])
  func chunks(taskCount: Int, size: Int) async throws {
    var stage = stage
    stage.taskCount = taskCount
    let content = BackgroundStage.content(size)
    let download = stage.publish("a", content)
    #expect(try await fetch(download, stage).finished.count == 1)
    #expect(stage.part(download) == content)
    #expect(stage.server.sent == size)
    let exchanges = stage.server.exchanges
    #expect(exchanges.count == max(1, (size + 999) / 1000))
    #expect(exchanges.first?.range == (size > 1000 ? "bytes=0-999" : nil))
    #expect(exchanges.dropFirst().allSatisfy { $0.condition == "\"1\"" && $0.status == 206 })
    #expect(stage.system.mostTasks == min(taskCount, max(1, exchanges.count - 1)))
    #expect(stage.left == ["\(download.identifier).part"])
  }

  @Test("a file of one chunk is moved and not copied")
  func moved() async throws {
    let download = stage.publish("a", BackgroundStage.content(1000))
    let files = FaultyFiles()
    let transfers = try await stage.start(files: files)
    let before = files.calls.count
    await transfers.add([download])
    #expect(await transfers.finish().finished.count == 1)
    // The tag is written.
    #expect(files.calls.dropFirst(before).count { $0.operation == .write } == 1)
    #expect(files.calls.dropFirst(before).count { $0.operation == .rename } == 1)
    await transfers.close()
  }

  @Test("many files share the tasks: one that begins takes the place of a chunk that has not")
  func shared() async throws {
    var stage = stage
    stage.taskCount = 6
    let downloads = (0..<4).map { stage.publish("file-\($0)", BackgroundStage.content(7700, UInt64($0))) }
    let transfers = try await stage.start()
    stage.server.fail { [system = stage.system] exchange in
      if exchange.number == 0 { system.hold(true) }
      return nil
    }
    await transfers.add([downloads[0]])
    try await eventually("the first file does not take all tasks") { stage.system.running.count == 6 }
    await transfers.add(downloads)
    try await eventually("the others do not begin") {
      let labels = stage.system.running.compactMap { PieceLabel($0.taskDescription)?.identifier }
      return labels.count == 6 && Set(labels).count == 4
    }
    stage.server.fail { _ in nil }
    stage.system.hold(false)
    #expect(await transfers.finish().finished.count == 4)
    for (number, download) in downloads.enumerated() { #expect(stage.part(download) == BackgroundStage.content(7700, UInt64(number))) }
    #expect(stage.server.sent == 4 * 7700)
    #expect(stage.system.mostTasks <= 6)
    await transfers.close()
  }

  @Test("progress counts the bytes of chunks that are not in the part yet, and never goes beyond the file")
  func progress() async throws {
    let download = stage.publish("a", BackgroundStage.content(5000))
    // Half of the last response has arrived.
    stage.server.fail { $0.number == 4 ? .stallHalf : nil }
    let transfers = try await stage.start()
    await transfers.add([download])
    var most: UInt64 = 0
    var events = transfers.events.makeAsyncIterator()
    while most < 4500, let event = await events.next() {
      if case .progress(_, let received, size: 5000) = event { most = max(most, received) }
    }
    #expect(most == 4500)
    await transfers.close()
  }

  @Test("what is requested has its priority, and what is not is marked as background traffic; a later priority reaches the tasks")
  func priority() async throws {
    stage.system.hold(true)
    let transfers = try await stage.start()
    await transfers.add([stage.publish("a", [1]), stage.publish("b", [2], priority: 0.75)])
    try await eventually("nothing starts") { stage.system.running.count == 2 }
    let starts = stage.system.starts.sorted { $0.label < $1.label }
    #expect(starts.map(\.service) == [.background, .default] && starts.map(\.priority) == [0.5, 0.75])
    await transfers.setPriority(1, of: stage.publish("a", [1]).identifier.description)
    #expect(stage.system.running.map(\.priority).sorted() == [0.75, 1])
    await transfers.close()
  }

  // MARK: Servers

  @Test("a connection that breaks is a failure, and the next attempt asks only for what is missing")
  func cut() async throws {
    let content = BackgroundStage.content(5500)
    let download = stage.publish("a", content)
    stage.server.fail { $0.number == 3 ? .cut(400) : nil }
    let transfers = try await stage.start()
    await transfers.add([download])
    #expect(await transfers.finish().failures == [.unreachable])
    stage.system.settle()
    await transfers.add([download])
    #expect(await transfers.finish().finished.count == 1)
    #expect(stage.part(download) == content)
    // Every byte once, and the 400 that were lost.
    #expect(stage.server.sent == 5500 + 400)
    await transfers.close()
  }

  @Test("a server that stalls is left to the system, and is a failure when that gives up")
  func stall() async throws {
    let content = BackgroundStage.content(5500)
    let download = stage.publish("a", content)
    stage.server.fail { $0.number == 4 ? .stall : nil }
    let transfers = try await stage.start()
    await transfers.add([download])
    try await eventually("it does not stall") { stage.system.running.count == 1 && stage.server.exchanges.count == 6 }
    #expect(await transfers.identifiers.count == 1)
    stage.system.expire()
    #expect(await transfers.finish().failures == [.timedOut])
    await transfers.add([download])
    #expect(await transfers.finish().finished.count == 1)
    #expect(stage.part(download) == content && stage.server.sent == 5500)
    await transfers.close()
  }

  @Test("a file that changed at the server comes whole, by one task")
  func changed() async throws {
    let content = BackgroundStage.content(5500)
    let download = stage.publish("a", content)
    stage.server.replace("/a", by: FakeServer.File(bytes: content, tag: "\"2\""), after: 1)
    #expect(try await fetch(download).finished.count == 1)
    #expect(stage.part(download) == content)
    let whole = stage.server.exchanges.filter { $0.status == 200 }
    #expect(whole.count == 1 && whole[0].condition == "\"1\"")
    #expect(stage.server.sent <= 2 * 1000 + 5500)
  }

  @Test("when a whole file begins to come, the tasks for its chunks are ended")
  func wholeBegins() async throws {
    let content = BackgroundStage.content(5500)
    let download = stage.publish("a", content)
    stage.server.replace("/a", by: FakeServer.File(bytes: content, tag: "\"2\""), after: 0)
    stage.server.fail { $0.number == 1 ? .stallHalf : nil }
    let transfers = try await stage.start()
    await transfers.add([download])
    try await eventually("the other tasks go on") { stage.server.exchanges.count > 1 && stage.system.running.count == 1 }
    stage.system.settle()
    #expect(stage.server.exchanges.count == 2)
    await transfers.close()
  }

  @Test("a chunk for a part that was replaced meanwhile is not used")
  func replaced() async throws {
    let content = BackgroundStage.content(3500)
    let download = stage.publish("a", content)
    let first = try await stage.start()
    stage.server.fail { [system = stage.system] _ in
      system.hold(true)
      return nil
    }
    await first.add([download])
    try await eventually("the chunks are not requested") { stage.system.running.count == 3 }
    await stage.kill(first)
    try stage.directory.write(Array("\"2\"".utf8), to: "downloads/\(download.identifier).tag", mode: 0o600)
    stage.server.fail { _ in nil }
    let second = try await stage.start()
    stage.system.hold(false)
    await second.add([download])
    #expect(await second.finish().finished.count == 1)
    #expect(stage.part(download) == content)
    // The server has no such version, so the file comes whole.
    #expect(stage.server.exchanges.filter { $0.condition == "\"2\"" }.map(\.status) == [200])
    await second.close()
  }

  @Test("a chunk of which a process appended a part is continued")
  func halfAppended() async throws {
    let content = BackgroundStage.content(3500)
    let download = stage.publish("a", content)
    await stage.kill(try await stage.start())
    for (range, suffix) in [(0..<1400, "part"), (1000..<2000, "1000.chunk")] {
      try stage.directory.write(content[range], to: "downloads/\(download.identifier).\(suffix)", mode: 0o600)
    }
    #expect(try await fetch(download).finished.count == 1)
    #expect(stage.part(download) == content && stage.server.sent == 1500)
  }

  @Test("a file of another size is refused when its response begins")
  func changedSize() async throws {
    let download = stage.publish("a", BackgroundStage.content(5500))
    stage.server.serve("/a", BackgroundStage.content(5400))
    #expect(try await fetch(download).failures == [.wrongSize(5400)])
    stage.server.set(ranges: false)
    #expect(try await fetch(download).failures == [.wrongSize(5400)])
    #expect(stage.system.running.count == 0)
  }

  @Test("a server that ignores the condition and sends bytes of another file is refused, and its file is fetched from the start")
  func unconditional() async throws {
    let content = BackgroundStage.content(3500)
    let download = stage.publish("a", content)
    stage.server.set(conditions: false)
    stage.server.replace("/a", by: FakeServer.File(bytes: content, tag: "\"2\""), after: 0)
    #expect(try await fetch(download).failures == [.malformedResponse])
    #expect(stage.left.isEmpty)
    #expect(try await fetch(download).finished.count == 1)
    #expect(stage.part(download) == content)
  }

  @Test("a server without ranges sends the whole file once")
  func rangeless() async throws {
    let content = BackgroundStage.content(5500)
    let download = stage.publish("a", content)
    stage.server.set(ranges: false)
    #expect(try await fetch(download).finished.count == 1)
    #expect(stage.part(download) == content)
    #expect(stage.server.exchanges.count == 1 && stage.server.sent == 5500)
  }

  @Test("a server without tags is asked with the date of the file, if that is old enough", arguments: [true, false])
  func date(isOld: Bool) async throws {
    let date = isOld ? "Thu, 02 Jul 2026 13:45:40 GMT" : "Thu, 02 Jul 2026 13:45:41 GMT"
    let content = BackgroundStage.content(2500)
    let download = stage.publish("a", content)
    stage.server.serve("/a", FakeServer.File(bytes: content, tag: nil, modified: date))
    #expect(try await fetch(download).finished.count == 1)
    #expect(stage.server.exchanges.map(\.condition) == [nil] + [String?](repeating: isOld ? date : nil, count: 2))
    #expect(stage.part(download) == content)
  }

  @Test("a part that cannot be of the file is removed, and the file comes from the start")
  func unsatisfiable() async throws {
    let content = BackgroundStage.content(2500)
    let download = stage.publish("a", content)
    stage.server.fail { $0.number == 2 ? .status(416) : nil }
    var events = try await fetch(download)
    #expect(events.failures == [.status(416, retryAfter: nil)])
    #expect(stage.left.isEmpty)
    events = try await fetch(download)
    #expect(events.finished.count == 1 && stage.part(download) == content)
  }

  @Test("a server that wants another authorisation ends the tasks; with a new one only the rest is fetched", arguments: [401, 403])
  func authorised(status: Int) async throws {
    var stage = stage
    stage.headers = ["Authorization": "one"]
    let content = BackgroundStage.content(5500)
    let download = stage.publish("a", content)
    stage.server.set(token: "one")
    stage.server.fail { $0.number >= 3 && $0.authorization == "one" ? .status(status) : nil }
    #expect(try await fetch(download, stage).failures == [.status(status, retryAfter: nil)])
    #expect(stage.system.running.count == 0)
    let before = stage.server.sent
    #expect(before >= 1000 && before < 5500)
    stage.headers = ["Authorization": "two"]
    stage.server.set(token: "two")
    #expect(try await fetch(download, stage).finished.count == 1)
    #expect(stage.part(download) == content)
    #expect(stage.server.sent == 5500)
  }

  @Test(
    "responses become failures that name them",
    arguments: [
      (FakeServer.Fault.status(404), TransferFailure?.some(.status(404, retryAfter: nil))),
      (.status(503, ["Retry-After": "7"]), .status(503, retryAfter: .seconds(7))),
      (.redirect(to: "http://192.0.2.1/a"), .redirect),
      (.redirect(to: "https://other.example.com/a"), nil),
    ])
  func answers(_ fault: FakeServer.Fault, _ failure: TransferFailure?) async throws {
    let download = stage.publish("a", BackgroundStage.content(100))
    stage.server.fail { _ in fault }
    #expect(try await fetch(download).failures == (failure.map { [$0] } ?? []))
    #expect(stage.left.isEmpty == (failure != nil))
  }

  // MARK: Relaunch

  @Test("a process that ends in the middle: its tasks go on, the next one takes their files, and nothing is sent twice")
  func relaunched() async throws {
    var stage = stage
    stage.taskCount = 4
    let content = BackgroundStage.content(20_500)
    let download = stage.publish("a", content)
    let first = try await stage.start()
    stage.server.fail { [system = stage.system] exchange in
      if exchange.number == 6 { system.endProcess() }
      return nil
    }
    await first.add([download])
    try await eventually("the process does not end") { stage.server.exchanges.count > 6 }
    stage.system.settle()
    await first.close()
    let atEnd = stage.server.exchanges.count
    #expect(atEnd < 21 && stage.system.running.count == 0)
    // Started for the events: before anything is planned, the next chunks are handed over.
    let second = try await stage.start()
    stage.system.settle()
    #expect(stage.server.exchanges.count == 21)
    await second.add([download])
    #expect(await second.finish().finished.count == 1)
    #expect(stage.part(download) == content)
    #expect(stage.server.exchanges.count == 21 && stage.server.sent == 20_500)
    #expect(stage.left == ["\(download.identifier).part"])
    await second.close()
  }

  @Test("tasks that are still running at the next start are found, and not started again")
  func found() async throws {
    let content = BackgroundStage.content(3500)
    let download = stage.publish("a", content)
    let first = try await stage.start()
    await first.add([download])
    stage.server.fail { [system = stage.system] _ in
      system.hold(true)
      return nil
    }
    try await eventually("the first chunk does not come") { stage.system.running.count == 3 }
    await stage.kill(first)
    let second = try await stage.start()
    await second.add([download])
    try await eventually("the attempt does not begin") { await second.identifiers.count == 1 }
    #expect(stage.system.starts.count == 4)
    stage.server.fail { _ in nil }
    stage.system.hold(false)
    #expect(await second.finish().finished.count == 1)
    #expect(stage.part(download) == content && stage.server.sent == 3500)
    await second.close()
  }

  @Test("tasks of a download that no later one needs are ended with what they brought; tasks of other code are left alone")
  func useless() async throws {
    let download = stage.publish("a", BackgroundStage.content(3500))
    let first = try await stage.start()
    stage.server.fail { $0.number == 0 ? nil : .stall }
    await first.add([download])
    try await eventually("nothing runs") { stage.server.exchanges.count == 4 }
    await stage.kill(first)
    _ = stage.system.session().start(URLRequest(url: URL(string: "https://example.com")!), label: "of others", size: 1, priority: 0.5)
    let second = try await stage.start()
    #expect(try await second.removeParts { _ in true } == false)
    #expect(stage.system.running.count == 4)
    #expect(try await second.removeParts { _ in false })
    stage.system.settle()
    #expect(stage.system.running.count == 1 && stage.left.isEmpty)
    await second.close()
  }

  @Test("a user who ends the app ends the tasks; at the next start it continues, without a failure")
  func endedByUser() async throws {
    let content = BackgroundStage.content(3500)
    let download = stage.publish("a", content)
    let first = try await stage.start()
    stage.server.fail { $0.number == 0 ? nil : .stall }
    await first.add([download])
    try await eventually("nothing runs") { stage.server.exchanges.count == 4 }
    stage.system.endByUser()
    await first.close()
    stage.server.fail { _ in nil }
    let second = try await stage.start()
    await second.add([download])
    let events = await second.finish()
    #expect(events.finished.count == 1 && events.failures.isEmpty)
    #expect(stage.part(download) == content && stage.server.sent == 3500)
    await second.close()
  }

  @Test(
    "what the system ends is a failure with its reason, and so is an error of the volume",
    arguments: [
      (FakeSystem.cancelled(reason: 1), TransferFailure.endedBySystem(.noBackgroundActivity)),
      (FakeSystem.cancelled(reason: 2), .endedBySystem(.noResources)), (FakeSystem.cancelled(), .other),
      (NSError(domain: NSURLErrorDomain, code: -3003), .cannotWrite),
      (
        NSError(domain: NSURLErrorDomain, code: -3003, userInfo: [NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: 28)]),
        .noSpace(needed: 500, free: 77)
      ),
    ])
  func endedBySystem(_ error: NSError, _ failure: TransferFailure) async throws {
    let download = stage.publish("a", BackgroundStage.content(500))
    stage.server.fail { _ in .stall }
    let files = FaultyFiles { $0.operation == .freeSpace && $0.name.isEmpty ? .freeSpace(77) : nil }
    let transfers = try await stage.start(files: files)
    await transfers.add([download])
    try await eventually("nothing runs") { stage.server.exchanges.count == 1 }
    stage.system.endTasks(error)
    #expect(await transfers.finish().failures == [failure])
    #expect(failure.error(of: "a").message.hasPrefix("pack 'a' was not downloaded: "))
    await transfers.close()
  }

  // MARK: Ending

  @Test("a cancelled download ends its tasks and leaves nothing, also of a chunk that comes later, and can be added again at once")
  func cancelled() async throws {
    let content = BackgroundStage.content(5500)
    let download = stage.publish("a", content)
    let transfers = try await stage.start()
    stage.server.fail { [system = stage.system] exchange in
      if exchange.number == 2 { system.hold(true) }
      return nil
    }
    await transfers.add([download])
    try await eventually("nothing runs") { stage.server.exchanges.count == 3 }
    await transfers.cancel(download.identifier.description)
    stage.system.settle()
    #expect(stage.left.isEmpty && stage.system.running.count == 0)
    await transfers.add([download])
    stage.system.hold(false)
    #expect(await transfers.finish().finished.count == 1)
    #expect(stage.part(download) == content)
    await transfers.close()
  }

  @Test("a library that is released lets its tasks go on and begins no others; the next one needs no byte twice")
  func released() async throws {
    let content = BackgroundStage.content(3500)
    let download = stage.publish("a", content)
    let first = try await stage.start()
    stage.system.hold(true)
    await first.add([download])
    try await eventually("nothing runs") { stage.system.running.count == 1 }
    await first.close()
    #expect(stage.system.running.count == 1)
    stage.system.hold(false)
    stage.system.settle()
    #expect(stage.part(download) == Array(content[..<1000]) && stage.system.starts.count == 1)
    let second = try await stage.start()
    await second.add([download])
    #expect(await second.finish().finished.count == 1)
    #expect(stage.part(download) == content && stage.server.sent == 3500)
    await second.close()
  }

  @Test("a chunk that has brought bytes makes no room for another file, although the app was not told of them")
  func untold() async throws {
    var stage = stage
    stage.taskCount = 3
    let transfers = try await stage.start()
    stage.system.silence()
    stage.server.fail { $0.number == 0 ? nil : .stallHalf }
    await transfers.add([stage.publish("a", BackgroundStage.content(9000))])
    try await eventually("the chunks are not requested") { stage.server.exchanges.count == 4 }
    await transfers.add([stage.publish("b", BackgroundStage.content(500))])
    try await eventually("the other file does not begin") { stage.server.exchanges.count == 5 }
    #expect(stage.system.running.count == 4)
    await transfers.close()
  }

  @Test("a request waits in the system for a network that it may use, and the attempt says so", arguments: [true, false])
  func network(isCellular: Bool) async throws {
    var stage = stage
    stage.allowsCellular = false
    let content = BackgroundStage.content(2500)
    let download = stage.publish("a", content)
    stage.system.setNetwork(NetworkPath(isAvailable: isCellular, isCellular: isCellular))
    let transfers = try await stage.start()
    for _ in 0..<2 {
      await transfers.add([download])
      #expect(await transfers.finish().failures == [.offline])
      #expect(stage.system.running.count == 1 && stage.server.exchanges.isEmpty)
    }
    stage.system.setNetwork(NetworkPath())
    await transfers.add([download])
    #expect(await transfers.finish().finished.count == 1)
    #expect(stage.part(download) == content && stage.server.sent == 2500)
    // It goes away in the middle.
    let other = stage.publish("b", content)
    stage.server.fail { _ in .stall }
    await transfers.add([other])
    try await eventually("it does not begin") { stage.system.running.count == 1 }
    stage.system.setNetwork(NetworkPath(isAvailable: false))
    #expect(await transfers.finish().failures == [.offline])
    await transfers.close()
  }

  @Test("without space for the next chunk it is kept, and not fetched again when there is space")
  func space() async throws {
    let content = BackgroundStage.content(2500)
    let download = stage.publish("a", content)
    let isFull = Monitor(true)
    let files = FaultyFiles { call in
      // The tag is written first.
      guard isFull.withLock({ $0 }) else { return nil }
      if call.operation == .freeSpace { return call.name == FaultyFiles.available ? nil : .freeSpace(3) }
      return call.operation == .open && call.name.hasSuffix(".chunk") ? .failure(.fullDisk) : nil
    }
    let transfers = try await stage.start(files: files)
    await transfers.add([download])
    #expect(await transfers.finish().failures == [.noSpace(needed: 1500, free: 3)])
    stage.system.settle()
    isFull.withLock { $0 = false }
    await transfers.add([download])
    #expect(await transfers.finish().finished.count == 1)
    #expect(stage.part(download) == content && stage.server.sent == 2500)
    await transfers.close()
  }

  @Test("space is asked for once for bytes that have arrived", arguments: [0, 1] as [UInt64])
  func spaceOfChunks(missing: UInt64) async throws {
    let content = BackgroundStage.content(4000)
    let download = stage.publish("a", content)
    await stage.kill(try await stage.start())
    for (range, suffix) in [(0..<1000, "part"), (2000..<4000, "2000.chunk")] {
      try stage.directory.write(content[range], to: "downloads/\(download.identifier).\(suffix)", mode: 0o600)
    }
    let files = FaultyFiles { $0.operation == .freeSpace ? .freeSpace(1000 - missing) : nil }
    let transfers = try await stage.start(files: files)
    await transfers.add([download])
    #expect(await transfers.finish().failures == (missing == 0 ? [] : [.noSpace(needed: 1000, free: 999)]))
    #expect(stage.server.exchanges.map(\.range) == (missing == 0 ? ["bytes=1000-1999"] : []))
    await transfers.close()
  }

  // MARK: Crashes

  @Test("killed at any file operation, the next process gets every file, and at most the chunk in hand is sent twice")
  func everyOperation() async throws {
    let contents = [BackgroundStage.content(4500, 1), BackgroundStage.content(700, 2)]
    let total = contents.reduce(0) { $0 + $1.count }
    /// Runs a process that is killed at an operation.
    func run(killedAt number: Int) async throws -> (stage: BackgroundStage, downloads: [PlannedDownload], calls: Int) {
      var stage = try BackgroundStage()
      stage.taskCount = 4
      let downloads = contents.enumerated().map { stage.publish("file-\($0)", $1) }
      let files = FaultyFiles { [system = stage.system] call in
        guard call.number >= number else { return nil }
        system.endProcess()
        return .failure(.inputOutput)
      }
      guard let transfers = try? await stage.start(files: files) else { return (stage, downloads, files.calls.count) }
      await transfers.add(downloads)
      let hasEnded = Monitor(false)
      let work = Task {
        await transfers.finish()
        hasEnded.withLock { $0 = true }
      }
      try await eventually("it is not killed") { files.calls.count > number || hasEnded.withLock { $0 } }
      stage.system.settle()
      await transfers.close()
      await work.value
      return (stage, downloads, files.calls.count)
    }
    let count = try await run(killedAt: .max).calls
    #expect(count > 80)
    // How many there are depends on the order of events.
    var operations = Effort.Operations(of: count - 20, 40)
    var isReached = true
    var (stops, most) = (0, 0)
    while let number = operations.next(isReached: isReached) {
      let (stage, downloads, calls) = try await run(killedAt: number)
      isReached = calls > number
      stops += 1
      let transfers = try await stage.start()
      await transfers.add(downloads)
      let events = await transfers.finish()
      #expect(events.finished.count == 2, "killed at operation \(number): \(events.failures)")
      for (download, content) in zip(downloads, contents) {
        let isRight = stage.part(download) == content
        #expect(isRight, "killed at operation \(number)")
      }
      most = max(most, stage.server.sent - total)
      #expect(stage.server.sent - total <= 1000, "killed at operation \(number)")
      stage.system.settle()
      #expect(!stage.left.contains { $0.hasSuffix(".chunk") || $0.hasSuffix(".tmp") }, "killed at operation \(number)")
      await stage.kill(transfers)
    }
    print("crash points: background downloads: killed at \(stops) of \(count) operations, at most \(most) bytes sent twice")
  }

  @Test("after any crash of the disk, every file is right in the end", arguments: [MemoryDisk.Kind.linux, .apple])
  func everyCrash(_ kind: MemoryDisk.Kind) async throws {
    let content = BackgroundStage.content(4500)
    let (server, download) = (stage.server, stage.publish("a", content))
    var policy = TransferPolicy()
    (policy.freeSpaceMargin, policy.lockTimeout) = (0, .seconds(100_000))
    func open(_ system: FakeSystem, _ files: MemoryFiles) async throws(PackError) -> Transfers {
      var options = URLSessionTransport.Options()
      options.largestPiece = 1000
      let transport = BackgroundTransport(system.session(), options: options, taskCount: 4)
      let transfers = try await Transfers(
        directory: "/downloads", transport: transport, policy: policy, files: files, clock: FastClock())
      await transport.connect(to: transfers.place)
      return transfers
    }
    for number in Effort.sample(of: 0..<50, 25) {
      let disk = MemoryDisk(kind)
      try MemoryFiles(disk).makeDirectory("/tmp", mode: 0o755, in: nil)
      let system = FakeSystem(in: "/tmp", files: MemoryFiles(disk), random: SeededGenerator(seed: UInt64(number))) { server.answer($0) }
      let files = MemoryFiles(disk, .stopBeforeChange(number))
      if let transfers = try? await open(system, files) {
        await transfers.add([download])
        try await eventually("it does not end") { files.struck != nil || system.running.count == 0 }
        system.endProcess()
        system.settle()
        await transfers.close()
      }
      files.end()
      for crash in [MemoryDisk.Crash.powerCut, .zeroedContent, .emptiedContent, .luck(seed: UInt64(number))] {
        // The device starts anew, without tasks.
        let after = files.disk.after(crash)
        let disk = MemoryFiles(after)
        try disk.makeDirectory("/other", mode: 0o755, in: nil)
        let transfers = try await open(
          FakeSystem(in: "/other", files: disk, random: SeededGenerator(seed: UInt64(number))) { server.answer($0) }, disk)
        await transfers.add([download])
        #expect(await transfers.finish().finished.count == 1, "after \(crash) before change \(number)")
        #expect(
          try disk.contents(of: "/downloads/\(download.identifier).part", limit: 10_000) == content,
          "after \(crash) before change \(number)")
        await transfers.close()
      }
    }
  }

  // MARK: Names

  @Test("the session of a library is the same after an update of the app, and another one for another directory")
  func names() throws {
    func name(_ path: String, _ home: String = "/var/mobile/Containers/Data/Application/A") throws -> String {
      try BackgroundSessionName.of(path, home: home)
    }
    let one = try name("/var/mobile/Containers/Data/Application/A/Library/packs/downloads")
    #expect(
      try name("/private/var/mobile/Containers/Data/Application/B/Library/packs/downloads", "/var/mobile/Containers/Data/Application/B")
        == one)
    #expect(BackgroundSessionName.isOurs(one) && !BackgroundSessionName.isOurs("com.example.session"))
    let others = [
      "/var/mobile/Containers/Data/Application/A/Library/games/downloads",
      "/var/mobile/Containers/Data/Application/AB/Library/packs/downloads",
      "/Library/packs/downloads",
    ]
    #expect(try Set(others.map { try name($0) } + [one]).count == 4)
  }

  @Test("a description is read only if it is the one of a piece")
  func labels() {
    let label = PieceLabel(identifier: "game.one@3-0123456789abcdef", range: 5..<9, size: 20)
    #expect(PieceLabel(label.text) == label)
    for text in [
      nil, "", "a", "a 5-9", "a 9-5/20", "a 5-21/20", "a 5-5/20", "a 5-9/20 ", "a 05-9/20", "a 5/9-20", "a 5-9/99999999999999999999",
    ] {
      #expect(PieceLabel(text) == nil, "\(text ?? "nil")")
    }
  }

  @Test("two libraries with different directories, each with its session, do not meet")
  func two() async throws {
    let other = try BackgroundStage()
    let (mine, theirs) = (BackgroundStage.content(3500, 1), BackgroundStage.content(3500, 2))
    let download = stage.publish("a", mine)
    let one = try await stage.start()
    let two = try await other.start()
    await one.add([download])
    await two.add([other.publish("a", theirs)])
    #expect(await one.finish().finished.count == 1)
    #expect(await two.finish().finished.count == 1)
    #expect(stage.part(download) == mine && other.part(other.publish("a", theirs)) == theirs)
    await one.close()
    await two.close()
  }

  @MainActor
  @Test("a completion handler that comes before the library is called once, after the events, on the main thread")
  func handlers() async throws {
    let name = try BackgroundSessionName.of("/handlers", home: "/home")
    let calls = Monitor<[String]>([])
    let (ended, end) = AsyncStream.makeStream(of: Void.self)
    // The thread of this queue is not the first one of a process on Linux.
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    let isKept = RelaunchHandlers.keep(
      {
        calls.withLock { $0.append(DispatchQueue.getSpecific(key: key) == true ? "main" : "other") }
        end.yield()
      }, for: name)
    #expect(isKept)
    #expect(!RelaunchHandlers.keep({ calls.withLock { $0.append("foreign") } }, for: "com.example.session"))
    let directory = try TemporaryDirectory()
    try directory.makeDirectory("tmp")
    let listener = OrderedListener { event in
      calls.withLock { $0.append(event) }
      if event == "delivered" { Task { @MainActor in RelaunchHandlers.call(for: name) } }
    }
    let system = FakeSystem(in: directory("tmp"), random: SeededGenerator()) { [stage] in stage.server.answer($0) }
    _ = system.session().start(URLRequest(url: URL(string: "https://cdn.example.com/a")!), label: "a", size: 1, priority: 0.5)
    system.settle()
    system.session().connect(listener)
    for await _ in ended { break }
    RelaunchHandlers.call(for: name)
    RelaunchHandlers.call(for: "com.example.session")
    #expect(calls.withLock { $0 } == ["finished", "completed", "delivered", "main"])
  }

  @MainActor
  @Test("a completion handler that comes after the events is called, too, and waits a while for events of its own time")
  func lateHandlers() async throws {
    let name = try BackgroundSessionName.of("/late", home: "/home")
    let (calls, call) = AsyncStream.makeStream(of: String.self)
    var next = calls.makeAsyncIterator()
    RelaunchHandlers.call(for: name)
    _ = RelaunchHandlers.keep({ call.yield("after the limit") }, for: name, limit: .zero)
    #expect(await next.next() == "after the limit")
    RelaunchHandlers.call(for: name)
    _ = RelaunchHandlers.keep({ call.yield("with its events") }, for: name, limit: .seconds(1_000_000))
    RelaunchHandlers.call(for: name)
    #expect(await next.next() == "with its events")
    // Those events were for that handler.
    _ = RelaunchHandlers.keep({ call.yield("too early") }, for: name, limit: .zero)
    try await Task.sleep(for: .milliseconds(20))
    call.yield("end")
    #expect(await next.next() == "end")
    RelaunchHandlers.call(for: name)
  }
}

/// Says in which order events come.
private final class OrderedListener: BackgroundSessionListener {
  private let tell: @Sendable (String) -> Void

  init(_ tell: @escaping @Sendable (String) -> Void) {
    self.tell = tell
  }

  func task(_ task: any BackgroundSessionTask, received: Int64, expected: Int64) { tell("received") }
  func task(_ task: any BackgroundSessionTask, finished path: String) { tell("finished") }
  func task(_ task: any BackgroundSessionTask, completed error: (any Error)?) { tell("completed") }
  func deliveredEvents() { tell("delivered") }
  func network(is path: NetworkPath) {}
}
