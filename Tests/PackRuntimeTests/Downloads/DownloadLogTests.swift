import TestSupport
import Testing

@Suite("The log of a queue", .bounded)
struct DownloadLogTests {
  private let place: QueuePlace
  private let logger = RecordingLogger()

  init() throws {
    place = try QueuePlace()
  }

  @Test("a failure is logged with its reason, a retry with its delay, and progress not at all")
  func failures() async throws {
    let transport = FaultyTransport(content: Samples.content(of:)) { call in
      switch (call.request.url, call.attempt) {
      case (Samples.url(1), _): .failure(.status(404, retryAfter: nil))
      case (Samples.url(2), 0): .failure(.timedOut)
      default: nil
      }
    }
    let queue = try await place.open(transport, logger: logger)
    try await queue.submit([1, 2].map { try Samples.request($0) }, group: "levels")
    try await queue.run(until: .idle)
    let lines = logger.take()
    #expect(
      lines.filter { $0.hasPrefix("error") } == ["error downloads: failed group=levels id=file-1 failure=status(404, retryAfter: nil)"])
    let retries = lines.filter { $0.contains("retried") }
    #expect(retries.count == 1)
    #expect(retries.first?.hasPrefix("notice downloads: failed, will be retried group=levels id=file-2 failure=timedOut seconds=") == true)
    #expect(lines.contains("info downloads: finished group=levels id=file-2"))
    #expect(!lines.contains { $0.contains("progress") || $0.contains("https://") })
  }

  @Test("missing network and missing space are notices, because the queue continues by itself")
  func circumstances() async throws {
    let offline = FaultyTransport(content: Samples.content(of:)) { $0.attempt == 0 ? .failure(.offline) : nil }
    let queue = try await place.open(offline, logger: logger)
    try await queue.submit([try Samples.request(1)], group: "levels")
    try await queue.run(until: .idle)
    await queue.close()
    #expect(
      logger.take().filter { $0.hasPrefix("notice") } == ["notice downloads: no network", "notice downloads: network is available again"])

    let tight = FaultyFiles { $0.operation == .freeSpace ? .freeSpace(5) : nil }
    let second = try await place.open(FaultyTransport(content: Samples.content(of:)), files: tight, logger: logger)
    let request = try Samples.request(2)
    try await second.submit([request], group: "levels")
    try await second.running {
      try await eventually("missing space is not logged") {
        logger.events.contains { "\($0)" == "not enough space group=levels id=file-2 needed=\(request.size) free=5" && $0.level == .notice }
      }
    }
  }
}
