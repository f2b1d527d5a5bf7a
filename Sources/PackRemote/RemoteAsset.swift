/// A config, a text or an image that is built into the app and is replaced by newer valid content from a provider.
///
/// The initial value comes from the bundled resource, or from content that an earlier run of the same app version saved. ``refresh()`` asks the
/// provider. New content replaces the value only if the materializer accepts it, and is saved for the next start. If there is no network, the
/// response is wrong, or a file is damaged, the value stays. A new app version starts with its own bundled resource.
///
/// An asset may be used from any thread. Files are read when the asset is created, and written on worker threads. Memory holds the current value and
/// the bundled value, and during a refresh also the new content, at most the size limit. A process should have only one asset with the same name in a
/// directory.
public final class RemoteAsset<Value: Sendable>: Sendable {
  /// The name of the asset.
  public let name: String

  private let bundled: Value
  private let bundledSize: Int
  private let materializer: Materializer<Value>
  private let provider: DataProvider
  private let cache: AssetCache
  private let clock: any DeviceClock
  private let latest: LatestValue<Value>
  private let state: Monitor<State>
  /// Locked while the saved file and the value change, so that both have the same content.
  private let change = Monitor(())

  private struct State {
    var origin: AssetState.Origin
    var contentSize: Int
    /// The SHA-256 of the provider's content. Nil while the value is that of the bundled resource.
    var sha256: [UInt8]?
    var version: ContentVersion?
    var last: (result: RefreshResult, at: Duration)?
    /// The number of resets. A refresh in progress changes nothing if this has changed.
    var resets = 0
    /// The calls that wait for the refresh in progress. Nil if there is no refresh in progress.
    var waiting: [Waiter]?
    var tickets: UInt64 = 0
  }

  private struct Waiter {
    let ticket: UInt64
    let continuation: CheckedContinuation<Turn, Never>
  }

  /// What a call of ``refresh()`` must do: run the refresh, or take the result of another call.
  private enum Turn {
    case refresh(resets: Int)
    case take(RefreshResult)
  }

  // MARK: Making

  /// Creates an asset with its value. Reads at most two files, and blocks while it reads and materializes them.
  ///
  /// Saved content is removed if it belongs to another app version or source, is damaged, or is refused by the materializer.
  ///
  /// - Parameters:
  ///   - name: The name of the asset and of its file in `cache`: 1 to 64 of `A–Z a–z 0–9 . _ -`, the first a letter or digit.
  ///   - bundled: The content that is built into the app.
  ///   - materializer: Converts bytes into the value.
  ///   - provider: The source of newer content.
  ///   - cache: The directory for saved content. It is created when it is needed. Its parent must exist.
  ///   - appVersion: The version and build number of the app, 1 to 256 bytes. Content saved by another app version is not used.
  ///   - sizeLimit: The maximum size of the content in bytes, including that of the bundled resource. The default is 4 MiB.
  /// - Throws: ``PackFormat/PackError/Code/invalidBundledResource`` if the bundled resource cannot be read or is refused by the materializer,
  ///   ``PackFormat/PackError/Code/usage`` if the name, version or limit is not valid.
  public convenience init(
    _ name: String, bundled: BundledResource, as materializer: Materializer<Value>, from provider: DataProvider, cache: String,
    appVersion: String,
    sizeLimit: Int = 4 << 20
  ) throws(PackError) {
    try self.init(
      name, bundled: bundled, as: materializer, from: provider, cache: cache, appVersion: appVersion, sizeLimit: sizeLimit,
      files: SystemFiles(),
      clock: SystemClock())
  }

