import TestSupport
import Testing

@testable import PackRemote

@Suite("A provider of content", .bounded)
struct DataProviderTests {
  private let clock = ManualClock()
  private var request: ContentRequest { ContentRequest(known: nil, sizeLimit: 100, clock: clock) }

  /// A retry policy without randomness.
  private func policy(_ attempts: Int) -> RetryPolicy {
    var policy = RetryPolicy()
    policy.attempts = attempts
    policy.jitter = 0
    return policy
  }

  /// Runs the provider, and advances the clock at each wait.
  private func run(_ provider: DataProvider, waits: Int) async -> (Result<ProvidedContent, PackError>, [Duration]) {
    async let result = { () async -> Result<ProvidedContent, PackError> in
      do throws(PackError) {
        return .success(try await provider(request))
      } catch {
        return .failure(error)
      }
    }()
    var waited: [Duration] = []
    for _ in 0..<waits {
      let duration = await clock.sleeper()
      waited.append(duration)
      clock.advance(by: duration)
    }
    return (await result, waited)
  }

  @Test("a failure is retried after waits that double, until it succeeds")
  func retried() async throws {
    let failure = Source.Answer.failure(.transfer(.unreachable))
    let source = Source(failure, .failure(.other(PackError(.notInstalled, "none"))), failure, .text("remote"))
    let (result, waited) = await run(source.provider.retrying(policy(5)), waits: 3)
    #expect(try result.get() == .content(Array("remote".utf8)))
    #expect(waited == [.seconds(1), .seconds(2), .seconds(4)])
  }

  @Test("if all attempts fail, the last failure is thrown")
  func exhausted() async throws {
    let source = Source(.failure(.transfer(.timedOut)), .failure(.transfer(.status(503, retryAfter: nil))))
    let (result, waited) = await run(source.provider.retrying(policy(3)), waits: 2)
    guard case .failure(let error) = result else {
      Issue.record("it succeeded")
      return
    }
    #expect(error.code == .contentUnavailable)
    #expect(error.message.contains("503"))
    #expect(waited == [.seconds(1), .seconds(2)])
    #expect(source.requests.count == 3)
  }

  @Test("a server's Retry-After is respected")
  func retryAfter() async {
    let source = Source(.failure(.transfer(.status(503, retryAfter: .seconds(7)))), .text(""))
    let (_, waited) = await run(source.provider.retrying(policy(2)), waits: 1)
    #expect(waited == [.seconds(7)])
  }

  @Test(
    "a permanent failure is not retried",
    arguments: [
      ContentFailure.transfer(.status(404, retryAfter: nil)), .transfer(.insecure), .transfer(.redirect), .transfer(.cancelled),
      .other(PackError(.limitExceeded, "large")), .cancelled,
    ])
  func permanent(_ failure: ContentFailure) async {
    let source = Source(.failure(failure))
    var policy = policy(5)
    policy.first = .milliseconds(1)
    // With a clock that goes on, a retry would not be waited for in vain.
    let request = ContentRequest(known: nil, sizeLimit: 100, clock: SystemClock())
    await #expect(throws: PackError.self) { try await source.provider.retrying(policy)(request) }
    #expect(source.requests.count == 1)
  }

  @Test("cancelling the task ends the wait for the next attempt")
  func cancelledWait() async {
    let source = Source(.failure(.transfer(.offline)))
    let provider = source.provider.retrying(policy(5))
    let request = request
    let task = Task { await awaitedCode { () async throws(PackError) in _ = try await provider(request) } }
    await clock.sleeper()
    task.cancel()
    #expect(await task.value == .cancelled)
    #expect(source.requests.count == 1)
  }

  @Test("a fetch that takes too long fails")
  func timeLimit() async throws {
    let source = Source(.text("remote"))
    source.isOpen.set(false)
    let (result, waited) = await run(source.provider.timeLimit(.seconds(10)), waits: 1)
    #expect(waited == [.seconds(10)])
    guard case .failure(let error) = result else {
      Issue.record("it succeeded")
      return
    }
    #expect(error.code == .contentUnavailable)
    #expect(error.message == "the server sent nothing for too long")
    source.isOpen.set(true)
    #expect(try await source.provider.timeLimit(.seconds(10))(request) == .content(Array("remote".utf8)))
  }

  @Test("a time limit before the retries applies to each attempt, and one after them to all attempts")
  func order() async {
    let source = Source(.text("remote"))
    source.isOpen.set(false)
    let (_, waits) = await run(source.provider.timeLimit(.seconds(10)).retrying(policy(3)), waits: 5)
    #expect(waits == [.seconds(10), .seconds(1), .seconds(10), .seconds(2), .seconds(10)])
    #expect(source.requests.count == 3)

    let failing = Source(.failure(.transfer(.offline)))
    let provider = failing.provider.retrying(policy(5)).timeLimit(.milliseconds(2500))
    async let result = awaitedCode { () async throws(PackError) in _ = try await provider(request) }
    for wait in [Duration.seconds(1), .milliseconds(1500)] {
      // The wait for the next attempt, and the limit.
      while clock.sleeperCount < 2 { await Task.yield() }
      #expect(await clock.sleeper() == wait)
      clock.advance(by: wait)
    }
    #expect(await result == .contentUnavailable)
    #expect(failing.requests.count == 2)
  }

  @Test("interval and signals survive later modifiers in a chain")
  func chain() {
    let provider = Source(.text("")).provider.every(.seconds(60)).refreshed { AsyncStream<Void> { $0.finish() } }.retrying().timeLimit(
      .seconds(1))
    #expect(provider.interval == .seconds(60))
    #expect(provider.watches.count == 1)
    #expect(provider.source == "test")
    #expect(provider.every(.seconds(5)).interval == .seconds(5))
  }

  @Test(
    "a version is text that is valid in a header field, or nil",
    arguments: [
      ("\"a\"", true), ("W/\"a\"", true), ("", false), ("a\r\nHost: b", false), ("ä", false), (String(repeating: "a", count: 1025), false),
    ])
  func version(_ text: String, _ isTaken: Bool) {
    #expect(ContentVersion(tag: text).tag == (isTaken ? text : nil))
    #expect(ContentVersion(modified: text).modified == (isTaken ? text : nil))
  }
}
