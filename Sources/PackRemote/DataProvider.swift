public import PackDownloads
public import PackFormat

/// Where the content of an asset comes from, and when to look again.
///
/// A value is a recipe: nothing happens before an asset asks. Parts are added by chaining, and what stands later holds all before it:
/// `.url(address).timeLimit(.seconds(10)).retrying()` gives each attempt ten seconds, `.retrying().timeLimit(.seconds(10))` all of them together.
public struct DataProvider: Sendable {
  package typealias Load = @Sendable (ContentRequest) async throws(ContentFailure) -> ProvidedContent

  /// Listens from the call on; what it returns tells of each change until its task is cancelled.
  typealias Watch = @Sendable () -> @Sendable (@escaping @Sendable () -> Void) async -> Void

  /// Names what the content is of, so that what was kept of another source is not taken for it.
  let source: String
  private(set) var interval: Duration?
  private(set) var watches: [Watch] = []
  private let load: Load

  /// Takes the function that brings the content: an app's own source, or a test's.
  ///
  /// - Parameters:
  ///   - source: what the content is of: an address, for example. Content that was kept under another name is not used.
  ///   - fetch: must end soon after its task was cancelled, and take no more than ``ContentRequest/sizeLimit`` bytes.
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

  /// Brings the content, or tells that there is nothing new.
  ///
  /// - Throws: ``PackFormat/PackError/Code/contentUnavailable``, ``PackFormat/PackError/Code/limitExceeded``, ``PackFormat/PackError/Code/cancelled``, or what the
  ///   provider's own function throws.
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

  /// Has an asset that runs look again so long after it looked last. The shortest is a tenth of a second.
  public func every(_ interval: Duration) -> DataProvider {
    var provider = self
    provider.interval = Self.checked(interval)
    return provider
  }

  static func checked(_ interval: Duration) -> Duration { max(interval, .milliseconds(100)) }

  /// Has an asset that runs look again whenever a sequence gives something: the app comes to the foreground, the network comes back.
  ///
  /// - Parameter signals: makes the sequence. It is made before the asset looks for the first time, and dropped when the asset stops to run. A sequence that
  ///   ends or fails gives no more signals.
  public func refreshed<Signals: AsyncSequence & Sendable>(by signals: @escaping @Sendable () -> Signals) -> DataProvider {
    var provider = self
    provider.watches.append {
      let sequence = signals()
      return { changed in
        do {
          for try await _ in sequence { changed() }
        } catch {
          // It gives no more.
        }
      }
    }
    return provider
  }

  // MARK: How

  /// Tries again what failed and may do better, after a wait that grows. What was unavailable once the attempts are used up is unavailable.
  ///
  /// - Parameter policy: how often, and after which waits. What a server asks for with `Retry-After` is heeded.
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

  /// Gives up what takes longer.
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
  /// Calls the provider as an asset does.
  func content(_ request: ContentRequest) async throws(ContentFailure) -> ProvidedContent { try await load(request) }
}
