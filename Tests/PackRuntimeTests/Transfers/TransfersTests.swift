import TestSupport
import Testing

@testable import PackBase
@testable import PackRuntime

@Suite("The app's own downloads", .bounded)
struct TransfersTests {
  private var stage: TransferStage

  init() throws {
    stage = try TransferStage()
  }

  private func transport(_ decide: @escaping @Sendable (FaultyTransport.Call) -> FaultyTransport.Fault? = { _ in nil }) -> FaultyTransport {
    FaultyTransport(content: Samples.content(of:), decide)
  }

  // MARK: Refusals

  @Test("a directory that another process uses is refused until it is given up")
  func busy() async throws {
    var stage = stage
    let first = try await stage.open(transport())
    stage.policy.lockTimeout = .zero
    #expect(await failure { () async throws(PackError) in _ = try await stage.open(transport()) }?.code == .downloadsBusy)
    await first.close()
    await (try await stage.open(transport())).close()
  }

  @Test("a directory with something else in it is refused and not touched")
  func foreign() async throws {
    try stage.directory.write([1], to: "downloads/letter")
    #expect(await failure { () async throws(PackError) in _ = try await stage.open(transport()) }?.code == .notDownloads)
    #expect(stage.directory.bytes(of: "downloads/letter") == [1])
  }

  @Test("a file that does not match its size is a failure that says so", arguments: [true, false])
  func wrongSize(isAnnounced: Bool) async throws {
    let transfers = try await stage.open(transport { _ in isAnnounced ? .announced(9) : .truncated(to: 700) })
    await transfers.add([Samples.download(3)])
    let size = UInt64(Samples.content(3).count)
    #expect(await transfers.finish().failures(of: 3) == [.wrongSize(isAnnounced ? 9 : 700)])
    #expect(size == 2932)
  }

  @Test("without enough space nothing is fetched, and both numbers are reported", arguments: [0, 1] as [UInt64])
  func space(missing: UInt64) async throws {
    let size = UInt64(Samples.content(3).count)
    var stage = stage
    stage.policy.freeSpaceMargin = 1000
    let files = FaultyFiles { $0.operation == .freeSpace ? .freeSpace(size + 1000 - missing) : nil }
    let network = transport()
    let transfers = try await stage.open(network, files: files)
    await transfers.add([Samples.download(3)])
    let events = await transfers.finish()
    #expect(events.failures(of: 3) == (missing == 0 ? [] : [.noSpace(needed: size + 1000, free: size + 1000 - missing)]))
    #expect(network.calls.count == (missing == 0 ? 1 : 0))
  }

  // MARK: Arrival

  @Test("every file arrives, 20 at a time, and is in its place when it is reported")
  func everything() async throws {
    let network = transport { _ in .gathered(20) }
    let transfers = try await stage.open(network)
    await transfers.add(Samples.downloads(100))
    let events = try await transfers.finish { event in
      guard case .finished(let identifier, let path) = event else { return }
      let number = try #require((0..<100).first { Samples.identifier($0) == identifier })
      #expect(try SystemFiles().contents(of: path, limit: 10_000) == Samples.content(number))
    }
    #expect(events.finished.count == 100 && network.calls.count == 100)
    #expect(network.largestRunning == 20)
  }

  @Test("a download that is added again, or ended and is not settled, is not fetched twice")
  func once() async throws {
    let network = transport()
    let transfers = try await stage.open(network)
    await transfers.add([Samples.download(3), Samples.download(3)])
    var events = transfers.events.makeAsyncIterator()
    while let event = await events.next() { if case .finished = event { break } }
    await transfers.add([Samples.download(3)])
    #expect(await transfers.identifiers == [Samples.identifier(3)])
    await transfers.settle(Samples.identifier(3))
    #expect(await transfers.identifiers.isEmpty)
    #expect(network.calls.count == 1)
  }

  @Test("a file reaches the disk before it is reported")
  func synced() async throws {
    let files = FaultyFiles()
    let transfers = try await stage.open(transport(), files: files)
    await transfers.add([Samples.download(3)])
    try await transfers.finish { event in
      guard case .finished = event else { return }
      let writes = files.calls.lastIndex { $0.operation == .write } ?? .max
      let syncs = files.calls.lastIndex { $0.operation == .sync } ?? 0
      #expect(writes < syncs)
    }
  }

