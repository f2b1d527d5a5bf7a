import TestSupport
import Testing

@testable import PackBase
@testable import PackRuntime

@Suite("The download queue", .bounded)
struct DownloadQueueTests {
  private let place: QueuePlace

  init() throws {
    place = try QueuePlace()
  }

  /// Ends a queue that has 700 bytes of a file, and replaces the content of its files with that suffix.
  private func leave(_ bytes: [UInt8], in suffix: String, at place: QueuePlace) async throws {
    let queue = try await place.open(FaultyTransport(content: Samples.content(of:)) { _ in .stuck(at: 700, isKnown: true) })
    try await queue.submit([try Samples.request(3)], group: "levels")
    try await queue.running {
      try await eventually("the download does not start") { try await queue.status(of: Samples.id(3)).state == .running(received: 700) }
    }
    await queue.close()
    let file = try #require(try place.files(suffix).first)
    try place.directory.write(bytes, to: "downloads/\(file)", mode: 0o600)
  }

  private func events(_ queue: DownloadQueue, _ body: () async throws -> Void) async throws -> [DownloadEvent] {
    let stream = queue.events()
    let heard = Task {
      var events: [DownloadEvent] = []
      for await event in stream { events.append(event) }
      return events
    }
    try await body()
    heard.cancel()
    return await heard.value
  }

  @Test("every file is downloaded correctly, 20 at a time, with two batches in memory")
  func everything() async throws {
    var place = place
    place.policy.batchSize = 50
    let transport = FaultyTransport(content: Samples.content(of:)) { _ in .gathered(20) }
    let queue = try await place.open(transport)
    try await queue.submit(try Samples.requests(300), group: "levels")
    #expect(try place.files("requests").count == 6)
    try await queue.run(until: .idle)

    let status = try await queue.status(ofGroup: "levels")
    #expect(status.finished == 300)
    #expect(status.finishedSize == status.totalSize)
    for number in 0..<300 {
      #expect(try await place.content(queue, number) == Samples.content(number))
    }
    #expect(transport.calls.count == 300)
    #expect(transport.largestRunning == 20)
    #expect(await queue.largestBatchCount == 2)
    #expect(try place.files(".part").isEmpty)
    #expect(try place.files(".tag").isEmpty)
  }

  @Test(
    "a file other than the requested one is never returned",
    arguments: [
      FaultyTransport.Fault.wrong(from: 0), .truncated(to: 500), .announced(17), .tooLong(by: 1), .tooLong(by: 5000),
    ])
  func wrongFile(_ fault: FaultyTransport.Fault) async throws {
    let queue = try await place.open(FaultyTransport(content: Samples.content(of:)) { _ in fault })
    try await queue.submit([try Samples.request(3)], group: "levels")
    let events = try await events(queue) { try await queue.run(until: .idle) }

    guard case .failed(let failure) = try await queue.status(of: Samples.id(3)).state else {
      Issue.record("the download did not fail")
      return
    }
    switch (fault, failure) {
    case (.wrong, .wrongDigest), (.truncated, .wrongSize(500)), (.announced, .wrongSize(17)), (.tooLong, .wrongSize): break
    default: Issue.record("\(failure)")
    }
    #expect(try await queue.file(of: Samples.id(3)) == nil)
    #expect(try place.files(".file").isEmpty)
    #expect(!events.contains { if case .finished = $0 { true } else { false } })
    // However much the server sends, no more than the file is written.
    #expect(events.allSatisfy { if case .progress(_, let received, let size) = $0 { received <= size } else { true } })
  }

