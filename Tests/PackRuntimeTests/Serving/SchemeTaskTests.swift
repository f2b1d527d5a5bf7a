import TestSupport
import Testing

/// A web view's task that is as strict as WebKit: any call out of order ends the process.
@MainActor
private final class StrictTask: SchemeReceiver {
  enum State { case waiting, answered, finished, failed, stopped }

  private(set) var state = State.waiting
  private(set) var status: Int?
  private(set) var headers = HeaderFields()
  private(set) var bytes: [UInt8] = []
  private(set) var pieces = 0
  private(set) var error: PackError?
  /// Called after each callback.
  var react: @MainActor (StrictTask) -> Void = { _ in }

  var isOver: Bool { state != .waiting && state != .answered }

  nonisolated static func piece(_ bytes: Span<UInt8>) -> [UInt8] { [UInt8](copying: bytes) }

  func receive(_ response: PackResponse) {
    precondition(state == .waiting, "a response in the state \(state)")
    state = .answered
    status = response.status
    headers = response.headers
    react(self)
  }

  func receive(_ piece: [UInt8]) {
    precondition(state == .answered, "bytes in the state \(state)")
    precondition(!piece.isEmpty)
    bytes += piece
    pieces += 1
    react(self)
  }

  func finish() {
    precondition(state == .answered, "an end in the state \(state)")
    state = .finished
    react(self)
  }

  func fail(_ error: PackError) {
    precondition(state == .waiting || state == .answered, "a failure in the state \(state)")
    state = .failed
    self.error = error
    react(self)
  }

  func stop() { if !isOver { state = .stopped } }
}

@Suite("Responses to a web view", .bounded)
@MainActor
struct SchemeTaskTests {
  private typealias Server = SchemeServer<StrictTask>

  /// 200 000 bytes in frames of 64 KiB: four pieces.
  private static let film = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

  private func server(of site: Site) -> Server {
    let responder = site.responder
    return Server { _ in responder }
  }

  private func start(_ server: Server, _ target: String, _ task: StrictTask = StrictTask(), headers: HeaderFields = [:]) -> StrictTask {
    server.start(task, key: ObjectIdentifier(task), pack: "game", PackRequest(target: target, headers: headers))
    return task
  }

  /// Lets other tasks run until no request is in progress.
  private func drain(_ server: Server) async throws {
    while server.taskCount > 0 { try await Task.sleep(for: .milliseconds(1)) }
  }

  @Test("a request gets one response, its pieces and an end")
  func whole() async throws {
    let site = try await Site(["film.mp4": Self.film])
    let server = server(of: site)
    let task = start(server, "pack://game/film.mp4")
    try await drain(server)
    #expect(task.state == .finished)
    #expect(task.status == 200)
    #expect(task.headers["Content-Type"] == "video/mp4")
    #expect(task.bytes == Self.film)
    #expect(task.pieces >= 4)
  }

  @Test("a response without a body ends at once", arguments: [("/empty.bin", 200), ("/missing", 404), ("/%", 400), ("/", 200)])
  func short(target: String, status: Int) async throws {
    let site = try await Site()
    let server = server(of: site)
    let task = start(server, target)
    try await drain(server)
    #expect(task.state == .finished)
    #expect(task.status == status)
  }

  @Test("ranges and conditions reach the responder")
  func range() async throws {
    let site = try await Site(["film.mp4": Self.film])
    let server = server(of: site)
    let part = start(server, "/film.mp4", headers: ["Range": "bytes=70000-139999"])
    let known = start(server, "/film.mp4", headers: ["If-None-Match": try site.tag("/film.mp4")])
    try await drain(server)
    #expect(part.status == 206)
    #expect(part.bytes == Array(Self.film[70_000..<140_000]))
    #expect(known.status == 304)
  }

  @Test("a stopped request gets no more callbacks, whether it is opening, waiting or in a callback", arguments: 0..<7)
  func stopped(after calls: Int) async throws {
    let site = try await Site(["film.mp4": Self.film])
    let server = server(of: site)
    let task = StrictTask()
    var heard = 0
    task.react = { task in
      heard += 1
      guard heard == calls else { return }
      task.stop()
      server.stop(ObjectIdentifier(task))
    }
    _ = start(server, "/film.mp4", task)
    if calls == 0 {
      task.stop()
      server.stop(ObjectIdentifier(task))
    }
    try await drain(server)
    // A step that is still reading ends without a callback.
    let other = start(server, "/film.mp4")
    try await drain(server)
    #expect(other.state == .finished)
    // A response, four or five pieces, and the end: the last of these moments may come after all callbacks.
    #expect(heard == calls || task.state == .finished)
    #expect(task.state == .stopped || calls >= 6)
  }

  @Test("stopping a request twice, after its end, or before its start does nothing")
  func stoppedTwice() async throws {
    let site = try await Site()
    let server = server(of: site)
    let task = start(server, "/ten.bin")
    try await drain(server)
    #expect(task.state == .finished)
    server.stop(ObjectIdentifier(task))
    server.stop(ObjectIdentifier(task))
    server.stop(ObjectIdentifier(StrictTask()))
    #expect(task.state == .finished)
  }

