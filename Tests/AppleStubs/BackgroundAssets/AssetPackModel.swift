import Foundation

/// What Apple documents of asset packs that the system manages, as a value that a test drives: developer.apple.com/documentation/backgroundassets, the
/// pages of `AssetPackManager`, `AssetPack.Status` and `AssetPackManager.DownloadStatusUpdate`, 2026.
///
/// Nothing is downloaded by itself: the test begins, continues and ends each download that the system has.
@_spi(Fake)
public final class AssetPackModel: @unchecked Sendable {
  /// An asset pack of the server.
  public struct Listed: Hashable, Sendable {
    public let id: String
    public let version: Int
    public let downloadSize: Int
    /// Nil if it is for every language.
    public let language: String?

    public init(id: String, version: Int, downloadSize: Int, language: String? = nil) {
      (self.id, self.version, self.downloadSize, self.language) = (id, version, downloadSize, language)
    }
  }

  /// The raw values of BAAssetPackStatus.h.
  public enum Flag {
    public static let downloadAvailable = 1 << 0
    public static let updateAvailable = 1 << 1
    public static let upToDate = 1 << 2
    public static let outOfDate = 1 << 3
    public static let obsolete = 1 << 4
    public static let downloading = 1 << 5
    public static let downloaded = 1 << 6
  }

  public enum Event: Sendable {
    case began(Listed)
    case paused(Listed)
    /// The part that is here, and the cancellation of this download.
    case downloading(Listed, fraction: Double, cancel: @Sendable () -> Void)
    case finished(Listed)
    case failed(Listed, Failure)

    public var listed: Listed {
      switch self {
      case .began(let listed), .paused(let listed), .downloading(let listed, _, _), .finished(let listed), .failed(let listed, _): listed
      }
    }

    public var isLast: Bool {
      switch self {
      case .finished, .failed: true
      case .began, .paused, .downloading: false
      }
    }
  }

  public enum Failure: Error, Hashable, Sendable {
    case notFound(String)
    /// NSURLErrorDomain -1009
    case offline
    /// NSURLErrorDomain -999
    case cancelled
    /// NSPOSIXErrorDomain 28
    case noSpace
    /// BAErrorDomain
    case refused(Int)
  }

  private struct Download {
    let listed: Listed
    var waiters: [CheckedContinuation<Void, any Error>] = []
  }

  private let lock = NSLock()
  /// Held while files come and go, so that what the model says of them is so.
  private let device = NSLock()
  private var server: [String: Listed] = [:]
  /// What the system knows of the server. Nil if it never asked.
  private var known: [String: Listed]?
  private var local: [String: Int] = [:]
  private var downloads: [String: Download] = [:]
  private var cancelled: Set<String> = []
  private var listeners: [Int: AsyncStream<Event>.Continuation] = [:]
  private var listenerCount = 0
  private var changeHook: @Sendable (String, Int?) -> Void = { _, _ in }
  private var begun: [String] = []
  private var isOnline = true
  private var isForgetful = false

  public init() {}