  /// - Parameter clock: The clock for all waits.
  package init(
    _ name: String, bundled: BundledResource, as materializer: Materializer<Value>, from provider: DataProvider, cache directory: String,
    appVersion: String, sizeLimit: Int = 4 << 20, files: any FileSystem, clock: any DeviceClock,
    backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) {
    guard let legal = try? PackName(name) else {
      throw PackError(
        .usage, "'\(printable(name.utf8))' is not the name of an asset",
        advice: .developer("use 1 to \(Limits.nameLength) of A-Z a-z 0-9 . _ -, the first a letter or digit"))
    }
    guard (1...AssetCache.longestVersion).contains(appVersion.utf8.count), (1...Self.largestLimit).contains(sizeLimit) else {
      throw PackError(
        .usage,
        "asset '\(name)' needs an app version of 1 to \(AssetCache.longestVersion) bytes and a size limit of 1 to \(Self.largestLimit) bytes"
      )
    }
    let bundledValue: Value
    do throws(PackError) {
      let content = try bundled.read(limit: sizeLimit, files: files)
      bundledSize = content.count
      bundledValue = try materializer(content)
    } catch {
      throw PackError(
        .invalidBundledResource, "the bundled resource of asset '\(name)' cannot be used: \(error.message)",
        advice: .developer("correct the resource that the app is built with"))
    }
    let cache = AssetCache(
      directory: directory, name: legal, appVersion: appVersion, source: try backend.digest(of: Array(provider.source.utf8).byteSpan),
      sizeLimit: sizeLimit, files: files, backend: backend)
    var value = bundledValue
    var state = State(origin: .bundled, contentSize: bundledSize)
    if let kept = cache.load(), let keptValue = try? materializer(kept.content) {
      value = keptValue
      state = State(origin: .cached, contentSize: kept.content.count, sha256: kept.sha256, version: kept.version)
    } else {
      try? cache.remove()
    }
    self.name = name
    self.bundled = bundledValue
    self.materializer = materializer
    self.provider = provider
    self.cache = cache
    self.clock = clock
    latest = LatestValue(value)
    self.state = Monitor(state)
  }

  deinit {
    latest.end()
  }

  /// The maximum of the size limit, in bytes.
  private static var largestLimit: Int { 1 << 30 }

  // MARK: The value

  /// The current value.
  public var value: Value { latest.value }

  /// A sequence of the current value and each later one. Any number of listeners may iterate over it, each independently.
  ///
  /// A slow listener gets only the latest value, and may miss some before it. The sequence does not retain the asset, and ends when the asset is
  /// released.
  public var updates: AssetUpdates<Value> { AssetUpdates(latest: latest) }

  /// The current state of the asset.
  public var status: AssetState {
    let now = clock.now
    return state.withLock { state in
      AssetState(
        name: name, origin: state.origin, contentSize: state.contentSize, version: state.version, lastResult: state.last?.result,
        sinceLastResult: state.last.map { now - $0.at })
    }
  }

  // MARK: Refreshing

  /// Checks for newer content now. Returns when the value was replaced, or when it is known that it stays.
  ///
  /// If another task is refreshing the asset, this call waits for that refresh and returns the same result. A refresh whose task is cancelled changes
  /// nothing. It does not cancel the waiting calls: one of them refreshes in its place.
  @discardableResult
  public func refresh() async -> RefreshResult {
    switch await turn() {
    case .take(let result):
      return result
    case .refresh(let resets):
      let result = await look(resets)
      end(result)
      return result
    }
  }

  private func look(_ resets: Int) async -> RefreshResult {
    let known = state.withLock { $0.version }
    let provided: ProvidedContent
    do throws(ContentFailure) {
      provided = try await provider.content(ContentRequest(known: known, sizeLimit: cache.sizeLimit, clock: clock))
    } catch {
      let error = error.error
      guard !Task.isCancelled, error.code != .cancelled else { return .cancelled }
      return error.code == .limitExceeded ? .invalid(error) : .unavailable(error)
    }
    guard !Task.isCancelled else { return .cancelled }
    switch provided {
    case .unchanged:
      guard state.withLock({ $0.resets == resets }) else { return .cancelled }
      // A provider cannot know this if no version was passed to it.
      guard known != nil else {
        return .unavailable(
          PackError(.contentUnavailable, "the provider reported unchanged content, although it was given no version to compare with"))
      }
      return .unchanged
    case .content(let bytes, let version):
      return await WorkerPool.settled { self.take(bytes, version, resets) }
    }
  }

  private func take(_ bytes: [UInt8], _ version: ContentVersion?, _ resets: Int) -> RefreshResult {
    guard bytes.count <= cache.sizeLimit else {
      return .invalid(PackError(.limitExceeded, "the content is \(bytes.count) bytes, but the limit is \(cache.sizeLimit) bytes"))
    }
    let sha256: [UInt8]
    let value: Value
    do throws(PackError) {
      sha256 = try cache.backend.digest(of: bytes.byteSpan)
      let isSame = state.withLock { state in
        guard state.resets == resets, state.sha256 == sha256 else { return false }
        // The file is not written: otherwise, a server that changes the tag of the same content each time would cause a write each time.
        state.version = version
        return true
      }
      if isSame { return .unchanged }
      value = try materializer(bytes)
    } catch {
      return .invalid(error)
    }
    return change.withLock { _ in
      guard state.withLock({ $0.resets == resets }) else { return .cancelled }
      var unsaved: PackError?
      do throws(PackError) {
        try cache.save(AssetCache.Kept(content: bytes, sha256: sha256, version: version))
      } catch {
        unsaved = error
      }
      state.withLock { state in
        state.origin = .remote
        state.contentSize = bytes.count
        state.sha256 = sha256
        state.version = version
      }
      latest.set(value)
      return .replaced(unsaved: unsaved)
    }
  }

