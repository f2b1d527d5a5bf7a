// A fake of the system behind BackgroundAssets. It traps if the framework would end the process, or if its documentation forbids something. Observed
// but not documented: a list of downloads includes failed ones. Nothing is documented about the classes of what the system gives back, so the fake gives
// back a class of its own for a finished download, and for that of the manifest, which has no other mark than an identifier that no pack has.

import Dispatch
import System

/// The class of what a callback gives back.
final class ReturnedDownload: BAURLDownload, @unchecked Sendable {
  required init(_ values: Values) { super.init(values) }
}

/// The fake system: keeps the downloads of an app, starts its extension and calls its delegate.
@_spi(Fake)
public final class FakeSystem: Sendable {
  public static let shared = FakeSystem()

  /// The process that makes a call.
  public enum Caller: Sendable, Equatable { case downloader, activeApp, inactiveApp }

  /// The result of a request for exclusive control.
  public enum Control: Sendable, Equatable {
    case free
    /// Another process keeps it: the request is refused at its date.
    case held
    /// The handler is never called.
    case silent
  }

  struct State {
    var caller = Caller.downloader
    var control = Control.free
    var isInContentRequest = false
    var isBackgroundProhibited = false
    var container: URL?
    var downloads: [String: BADownload] = [:]
    var inForeground: Set<String> = []
    /// The files of asset packs by path: the asset pack, and the file of each version.
    var managed: [String: (pack: String, files: [Int: URL])] = [:]
    var language: String? = "en"
    /// Handlers that are never called.
    var waiting: [(Bool, (any Error)?) -> Void] = []
    var errorDomain = Documented.errorDomain.value
    /// The time that the extension ran today.
    var secondsRun = 0
    /// The requirements of an extension that ran as the framework implements them.
    var defaults: Set<String> = []
    var looks = 0

    func error(_ code: BAErrorCode) -> NSError { NSError(domain: errorDomain, code: code.rawValue) }

    mutating func remove(_ identifier: String) {
      downloads[identifier] = nil
      inForeground.remove(identifier)
    }
  }

  let state = Guarded(State())
  private let queue = DispatchQueue(label: "BackgroundAssets")
  private let controlQueue = DispatchQueue(label: "exclusive control")

  public func become(_ caller: Caller) { state.read { $0.caller = caller } }
  public func setControl(_ control: Control) { state.read { $0.control = control } }
  public func prohibitBackground(_ isProhibited: Bool) { state.read { $0.isBackgroundProhibited = isProhibited } }
  public func setContainer(_ container: URL) { state.read { $0.container = container } }
  /// Selects the domain of errors, which depends on the version of the system.
  public func setErrorDomain(_ domain: String) { state.read { $0.errorDomain = domain } }
  public var errorDomain: String { state.read { $0.errorDomain } }
  /// Lets the extension run for a time today.
  public func spend(seconds: Int) { state.read { $0.secondsRun += seconds } }
  /// Starts a new day.
  public func beginDay() { state.read { $0.secondsRun = 0 } }
  public func forget(_ identifier: String) { state.read { $0.remove(identifier) } }
  /// How often the list of downloads was requested.
  public var looks: Int { state.read { $0.looks } }
  public var identifiers: Set<String> { state.read { Set($0.downloads.keys) } }
  public func isInForeground(_ identifier: String) -> Bool { state.read { $0.inForeground.contains(identifier) } }

  func container(of group: String) -> URL? { group.hasPrefix("group.") ? state.read { $0.container } : nil }

  /// Returns a download of the system.
  public func download(_ identifier: String) -> BADownload? { state.read { $0.downloads[identifier] } }
  public func request(of identifier: String) -> URLRequest? { state.read { $0.downloads[identifier]?.values.read { $0.request } } }
  public func size(of identifier: String) -> Int { state.read { $0.downloads[identifier]?.values.read { $0.size } } ?? 0 }

  // MARK: Suspension

