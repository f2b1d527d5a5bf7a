import TestSupport
import Testing

/// Files whose content is derived from their numbers.
enum Samples {
  static func url(_ number: Int) -> String { "https://cdn.example.com/files/\(number)" }

  /// Returns from 1 to some thousand bytes, different for each number.
  static func content(_ number: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: UInt64(number))
    return generator.bytes(1 + number * 977 % 4000)
  }

  /// Returns the file at a URL.
  @Sendable static func content(of url: String) -> [UInt8] {
    content(url.split(separator: "/").last.flatMap { Int($0) } ?? 0)
  }

  static func download(_ number: Int, priority: Double = 0.5) -> PlannedDownload {
    let bytes = content(number)
    return NumberedFile.download(
      "file-\(number)", size: UInt64(bytes.count), sha256: NumberedFile.digest(bytes), from: url(number), priority: priority)
  }

  static func downloads(_ count: Int) -> [PlannedDownload] { (0..<count).map { download($0) } }

  static func identifier(_ number: Int) -> String { download(number).identifier.description }
}

/// Downloads in their own directory.
struct TransferStage {
  let directory: TemporaryDirectory
  var policy = TransferPolicy()

  init() throws {
    directory = try TemporaryDirectory()
    policy.freeSpaceMargin = 0
    policy.progressInterval = .zero
    policy.lockTimeout = .seconds(100_000)
  }

  var root: String { directory("downloads") }

  func open(_ transport: any Transport, files: any FileSystem = FaultyFiles(), logger: (any PackLogger)? = nil) async throws(PackError)
    -> Transfers
  {
    try await Transfers(directory: root, transport: transport, policy: policy, files: files, clock: FastClock(), logger: logger)
  }

  /// The names of parts and tags.
  var left: [String] { directory.names(in: "downloads").filter { $0.hasSuffix(".part") || $0.hasSuffix(".tag") }.sorted() }

  func content(of number: Int) -> [UInt8]? { directory.bytes(of: "downloads/\(Samples.identifier(number)).part") }

  /// Leaves a part of a file, as a process that ended.
  func leave(_ bytes: [UInt8], of number: Int, tag: String? = nil) async throws {
    await (try await open(FaultyTransport(content: Samples.content(of:)))).close()
    try directory.write(bytes, to: "downloads/\(Samples.identifier(number)).part", mode: 0o600)
    if let tag { try directory.write(Array(tag.utf8), to: "downloads/\(Samples.identifier(number)).tag", mode: 0o600) }
  }
}

extension Transfers {
  /// Takes events until nothing is left to download, and settles each.
  @discardableResult
  func finish() async -> [TransferEvent] {
    var seen: [TransferEvent] = []
    var events = events.makeAsyncIterator()
    while !identifiers.isEmpty, let event = await events.next() {
      seen.append(event)
      await settle(event)
    }
    return seen
  }

  /// Does the same, and calls a function with each event before it is settled.
  @discardableResult
  func finish(_ take: (TransferEvent) throws -> Void) async throws -> [TransferEvent] {
    var seen: [TransferEvent] = []
    var events = events.makeAsyncIterator()
    while !identifiers.isEmpty, let event = await events.next() {
      seen.append(event)
      try take(event)
      await settle(event)
    }
    return seen
  }

  private func settle(_ event: TransferEvent) async {
    switch event {
    case .finished(let identifier, _), .failed(let identifier, _, _): await settle(identifier)
    case .began, .progress, .playable, .offline, .online: break
    }
  }
}

extension [TransferEvent] {
  /// The failures of a file.
  func failures(of number: Int) -> [TransferFailure] {
    compactMap { if case .failed(Samples.identifier(number), let failure, _) = $0 { failure } else { nil } }
  }

  /// The numbers of the files that arrived, in order.
  var finished: [String] { compactMap { if case .finished(let identifier, _) = $0 { identifier } else { nil } } }
}

/// Waits until a condition holds. Fails if it does not hold after a minute in which this task ran often enough.
func eventually(_ comment: Comment, _ body: () async throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async throws {
  let start = ContinuousClock.now
  var count = 0
  while count < 1000 || start.duration(to: .now) < .seconds(60) {
    if try await body() { return }
    try await Task.sleep(for: .milliseconds(5))
    count += 1
  }
  Issue.record(comment, sourceLocation: sourceLocation)
}

/// Fails if a condition does not hold during a hundred looks. On a busy machine, these take as much longer as what they wait for.
func steadily(_ comment: Comment, _ body: () async throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async throws {
  for _ in 0..<100 {
    guard try await body() else {
      Issue.record(comment, sourceLocation: sourceLocation)
      return
    }
    try await Task.sleep(for: .milliseconds(5))
  }
}