  /// Returns to the bundled resource and removes the saved content. A refresh in progress no longer changes the value.
  ///
  /// - Throws: An error of the file system if the saved content cannot be removed. The value is the bundled one in any case.
  public func reset() async throws(PackError) {
    try await WorkerPool.settled { () throws(PackError) in
      try self.change.withLock { (_) throws(PackError) in
        self.state.withLock { state in
          state.resets += 1
          state.origin = .bundled
          state.contentSize = self.bundledSize
          state.sha256 = nil
          state.version = nil
        }
        self.latest.set(self.bundled)
        try self.cache.remove()
      }
    }
  }

  // MARK: Running

  /// Refreshes now, and then whenever the provider specifies, until the task is cancelled.
  ///
  /// Returns after the first refresh if the provider specifies no further ones. An asset refreshes automatically only while this runs. It retains the
  /// asset while it runs.
  ///
  /// - Parameter pace: How often to refresh. Use ``RefreshPace/realTime`` during development of the content.
  public func run(_ pace: RefreshPace = .declared) async {
    var interval = provider.interval
    if case .every(let duration) = pace { interval = DataProvider.checked(duration) }
    let bell = LatestValue(())
    // All watches listen before the first refresh, so that no change is missed.
    let watches = provider.watches.map { $0() }
    await withTaskGroup(of: Void.self) { tasks in
      for watch in watches {
        tasks.addTask { await watch { bell.set(()) } }
      }
      while !Task.isCancelled {
        let seen = bell.revision
        await refresh()
        guard interval != nil || !watches.isEmpty else { break }
        await wait(for: bell, after: seen, within: interval)
      }
      tasks.cancelAll()
    }
  }

  private func wait(for bell: LatestValue<Void>, after seen: UInt64, within interval: Duration?) async {
    await withTaskGroup(of: Void.self) { [clock] tasks in
      tasks.addTask { _ = await bell.next(after: seen) }
      if let interval { tasks.addTask { await clock.sleep(for: interval) } }
      await tasks.next()
      tasks.cancelAll()
    }
  }

  // MARK: Turns

  /// Waits if a refresh is in progress.
  private func turn() async -> Turn {
    let ticket = state.withLock { state in
      state.tickets += 1
      return state.tickets
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let turn: Turn? = state.withLock { state in
          // Checked under the lock: either this sees the cancellation, or the cancellation handler finds the waiter.
          if Task.isCancelled { return .take(.cancelled) }
          guard state.waiting != nil else {
            state.waiting = []
            return .refresh(resets: state.resets)
          }
          state.waiting?.append(Waiter(ticket: ticket, continuation: continuation))
          return nil
        }
        if let turn { continuation.resume(returning: turn) }
      }
    } onCancel: {
      let waiter: Waiter? = state.withLock { state in
        guard let index = state.waiting?.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        return state.waiting?.remove(at: index)
      }
      waiter?.continuation.resume(returning: .take(.cancelled))
    }
  }

  /// The number of calls that wait for the refresh in progress.
  var waitingCount: Int { state.withLock { $0.waiting?.count ?? 0 } }

  /// Ends a refresh and returns its result to all waiting calls. If it was cancelled, the call that waits longest refreshes instead.
  private func end(_ result: RefreshResult) {
    let now = clock.now
    let isCancelled = if case .cancelled = result { Task.isCancelled } else { false }
    let (told, next) = state.withLock { state -> ([Waiter], (Waiter, Turn)?) in
      if !isCancelled { state.last = (result, now) }
      guard isCancelled, let next = state.waiting?.first else {
        defer { state.waiting = nil }
        return (state.waiting ?? [], nil)
      }
      state.waiting?.removeFirst()
      return ([], (next, .refresh(resets: state.resets)))
    }
    for waiter in told { waiter.continuation.resume(returning: .take(result)) }
    if let (waiter, turn) = next { waiter.continuation.resume(returning: turn) }
  }
}