  @Test("a failure after the response ends the task once")
  func failsLate() async throws {
    var random = SeededGenerator(for: "a failure after the response")
    let directory = try TemporaryDirectory()
    _ = try await makePack(SampleTree(["film.mp4": .init(random.bytes(400_000))]), in: directory)
    var bytes = try #require(directory.bytes(of: "sample.pack"))
    bytes[bytes.count * 3 / 4] ^= 1
    let responder = PackResponder(try open(try directory.write(bytes, to: "changed.pack")))
    let server = Server { _ in responder }
    let task = start(server, "/film.mp4")
    try await drain(server)
    #expect(task.state == .failed)
    #expect(task.status == 200)
    #expect(task.pieces > 0)
    #expect(task.error?.code == .authenticationFailed)
  }

  @Test("a pack that cannot be opened fails all waiting requests, and is opened again for the next one")
  func doesNotOpen() async throws {
    let site = try await Site()
    let responder = site.responder
    let attempts = Monitor(0)
    let server = Server { (id) async throws(PackError) in
      let attempt = attempts.withLock {
        $0 += 1
        return $0
      }
      guard attempt > 1 else { throw PackError(.noKey, "there is no key for \(id)") }
      return responder
    }
    let failed = (0..<5).map { _ in start(server, "/ten.bin") }
    server.stop(ObjectIdentifier(failed[4]))
    failed[4].stop()
    try await drain(server)
    for task in failed[..<4] {
      #expect(task.state == .failed)
      #expect(task.status == nil)
      #expect(task.error?.code == .noKey)
    }
    let task = start(server, "/ten.bin")
    try await drain(server)
    #expect(task.state == .finished)
    #expect(attempts.withLock { $0 } == 2)
  }

  @Test("a page has one version until its pack is forgotten; requests in progress keep the version they have")
  func oneVersion() async throws {
    let sites = [
      try await Site(["version": Array(repeating: 1, count: 300_000)]), try await Site(["version": Array(repeating: 2, count: 300_000)]),
    ]
    let responders = sites.map(\.responder)
    let opened = Monitor(0)
    let server = Server { _ in
      responders[
        opened.withLock {
          $0 += 1
          return $0 - 1
        }]
    }
    let first = (0..<8).map { _ in start(server, "/version") }
    let late = StrictTask()
    late.react = { task in if task.pieces == 1 { server.forget("game") } }
    _ = start(server, "/version", late)
    try await drain(server)
    for task in first + [late] { #expect(task.bytes == Array(repeating: 1, count: 300_000)) }
    let second = start(server, "/version")
    try await drain(server)
    #expect(second.bytes == Array(repeating: 2, count: 300_000))
    #expect(opened.withLock { $0 } == 2)
  }

  @Test("a video does not delay the images of its page")
  func fairness() async throws {
    let site = try await Site(["film.mp4": Array(repeating: 1, count: 16 << 20)])
    let server = server(of: site)
    let films = (0..<Server.mostSteps).map { _ in start(server, "/film.mp4") }
    let image = StrictTask()
    var piecesBefore = -1
    image.react = { task in if task.isOver { piecesBefore = films.reduce(0) { $0 + $1.pieces } } }
    _ = start(server, "/ten.bin", image)
    try await drain(server)
    #expect(image.state == .finished)
    // With more than a thousand pieces.
    #expect(films.allSatisfy { $0.state == .finished && $0.pieces > 256 })
    #expect(piecesBefore <= 16, "\(piecesBefore) pieces of films came first")
  }

  @Test("three hundred requests that are stopped at random get exactly the expected callbacks")
  func stress() async throws {
    var random = SeededGenerator(for: "three hundred requests")
    let site = try await Site(["film.mp4": Self.film])
    let responder = site.responder
    for _ in 0..<3 {
      let server = Server { (_) async throws(PackError) in
        await Task.yield()
        return responder
      }
      var tasks: [StrictTask] = []
      for number in 0..<100 {
        let task = StrictTask()
        if number % 3 == 0 {
          // During a callback.
          let moment = Int.random(in: 1...6, using: &random)
          var heard = 0
          task.react = { task in
            heard += 1
            guard heard == moment, !task.isOver else { return }
            task.stop()
            server.stop(ObjectIdentifier(task))
          }
        }
        tasks.append(start(server, number % 2 == 0 ? "/film.mp4" : "/ten.bin", task))
        if number % 5 == 0 { await Task.yield() }
        if number % 7 == 0 {
          let victim = tasks[Int.random(in: 0..<tasks.count, using: &random)]
          victim.stop()
          server.stop(ObjectIdentifier(victim))
        }
        if number % 31 == 0 { server.forget("game") }
      }
      while server.taskCount > 0 {
        try await Task.sleep(for: .microseconds(Int.random(in: 0...300, using: &random)))
        let victim = tasks[Int.random(in: 0..<tasks.count, using: &random)]
        guard Bool.random(using: &random) else { continue }
        victim.stop()
        server.stop(ObjectIdentifier(victim))
      }
      try await Task.sleep(for: .milliseconds(20))
      for (number, task) in tasks.enumerated() {
        let content = number % 2 == 0 ? Self.film : Site.tenThousand
        #expect(task.state == .finished || task.state == .stopped)
        #expect(task.bytes.elementsEqual(content.prefix(task.bytes.count)))
        if task.state == .finished { #expect(task.bytes.count == content.count) }
      }
    }
  }
}
