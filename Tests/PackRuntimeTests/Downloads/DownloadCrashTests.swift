import TestSupport
import Testing

@testable import PackBase
@testable import PackRuntime

@Suite("A download queue that is stopped anywhere", .bounded)
struct DownloadCrashTests {
  /// Runs the life of a process: it submits, downloads, pauses and cancels until the files stop working.
  private func life(_ place: QueuePlace, _ transport: FaultyTransport, _ files: FaultyFiles, finished: Monitor<Set<String>>) async {
    guard let queue = try? await place.open(transport, files: files) else { return }
    let stream = queue.events()
    let heard = Task {
      for await event in stream {
        if case .finished(let id, _) = event { _ = finished.withLock { $0.insert(id.description) } }
      }
    }
    let requests = (0..<5).compactMap { try? Samples.request($0) }
    do {
      try await queue.submit(requests, group: "levels")
      try await queue.setPriority(0.9, of: Samples.id(4))
      try await queue.pause(Samples.id(3))
      try await queue.run(until: .idle)
      try await queue.resume(Samples.id(3))
      try await queue.run(until: .idle)
    } catch {}
    heard.cancel()
    await heard.value
    await queue.close()
  }

  @Test("if it is stopped at any file operation, nothing is lost, and no finished file is downloaded again")
  func everyOperation() async throws {
    /// Runs a process that stops at an operation.
    func run(stoppingAt number: Int) async throws -> (place: QueuePlace, calls: Int, finished: Set<String>) {
      var place = try QueuePlace()
      place.policy.batchSize = 2
      place.policy.retry.attempts = 1
      place.policy.concurrentDownloads = 2
      let finished = Monitor<Set<String>>([])
      let before = FaultyTransport(content: Samples.content(of:)) {
        $0.attempt == 0 && $0.request.identifier.hasSuffix("1") ? .cut(at: 9, .timedOut) : nil
      }
      let files = FaultyFiles.stopping(at: number)
      await life(place, before, files, finished: finished)
      return (place, files.calls.count, finished.withLock { $0 })
    }
    // The number of operations varies a little, depending on what runs concurrently.
    let total = try await run(stoppingAt: .max).calls
    #expect(total > 100)
    var operations = Effort.Operations(of: total, 20)
    var isReached = true
    var stops = 0
    while let number = operations.next(isReached: isReached) {
      let (place, calls, finished) = try await run(stoppingAt: number)
      isReached = calls > number
      stops += 1

      let after = FaultyTransport(content: Samples.content(of:))
      let queue = try await place.open(after)
      #expect(queue.damage.isEmpty)
      try await queue.submit(try Samples.requests(5), group: "levels")
      for index in 0..<5 {
        try await queue.retry(Samples.id(index))
        try await queue.resume(Samples.id(index))
      }
      try await queue.run(until: .idle)
      for index in 0..<5 {
        #expect(try await place.content(queue, index) == Samples.content(index), "file \(index), stopped at operation \(number)")
      }
      let again = finished.intersection(after.calls.map(\.request.identifier))
      #expect(again.isEmpty, "\(again) again, stopped at operation \(number)")
      let left = try place.files(".part") + place.files(".tag")
      #expect(left.isEmpty, "\(left) are left, stopped at operation \(number)")
      await queue.close()
    }
    print("crash points: download queue: stopped at \(stops) of \(total) operations")
  }

