/// The source of an asset's content, and the times at which to check it again.
///
/// A provider does nothing until an asset calls it. Modifiers are chained, and a later one applies to everything before it:
/// `.url(address).timeLimit(.seconds(10)).retrying()` allows ten seconds for each attempt, `.retrying().timeLimit(.seconds(10))` for all attempts
/// together.
public struct DataProvider: Sendable {
  package typealias Load = @Sendable (ContentRequest) async throws(ContentFailure) -> ProvidedContent

  /// Starts to listen when it is called. The function that it returns reports each change until its task is cancelled.
  typealias Watch = @Sendable () -> @Sendable (@escaping @Sendable () -> Void) async -> Void

  /// The name of the source. Content that was kept from a source with another name is not used.
  let source: String
  private(set) var interval: Duration?
  private(set) var watches: [Watch] = []
  private let load: Load

  /// Creates a provider from a function, for an app's own source or for tests.
  ///
  /// - Parameters:
  ///   - source: The name of the source, for example a URL. Content that was kept from a source with another name is not used.
  ///   - fetch: Returns the content. It must end soon after its task is cancelled, and accept no more than ``ContentRequest/sizeLimit`` bytes.
  public init(source: String = "", _ fetch: @escaping @Sendable (ContentRequest) async throws(PackError) -> ProvidedContent) {
    self.init(source: source) { (request) throws(ContentFailure) in
      do throws(PackError) {
        return try await fetch(request)
      } catch {
        throw .other(error)
      }
    }
  }

  package init(source: String, load: @escaping Load) {
    self.source = source
    self.load = load
  }

  /// Returns the content, or reports that it is unchanged.
  ///
  /// - Throws: ``PackFormat/PackError/Code/contentUnavailable``, ``PackFormat/PackError/Code/limitExceeded``,
  ///   ``PackFormat/PackError/Code/cancelled``, or an error of the provider's own function.
  public func callAsFunction(_ request: ContentRequest) async throws(PackError) -> ProvidedContent {
    do throws(ContentFailure) {
      return try await load(request)
    } catch {
      throw error.error
    }
  }

  private func loading(_ load: @escaping Load) -> DataProvider {
    var provider = DataProvider(source: source, load: load)
    provider.interval = interval
    provider.watches = watches
    return provider
  }

  // MARK: When

  /// Makes a running asset check for newer content at this interval after each check. The minimum is 0.1 seconds.
  public func every(_ interval: Duration) -> DataProvider {
    var provider = self
    provider.interval = Self.checked(interval)
    return provider
  }

  static func checked(_ interval: Duration) -> Duration { max(interval, .milliseconds(100)) }

  /// Makes a running asset check for newer content at each element of a sequence, for example when the app comes to the foreground.
  ///
  /// - Parameter signals: Returns the sequence. It is called before the first check of the asset, and the sequence is released when the asset stops
  ///   running. A sequence that ends or fails causes no more checks.
  public func refreshed<Signals: AsyncSequence & Sendable>(by signals: @escaping @Sendable () -> Signals) -> DataProvider {
    var provider = self
    provider.watches.append {
      let sequence = signals()
      return { changed in
        do {
          for try await _ in sequence { changed() }
        } catch {
          // A sequence that failed causes no more checks.
        }
      }
    }
    return provider
  }

  // MARK: How

  /// Retries failures that may be temporary, with increasing delays. Throws the last failure when all attempts are used up.
  ///
  /// - Parameter policy: The number of attempts and the delays. A server's `Retry-After` is respected.
  public func retrying(_ policy: RetryPolicy = RetryPolicy()) -> DataProvider {
    loading { [load] (request) throws(ContentFailure) in
      var failures = 0
      while true {
        let failure: ContentFailure
        do throws(ContentFailure) {
          return try await load(request)
        } catch {
          failure = error
        }
        failures += 1
        guard failures < policy.attempts, !failure.isPermanent, !Task.isCancelled else { throw failure }
        var random = SystemRandomNumberGenerator()
        await request.clock.sleep(for: policy.delay(after: failures, atLeast: failure.retryAfter, using: &random))
        guard !Task.isCancelled else { throw .cancelled }
      }
    }
  }

  /// Cancels and fails if getting the content takes longer than a limit.
  public func timeLimit(_ limit: Duration) -> DataProvider {
    loading { [load] (request) throws(ContentFailure) in
      let result = await withTaskGroup(of: Result<ProvidedContent, ContentFailure>?.self) { tasks in
        tasks.addTask {
          do throws(ContentFailure) {
            return .success(try await load(request))
          } catch {
            return .failure(error)
          }
        }
        tasks.addTask {
          await request.clock.sleep(for: limit)
          return nil
        }
        let first = await tasks.next() ?? nil
        tasks.cancelAll()
        return first
      }
      guard !Task.isCancelled else { throw .cancelled }
      guard let result else { throw .transfer(.timedOut) }
      return try result.get()
    }
  }
}

extension DataProvider {
  /// Returns the content, with the detailed failure that an asset needs.
  func content(_ request: ContentRequest) async throws(ContentFailure) -> ProvidedContent { try await load(request) }
}