  /// The files in the container of the app group that a descriptor of this process has locked.
  public var lockedFiles: [String] {
    guard let place = state.read({ $0.container })?.resolvingSymlinksInPath().path else { return [] }
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return descriptors.compactMap { number in
      guard let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"), file.hasPrefix(place + "/"),
        let text = FileManager.default.contents(atPath: "/proc/self/fdinfo/\(number)")
      else { return nil }
      return String(decoding: text, as: UTF8.self).contains("lock:") ? file : nil
    }
  }

  /// Suspends the app as after it left the foreground: once nothing is locked in the container, which the system awaits for a few seconds. It ends an app
  /// that holds a lock for longer.
  ///
  /// - Parameter seconds: how long the system waits. The time is not documented.
  /// - Returns: the files that are still locked. The app would be ended for them.
  public func suspend(after seconds: Double = 5) async -> [String] {
    become(.inactiveApp)
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      let locked = lockedFiles
      guard !locked.isEmpty, ContinuousClock.now < end else { return locked }
      try? await Task.sleep(for: .milliseconds(2))
    }
  }

  // MARK: Methods of the manager

  /// Returns an error of Background Assets, in the domain of the selected system.
  public func error(_ code: BAErrorCode) -> NSError { state.read { $0.error(code) } }

  func currentDownloads() throws -> [BADownload] {
    precondition(!Thread.isMainThread, "fetchCurrentDownloads() may block, and was called on the main thread")
    return state.read { Array($0.downloads.values) }
  }

  func fetch(_ handler: @escaping @Sendable ([BADownload], (any Error)?) -> Void) {
    state.read { $0.looks += 1 }
    queue.async { [self] in handler(state.read { Array($0.downloads.values) }, nil) }
  }

  func schedule(_ download: BADownload) throws {
    try state.read { state in
      precondition(!state.isInContentRequest, "a download was scheduled inside a content request")
      precondition(!download.values.read { $0.isManifest }, "only the system downloads the manifest")
      guard !download.isEssential else { throw state.error(.downloadEssentialDownloadNotPermitted) }
      if let known = state.downloads[download.identifier], known.state != .failed { throw state.error(.downloadAlreadyScheduled) }
      guard download.state != .failed else { throw state.error(.downloadAlreadyFailed) }
      guard !state.isBackgroundProhibited else { throw state.error(.downloadBackgroundActivityProhibited) }
      download.values.read { $0.state = .waiting }
      state.downloads[download.identifier] = download
    }
  }

  func startInForeground(_ download: BADownload) throws {
    try state.read { state in
      precondition(!download.isEssential, "an essential download cannot be started in the foreground")
      precondition(!download.values.read { $0.isManifest }, "only the system downloads the manifest")
      switch state.caller {
      case .downloader: throw state.error(.callFromExtensionNotAllowed)
      case .inactiveApp: throw state.error(.callFromInactiveProcessNotAllowed)
      case .activeApp: break
      }
      guard download.state != .failed else { throw state.error(.downloadAlreadyFailed) }
      if let known = state.downloads[download.identifier], known.state != .failed, known !== download {
        throw state.error(.downloadAlreadyScheduled)
      }
      download.values.read { $0.state = .downloading }
      state.downloads[download.identifier] = download
      state.inForeground.insert(download.identifier)
    }
  }

  func cancel(_ download: BADownload) throws {
    try state.read { state in
      guard state.downloads[download.identifier] === download else { throw state.error(.downloadDoesNotExist) }
      state.remove(download.identifier)
    }
  }

  func control(before date: Date, _ handler: @escaping (Bool, (any Error)?) -> Void) {
    // The framework calls the handler on its own thread.
    nonisolated(unsafe) let handler = handler
    switch state.read({ $0.control }) {
    case .free: controlQueue.async { handler(true, nil) }
    case .held:
      precondition(date < Date(timeIntervalSinceNow: 3600), "waits for exclusive control without an end")
      controlQueue.asyncAfter(deadline: .now() + max(0, date.timeIntervalSinceNow)) {
        handler(false, self.error(.callerConnectionInvalid))
      }
    case .silent: state.read { $0.waiting.append(handler) }
    }
  }

  func control<Result>(before date: Date, _ body: @escaping () throws -> sending Result) async throws -> sending Result {
    nonisolated(unsafe) let body = body
    return try await withCheckedThrowingContinuation { continuation in
      control(before: date) { isAcquired, error in
        if isAcquired {
          nonisolated(unsafe) let result = Swift.Result { try body() }
          continuation.resume(with: result)
        } else {
          continuation.resume(throwing: error ?? self.error(.callerConnectionInvalid))
        }
      }
    }
  }

  // MARK: Actions of the system

  /// Runs `body` on a thread of the system, never the main one.
  private func onSystemThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      queue.async {
        precondition(!Thread.isMainThread)
        continuation.resume(returning: body())
      }
    }
  }

  /// Asks an extension what to download, as after an installation, and schedules it.
  ///
  /// - Returns: the downloads that it returned. None if the extension has run too long today: then it is not started.
  @discardableResult
  public func ask(
    _ downloader: some BADownloaderExtension & Sendable, _ request: BAContentRequest, manifest: URL, essentialLeft: Int? = nil,
    otherLeft: Int? = nil
  ) async throws -> [BADownload] {
    guard state.read({ $0.secondsRun }) < Documented.extensionSecondsPerDay.value else { return [] }
    let copy = FileManager.default.temporaryDirectory.appendingPathComponent("manifest-\(UUID().uuidString)")
    try FileManager.default.copyItem(at: manifest, to: copy)
    become(.downloader)
    let downloads = await onSystemThread { [self] in
      state.read { $0.isInContentRequest = true }
      let downloads = downloader.downloads(
        for: request, manifestURL: copy,
        extensionInfo: BAAppExtensionInfo(
          restrictedDownloadSizeRemaining: otherLeft, restrictedEssentialDownloadSizeRemaining: essentialLeft))
      state.read { $0.isInContentRequest = false }
      return downloads
    }
    // The system removes it when the method returns. Moving it breaks the rules.
    precondition(FileManager.default.fileExists(atPath: copy.path), "the manifest was moved away")
    try FileManager.default.removeItem(at: copy)
    precondition(Set(downloads.map(\.identifier)).count == downloads.count, "two downloads have one identifier")
    for download in downloads {
      precondition(
        !download.isEssential || Documented.essentialRequests.value.contains(request.rawValue),
        "an essential download outside an installation")
      state.read { state in
        download.values.read { $0.state = .waiting }
        state.downloads[download.identifier] = download
      }
    }
    return downloads.sorted { $0.priority.rawValue > $1.priority.rawValue }
  }

  /// Returns the delegate of the running app. The manager holds it weakly.
  private func delegate() -> any BADownloadManagerDelegate {
    guard let delegate = BADownloadManager.shared.delegate else { preconditionFailure("the manager has no delegate") }
    return delegate
  }

  public func begin(_ identifier: String) async {
    guard let download = download(identifier) else { preconditionFailure("there is no download \(identifier)") }
    download.values.read { $0.state = .downloading }
    await onSystemThread { self.delegate().downloadDidBegin(download) }
  }

  public func pause(_ identifier: String) async {
    guard let download = download(identifier) else { preconditionFailure("there is no download \(identifier)") }
    await onSystemThread { self.delegate().downloadDidPause(download) }
  }

  public func progress(_ identifier: String, _ bytes: Int64) async {
    guard let download = download(identifier) else { preconditionFailure("there is no download \(identifier)") }
    let size = Int64(size(of: identifier))
    await onSystemThread {
      self.delegate().download(
        download, didWriteBytes: 1, totalBytesWritten: bytes, totalBytesExpectedToWrite: size)
    }
  }

  /// Reports a finished file, and removes it if it was not moved.
  ///
  /// - Parameter downloader: the extension to call if the app does not run, or nil to call the app's delegate.
  /// - Returns: whether the file was not moved.
  @discardableResult
  public func finish(_ identifier: String, with file: URL, _ downloader: (any BADownloaderExtension & Sendable)? = nil) async -> Bool {
    guard let download = download(identifier) else { preconditionFailure("there is no download \(identifier)") }
    state.read { state in
      download.values.read { $0.state = .finished }
      state.remove(identifier)
    }
    let returned = ReturnedDownload(download.values.read { $0 })
    await onSystemThread {
      if let downloader {
        downloader.backgroundDownload(returned, finishedWithFileURL: file)
      } else {
        self.delegate().download(returned, finishedWithFileURL: file)
      }
    }
    let wasLeft = FileManager.default.fileExists(atPath: file.path)
    try? FileManager.default.removeItem(at: file)
    return wasLeft
  }

  /// Reports a failure. The download stays in the list as failed.
  public func fail(_ identifier: String, _ error: NSError, _ downloader: (any BADownloaderExtension & Sendable)? = nil) async {
    guard let download = download(identifier) else { preconditionFailure("there is no download \(identifier)") }
    download.values.read { $0.state = .failed }
    await onSystemThread { self.tell(download, error, downloader) }
  }

  private func tell(_ download: BADownload, _ error: NSError, _ downloader: (any BADownloaderExtension)?) {
    if let downloader {
      downloader.backgroundDownload(download, failedWithError: error)
    } else {
      delegate().download(download, failedWithError: error)
    }
  }

  /// Reports that a manifest could not be downloaded.
  public func failManifest(_ identifier: String, _ code: Int, _ downloader: (any BADownloaderExtension & Sendable)? = nil) async {
    let request = URLRequest(url: URL(string: "https://cdn.example.com/manifest.json")!)
    let download = ReturnedDownload(
      BADownload.Values(
        identifier: identifier, request: request, isEssential: true, size: 0, group: "group.example", priority: BADownload.Priority(1001),
        state: .failed, isManifest: true))
    await onSystemThread { self.tell(download, NSError(domain: self.errorDomain, code: code), downloader) }
  }

  // MARK: Managed packs

  /// Records that the framework's own implementation of a requirement ran.
  public func noteDefault(_ name: String) { state.read { _ = $0.defaults.insert(name) } }

  /// Returns the requirements of `BADownloaderExtension` that an extension for managed packs implements itself. The framework's documentation forbids
  /// most of them: see ``Documented``.
  public func ownRequirements(
    of downloader: some ManagedDownloaderExtension, _ challenge: URLAuthenticationChallenge
  ) async -> Set<String> {
    state.read { $0.defaults = [] }
    let download = BAURLDownload(
      BADownload.Values(
        identifier: "pack", request: URLRequest(url: URL(string: "https://cdn.example.com/pack")!), isEssential: false, size: 1,
        group: "group.example", priority: .default))
    let nowhere = URL(fileURLWithPath: "/nowhere")
    _ = downloader.downloads(
      for: .periodic, manifestURL: nowhere,
      extensionInfo: BAAppExtensionInfo(restrictedDownloadSizeRemaining: nil, restrictedEssentialDownloadSizeRemaining: nil))
    downloader.backgroundDownload(download, failedWithError: error(.downloadInvalid))
    downloader.backgroundDownload(download, finishedWithFileURL: nowhere)
    _ = await downloader.backgroundDownload(download, didReceive: challenge)
    let all: Set = [
      "downloads(for:manifestURL:extensionInfo:)", "backgroundDownload(_:failedWithError:)", "backgroundDownload(_:finishedWithFileURL:)",
      "backgroundDownload(_:didReceive:)",
    ]
    return all.subtracting(state.read { $0.defaults })
  }

  /// What Apple documents of asset packs.
  public let assetPacks = AssetPackModel()
  var language: String? { state.read { $0.language } }
  func setLanguage(_ language: String?) { state.read { $0.language = language } }

  /// Puts a version of an asset pack with one file on the server.
  public func publish(_ id: String, version: Int = 1, path: String, file: URL, language: String? = nil) {
    let size = (try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int) ?? 0
    assetPacks.publish(.init(id: id, version: version, downloadSize: size, language: language))
    state.read { state in
      var files = state.managed[path]?.pack == id ? state.managed[path]?.files ?? [:] : [:]
      files[version] = file
      state.managed[path] = (id, files)
    }
  }

  func listed() throws -> Set<AssetPack> {
    do { return Set(try assetPacks.list().map { AssetPack($0) }) } catch { throw Self.systemError(error) }
  }

  func status(_ id: String) throws -> AssetPack.Status {
    do { return AssetPack.Status(rawValue: try assetPacks.status(id)) } catch { throw Self.systemError(error) }
  }

  func checkForUpdates() throws -> (updatingIDs: Set<String>, removedIDs: Set<String>) {
    do {
      let (updating, removed) = try assetPacks.checkForUpdates()
      return (updating, removed)
    } catch {
      throw Self.systemError(error)
    }
  }

  func ensure(_ pack: AssetPack, requiresLatest: Bool = false) async throws {
    do { try await assetPacks.ensure(pack.id, requiresLatest: requiresLatest) } catch { throw Self.systemError(error) }
  }

  /// The errors as the system throws them.
  private static func systemError(_ error: any Error) -> any Error {
    switch error as? AssetPackModel.Failure {
    case .notFound(let id): ManagedBackgroundAssetsError.assetPackNotFound(withID: id)
    case .offline: NSError(domain: "NSURLErrorDomain", code: -1009)
    case .cancelled: NSError(domain: "NSURLErrorDomain", code: -999)
    case .noSpace: NSError(domain: "NSPOSIXErrorDomain", code: 28)
    case .refused(let code): NSError(domain: Documented.errorDomain.value, code: code)
    case nil: error
    }
  }

  /// - Parameter id: one asset pack, after whose last event the stream ends. If nil, all of them.
  func updates(of id: String?) -> AsyncStream<AssetPackManager.DownloadStatusUpdate> {
    let events = assetPacks.events()
    let (stream, continuation) = AsyncStream.makeStream(of: AssetPackManager.DownloadStatusUpdate.self)
    let task = Task {
      for await event in events where id == nil || event.listed.id == id {
        let pack = AssetPack(event.listed)
        switch event {
        case .began: continuation.yield(.began(pack))
        case .paused: continuation.yield(.paused(pack))
        case .downloading(_, let fraction, let cancel):
          let progress = Progress(totalUnitCount: 1000)
          progress.completedUnitCount = Int64(fraction * 1000)
          progress.cancellationHandler = cancel
          continuation.yield(.downloading(pack, progress))
        case .finished: continuation.yield(.finished(pack))
        case .failed(_, let failure): continuation.yield(.failed(pack, Self.systemError(failure)))
        }
        if id != nil, event.isLast { break }
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  func managedFile(_ path: String, in id: String?) throws -> URL {
    precondition(!path.isEmpty, "the root of the packs must not be requested")
    let found = state.read { $0.managed[path] }
    guard let found, id == nil || found.pack == id, let version = assetPacks.localVersion(found.pack), let file = found.files[version]
    else {
      throw ManagedBackgroundAssetsError.fileNotFound(at: FilePath(path))
    }
    return file
  }

  /// Returns a valid URL even if no file exists.
  func managedURL(_ path: String, in id: String?) throws -> URL {
    (try? managedFile(path, in: id)) ?? URL(fileURLWithPath: "/nowhere/\(path)")
  }

  func managedDescriptor(_ path: String, in id: String?) throws -> FileDescriptor {
    let file = try managedFile(path, in: id)
    let descriptor = open(file.path, O_RDONLY)
    guard descriptor >= 0 else { throw ManagedBackgroundAssetsError.fileNotFound(at: FilePath(path)) }
    return FileDescriptor(rawValue: descriptor)
  }
}

@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
extension AssetPack {
  @_spi(Fake)
  public init(_ listed: AssetPackModel.Listed) {
    self.init(id: listed.id, downloadSize: listed.downloadSize, version: listed.version, tag: listed.language)
  }
}