  @Test("a group that was removed stays removed if the power fails, and the others stay", arguments: [MemoryDisk.Kind.linux, .apple])
  func removedGroup(_ kind: MemoryDisk.Kind) async throws {
    let files = MemoryFiles(MemoryDisk(kind))
    func open(_ files: MemoryFiles) async throws(PackError) -> DownloadQueue {
      var policy = QueuePolicy()
      policy.freeSpaceMargin = 0
      return try await DownloadQueue(
        root: "/downloads", transport: FaultyTransport(content: Samples.content(of:)), policy: policy, files: files, clock: FastClock(),
        random: SeededGenerator(seed: 1))
    }
    do {
      let queue = try await open(files)
      for group in ["levels", "music"] { try await queue.submit(try Samples.requests(3), group: group) }
      try await queue.run(until: .idle)
      try await queue.remove(group: "levels")
      await queue.close()
    }
    files.end()
    for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent, .emptiedContent] {
      let queue = try await open(MemoryFiles(files.disk.after(crash)))
      #expect(await queue.groups == ["music"], "after \(crash)")
      #expect(try await queue.status(ofGroup: "music").finished == 3, "after \(crash)")
      await queue.close()
    }
  }

  @Test(
    "after any crash of the disk, every submitted request exists, and no reported file is lost or downloaded again",
    arguments: [MemoryDisk.Kind.linux, .apple])
  func everyCrash(_ kind: MemoryDisk.Kind) async throws {
    var random = SeededGenerator()
    var policy = QueuePolicy()
    policy.freeSpaceMargin = 0
    policy.reconcileInterval = .seconds(1_000_000_000)
    policy.batchSize = 2
    policy.retry.attempts = 1
    policy.concurrentDownloads = 2
    func open(_ transport: FaultyTransport, _ files: MemoryFiles) async throws(PackError) -> DownloadQueue {
      try await DownloadQueue(
        root: "/downloads", transport: transport, policy: policy, files: files, clock: FastClock(), random: SeededGenerator(seed: 1))
    }
    let requests = try Samples.requests(5)
    /// Runs a process that stops before a change.
    func run(stoppingBefore number: Int) async -> (files: MemoryFiles, finished: Set<String>, isSubmitted: Bool, isPaused: Bool) {
      let files = MemoryFiles(MemoryDisk(kind), .stopBeforeChange(number))
      let finished = Monitor<Set<String>>([])
      var isSubmitted = false
      var isPaused = false
      if let queue = try? await open(FaultyTransport(content: Samples.content(of:)), files) {
        let stream = queue.events()
        let heard = Task {
          for await event in stream {
            if case .finished(let id, _) = event { _ = finished.withLock { $0.insert(id.description) } }
          }
        }
        do {
          try await queue.submit(requests, group: "levels")
          isSubmitted = true
          try await queue.pause(Samples.id(3))
          isPaused = true
          try await queue.run(until: .idle)
        } catch {}
        heard.cancel()
        await heard.value
        await queue.close()
      }
      files.end()
      return (files, finished.withLock { $0 }, isSubmitted, isPaused)
    }
    let total = await run(stoppingBefore: .max).files.changeCount
    #expect(total > 50)
    var changes = Effort.Operations(of: total, 10)
    var isReached = true
    var crashes = 0
    while let number = changes.next(isReached: isReached) {
      let (files, finished, isSubmitted, isPaused) = await run(stoppingBefore: number)
      isReached = files.struck != nil

      for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent, .emptiedContent, .luck(seed: random.next())] {
        crashes += 1
        let left = MemoryFiles(files.disk.after(crash))
        let transport = FaultyTransport(content: Samples.content(of:))
        let queue = try await open(transport, left)
        let place: Comment = "after \(crash) before change \(number)"
        #expect(queue.damage.isEmpty, place)
        if isSubmitted {
          #expect(try await queue.status(ofGroup: "levels").count == 5, place)
        } else {
          try await queue.submit(requests, group: "levels")
        }
        try await queue.run(until: .idle)
        // This kind of crash also zeroes data that was not written since the last sync, which no disk does to a file that is written in place.
        let isFair = if case .luck = crash { false } else { true }
        #expect(!isPaused || !isFair || !transport.calls.contains { $0.request.identifier == "levels/file-3" }, place)
        if try await queue.status(of: Samples.id(3)).state == .paused { try await queue.resume(Samples.id(3)) }
        try await queue.run(until: .idle)
        for index in 0..<5 {
          let path = try await queue.file(of: Samples.id(index))
          #expect(try path.map { try left.contents(of: $0, limit: 10_000) } == Samples.content(index), place)
        }
        let again = finished.intersection(transport.calls.map(\.request.identifier))
        #expect(again.isEmpty, place)
        await queue.close()
      }
    }
    print("crash points: download queue, \(kind.syncsWhole ? "Linux" : "Apple"): \(total) changes, \(crashes) crashes looked at")
  }

  @Test(
    "if any single file operation fails once, everything is still downloaded",
    arguments: FileFailure.samples)
  func everyFailure(_ failure: FileFailure) async throws {
    let alone = FaultyFiles()
    do {
      var place = try QueuePlace()
      place.policy.batchSize = 2
      let queue = try await place.open(FaultyTransport(content: Samples.content(of:)), files: alone)
      try await queue.submit(try Samples.requests(3), group: "levels")
      try await queue.run(until: .idle)
      await queue.close()
    }
    let total = alone.calls.count
    #expect(total > 60)
    var operations = Effort.Operations(of: total, 14, for: failure.text)
    var isReached = true
    var failures = 0
    while let number = operations.next(isReached: isReached) {
      failures += 1
      var place = try QueuePlace()
      place.policy.batchSize = 2
      let files = FaultyFiles.failing(at: number, with: failure)
      let transport = FaultyTransport(content: Samples.content(of:))
      for attempt in 0..<3 {
        guard let queue = try? await place.open(transport, files: files) else { continue }
        do {
          try await queue.submit(try Samples.requests(3), group: "levels")
          try await queue.run(until: .idle)
          isReached = files.calls.count > number
          for index in 0..<3 where isReached {
            let content = try await place.content(queue, index)
            #expect(content == Samples.content(index), "file \(index), \(failure.text) at operation \(number)")
          }
          await queue.close()
          break
        } catch {
          await queue.close()
          #expect(attempt < 2, "\(failure.text) at operation \(number): \(error)")
        }
      }
    }
    print("failure points: download queue, \(failure.text): \(failures) of \(total) operations failed")
  }

  @Test("interrupted and partial reads and writes are continued, and everything is downloaded")
  func shortOperations() async throws {
    let place = try QueuePlace()
    let queue = try await place.open(FaultyTransport(content: Samples.content(of:)), files: FaultyFiles.stuttering())
    try await queue.submit(try Samples.requests(5), group: "levels")
    try await queue.run(until: .idle)
    for index in 0..<5 { #expect(try await place.content(queue, index) == Samples.content(index)) }
    #expect(try await queue.status(ofGroup: "levels").failed == 0)
    await queue.close()
    let again = FaultyTransport(content: Samples.content(of:))
    let next = try await place.open(again, files: FaultyFiles.stuttering())
    try await next.run(until: .idle)
    #expect(again.calls.isEmpty)
    #expect(try await next.status(ofGroup: "levels").finished == 5)
  }

  @Test("a journal record that is truncated or damaged at any byte is ignored", arguments: [0, 1, 3])
  func tornRecords(_ record: Int) async throws {
    let place = try QueuePlace()
    let first = try await place.open(FaultyTransport(content: Samples.content(of:)))
    try await first.submit(try Samples.requests(3), group: "levels")
    try await first.run(until: .idle)
    await first.close()
    let journal = "downloads/\(try #require(try place.files("journal").first))"
    let whole = try #require(place.directory.bytes(of: journal))
    #expect(whole.count == 16 * 4)
    for byte in 0..<16 {
      for isCut in [false, true] {
        var bytes = whole
        if isCut {
          bytes.removeSubrange((16 * record + byte)...)
        } else {
          bytes[16 * record + byte] ^= 0x55
        }
        try place.directory.write(bytes, to: journal, mode: 0o600)
        let transport = FaultyTransport(content: Samples.content(of:))
        let queue = try await place.open(transport)
        try await queue.run(until: .idle)
        #expect(try await queue.status(ofGroup: "levels").finished == 3)
        // The files are found in their places.
        #expect(transport.calls.isEmpty)
        await queue.close()
      }
    }
  }

  @Test("a record in the wrong place is ignored")
  func movedRecord() {
    let record = JournalRecord(
      .failed, failures: 5, rank: RequestRank(priority: 0.5, isEssential: true), failure: .status(503, retryAfter: nil))
    let bytes = record.bytes(position: 7)
    #expect(JournalRecord(bytes.byteSpan, position: 7) == record)
    #expect(JournalRecord(bytes.byteSpan, position: 8) == nil)
    #expect(JournalRecord([UInt8](repeating: 0, count: 16).byteSpan, position: 0) == nil)
  }

  @Test("a missing journal only costs a check of the files")
  func lostJournal() async throws {
    let place = try QueuePlace()
    let first = try await place.open(FaultyTransport(content: Samples.content(of:)))
    try await first.submit(try Samples.requests(10), group: "levels")
    try await first.run(until: .idle)
    await first.close()
    try SystemFiles().remove(place.directory("downloads/\(try #require(try place.files("journal").first))"), .file, in: nil)
    let transport = FaultyTransport(content: Samples.content(of:))
    let queue = try await place.open(transport)
    try await queue.run(until: .idle)
    #expect(transport.calls.isEmpty)
    #expect(try await queue.status(ofGroup: "levels").failed == 0)
    #expect(try await queue.status(ofGroup: "levels").finished == 10)
  }
}
