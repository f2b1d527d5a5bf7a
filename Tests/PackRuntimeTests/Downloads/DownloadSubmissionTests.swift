import TestSupport
import Testing

@Suite("Submitting downloads, and the directory of a queue", .bounded)
struct DownloadSubmissionTests {
  private let place: QueuePlace
  private let transport = FaultyTransport(content: Samples.content(of:))

  init() throws {
    place = try QueuePlace()
  }

  private func refuses(_ code: PackError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void) async {
    do {
      try await body()
      Issue.record("nothing was refused", sourceLocation: sourceLocation)
    } catch {
      #expect((error as? PackError)?.code == code, "\(error)", sourceLocation: sourceLocation)
    }
  }

  @Test(
    "an invalid request is refused",
    arguments: [
      DownloadRequest(id: "", url: "https://a/b", size: 1, sha256: [UInt8](repeating: 0, count: 32)),
      DownloadRequest(id: "a\u{0}b", url: "https://a/b", size: 1, sha256: [UInt8](repeating: 0, count: 32)),
      DownloadRequest(id: String(repeating: "a", count: 257), url: "https://a/b", size: 1, sha256: [UInt8](repeating: 0, count: 32)),
      DownloadRequest(id: "a", extensionID: "", url: "https://a/b", size: 1, sha256: [UInt8](repeating: 0, count: 32)),
      DownloadRequest(id: "a", url: "file:///etc/passwd", size: 1, sha256: [UInt8](repeating: 0, count: 32)),
      DownloadRequest(id: "a", url: "https://a/b c", size: 1, sha256: [UInt8](repeating: 0, count: 32)),
      DownloadRequest(id: "a", url: "https://a/\(String(repeating: "b", count: 2048))", size: 1, sha256: [UInt8](repeating: 0, count: 32)),
      DownloadRequest(id: "a", url: "https://a/b", size: 0, sha256: [UInt8](repeating: 0, count: 32)),
      DownloadRequest(id: "a", url: "https://a/b", size: .max, sha256: [UInt8](repeating: 0, count: 32)),
      DownloadRequest(id: "a", url: "https://a/b", size: 1, sha256: [UInt8](repeating: 0, count: 31)),
      DownloadRequest(id: "a", url: "https://a/b", size: 1, sha256: [UInt8](repeating: 0, count: 32), priority: 1.1),
      DownloadRequest(id: "a", url: "https://a/b", size: 1, sha256: [UInt8](repeating: 0, count: 32), priority: .nan),
    ])
  func refused(_ request: DownloadRequest) async throws {
    let queue = try await place.open(transport)
    await refuses(.usage) { try await queue.submit([request], group: "levels") }
    #expect(await queue.groups.isEmpty)
  }

  @Test("requests that a group already has are skipped, and a different request with the same id is refused")
  func repeated() async throws {
    var place = place
    place.policy.batchSize = 10
    let queue = try await place.open(transport)
    try await queue.submit(try Samples.requests(25), group: "levels")
    try await queue.submit(try Samples.requests(40), group: "levels")
    #expect(try await queue.status(ofGroup: "levels").count == 40)
    await refuses(.requestExists) { try await queue.submit([try Samples.request(100, id: "file-7")], group: "levels") }
    await refuses(.requestExists) {
      try await queue.submit([try Samples.request(100, id: "new"), try Samples.request(101, id: "new")], group: "levels")
    }
    #expect(try await queue.status(ofGroup: "levels").count == 40)
    // Another group has its own ids.
    try await queue.submit([try Samples.request(100, id: "file-7")], group: "music")
    #expect(await queue.groups == ["levels", "music"])
  }

  @Test("a group that is added in a later process does not take the place of an earlier one")
  func laterGroup() async throws {
    let first = try await place.open(transport)
    try await first.submit(try Samples.requests(3), group: "levels")
    try await first.submit(try Samples.requests(2), group: "music")
    await first.close()
    let second = try await place.open(transport)
    try await second.submit([try Samples.request(100, id: "other")], group: "voices")
    // Numbers of removed groups may be used again, but only those.
    try await second.remove(group: "music")
    await second.close()
    let third = try await place.open(transport)
    try await third.submit([try Samples.request(101, id: "last")], group: "faces")
    await third.close()
    let fourth = try await place.open(transport)
    #expect(Set(await fourth.groups) == ["levels", "voices", "faces"])
    #expect(fourth.damage == [])
    for number in 0..<3 { #expect(try await fourth.status(of: Samples.id(number)).request == Samples.request(number)) }
    #expect(try await fourth.status(of: DownloadID(group: "voices", id: "other")).request.url == Samples.url(100))
    #expect(try await fourth.status(of: DownloadID(group: "faces", id: "last")).request.url == Samples.url(101))
  }

  @Test("what is left of a removed group goes when the queue is opened again")
  func restOfGroup() async throws {
    let files = FaultyFiles { $0.operation == .remove ? .failure(.inputOutput) : nil }
    let queue = try await place.open(transport, files: files)
    try await queue.submit(try Samples.requests(3), group: "levels")
    try await queue.remove(group: "levels")
    #expect(try place.files("/requests").count == 1)
    await queue.close()
    let again = try await place.open(transport)
    #expect(await again.groups.isEmpty)
    #expect(try place.files("/requests") == [])
    #expect(try !place.directory.tree("downloads").contains { $0.contains("trash-") })
  }

  @Test("concurrent submissions all succeed")
  func together() async throws {
    var place = place
    place.policy.batchSize = 7
    let queue = try await place.open(transport)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for part in 0..<8 {
        tasks.addTask {
          try await queue.submit(try (0..<20).map { try Samples.request(part * 20 + $0) }, group: part % 2 == 0 ? "levels" : "music")
        }
      }
      try await tasks.waitForAll()
    }
    #expect(try await queue.status(ofGroup: "levels").count == 80)
    #expect(try await queue.status(ofGroup: "music").count == 80)
    await queue.close()
    let again = try await place.open(transport)
    #expect(try await again.status(ofGroup: "music").count == 80)
  }