  @Test("events say where a download begins, how far it is, and how it ends; a log has all but the progress")
  func events() async throws {
    let logger = RecordingLogger()
    let transfers = try await stage.open(transport { $0.attempt == 0 ? .failure(.timedOut) : nil }, logger: logger)
    let (identifier, size) = (Samples.identifier(3), UInt64(Samples.content(3).count))
    await transfers.add([Samples.download(3)])
    let first = await transfers.finish()
    #expect(first == [.began(identifier, offset: 0), .failed(identifier, .timedOut, hasGrown: false)])
    await transfers.add([Samples.download(3)])
    let second = await transfers.finish()
    #expect(second.first == .began(identifier, offset: 0))
    #expect(
      second.contains(.progress(identifier, received: 1000, size: size))
        && second.contains(.progress(identifier, received: size, size: size)))
    #expect(second.last == .finished(identifier, path: "\(stage.root)/\(identifier).part"))
    #expect(logger.events.map(\.message) == ["failed", "finished"])
  }

  // MARK: Resuming

  @Test("a download that broke off continues where it was, with the entity tag of its bytes")
  func resumed() async throws {
    let network = transport { $0.attempt == 0 ? .cut(at: 1000, .unreachable) : nil }
    let transfers = try await stage.open(network)
    await transfers.add([Samples.download(3)])
    let events = await transfers.finish()
    #expect(events.last == .failed(Samples.identifier(3), .unreachable, hasGrown: true))
    await transfers.add([Samples.download(3)])
    await transfers.finish()
    #expect(stage.content(of: 3) == Samples.content(3))
    #expect(network.calls.map(\.offset) == [0, 1000])
    #expect(network.calls.map(\.validator) == [nil, "\"\(Samples.url(3))\""])
  }

  @Test("a server that ignores the offset sends the file from the start, and bytes from elsewhere are refused")
  func otherOffsets() async throws {
    let network = transport { [.cut(at: 1000, .unreachable), .elsewhere(500), .fromStart][min($0.attempt, 2)] }
    let transfers = try await stage.open(network)
    for _ in 0..<2 {
      await transfers.add([Samples.download(3)])
      await transfers.finish()
    }
    #expect(stage.content(of: 3) == Array(Samples.content(3).prefix(1000)))
    await transfers.add([Samples.download(3)])
    #expect(await transfers.finish().finished.count == 1)
    #expect(stage.content(of: 3) == Samples.content(3))
  }

  @Test(
    "wrong bytes of an earlier process are found, and the file is fetched from its start at once", arguments: [700, 2932])
  func wrongPart(count: Int) async throws {
    try await stage.leave([UInt8](repeating: 7, count: count), of: 3)
    let network = transport()
    let transfers = try await stage.open(network)
    await transfers.add([Samples.download(3)])
    #expect(await transfers.finish().finished.count == 1)
    #expect(stage.content(of: 3) == Samples.content(3))
    #expect(network.calls.map(\.offset) == (count == 700 ? [700, 0] : [0]))
  }

  @Test("a complete file of an earlier process is not fetched again, and one that is too long is")
  func complete() async throws {
    try await stage.leave(Samples.content(3), of: 3)
    try await stage.leave(Samples.content(4) + [1], of: 4)
    let network = transport()
    let transfers = try await stage.open(network)
    await transfers.add([Samples.download(3), Samples.download(4)])
    #expect(await transfers.finish().finished.count == 2)
    #expect(network.calls.map(\.request.identifier) == [Samples.identifier(4)])
    #expect(stage.content(of: 4) == Samples.content(4))
  }

  @Test(
    "an entity tag that a power failure damaged is not sent", arguments: ["\0\0\0\0", "a\r\nHost: b", String(repeating: "x", count: 600)])
  func damagedTag(_ tag: String) async throws {
    try await stage.leave(Array(Samples.content(3).prefix(700)), of: 3, tag: tag)
    let network = transport()
    let transfers = try await stage.open(network)
    await transfers.add([Samples.download(3)])
    #expect(await transfers.finish().finished.count == 1)
    #expect(network.calls.map(\.validator) == [nil] && network.calls.map(\.offset) == [700])
  }

  @Test("a server that cannot continue is asked for the whole file at once")
  func refusedRange() async throws {
    try await stage.leave(Array(Samples.content(3).prefix(700)), of: 3)
    let network = transport { $0.offset > 0 ? .failure(.status(416, retryAfter: nil)) : nil }
    let transfers = try await stage.open(network)
    await transfers.add([Samples.download(3)])
    #expect(await transfers.finish().finished.count == 1)
    #expect(network.calls.map(\.offset) == [700, 0])
  }

  @Test("parts that nobody needs are removed, others and those of running downloads stay")
  func removedParts() async throws {
    for number in 3...5 { try await stage.leave([1], of: number) }
    try stage.directory.write([1], to: "downloads/stranger.part")
    let transfers = try await stage.open(transport { _ in .stuck(at: 10) })
    await transfers.add([Samples.download(5)])
    #expect(try await transfers.removeParts { $0.id == "file-3" })
    #expect(stage.left.filter { $0.hasSuffix(".part") } == [3, 5].map { "\(Samples.identifier($0)).part" })
    #expect(try await !transfers.removeParts { $0.id == "file-3" })
    await transfers.close()
  }

  // MARK: Order

  @Test("the most urgent come first, then those that were added first")
  func order() async throws {
    var stage = stage
    stage.policy.concurrentDownloads = 1
    let network = transport()
    let transfers = try await stage.open(network)
    await transfers.add([Samples.download(1, priority: 0.2), Samples.download(2), Samples.download(3), Samples.download(4, priority: 1)])
    await transfers.finish()
    #expect(network.calls.map(\.request.url) == [4, 2, 3, 1].map(Samples.url))
  }

  @Test("an urgent download takes the place of a less urgent one, which continues later and is not reported; a less urgent one waits")
  func urgent() async throws {
    var stage = stage
    stage.policy.concurrentDownloads = 1
    let network = transport { $0.attempt == 0 && $0.request.url == Samples.url(3) ? .stuck(at: 1000) : nil }
    let transfers = try await stage.open(network)
    await transfers.add([Samples.download(3)])
    try await eventually("the first download does not run") { network.running == [Samples.identifier(3)] }
    await transfers.add([Samples.download(4, priority: 0.9)])
    try await steadily("a download that is not urgent takes the place") { network.calls.count == 1 }
    await transfers.setPriority(1, of: Samples.identifier(4))
    let events = await transfers.finish()
    #expect(events.finished == [Samples.identifier(4), Samples.identifier(3)])
    #expect(events.failures(of: 3).isEmpty)
    #expect(network.calls.map(\.offset) == [0, 0, 1000])
  }

  @Test("a changed priority reaches the transport")
  func priority() async throws {
    let network = transport { _ in .stuck(at: 10) }
    let transfers = try await stage.open(network)
    await transfers.add([Samples.download(3)])
    try await eventually("the download does not run") { !network.running.isEmpty }
    await transfers.setPriority(0.8, of: Samples.identifier(3))
    #expect(network.priorities == [Samples.identifier(3): 0.8])
    await transfers.close()
  }

  // MARK: Ending

  @Test("a cancelled download stops, leaves nothing, is not reported, and can be added again at once", arguments: [true, false])
  func cancelled(isRunning: Bool) async throws {
    var stage = stage
    stage.policy.concurrentDownloads = 1
    let network = transport { $0.attempt == 0 && $0.request.url == Samples.url(isRunning ? 3 : 2) ? .stuck(at: 700) : nil }
    let transfers = try await stage.open(network)
    await transfers.add(isRunning ? [Samples.download(3)] : [Samples.download(2), Samples.download(3)])
    try await eventually("nothing runs") { !network.running.isEmpty }
    await transfers.cancel(Samples.identifier(3))
    #expect(!stage.left.contains { $0.hasPrefix(Samples.identifier(3)) })
    await transfers.add([Samples.download(3)])
    if !isRunning { await transfers.cancel(Samples.identifier(2)) }
    let events = await transfers.finish()
    #expect(events.finished == [Samples.identifier(3)] && events.failures(of: 3).isEmpty)
    #expect(stage.content(of: 3) == Samples.content(3))
  }

  @Test("after the end nothing is downloaded, parts stay, and another process continues")
  func closed() async throws {
    let network = transport { _ in .stuck(at: 700) }
    let transfers = try await stage.open(network)
    await transfers.add([Samples.download(3)])
    try await eventually("the part does not grow") { stage.content(of: 3)?.count == 700 }
    await transfers.close()
    await transfers.add([Samples.download(4)])
    #expect(network.running.isEmpty && network.calls.count == 1)
    let next = transport()
    let others = try await stage.open(next)
    await others.add([Samples.download(3)])
    #expect(await others.finish().finished.count == 1)
    #expect(next.calls.map(\.offset) == [700])
  }

  // MARK: The network

  @Test("without a network all that wait fail together, then one is tried at a time, and with a network all run")
  func offline() async throws {
    var stage = stage
    stage.policy.concurrentDownloads = 3
    let isThere = Monitor(false)
    let network = transport { _ in isThere.withLock { $0 } ? .slow(.milliseconds(20)) : .failure(.offline) }
    let transfers = try await stage.open(network)
    await transfers.add(Samples.downloads(10))
    let first = await transfers.finish()
    #expect((0..<10).allSatisfy { first.failures(of: $0) == [.offline] })
    #expect(first.count { $0 == .offline } == 1)
    // Those that had begun before the first ended.
    #expect(network.calls.count <= 3)
    let before = network.calls.count
    await transfers.add(Samples.downloads(10))
    let second = await transfers.finish()
    #expect(network.calls.count == before + 1 && second.finished.isEmpty)
    isThere.withLock { $0 = true }
    await transfers.add(Samples.downloads(10))
    let third = await transfers.finish()
    #expect(third.finished.count == 10 && third.count { $0 == .online } == 1)
  }

  // MARK: Crashes

  @Test("stopped at any file operation, the next process gets every file, and fetches none again that was complete")
  func everyOperation() async throws {
    /// Runs a process that stops at an operation.
    func run(stoppingAt number: Int) async throws -> (stage: TransferStage, calls: Int, finished: Set<String>) {
      var stage = try TransferStage()
      stage.policy.concurrentDownloads = 2
      let files = FaultyFiles.stopping(at: number)
      let network = transport { $0.attempt == 0 && $0.request.url == Samples.url(1) ? .cut(at: 9, .timedOut) : nil }
      guard let transfers = try? await stage.open(network, files: files) else { return (stage, files.calls.count, []) }
      await transfers.add(Samples.downloads(5))
      let finished = await transfers.finish().finished
      await transfers.close()
      return (stage, files.calls.count, Set(finished))
    }
    let total = try await run(stoppingAt: .max).calls
    #expect(total > 40)
    var operations = Effort.Operations(of: total, 20)
    var isReached = true
    var stops = 0
    while let number = operations.next(isReached: isReached) {
      let (stage, calls, finished) = try await run(stoppingAt: number)
      isReached = calls > number
      stops += 1
      let after = transport()
      let transfers = try await stage.open(after)
      await transfers.add(Samples.downloads(5))
      #expect(await transfers.finish().finished.count == 5, "stopped at operation \(number)")
      for index in 0..<5 { #expect(stage.content(of: index) == Samples.content(index), "file \(index), stopped at operation \(number)") }
      let again = finished.intersection(after.calls.map(\.request.identifier))
      #expect(again.isEmpty, "\(again) again, stopped at operation \(number)")
      await transfers.close()
    }
    print("crash points: downloads: stopped at \(stops) of \(total) operations")
  }

  @Test("after any crash of the disk, every file is right in the end", arguments: [MemoryDisk.Kind.linux, .apple])
  func everyCrash(_ kind: MemoryDisk.Kind) async throws {
    var random = SeededGenerator()
    let policy = stage.policy
    func open(_ transport: FaultyTransport, _ files: MemoryFiles) async throws(PackError) -> Transfers {
      try await Transfers(directory: "/downloads", transport: transport, policy: policy, files: files, clock: FastClock())
    }
    func run(stoppingBefore number: Int) async -> (files: MemoryFiles, finished: [String]) {
      let files = MemoryFiles(MemoryDisk(kind), .stopBeforeChange(number))
      guard let transfers = try? await open(transport(), files) else { return (files, []) }
      await transfers.add(Samples.downloads(4))
      let finished = await transfers.finish().finished
      await transfers.close()
      return (files, finished)
    }
    for number in 0..<40 {
      let (files, finished) = await run(stoppingBefore: number)
      files.end()
      for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent, .emptiedContent] {
        guard number % 4 == Int.random(in: 0..<4, using: &random) || Effort.isFull else { continue }
        let disk = MemoryFiles(files.disk.after(crash))
        let network = transport()
        let transfers = try await open(network, disk)
        await transfers.add(Samples.downloads(4))
        let events = await transfers.finish()
        #expect(events.finished.count == 4, "after \(crash) before change \(number)")
        let again = Set(finished).intersection(network.calls.map(\.request.identifier))
        if crash == .kill { #expect(again.isEmpty, "\(again) again after a kill before change \(number)") }
        for index in 0..<4 {
          let path = "/downloads/\(Samples.identifier(index)).part"
          #expect(
            try disk.contents(of: path, limit: 10_000) == Samples.content(index), "file \(index) after \(crash) before change \(number)")
        }
        await transfers.close()
      }
    }
  }
}
