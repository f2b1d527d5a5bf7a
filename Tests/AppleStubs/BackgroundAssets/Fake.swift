// A fake of the system behind BackgroundAssets. It traps if the framework would end the process, or if its documentation forbids something. Observed
// but not documented: a list of downloads includes failed ones. Nothing is documented about the classes of what the system gives back, so the manifest's
// download and a finished one have classes of their own here.

import Dispatch
import System

/// The class of the system's download of a manifest.
final class BAManifestDownload: BAURLDownload, @unchecked Sendable {
  required init(_ values: Values) { super.init(values) }
}

/// The class of what a callback gives back for a finished download.
final class BAReturnedDownload: BAURLDownload, @unchecked Sendable {
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

  /// A file of a managed asset pack.
  public struct ManagedFile: Sendable {
    public var pack: AssetPack
    public var path: String
    public var file: URL
    public var isHere: Bool
    public init(pack: AssetPack, path: String, file: URL, isHere: Bool) {
      (self.pack, self.path, self.file, self.isHere) = (pack, path, file, isHere)
    }
  }

  struct State {
    var caller = Caller.downloader
    var control = Control.free
    var isInContentRequest = false
    var isBackgroundProhibited = false
    var container: URL?
    var downloads: [String: BADownload] = [:]
    var inForeground: Set<String> = []
    var managed: [ManagedFile] = []
    var errorDomain = Documented.errorDomain.value
    /// The time that the extension ran today.
    var secondsRun = 0
    /// The requirements of an extension that ran as the framework implements them.
    var defaults: Set<String> = []
    var brought = 0
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
  public func size(of identifier: String) -> Int { state.read { $0.downloads[identifier]?.values.read { $0.size } } ?? 0 }

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
      precondition(type(of: download) != BAManifestDownload.self, "only the system downloads the manifest")
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
      precondition(type(of: download) != BAManifestDownload.self, "only the system downloads the manifest")
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
    case .silent: break
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
    let returned = BAReturnedDownload(download.values.read { $0 })
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
    let download = BAManifestDownload(
      BADownload.Values(
        identifier: identifier, request: request, isEssential: true, size: 0, group: "group.example", priority: BADownload.Priority(1001),
        state: .failed))
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

  public var managed: [ManagedFile] { state.read { $0.managed } }
  public func setManaged(_ files: [ManagedFile]) { state.read { $0.managed = files } }
  /// The number of packs that were downloaded on request.
  public var brought: Int { state.read { $0.brought } }

  func bring(_ pack: AssetPack) throws {
    try state.read { state in
      guard state.managed.contains(where: { $0.pack == pack }) else {
        throw ManagedBackgroundAssetsError.assetPackNotFound(withID: pack.id)
      }
      for index in state.managed.indices where state.managed[index].pack == pack && !state.managed[index].isHere {
        state.managed[index].isHere = true
        state.brought += 1
      }
    }
  }

  func removeManaged(_ id: String) {
    state.read { state in
      for index in state.managed.indices where state.managed[index].pack.id == id { state.managed[index].isHere = false }
    }
  }

  func managedFile(_ path: String, in id: String?) throws -> URL {
    precondition(!path.isEmpty, "the root of the packs must not be requested")
    let found = state.read { $0.managed.first { $0.path == path && $0.isHere && (id == nil || $0.pack.id == id) } }
    guard let found else { throw ManagedBackgroundAssetsError.fileNotFound(at: FilePath(path)) }
    return found.file
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