  private func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body()
  }

  // MARK: The test's side

  /// Starts again with nothing.
  public func reset() {
    locked { (server, known, local, downloads, cancelled, begun, isOnline, isForgetful) = ([:], nil, [:], [:], [], [], true, false) }
  }

  /// Calls a function with each asset pack whose version on the device changes; nil if it is removed.
  public func onChange(_ hook: @escaping @Sendable (_ id: String, _ version: Int?) -> Void) { locked { changeHook = hook } }

  /// Puts an asset pack on the server, in place of the version before it. The system does not know of it yet.
  public func publish(_ listed: Listed) { locked { server[listed.id] = listed } }

  /// Takes an asset pack from the server.
  public func withdraw(_ id: String) { locked { server[id] = nil } }

  public func setOnline(_ isOnline: Bool) { locked { self.isOnline = isOnline } }

  /// Whether only the first cancellation of an asset pack has an effect, as in iOS 26.0 to 26.3: developer.apple.com/forums/thread/814877.
  public func setForgetful(_ isForgetful: Bool) { locked { self.isForgetful = isForgetful } }

  /// The asset packs whose downloads the system was asked for, in this order.
  public var requests: [String] { locked { begun } }
  public func isDownloading(_ id: String) -> Bool { locked { downloads[id] != nil } }
  public func localVersion(_ id: String) -> Int? { locked { local[id] } }

  /// Lets the system download an asset pack by itself, as one that is not on demand.
  public func prefetch(_ id: String) {
    locked {
      know()
      if let listed = known?[id], downloads[id] == nil { schedule(listed) }
    }
  }

  public func begin(_ id: String) { tell(id) { .began($0) } }
  public func pause(_ id: String) { tell(id) { .paused($0) } }

  public func advance(_ id: String, to fraction: Double) {
    tell(id) { listed in
      .downloading(listed, fraction: fraction) { [weak self] in self?.cancel(listed) }
    }
  }

  public func finish(_ id: String) {
    let (download, hook) = locked { (downloads.removeValue(forKey: id), changeHook) }
    guard let download else { return }
    device.withLock {
      hook(id, download.listed.version)
      locked { local[id] = download.listed.version }
    }
    send(.finished(download.listed))
    for waiter in download.waiters { waiter.resume() }
  }

  public func fail(_ id: String, _ failure: Failure) {
    guard let download = locked({ downloads.removeValue(forKey: id) }) else { return }
    send(.failed(download.listed, failure))
    for waiter in download.waiters { waiter.resume(throwing: failure) }
  }

  /// Removes an asset pack, as the user may in the system's settings.
  public func lose(_ id: String) {
    device.withLock {
      let (had, hook) = locked { (local.removeValue(forKey: id) != nil, changeHook) }
      if had { hook(id, nil) }
    }
  }

  private func tell(_ id: String, _ event: (Listed) -> Event) {
    guard let listed = locked({ downloads[id]?.listed }) else { return }
    send(event(listed))
  }

  private func send(_ event: Event) {
    for listener in locked({ Array(listeners.values) }) { listener.yield(event) }
  }

  /// The cancellation of a download. Later ones of the same asset pack may have no effect.
  private func cancel(_ listed: Listed) {
    let hasEffect = locked {
      guard downloads[listed.id]?.listed == listed else { return false }
      let isFirst = cancelled.insert(listed.id).inserted
      return isFirst || !isForgetful
    }
    if hasEffect { fail(listed.id, .cancelled) }
  }

  // MARK: The system's side

  private func know() {
    if isOnline, known == nil { known = server }
  }

  private func schedule(_ listed: Listed) {
    downloads[listed.id] = Download(listed: listed)
    begun.append(listed.id)
  }

  /// All events from now on. Never ends.
  public func events() -> AsyncStream<Event> {
    let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
    let number = locked {
      listenerCount += 1
      listeners[listenerCount] = continuation
      return listenerCount
    }
    continuation.onTermination = { [weak self] _ in self?.locked { _ = self?.listeners.removeValue(forKey: number) } }
    return stream
  }

  /// What the system knows of the server, which it asks if it knows nothing yet.
  public func list() throws -> [Listed] {
    try locked {
      know()
      guard let known else { throw Failure.offline }
      return Array(known.values)
    }
  }

  /// The status of an asset pack.
  public func status(_ id: String) throws -> Int {
    try locked {
      know()
      guard let known else { throw Failure.offline }
      var flags = downloads[id] == nil ? 0 : Flag.downloading
      guard let version = local[id] else {
        guard known[id] != nil else { throw Failure.notFound(id) }
        return flags | Flag.downloadAvailable
      }
      flags |= Flag.downloaded
      guard let listed = known[id] else { return flags | Flag.obsolete }
      guard listed.version != version else { return flags | Flag.upToDate }
      return flags | Flag.outOfDate | (isOnline ? Flag.updateAvailable : 0)
    }
  }

  /// The status without the server.
  public func localStatus(_ id: String) -> Int { locked { local[id] == nil ? 0 : Flag.downloaded } }

  /// Returns when the asset pack is on the device.
  public func ensure(_ id: String, requiresLatest: Bool = false) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      let result: Result<Void, any Error>? = locked {
        know()
        let isHere = local[id] != nil
        guard let listed = known?[id] else {
          return isHere ? .success(()) : .failure(known == nil ? Failure.offline : Failure.notFound(id))
        }
        if isHere, !requiresLatest || local[id] == listed.version { return .success(()) }
        guard isOnline else { return .failure(Failure.offline) }
        if downloads[id] == nil { schedule(listed) }
        downloads[id]?.waiters.append(continuation)
        return nil
      }
      if let result { continuation.resume(with: result) }
    }
  }

  /// Asks the server, schedules the updates of what is here, and removes what the server no longer has.
  public func checkForUpdates() throws -> (updating: Set<String>, removed: Set<String>) {
    let (updating, removed) = try locked {
      guard isOnline else { throw Failure.offline }
      known = server
      let old = local.filter { id, version in server[id].map { $0.version != version } ?? false && downloads[id] == nil }.keys
      for id in old { if let listed = server[id] { schedule(listed) } }
      return (Set(old), Set(local.keys.filter { server[$0] == nil }))
    }
    for id in removed { lose(id) }
    return (updating, removed)
  }

  public func remove(_ id: String) { lose(id) }
}
