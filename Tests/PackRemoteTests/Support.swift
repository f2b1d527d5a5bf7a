import TestSupport
import Testing

@testable import PackRemote

/// A clock that changes only when a test advances it.
final class ManualClock: DeviceClock {
  private struct Sleeper {
    let due: Duration
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var now: Duration = .zero
    var tickets = 0
    var sleepers: [Int: Sleeper] = [:]
  }

  private let state = Monitor(State())
  private let sleeping = LatestValue(0)

  var now: Duration { state.withLock { $0.now } }
  var secondsSince1970: Int64 { Int64(now / .seconds(1)) }

  func sleep(for duration: Duration) async {
    let ticket = state.withLock { state in
      state.tickets += 1
      return state.tickets
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let count = state.withLock { state -> Int? in
          guard !Task.isCancelled else { return nil }
          state.sleepers[ticket] = Sleeper(due: state.now + duration, continuation: continuation)
          return state.sleepers.count
        }
        if let count { sleeping.set(count) } else { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: ticket) }?.continuation.resume()
    }
  }

  var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Waits until a task sleeps, and returns for how long the first one will.
  @discardableResult
  func sleeper() async -> Duration {
    var seen: UInt64 = 0
    while true {
      let first = state.withLock { state in state.sleepers.values.map { $0.due - state.now }.min() }
      if let first { return first }
      guard let next = await sleeping.next(after: seen) else { return .zero }
      seen = next.revision
    }
  }

  /// Advances the clock, and wakes the sleepers whose time has come.
  func advance(by duration: Duration) {
    let woken = state.withLock { state in
      state.now += duration
      let woken = state.sleepers.filter { $0.value.due <= state.now }
      for ticket in woken.keys { state.sleepers[ticket] = nil }
      return woken
    }
    for sleeper in woken.values { sleeper.continuation.resume() }
  }
}

/// A source for providers without a network, which records the requests.
final class Source: Sendable {
  enum Answer: Sendable {
    /// A text, or unchanged if the request has the same tag.
    case text(String, tag: String? = nil)
    case unchanged
    case failure(ContentFailure)
  }

  private struct State {
    var answers: [Answer]
    var requests: [ContentRequest] = []
  }

  private let state: Monitor<State>
  /// The number of requests.
  let calls = LatestValue(0)
  /// Whether requests are answered. If false, they wait.
  let isOpen = LatestValue(true)

  /// - Parameter answers: The answers in order, each used once; the last one is repeated.
  init(_ answers: Answer...) {
    state = Monitor(State(answers: answers))
  }

  var requests: [ContentRequest] { state.withLock { $0.requests } }

  func answer(_ answers: Answer...) {
    state.withLock { $0.answers = answers }
  }

  var provider: DataProvider { provider(named: "test") }

  func provider(named name: String) -> DataProvider {
    DataProvider(source: name) { [self] (request: ContentRequest) throws(ContentFailure) in
      let (answer, count) = state.withLock { state in
        state.requests.append(request)
        let answer = state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
        return (answer, state.requests.count)
      }
      calls.set(count)
      var seen: UInt64 = 0
      while !isOpen.value {
        guard let next = await isOpen.next(after: seen) else { throw .cancelled }
        seen = next.revision
      }
      switch answer {
      case .text(_, let tag?) where request.known?.tag == tag: return .unchanged
      case .text(let text, let tag): return .content(Array(text.utf8), version: tag.map { ContentVersion(tag: $0) })
      case .unchanged: return .unchanged
      case .failure(let failure): throw failure
      }
    }
  }

  /// Waits until there were `count` requests.
  func asked(_ count: Int) async {
    var seen: UInt64 = 0
    while calls.value < count, let next = await calls.next(after: seen) { seen = next.revision }
  }
}

/// The files, the clock and the source of one test's asset.
struct AssetPlace: Sendable {
  var disk = MemoryDisk()
  let source = Source(.text("remote"))
  let clock = ManualClock()

  static let materializer = Materializer.text.validated("it is not bad") { !$0.hasPrefix("bad") }
  static let path = "/cache/config.asset"

  func open(
    _ version: String = "1.0 (1)", bundled: BundledResource = .text("bundled"), as materializer: Materializer<String> = materializer,
    from provider: DataProvider? = nil, limit: Int = 1000, files: MemoryFiles? = nil
  ) throws(PackError) -> RemoteAsset<String> {
    try RemoteAsset(
      "config", bundled: bundled, as: materializer, from: provider ?? source.provider, cache: "/cache", appVersion: version,
      sizeLimit: limit,
      files: files ?? MemoryFiles(disk), clock: clock)
  }
}

/// Returns the code of the error that `body` throws, or nil if it does not throw.
func code(_ body: () throws(PackError) -> Void) -> PackError.Code? {
  do throws(PackError) {
    try body()
    return nil
  } catch {
    return error.code
  }
}

/// Returns the code of the error that `body` throws, or nil if it does not throw.
func awaitedCode(_ body: () async throws(PackError) -> Void) async -> PackError.Code? {
  do throws(PackError) {
    try await body()
    return nil
  } catch {
    return error.code
  }
}

extension RefreshResult {
  var isUnchanged: Bool { if case .unchanged = self { true } else { false } }
  var isCancelled: Bool { if case .cancelled = self { true } else { false } }
  var isInvalid: Bool { if case .invalid = self { true } else { false } }
  var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
  var isKept: Bool { if case .replaced(nil) = self { true } else { false } }
}