  @Test("a failed attempt is repeated, up to five attempts, and then the request fails until the app retries it")
  func attempts() async throws {
    let isDown = Monitor(true)
    let transport = FaultyTransport(content: Samples.content(of:)) { _ in
      isDown.withLock { $0 } ? .failure(.status(503, retryAfter: nil)) : nil
    }
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(1)], group: "levels")
    try await queue.run(until: .idle)
    #expect(transport.calls.count == 5)
    #expect(try await queue.status(of: Samples.id(1)).state == .failed(.status(503, retryAfter: nil)))
    #expect(try await queue.status(of: Samples.id(1)).failures == 5)

    isDown.withLock { $0 = false }
    try await queue.retry(Samples.id(1))
    try await queue.run(until: .idle)
    #expect(try await place.content(queue, 1) == Samples.content(1))
  }

  @Test("failed attempts of an earlier process count")
  func attemptsOfEarlierProcess() async throws {
    let place = place
    let first = try await place.open(
      FaultyTransport(content: Samples.content(of:)) {
        $0.attempt < 2 ? .failure(.status(503, retryAfter: nil)) : .stuck(at: 10, isKnown: true)
      })
    try await first.submit([try Samples.request(1)], group: "levels")
    try await first.running {
      try await eventually("the third attempt does not start") { try await first.status(of: Samples.id(1)).state == .running(received: 10) }
    }
    await first.close()
    let transport = FaultyTransport(content: Samples.content(of:)) { _ in .failure(.status(503, retryAfter: nil)) }
    let second = try await place.open(transport)
    #expect(try await second.status(of: Samples.id(1)).failures == 2)
    try await second.run(until: .idle)
    #expect(transport.calls.count == 3)
    #expect(try await second.status(of: Samples.id(1)).failures == 5)
  }

  @Test("a decision that cannot be written is an error, and changes nothing")
  func unwritableDecision() async throws {
    let isFull = Monitor(false)
    let files = FaultyFiles { $0.operation == .write && isFull.withLock { $0 } ? .failure(.fullDisk) : nil }
    let queue = try await place.open(FaultyTransport(content: Samples.content(of:)), files: files)
    try await queue.submit(try Samples.requests(2), group: "levels")
    isFull.withLock { $0 = true }
    let decisions: [(DownloadQueue) async throws -> Void] = [
      { try await $0.pause(Samples.id(0)) }, { try await $0.cancel(Samples.id(1)) }, { try await $0.setPriority(1, of: Samples.id(0)) },
      { try await $0.pause(group: "levels") }, { try await $0.cancel(group: "levels") },
    ]
    for decision in decisions {
      let error = await #expect(throws: PackError.self) { try await decision(queue) }
      #expect(error?.code == .noSpace)
    }
    for number in 0..<2 { #expect(try await queue.status(of: Samples.id(number)).state == .waiting) }
    #expect(try await queue.status(of: Samples.id(0)).priority == 0.5)
    let status = try await queue.status(ofGroup: "levels")
    #expect(!status.isPaused && !status.isCancelled)
    isFull.withLock { $0 = false }
    try await queue.run(until: .idle)
    #expect(try await queue.status(ofGroup: "levels").finished == 2)
  }

  @Test("the size of a finished file is remembered, also after its priority was changed")
  func finishedSize() async throws {
    let queue = try await place.open(FaultyTransport(content: Samples.content(of:)))
    try await queue.submit(try Samples.requests(3), group: "levels")
    try await queue.run(until: .idle)
    try await queue.setPriority(1, of: Samples.id(1))
    await queue.close()
    let again = try await place.open(FaultyTransport(content: Samples.content(of:)))
    let status = try await again.status(ofGroup: "levels")
    #expect(status.finished == 3)
    #expect(status.finishedSize == status.totalSize)
  }

  @Test("a failed request whose id cannot be read is reported with its group")
  func unreadableID() async throws {
    var place = place
    place.policy.retry.attempts = 1
    let isBroken = Monitor(false)
    let files = FaultyFiles { call in
      call.operation == .open && call.name.hasSuffix("/requests") && isBroken.withLock { $0 } ? .failure(.inputOutput) : nil
    }
    let queue = try await place.open(FaultyTransport(content: Samples.content(of:)), files: files)
    try await queue.submit([try Samples.request(1)], group: "levels")
    isBroken.withLock { $0 = true }
    let events = try await events(queue) { try await queue.run(until: .idle) }
    let failed = events.compactMap { if case .failed(let id, let failure) = $0 { (id, failure) } else { nil } }
    #expect(failed.map(\.0) == [DownloadID(group: "levels", id: "")])
    #expect(failed.map(\.1) == [.cannotWrite])
    isBroken.withLock { $0 = false }
    try await queue.retry(Samples.id(1))
    try await queue.run(until: .idle)
    #expect(try await place.content(queue, 1) == Samples.content(1))
  }

  @Test("a permanent refusal is not retried", arguments: [400, 403, 404, 410])
  func permanent(_ code: Int) async throws {
    let transport = FaultyTransport(content: Samples.content(of:)) { _ in .failure(.status(code, retryAfter: nil)) }
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(1)], group: "levels")
    try await queue.run(until: .idle)
    #expect(transport.calls.count == 1)
    #expect(try await queue.status(of: Samples.id(1)).state == .failed(.status(code, retryAfter: nil)))
  }

  @Test("a refusal that passes is retried", arguments: [408, 416, 425, 429, 500])
  func temporary(_ code: Int) async throws {
    let transport = FaultyTransport(content: Samples.content(of:)) { $0.attempt == 0 ? .failure(.status(code, retryAfter: nil)) : nil }
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(1)], group: "levels")
    try await queue.run(until: .idle)
    #expect(transport.calls.count == 2)
    #expect(try await place.content(queue, 1) == Samples.content(1))
  }

  @Test("an interrupted download resumes at its offset, with the entity tag of the bytes on disk")
  func resumed() async throws {
    let transport = FaultyTransport(content: Samples.content(of:)) { $0.attempt == 0 ? .cut(at: 700, .unreachable) : nil }
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(3)], group: "levels")
    try await queue.run(until: .idle)
    #expect(transport.calls.map(\.offset) == [0, 700])
    #expect(transport.calls.map(\.validator) == [nil, "\"\(Samples.url(3))\""])
    #expect(try await place.content(queue, 3) == Samples.content(3))
  }

  @Test("if the server sends the file from the start, the download starts again")
  func restarted() async throws {
    let transport = FaultyTransport(content: Samples.content(of:)) { $0.attempt == 0 ? .cut(at: 700, .unreachable) : .fromStart }
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(3)], group: "levels")
    try await queue.run(until: .idle)
    #expect(transport.calls.map(\.offset) == [0, 700])
    #expect(try await place.content(queue, 3) == Samples.content(3))
  }

  @Test("a download that started again from the start resumes with the entity tag, although the tag is the same as before")
  func restartedAndResumed() async throws {
    let transport = FaultyTransport(content: Samples.content(of:)) { call in
      switch call.attempt {
      case 0: .cut(at: 700, .unreachable)
      case 1: .fromStartCut(at: 300)
      default: nil
      }
    }
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(3)], group: "levels")
    try await queue.run(until: .idle)
    let tag = "\"\(Samples.url(3))\""
    #expect(transport.calls.map(\.offset) == [0, 700, 300])
    #expect(transport.calls.map(\.validator) == [nil, tag, tag])
    #expect(try await place.content(queue, 3) == Samples.content(3))
  }

  @Test("bytes from another place of the file are refused, and the download resumes where it was")
  func elsewhere() async throws {
    let faults = [FaultyTransport.Fault.cut(at: 700, .unreachable), .elsewhere(701)]
    let transport = FaultyTransport(content: Samples.content(of:)) { $0.attempt < faults.count ? faults[$0.attempt] : nil }
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(3)], group: "levels")
    try await queue.run(until: .idle)
    #expect(transport.calls.map(\.offset) == [0, 700, 700])
    #expect(try await place.content(queue, 3) == Samples.content(3))
  }

  @Test("wrong bytes of an earlier process are discarded and do not count against the request")
  func staleParts() async throws {
    var place = place
    place.policy.retry.attempts = 1
    try await leave([UInt8](repeating: 0, count: 700), in: ".part", at: place)
    let transport = FaultyTransport(content: Samples.content(of:))
    let second = try await place.open(transport)
    try await second.run(until: .idle)
    #expect(transport.calls.map(\.offset) == [700, 0])
    #expect(try await place.content(second, 3) == Samples.content(3))
  }

  @Test("a wrong file of the right size, left by an earlier process, is fetched again from its start")
  func staleFile() async throws {
    try await leave([UInt8](repeating: 0, count: Samples.content(3).count), in: ".part", at: place)
    let transport = FaultyTransport(content: Samples.content(of:))
    let second = try await place.open(transport)
    try await second.run(until: .idle)
    #expect(transport.calls.map(\.offset) == [0])
    #expect(try await place.content(second, 3) == Samples.content(3))
  }

  @Test(
    "an invalid entity tag left by a crash is not sent",
    arguments: [[], [0, 0, 0], Array("\"a\r\nb\"".utf8), [0xFF]])
  func staleTags(_ left: [UInt8]) async throws {
    try await leave(left, in: ".tag", at: place)
    let transport = FaultyTransport(content: Samples.content(of:))
    let second = try await place.open(transport)
    try await second.run(until: .idle)
    #expect(transport.calls.map(\.offset) == [700])
    #expect(transport.calls.map(\.validator) == [nil])
    #expect(try await place.content(second, 3) == Samples.content(3))
  }

  @Test("a paused request stays paused, also in the next process, and resumes at its offset")
  func pausedRequest() async throws {
    let transport = FaultyTransport(content: Samples.content(of:)) { $0.attempt == 0 ? .stuck(at: 700, isKnown: true) : nil }
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(3)], group: "levels")
    try await queue.running {
      try await eventually("the download does not start") { try await queue.status(of: Samples.id(3)).state == .running(received: 700) }
      try await queue.pause(Samples.id(3))
      try await eventually("the download does not stop") { transport.running.isEmpty }
      #expect(try await queue.status(of: Samples.id(3)).state == .paused)
    }
    await queue.close()

    let again = try await place.open(transport)
    try await again.run(until: .idle)
    #expect(transport.calls.count == 1)
    try await again.resume(Samples.id(3))
    try await again.run(until: .idle)
    #expect(transport.calls.map(\.offset) == [0, 700])
    #expect(try await again.status(of: Samples.id(3)).failures == 0)
    #expect(try await place.content(again, 3) == Samples.content(3))
  }

  @Test("paused and cancelled downloads are also ended in the transport; a download that only makes room is not")
  func endedInTransport() async throws {
    let transport = FaultyTransport(content: Samples.content(of:)) { _ in .stuck(at: 1, isKnown: true) }
    let queue = try await place.open(transport)
    try await queue.submit(try [3, 4, 5].map { try Samples.request($0) }, group: "levels")
    try await queue.submit([try Samples.request(6)], group: "music")
    try await queue.running {
      try await eventually("the downloads do not start") { transport.running.count == 4 }
      #expect(transport.cancelled.isEmpty)
      try await queue.pause(Samples.id(3))
      try await eventually("the paused download continues") { transport.cancelled == ["levels/file-3"] }
      try await queue.cancel(Samples.id(4))
      try await eventually("the cancelled download continues") { transport.cancelled == ["levels/file-3", "levels/file-4"] }
      try await queue.pause(group: "music")
      try await eventually("the paused group continues") { transport.cancelled.last == "music/file-6" }
      // It resumes at its offset.
      try await queue.resume(Samples.id(3))
      try await eventually("the download does not start again") { transport.running.contains("levels/file-3") }
    }
    // The end of the queue does not end downloads of the transport's service.
    #expect(transport.cancelled == ["levels/file-3", "levels/file-4", "music/file-6"])
    await queue.close()
  }

  @Test("a paused group stays paused, also in the next process, while other groups continue")
  func pausedGroup() async throws {
    let transport = FaultyTransport(content: Samples.content(of:))
    let queue = try await place.open(transport)
    try await queue.submit(try Samples.requests(30), group: "levels")
    try await queue.submit([try Samples.request(99, id: "other")], group: "music")
    try await queue.pause(group: "levels")
    await queue.close()

    let again = try await place.open(transport)
    try await again.run(until: .idle)
    #expect(transport.calls.count == 1)
    #expect(try await again.status(ofGroup: "levels").isPaused)
    #expect(try await again.status(ofGroup: "music").finished == 1)
    try await again.resume(group: "levels")
    try await again.run(until: .idle)
    #expect(try await again.status(ofGroup: "levels").finished == 30)
  }

  @Test("a cancelled request stops, leaves nothing behind, and stays cancelled in the next process")
  func cancelled() async throws {
    let transport = FaultyTransport(content: Samples.content(of:)) { _ in .stuck(at: 1, isKnown: true) }
    let queue = try await place.open(transport)
    try await queue.submit(try Samples.requests(30), group: "levels")
    try await queue.running {
      try await eventually("the downloads do not start") { transport.running.count == 20 }
      try await queue.cancel(Samples.id(3))
      try await eventually("the download does not stop") { !transport.running.contains("levels/file-3") }
      #expect(try await queue.status(of: Samples.id(3)).state == .cancelled)
      try await queue.cancel(group: "levels")
      #expect(transport.running.isEmpty)
      #expect(try place.files(".part").isEmpty)
    }
    #expect(try await queue.status(ofGroup: "levels").cancelled == 30)
    await queue.close()

    let again = try await place.open(FaultyTransport(content: Samples.content(of:)))
    try await again.run(until: .idle)
    #expect(try await again.status(ofGroup: "levels").cancelled == 30)
    #expect(try await again.status(of: Samples.id(7)).state == .cancelled)
    await #expect(throws: PackError.self) { try await again.submit([try Samples.request(50)], group: "levels") }
    try await again.remove(group: "levels")
    #expect(await again.groups.isEmpty)
    #expect(try place.files("").filter { $0.hasPrefix("groups/") }.isEmpty)
  }

  @Test("a paused request that is cancelled leaves nothing behind")
  func cancelledWhilePaused() async throws {
    let transport = FaultyTransport(content: Samples.content(of:)) { _ in .stuck(at: 700, isKnown: true) }
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(3)], group: "levels")
    try await queue.running {
      try await eventually("the download does not start") { try await queue.status(of: Samples.id(3)).state == .running(received: 700) }
      try await queue.pause(Samples.id(3))
      try await eventually("the download does not stop") { transport.running.isEmpty }
    }
    #expect(try place.files(".part").count == 1 && place.files(".tag").count == 1)
    try await queue.cancel(Samples.id(3))
    #expect(try place.files(".part") == [] && place.files(".tag") == [])
  }

  @Test("essential requests come first, then by priority, then in the order of submission")
  func order() async throws {
    var place = place
    place.policy.concurrentDownloads = 1
    place.policy.batchSize = 2
    let transport = FaultyTransport(content: Samples.content(of:))
    let queue = try await place.open(transport)
    try await queue.submit(
      [
        try Samples.request(0, priority: 0.1), try Samples.request(1), try Samples.request(2, priority: 0.9),
        try Samples.request(3, priority: 0, isEssential: true), try Samples.request(4), try Samples.request(5, priority: 0.2),
      ], group: "levels")
    try await queue.setPriority(0.7, of: Samples.id(5))
    await queue.close()
    let again = try await place.open(transport)
    try await again.run(until: .idle)
    #expect(transport.calls.map(\.request.identifier) == [3, 2, 5, 1, 4, 0].map { "levels/file-\($0)" })
  }

  @Test("a priority that is changed during the download reaches the transport, and an urgent request takes the place of another")
  func urgent() async throws {
    var place = place
    place.policy.concurrentDownloads = 2
    let transport = FaultyTransport(content: Samples.content(of:)) { call in
      call.request.identifier == "levels/file-9" || call.offset > 0 ? nil : .stuck(at: 1, isKnown: true)
    }
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(3, priority: 0.4), try Samples.request(4)], group: "levels")
    try await queue.running {
      for number in [3, 4] {
        try await eventually("the downloads do not start") { try await queue.status(of: Samples.id(number)).state == .running(received: 1) }
      }
      try await queue.setPriority(0.3, of: Samples.id(4))
      #expect(transport.priorities == ["levels/file-4": 0.3])
      try await queue.submit([try Samples.request(9, priority: 1)], group: "levels")
      try await eventually("the urgent one does not finish") { try await queue.status(of: Samples.id(9)).state == .finished }
      // The download that made room resumes at its offset.
      try await eventually("the other download does not continue") { try await queue.status(of: Samples.id(4)).state == .finished }
    }
    #expect(transport.calls.filter { $0.request.identifier == "levels/file-4" }.map(\.offset) == [0, 1])
    #expect(try await queue.status(of: Samples.id(4)).failures == 0)
    #expect(transport.largestRunning == 2)
  }

  @Test("only an urgent request takes the place of another, and no urgent one makes way")
  func notUrgent() async throws {
    var place = place
    place.policy.concurrentDownloads = 2
    let transport = FaultyTransport(content: Samples.content(of:)) { $0.offset > 0 ? nil : .stuck(at: 1, isKnown: true) }
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(3, priority: 0.1), try Samples.request(4, priority: 1)], group: "levels")
    try await queue.running {
      for number in [3, 4] {
        try await eventually("the downloads do not start") { try await queue.status(of: Samples.id(number)).state == .running(received: 1) }
      }
      try await queue.submit([try Samples.request(8, priority: 0.99)], group: "levels")
      try await steadily("another download makes way") { Set(transport.running) == ["levels/file-3", "levels/file-4"] }
      try await queue.submit([try Samples.request(9, priority: 1)], group: "levels")
      try await eventually("the urgent one does not start") { transport.running.contains("levels/file-9") }
      #expect(Set(transport.running) == ["levels/file-4", "levels/file-9"])
      try await queue.submit([try Samples.request(10, priority: 1)], group: "levels")
      try await steadily("an urgent download makes way") { Set(transport.running) == ["levels/file-4", "levels/file-9"] }
    }
    #expect(!transport.calls.contains { $0.request.identifier == "levels/file-8" })
  }

  @Test("a download that the system lost is detected and retried")
  func forgotten() async throws {
    let transport = FaultyTransport(content: Samples.content(of:)) { $0.attempt == 0 ? .stuck(at: 700, isKnown: false) : nil }
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(3)], group: "levels")
    let events = try await events(queue) {
      let task = Task { try await queue.run(until: .idle) }
      try await eventually("the download does not start") { try await queue.status(of: Samples.id(3)).state == .running(received: 700) }
      // The first check may have been too early for the transport.
      await queue.reconcile()
      try await steadily("it is given up at once") { transport.calls.count == 1 }
      #expect(try await queue.status(of: Samples.id(3)).state == .running(received: 700))
      await queue.reconcile()
      try await task.value
    }
    #expect(transport.calls.map(\.offset) == [0, 700])
    #expect(events.contains { if case .forgotten(Samples.id(3)) = $0 { true } else { false } })
    #expect(try await place.content(queue, 3) == Samples.content(3))
  }

  @Test("a running queue detects downloads that the system lost")
  func forgottenInTime() async throws {
    var place = place
    place.policy.reconcileInterval = .seconds(300)
    let transport = FaultyTransport(content: Samples.content(of:)) { $0.attempt == 0 ? .stuck(at: 0, isKnown: false) : nil }
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(3)], group: "levels")
    let events = try await events(queue) { try await queue.run(until: .idle) }
    #expect(events.contains { if case .forgotten(Samples.id(3)) = $0 { true } else { false } })
    #expect(try await place.content(queue, 3) == Samples.content(3))
  }

  @Test("a download that the system has is not given up, however often it is checked")
  func remembered() async throws {
    let transport = FaultyTransport(content: Samples.content(of:)) { _ in .gathered(2) }
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(3)], group: "levels")
    try await queue.running {
      try await eventually("the download does not start") { transport.running.count == 1 }
      for _ in 0..<5 { await queue.reconcile() }
      // The first download ends together with the second.
      try await queue.submit([try Samples.request(4)], group: "levels")
      try await eventually("the downloads do not finish") { try await queue.status(ofGroup: "levels").finished == 2 }
    }
    #expect(transport.calls.count == 2)
  }

  @Test("interrupted downloads are reported, unless the system still has them; cancelled ones are ended in the system")
  func interrupted() async throws {
    let first = try await place.open(FaultyTransport(content: Samples.content(of:)) { _ in .stuck(at: 1, isKnown: true) })
    try await first.submit(
      [try Samples.request(3), try Samples.request(4, extensionID: "background-4"), try Samples.request(5)], group: "levels")
    let task = Task { try await first.run() }
    try await eventually("the downloads do not start") { try await first.status(ofGroup: "levels").running == 3 }
    // The journal as a killed process leaves it.
    let journal = try #require(try place.files("journal").first)
    let bytes = try #require(place.directory.bytes(of: "downloads/\(journal)"))
    try await first.cancel(Samples.id(5))
    task.cancel()
    try await task.value
    await first.close()
    try place.directory.write(bytes, to: "downloads/\(journal)", mode: 0o600)

    let transport = FaultyTransport(known: ["background-4", "levels/file-5", "somebody-else"], content: Samples.content(of:))
    let second = try await place.open(transport)
    try await second.pause(Samples.id(5))
    let heard = try await events(second) { try await second.run(until: .idle) }
    let forgotten = heard.compactMap { if case .forgotten(let id) = $0 { id } else { nil } }
    #expect(forgotten == [Samples.id(3)])
    #expect(transport.cancelled == ["levels/file-5"])
    #expect(try await second.status(ofGroup: "levels").finished == 2)
    #expect(try await second.request(forExtensionID: "background-4") == Samples.id(4))
    #expect(try await second.request(forExtensionID: "background-5") == nil)
  }

  @Test("without a network, one download is tried at intervals, and no attempt counts")
  func offline() async throws {
    let isOffline = Monitor(true)
    let transport = FaultyTransport(content: Samples.content(of:)) { _ in isOffline.withLock { $0 } ? .failure(.offline) : nil }
    let queue = try await place.open(transport)
    try await queue.submit(try Samples.requests(100), group: "levels")
    let start = ContinuousClock.now
    let events = try await events(queue) {
      try await queue.running {
        try await eventually("no download is tried again") { transport.calls.count > 25 }
        // The first twenty started before the network was known to be missing. In ten attempts, the delays grow to at least 150 ms of the machine's
        // time.
        let count = transport.calls.count
        #expect(count <= 32 + Int(start.duration(to: .now) / .milliseconds(150)))
        #expect(try await queue.status(ofGroup: "levels").failed == 0)
        isOffline.withLock { $0 = false }
        try await eventually("the downloads do not finish") {
          // An earlier attempt may report only now that there is no network.
          await queue.tryNow()
          return try await queue.status(ofGroup: "levels").finished == 100
        }
      }
    }
    #expect(try await queue.status(of: Samples.id(0)).failures == 0)
    #expect(events.contains { if case .offline = $0 { true } else { false } })
    #expect(events.contains { if case .online = $0 { true } else { false } })
  }

  @Test("while there is no network, only one download is tried at a time")
  func oneAtATime() async throws {
    let count = Monitor(0)
    let transport = FaultyTransport(content: Samples.content(of:)) { _ in
      count.withLock { count in
        count += 1
        return count <= 20 ? .failure(.offline) : .stuck(at: 1, isKnown: true)
      }
    }
    let queue = try await place.open(transport)
    try await queue.submit(try Samples.requests(100), group: "levels")
    try await queue.running {
      try await eventually("no download is tried again") { transport.calls.count > 20 }
      try await steadily("another download is tried") { transport.calls.count == 21 }
    }
  }

  @Test("a temporary failure of the server does not make every request fail")
  func serverDown() async throws {
    var place = place
    place.policy.largestRetryCount = 10
    place.policy.concurrentDownloads = 5
    let isDown = Monitor(true)
    let transport = FaultyTransport(content: Samples.content(of:)) { _ in
      isDown.withLock { $0 } ? .failure(.status(503, retryAfter: nil)) : nil
    }
    let queue = try await place.open(transport)
    try await queue.submit(try Samples.requests(100), group: "levels")
    try await queue.running {
      // Far more than five attempts for each started request.
      try await eventually("no download is tried again") { transport.calls.count > 150 }
      #expect(Set(transport.calls.map(\.request.identifier)).count <= 15)
      #expect(try await queue.status(ofGroup: "levels").failed == 0)
      isDown.withLock { $0 = false }
      try await eventually("the downloads do not finish") {
        await queue.tryNow()
        return try await queue.status(ofGroup: "levels").finished == 100
      }
    }
    // A later request that fails alone is given up as before.
    isDown.withLock { $0 = true }
    try await queue.submit([try Samples.request(100)], group: "levels")
    try await queue.run(until: .idle)
    #expect(try await queue.status(of: Samples.id(100)).state == .failed(.status(503, retryAfter: nil)))
  }

  @Test("a connection that breaks off repeatedly completes the file in the end, as long as the file grows")
  func brittle() async throws {
    // Every attempt adds a hundred bytes, except three in the middle, which add none.
    let transport = FaultyTransport(pieceSize: 100, content: Samples.content(of:)) { call in
      .cut(at: (5...7).contains(call.attempt) ? call.offset : min(call.offset + 100, 2932), .unreachable)
    }
    let size = Samples.content(3).count
    #expect(size == 2932)
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(3)], group: "levels")
    try await queue.run(until: .idle)
    #expect(try await place.content(queue, 3) == Samples.content(3))
    #expect(transport.calls.count > 30)
  }

  @Test("a connection that always breaks off at the same place fails, with or without earlier bytes", arguments: [false, true])
  func brittleForEver(startsAnew: Bool) async throws {
    let transport = FaultyTransport(content: Samples.content(of:)) { call in
      startsAnew && call.offset > 0 ? .fromStartCut(at: 700) : .cut(at: 700, .unreachable)
    }
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(3)], group: "levels")
    try await queue.run(until: .idle)
    #expect(try await queue.status(of: Samples.id(3)).state == .failed(.unreachable))
    #expect(transport.calls.count == 5)
  }

  @Test("a download starts if its bytes and the margin are free, and not with one byte less", arguments: [0, 1] as [UInt64])
  func margin(missing: UInt64) async throws {
    var place = place
    place.policy.freeSpaceMargin = 1000
    let size = UInt64(Samples.content(3).count)
    let files = FaultyFiles { $0.operation == .freeSpace ? .freeSpace(size + 1000 - missing) : nil }
    let transport = FaultyTransport(content: Samples.content(of:))
    let queue = try await place.open(transport, files: files)
    try await queue.submit([try Samples.request(3)], group: "levels")
    let events = try await events(queue) {
      try await queue.running {
        try await eventually("the request does not settle") {
          switch try await queue.status(of: Samples.id(3)).state {
          case .retrying, .finished: true
          default: false
          }
        }
      }
    }
    #expect(transport.calls.isEmpty == (missing > 0))
    #expect(events.contains { if case .lowSpace(_, size + 1000, size + 999) = $0 { true } else { false } } == (missing > 0))
  }

  @Test("a batch has from 1 to 500 requests", arguments: [0, 1, 500, 501])
  func batchSize(size: Int) async throws {
    var place = place
    place.policy.batchSize = size
    let error = await failure { [place] () async throws(PackError) in
      _ = try await place.open(FaultyTransport(content: Samples.content(of:)))
    }
    #expect(error?.code == ((1...500).contains(size) ? nil : .usage))
  }

  @Test("500 requests are one batch, and one more begins the next", arguments: [(500, 1), (501, 2)])
  func fullBatch(count: Int, batches: Int) async throws {
    let queue = try await place.open(FaultyTransport(content: Samples.content(of:)))
    try await queue.submit(try Samples.requests(count), group: "levels")
    #expect(try place.files("requests").count == batches)
  }

  @Test("without enough space nothing is started, both numbers are reported, and the attempt does not count")
  func noSpace() async throws {
    let isFull = Monitor(true)
    let files = FaultyFiles { $0.operation == .freeSpace && isFull.withLock { $0 } ? .freeSpace(5) : nil }
    let transport = FaultyTransport(content: Samples.content(of:))
    let queue = try await place.open(transport, files: files)
    try await queue.submit([try Samples.request(3)], group: "levels")
    let events = try await events(queue) {
      try await queue.running {
        try await eventually("low space is not reported") {
          if case .retrying = try await queue.status(of: Samples.id(3)).state { true } else { false }
        }
        #expect(transport.calls.isEmpty)
        isFull.withLock { $0 = false }
        await queue.tryNow()
        try await eventually("the download does not finish") { try await queue.status(of: Samples.id(3)).state == .finished }
      }
    }
    let size = UInt64(Samples.content(3).count)
    #expect(events.contains { if case .lowSpace(_, size, 5) = $0 { true } else { false } })
    #expect(try await queue.status(of: Samples.id(3)).failures == 0)
  }

  @Test("a file that fits only after the system has purged other files is downloaded")
  func purgeableSpace() async throws {
    let files = FaultyFiles { $0.operation == .freeSpace ? .freeSpace($0.name == FaultyFiles.available ? 1 << 30 : 0) : nil }
    let queue = try await place.open(FaultyTransport(content: Samples.content(of:)), files: files)
    try await queue.submit([try Samples.request(3)], group: "levels")
    try await queue.run(until: .idle)
    #expect(try await place.content(queue, 3) == Samples.content(3))
  }

  @Test("progress is reported and not written: a download in a hundred pieces writes as much to disk as one in two")
  func progress() async throws {
    var counts: [Int] = []
    for pieceSize in [20, 2000] {
      let place = try QueuePlace()
      let files = FaultyFiles()
      let queue = try await place.open(FaultyTransport(pieceSize: pieceSize, content: Samples.content(of:)), files: files)
      try await queue.submit([try Samples.request(3)], group: "levels")
      let earlier = files.calls.count
      let events = try await events(queue) { try await queue.run(until: .idle) }
      let pieces = (Samples.content(3).count + pieceSize - 1) / pieceSize
      counts.append(files.calls.count - earlier - pieces)
      #expect(events.contains { if case .progress(_, let received, let size) = $0 { received == size } else { false } })
    }
    #expect(counts[0] == counts[1])
  }

  @Test("events report everything, and a path only for an existing file")
  func story() async throws {
    let transport = FaultyTransport(content: Samples.content(of:)) { $0.attempt == 0 ? .cut(at: 700, .timedOut) : nil }
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(3)], group: "levels")
    let events = try await events(queue) { try await queue.run(until: .idle) }
    var story: [String] = []
    for event in events {
      switch event {
      case .began(_, let offset): story.append("began at \(offset)")
      case .retrying(_, let failure, let delay):
        story.append("retrying after \(failure)")
        #expect(delay >= .milliseconds(500) && delay <= .seconds(1))
      case .finished(_, let path):
        story.append("finished")
        #expect(try SystemFiles().contents(of: path, limit: 10_000) == Samples.content(3))
      case .progress: break
      default: story.append("\(event)")
      }
    }
    #expect(story == ["began at 0", "retrying after timedOut", "began at 700", "finished"])
  }

  @Test("a file downloaded by the system's service is adopted from any place", arguments: [false, true])
  func adopted(_ isElsewhere: Bool) async throws {
    let directory = place.directory
    let transport = AdoptingTransport(path: directory("system.tmp"))
    let files = FaultyFiles { isElsewhere && $0.operation == .link ? .failure(.unsupported) : nil }
    try directory.write(Samples.content(3), to: "system.tmp")
    let queue = try await place.open(transport, files: files)
    try await queue.submit([try Samples.request(3)], group: "levels")
    try await queue.run(until: .idle)
    #expect(try await place.content(queue, 3) == Samples.content(3))
    #expect(directory.bytes(of: "system.tmp") == nil)
  }

  private struct AdoptingTransport: Transport {
    let path: String

    func download(_ request: TransferRequest, into sink: DownloadSink) async throws(TransferFailure) {
      try sink.adopt(path)
    }
  }

  @Test("a request that is cancelled while its file is moved into place leaves nothing behind")
  func cancelledLate() async throws {
    let gate = Monitor(false)
    // The rename waits until the request is cancelled.
    let files = FaultyFiles { call in
      if call.operation == .rename, call.name.hasSuffix(".file") { gate.wait { $0 ? () : nil } }
      return nil
    }
    let queue = try await place.open(FaultyTransport(content: Samples.content(of:)), files: files)
    try await queue.submit([try Samples.request(3)], group: "levels")
    try await queue.running {
      try await eventually("the file is not renamed") { files.calls.contains { $0.operation == .rename && $0.name.hasSuffix(".file") } }
      try await queue.cancel(Samples.id(3))
      gate.update { $0 = true }
      try await eventually("a file is left") { try place.files(".file").isEmpty && place.files(".part").isEmpty }
    }
    #expect(try await queue.status(of: Samples.id(3)).state == .cancelled)
    #expect(try await queue.file(of: Samples.id(3)) == nil)
  }

  @Test("a request that is paused and resumed while its file is moved into place is not downloaded again")
  func resumedLate() async throws {
    let gate = Monitor(false)
    let files = FaultyFiles { call in
      if call.operation == .rename, call.name.hasSuffix(".file") { gate.wait { $0 ? () : nil } }
      return nil
    }
    let transport = FaultyTransport(content: Samples.content(of:))
    let queue = try await place.open(transport, files: files)
    try await queue.submit([try Samples.request(3)], group: "levels")
    try await queue.running {
      try await eventually("the file is not renamed") { files.calls.contains { $0.operation == .rename && $0.name.hasSuffix(".file") } }
      try await queue.pause(Samples.id(3))
      try await queue.resume(Samples.id(3))
      gate.update { $0 = true }
    }
    // Completes whatever the end of the first run interrupted.
    try await queue.run(until: .idle)
    #expect(transport.calls.count == 1)
    #expect(try await place.content(queue, 3) == Samples.content(3))
  }

  @Test("a finished file can be discarded, and is downloaded again only on request")
  func discarded() async throws {
    let transport = FaultyTransport(content: Samples.content(of:))
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(3)], group: "levels")
    try await queue.run(until: .idle)
    try await queue.retry(Samples.id(3))
    try await queue.run(until: .idle)
    #expect(transport.calls.count == 1)
    try await queue.discard(Samples.id(3))
    #expect(try await queue.file(of: Samples.id(3)) == nil)
    await queue.close()

    let again = try await place.open(transport)
    try await again.run(until: .idle)
    #expect(transport.calls.count == 1)
    #expect(try await again.finished(inGroup: "levels") == ["file-3"])
    try await again.retry(Samples.id(3))
    try await again.run(until: .idle)
    #expect(transport.calls.count == 2)
    #expect(try await place.content(again, 3) == Samples.content(3))
  }

  @Test("the delay before the next attempt doubles, has a random part, and respects the server's value")
  func delays() {
    let policy = RetryPolicy()
    var random = SeededGenerator()
    for failures in 1...40 {
      let whole = min(Duration.seconds(300), .seconds(1) * (1 << min(failures - 1, 20)))
      let delays = (0..<200).map { _ in policy.delay(after: failures, using: &random) }
      #expect(delays.allSatisfy { $0 <= whole && $0 >= whole * 0.5 })
      #expect(Set(delays).count > 150)
    }
    #expect(policy.delay(after: 1, atLeast: .seconds(20), using: &random) == .seconds(20))
    #expect(policy.delay(after: 1, atLeast: .seconds(20_000), using: &random) == .seconds(300))
  }
}
