package import PackCrypto
package import PackDownloads
package import PackFiles
public import PackFormat
import PackWork

/// A config, a text, an image: there from the first moment, because the app was built with it, and replaced by newer content that comes later and is right.
///
/// The value is the bundled resource's, or that of content which an earlier run of the same app version kept. ``refresh()`` asks the provider; what
/// it brings becomes the value only where the materializer takes it, and is kept for the next start. Nothing else changes the value: no network, a wrong answer and a
/// damaged file leave it as it is. A new app version starts with its own bundled resource.
///
/// It may be used from any thread. Files are read when it is made, and written on threads of its own. In memory are the value and the one of the bundled resource, and during a refresh
/// the content that comes, at most the size limit. One process should have one asset of a name in a directory.
public final class RemoteAsset<Value: Sendable>: Sendable {
  /// The name of the asset.
  public let name: String

  private let bundled: Value
  private let bundledSize: Int
  private let materializer: Materializer<Value>
  private let provider: DataProvider
  private let cache: AssetCache
  private let clock: any QueueClock
  private let latest: LatestValue<Value>
  private let state: Monitor<State>
  /// Held while the kept file and the value change together, so that both are of the same content.
  private let change = Monitor(())

  private struct State {
    var origin: AssetState.Origin
    var contentSize: Int
    /// Of what the provider brought; nil while the value is the bundled resource's.
    var sha256: [UInt8]?
    var version: ContentVersion?
    var last: (result: RefreshResult, at: Duration)?
    /// Counts what a refresh that is under way must not undo.
    var resets = 0
    /// Who waits for the refresh that is under way; nil where none is.
    var waiting: [Waiter]?
    var tickets: UInt64 = 0
  }

  private struct Waiter {
    let ticket: UInt64
    let continuation: CheckedContinuation<Turn, Never>
  }

  /// What somebody is to do who wants a refresh.
  private enum Turn {
    case refresh(resets: Int)
    case take(RefreshResult)
  }

  // MARK: Making

  /// Makes an asset, with its value. Reads two files at most, and blocks for as long as that and the materializer take.
  ///
  /// What was kept by another app version, for another source, or is damaged or not taken by the materializer, is removed.
  ///
  /// - Parameters:
  ///   - name: 1 to 64 of `A–Z a–z 0–9 . _ -`, the first a letter or digit: names the file in `cache`.
  ///   - bundled: what the app was built with.
  ///   - materializer: what makes the value of bytes.
  ///   - provider: where newer content comes from.
  ///   - cache: the directory for what is kept. It is made when it is needed; the one above it must exist.
  ///   - appVersion: version and build number of the app, 1 to 256 bytes. Nothing is used that was kept under another one.
  ///   - sizeLimit: the bytes that content may have, the bundled resource's too: 4 MiB unless told otherwise.
  /// - Throws: ``PackFormat/PackError/Code/invalidBundledResource`` where the bundled resource cannot be read or is not taken by the materializer, ``PackFormat/PackError/Code/usage``
  ///   for a name, version or limit that makes no sense.
  public convenience init(
    _ name: String, bundled: BundledResource, as materializer: Materializer<Value>, from provider: DataProvider, cache: String,
    appVersion: String,
    sizeLimit: Int = 4 << 20
  ) throws(PackError) {
    try self.init(
      name, bundled: bundled, as: materializer, from: provider, cache: cache, appVersion: appVersion, sizeLimit: sizeLimit,
      files: SystemFiles(),
      clock: SystemQueueClock())
  }

  /// - Parameter clock: what all that waits goes by.
  package init(
    _ name: String, bundled: BundledResource, as materializer: Materializer<Value>, from provider: DataProvider, cache directory: String,
    appVersion: String, sizeLimit: Int = 4 << 20, files: any FileSystem, clock: any QueueClock,
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
        .invalidBundledResource, "the bundled resource of asset '\(name)' cannot be its value: \(error.message)",
        advice: .developer("correct the resource that the app is built with"))
    }
    let cache = AssetCache(
      directory: directory, name: legal, appVersion: appVersion, source: try backend.digest(of: Array(provider.source.utf8).span),
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

  /// As much as one file of the cache should be asked to hold.
  private static var largestLimit: Int { 1 << 30 }

  // MARK: The value

  /// The value, at once.
  public var value: Value { latest.value }

  /// The value now, and then each that takes its place. Anybody may listen, and each time anew.
  ///
  /// A slow listener is never given one that is not the latest, and so may miss some before it. The sequence ends with the asset, which it does not keep.
  public var updates: AssetUpdates<Value> { AssetUpdates(latest: latest) }

  /// What the asset is like at the moment.
  public var status: AssetState {
    let now = clock.now
    return state.withLock { state in
      AssetState(
        name: name, origin: state.origin, contentSize: state.contentSize, version: state.version, lastResult: state.last?.result,
        sinceLastResult: state.last.map { now - $0.at })
    }
  }

  // MARK: Refreshing

  /// Looks for newer content now, and returns when the value was replaced or is known to stay.
  ///
  /// Who asks while another task's refresh is under way waits for that one and is told the same. A refresh whose task is cancelled changes nothing, and fails nobody else: somebody
  /// who waits for it refreshes in its place.
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
      // Nobody can know that who was not told of a version.
      guard known != nil else {
        return .unavailable(
          PackError(.contentUnavailable, "the provider says that nothing changed since a version that it was not told of"))
      }
      return .unchanged
    case .content(let bytes, let version):
      return await WorkerPool.settled { self.take(bytes, version, resets) }
    }
  }

  private func take(_ bytes: [UInt8], _ version: ContentVersion?, _ resets: Int) -> RefreshResult {
    guard bytes.count <= cache.sizeLimit else {
      return .invalid(PackError(.limitExceeded, "the content is \(bytes.count) bytes, and at most \(cache.sizeLimit) are taken"))
    }
    let sha256: [UInt8]
    let value: Value
    do throws(PackError) {
      sha256 = try cache.backend.digest(of: bytes.span)
      let isSame = state.withLock { state in
        guard state.resets == resets, state.sha256 == sha256 else { return false }
        // The file stays as it is: a server that calls the same content by another name each time would have it written each time.
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

  /// Goes back to the bundled resource and forgets what was kept. A refresh that is under way changes nothing any more.
  ///
  /// - Throws: what the disk says where the kept content cannot be removed; the value is the bundled one all the same.
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

  /// Refreshes now, and then whenever the provider says, until its task is cancelled. Returns after the first time where the provider never says so.
  ///
  /// This is all that refreshes by itself; it belongs to the task that calls it, and keeps the asset while it runs.
  ///
  /// - Parameter pace: how often; ``RefreshPace/realTime`` while the content is being made.
  public func run(_ pace: RefreshPace = .declared) async {
    var interval = provider.interval
    if case .every(let duration) = pace { interval = DataProvider.checked(duration) }
    let bell = LatestValue(())
    // All listen before the first look, so that no change falls between.
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

  /// Waits where a refresh is under way.
  private func turn() async -> Turn {
    let ticket = state.withLock { state in
      state.tickets += 1
      return state.tickets
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let turn: Turn? = state.withLock { state in
          // Looked at under the lock: either this sees the cancellation, or its handler finds who waits.
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

  /// Those who wait for the refresh that is under way.
  var waitingCount: Int { state.withLock { $0.waiting?.count ?? 0 } }

  /// Ends a refresh, and tells all who wait for it; or lets the one who waits longest refresh where it was cancelled.
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