  @Test("ids may contain any text, and are returned unchanged")
  func awkwardIDs() async throws {
    let ids = ["a/b", "../../etc/passwd", "level 1 · öäü", "💾", String(repeating: "x", count: 256), "e\u{301}"]
    let queue = try await place.open(transport)
    for (number, id) in ids.enumerated() {
      try await queue.submit(
        [try Samples.request(number, id: id, extensionID: "system \(id)".utf8.count <= 256 ? "system \(id)" : nil)], group: id)
    }
    await queue.close()
    let again = try await place.open(transport)
    try await again.run(until: .idle)
    #expect(await again.groups == ids)
    for (number, id) in ids.enumerated() {
      let name = DownloadID(group: id, id: id)
      #expect(
        try await again.status(of: name).request
          == Samples.request(number, id: id, extensionID: "system \(id)".utf8.count <= 256 ? "system \(id)" : nil))
      #expect(try await again.status(of: name).state == .finished)
    }
    // Whatever the ids are, all files are inside the queue.
    #expect(try place.directory.tree().allSatisfy { $0 == "downloads" || $0.hasPrefix("downloads/") })
  }

  @Test("an open queue cannot be opened again until it is closed")
  func busy() async throws {
    let queue = try await place.open(transport)
    var impatient = place
    impatient.policy.lockTimeout = .seconds(5)
    await refuses(.queueBusy) { [impatient] in _ = try await impatient.open(transport) }
    await queue.close()
    _ = try await place.open(transport)
  }

  @Test("a queue whose lock file is removed and made again while it opens has one owner")
  func oneOwner() async throws {
    let disk = MemoryDisk()
    func open(_ files: MemoryFiles) async throws(PackError) -> DownloadQueue {
      var policy = place.policy
      policy.lockTimeout = .milliseconds(50)
      return try await DownloadQueue(root: "/queue", transport: transport, policy: policy, files: files)
    }
    let numbers = Monitor<[Int]>([])
    let made = try await open(MemoryFiles(disk))
    await made.close()
    // The number of the call that takes the lock.
    let counting = MemoryFiles.Plan.failing(.inputOutput) { call in
      if call.operation == "lock" { numbers.withLock { $0.append(call.number) } }
      return false
    }
    let again = try await open(MemoryFiles(disk.after(.kill), counting))
    await again.close()
    let number = try #require(numbers.withLock { $0.first })
    let calls = Monitor(0)
    let theirs = MemoryFiles(disk)
    let lock = Monitor<OpenFile?>(nil)
    let files = MemoryFiles(disk) {
      calls.withLock { $0 += 1 }
      guard calls.withLock({ $0 }) == number + 1 else { return }
      disk.remove("/queue/lock")
      guard let made = try? theirs.open("/queue/lock", .create(mode: 0o600), in: nil), (try? theirs.tryLock(made)) == true else { return }
      lock.withLock { $0 = made }
    }
    await refuses(.queueBusy) { _ = try await open(files) }
    #expect(lock.withLock { $0 } != nil)
  }

  @Test("opening a queue that is open ends when its task is cancelled")
  func cancelled() async throws {
    let queue = try await place.open(transport)
    let task = Task { [place, transport] in _ = try await place.open(transport) }
    task.cancel()
    await refuses(.cancelled) { try await task.value }
    await queue.close()
  }

  @Test("a directory that is not a queue is not touched")
  func foreign() async throws {
    try place.directory.write("mine".utf8, to: "downloads/notes.txt")
    await refuses(.notAQueue) { _ = try await place.open(transport) }
    #expect(try place.directory.tree("downloads").filter { $0 != "lock" } == ["notes.txt"])
    try place.directory.write("packer-downloads/2\n".utf8, to: "downloads/queue")
    await refuses(.notAQueue) { _ = try await place.open(transport) }
  }

  @Test("requests and groups that the queue does not have are reported as missing")
  func missing() async throws {
    let queue = try await place.open(transport)
    try await queue.submit([try Samples.request(1)], group: "levels")
    await refuses(.noSuchRequest) { _ = try await queue.status(of: Samples.id(2)) }
    await refuses(.noSuchRequest) { try await queue.pause(group: "music") }
    await refuses(.noSuchRequest) { try await queue.cancel(DownloadID(group: "music", id: "file-1")) }
  }

  @Test("a batch that cannot be read is reported, and the others continue", arguments: [0, 30, 60, 100, 900])
  func damagedBatch(_ offset: Int) async throws {
    var place = place
    place.policy.batchSize = 10
    let queue = try await place.open(transport)
    try await queue.submit(try Samples.requests(30), group: "levels")
    await queue.close()
    let name = "downloads/\(try place.files("requests")[1])"
    var bytes = try #require(place.directory.bytes(of: name))
    bytes[offset] ^= 1
    try place.directory.write(bytes, to: name, mode: 0o600)

    let again = try await place.open(transport)
    let isHead = again.damage.count == 1
    #expect(isHead || again.damage.isEmpty)
    try await again.run(until: .idle)
    #expect(try await again.status(ofGroup: "levels").finished == 20)
    #expect(try await again.status(ofGroup: "levels").failed == (isHead ? 0 : 10))
    guard isHead else { return }
    try await again.submit(try Samples.requests(30), group: "levels")
    try await again.run(until: .idle)
    #expect(try await again.status(ofGroup: "levels").finished == 30)
  }
}
