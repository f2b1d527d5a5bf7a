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

  static func digest(_ bytes: [UInt8]) throws(PackError) -> [UInt8] {
    let digest = try CryptoBackends.standard.makeDigest()
    try digest.update(bytes.byteSpan)
    return try digest.finish()
  }

  static func request(_ number: Int, id: String? = nil, extensionID: String? = nil, priority: Double = 0.5, isEssential: Bool = false)
    throws -> DownloadRequest
  {
    let bytes = content(number)
    return DownloadRequest(
      id: id ?? "file-\(number)", extensionID: extensionID, url: url(number), size: UInt64(bytes.count), sha256: try digest(bytes),
      priority: priority, isEssential: isEssential)
  }

  static func requests(_ count: Int) throws -> [DownloadRequest] { try (0..<count).map { try request($0) } }

  static func id(_ number: Int) -> DownloadID { DownloadID(group: "levels", id: "file-\(number)") }
}

/// A queue in its own directory, with a running clock.
struct QueuePlace {
  let directory: TemporaryDirectory
  var policy = QueuePolicy()

  init() throws {
    directory = try TemporaryDirectory()
    policy.freeSpaceMargin = 0
    // The clock runs a thousand times as fast as the machine, which may be busy. So tests call `reconcile` themselves, and wait as long as needed for
    // a lock that a starting process holds.
    policy.reconcileInterval = .seconds(1_000_000_000)
    policy.lockTimeout = .seconds(100_000)
  }

  var root: String { directory("downloads") }

  func open(
    _ transport: any Transport, files: any FileSystem = FaultyFiles(), seed: UInt64 = 1, speed: Int = 1000, logger: (any PackLogger)? = nil
  ) async throws(PackError) -> DownloadQueue {
    try await DownloadQueue(
      root: root, transport: transport, policy: policy, files: files, clock: FastClock(speed: speed), random: SeededGenerator(seed: seed),
      logger: logger)
  }

  /// Returns the content of a finished file; nil if there is none.
  func content(_ queue: DownloadQueue, _ number: Int) async throws -> [UInt8]? {
    guard let path = try await queue.file(of: Samples.id(number)) else { return nil }
    return try SystemFiles().contents(of: path, limit: 10_000)
  }

  /// Returns the names of all files below the queue that end in `suffix`.
  func files(_ suffix: String) throws -> [String] {
    try directory.tree("downloads").filter { $0.hasSuffix(suffix) }
  }
}

extension DownloadQueue {
  /// Runs the queue in a separate task while `body` runs.
  func running<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
    let task = Task { try await self.run() }
    let result: Result<Value, any Error>
    do {
      result = .success(try await body())
    } catch {
      result = .failure(error)
    }
    task.cancel()
    try await task.value
    return try result.get()
  }
}

/// Waits until a condition holds. Fails if it does not hold after half a minute in which this task ran often enough.
func eventually(_ comment: Comment, _ body: () async throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async throws {
  let start = ContinuousClock.now
  var count = 0
  while count < 1000 || start.duration(to: .now) < .seconds(30) {
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
