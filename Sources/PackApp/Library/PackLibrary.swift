public import Foundation

/// The packs of an app, through one object: it fetches the manifest, downloads, verifies, installs, updates, reads and removes packs.
///
/// ```swift
/// let packs = try await PackLibrary(
///   group: "group.com.example.arcade", manifest: address, trusting: ["pkp1-…"], keys: .keychain("com.example.arcade"))
/// try await packs.ensure("game-puzzle")
/// let level = try packs.data("game-puzzle", "levels/1.json")
/// ```
///
/// Packs in asset packs that the system manages, from Apple's servers or your own, have the same calls: `managed(keys:options:)`.
///
/// It decides nothing by itself: plans, records and installations are those of ``AppDelivery`` and ``AssetStore``, which stay available for what this
/// object does not offer. Create one per process. All methods may be called from any task.
public final class PackLibrary: Sendable {
  let back: any LibraryBackEnd

  /// The settings that have a usual value.
  public struct Options: Sendable {
    /// A directory with a release inside the app: what `packer build` wrote. Its manifest is used until a newer one was fetched. The app copies packs whose
    /// bytes it has, instead of downloading them; a downloader extension does not look there.
    public var bundled: URL?
    /// Whether ``PackLibrary/ensure(_:)-(String)`` confirms a new version as soon as it opens. If false, the version stays on trial until
    /// ``PackLibrary/confirm(_:)``, and is rolled back if that does not happen within the store's time limit.
    public var confirmsVersions = true
    /// The lowest manifest version that this release of the app accepts.
    public var lowestManifestVersion: UInt64 = 0
    /// How files are fetched: the header fields of requests, the networks that they may use, and time limits. Over Background Assets,
    /// ``URLSessionTransport/Options/request`` counts for downloads; the extension must make the same requests, and the system fetches the manifest
    /// for the extension by itself.
    public var transport = URLSessionTransport.Options()
    /// Asks the user before large downloads. If nil, every download begins at once.
    public var consent: DownloadConsent?
    /// The age of the manifest from which on it is fetched again when the app comes to the foreground.
    public var refreshInterval: Duration = .seconds(3600)
    /// The limits and timeouts of the store.
    public var store = StorePolicy()
    /// What decides which packs are for this device: platform and languages. The extension must use the same.
    public var device = DeviceProfile.current
    /// A further condition: returns whether a pack is for this device. The extension must use the same rule.
    public var isForDevice: @Sendable (ManifestPack) -> Bool = { _ in true }
    /// The groups of this installation, such as `testers`: rollouts that name one of them give it their candidates whatever their share is. They stay on the
    /// device. Names in the form of a pack's; others take part in nothing.
    public var groups: Set<String> = []
    /// What becomes of new versions is told to the server by some devices. If nil, nothing is.
    public var seen: SeenFiles?
    /// The receiver of what store, downloads and state report. By default the system's log under the app's bundle identifier on Apple platforms, and
    /// nothing elsewhere.
    public var logger: (any PackLogger)? = Self.systemLogger

    /// Creates the usual settings.
    public init() {}

    private static var systemLogger: (any PackLogger)? {
      #if canImport(OSLog)
        SystemLogger(subsystem: Bundle.main.bundleIdentifier ?? "packer")
      #else
        nil
      #endif
    }
  }

  /// The state of one pack on this device.
  public enum Status: Sendable {
    /// The pack is not on the device, and nothing requested it.
    case absent
    /// The pack was requested and waits: for the network, the system, a retry, or another download.
    case waiting(WaitReason)
    /// The pack is being downloaded: the number of bytes of its file that arrived.
    case downloading(received: UInt64, of: UInt64)
    /// The pack can be read after ``PackLibrary/play(_:)``, while the rest of it arrives: the number of bytes of its file that are here. `isStalled` if
    /// nothing came for three seconds while something waits for it.
    case playable(version: UInt64, received: UInt64, of: UInt64, isStalled: Bool)
    /// The file is complete, and is being verified and installed.
    case installing
    /// The pack is on the device, and can be read when its publisher has published the file that opens it: not before `opens`, if that is known.
    case sealed(opens: Date?)
    /// The pack can be read in this version. `update` is what comes of a newer one, and nil if there is none on its way. The version of a managed asset
    /// pack is 0 if there is a newer one: the system does not say which one the device has.
    case ready(version: UInt64, update: Update?)
    /// The pack cannot be had now. ``PackError/advice-swift.property`` says what helps; ``PackLibrary/ensure(_:)-(String)`` tries again.
    case failed(PackError)
  }

  /// What comes of a newer version of a pack that is ready.
  public enum Update: Hashable, Sendable {
    /// It waits: for the network, the system, a retry, or another download.
    case waiting(WaitReason)
    /// It is being downloaded: the number of bytes of its file that arrived.
    case downloading(received: UInt64, of: UInt64)
    /// Its file is complete, and is being verified and installed.
    case installing
    /// It is installed, and the next ``PackLibrary/ensure(_:)-(String)`` uses it.
    case installed(version: UInt64)
    /// It is on the device, and opens later: not before `opens`, if that is known.
    case sealed(opens: Date?)
  }

  /// The reason why a requested pack waits.
  public enum WaitReason: Hashable, Sendable {
    /// The device has no network.
    case network
    /// The system, or an earlier download, comes first.
    case turn
    /// An attempt failed. The next one follows.
    case retry
    /// The user is asked: ``Options/consent``.
    case consent
  }

  /// What others hear about.
  package enum Change: Sendable {
    /// The status of a pack.
    case pack(String, Status)
    /// Another manifest was accepted, or more of its catalogue is known.
    case list

    /// The pack that it is about.
    var id: String? { if case .pack(let id, _) = self { id } else { nil } }
  }

  /// A pack that the manifest offers for this device.
  public struct Offer: Identifiable, Sendable {
    /// The name of the pack for ``PackLibrary/ensure(_:)-(String)``.
    public let id: String
    /// The name for people; the id if the manifest has none.
    public let name: String
    /// The description for people. It may be empty.
    public let description: String
    /// The number of bytes to download: those of the pack, or of the delta over what is here.
    public let downloadSize: UInt64
    /// The number of bytes that the installed pack takes on the device.
    public let installSize: UInt64
    /// The state when the list was made.
    public internal(set) var status: Status

    /// Creates an offer, for previews and tests.
    public init(
      id: String, name: String, description: String = "", downloadSize: UInt64, installSize: UInt64, status: Status = .absent
    ) {
      self.id = id
      self.name = name
      self.description = description
      self.downloadSize = downloadSize
      self.installSize = installSize
      self.status = status
    }
  }

  /// The packs that the manifest offers for this device.
  public struct Offers: Sendable {
    /// Those of the manifest itself in its order, then the packs on demand in ascending order of their names; managed asset packs in that order, too.
    public let packs: [Offer]
    /// Whether all packs are known. If not, there is no manifest yet, or parts of its catalogue are not on the device; instead of each missing part, the
    /// list has what an earlier release had there.
    public let isComplete: Bool
  }

  #if canImport(BackgroundAssets)
    private let foreground: ForegroundObserver
  #endif

  init(_ back: any LibraryBackEnd) {
    self.back = back
    #if canImport(BackgroundAssets)
      foreground = ForegroundObserver { [weak back] in Task { await back?.resume() } }
    #endif
  }

  /// The store with the installed packs. A library of asset packs that the system manages has none: there, using it ends the process.
  public var store: AssetStore { loop.delivery.store }

  var loop: LibraryLoop {
    guard let loop = back as? LibraryLoop else { preconditionFailure("asset packs that the system manages have no store and no tags") }
    return loop
  }

  /// Throws if the packs are in no store.
  private func requireStore(_ what: String) throws(PackError) {
    guard back is LibraryLoop else { throw PackError(.unsupported, "asset packs that the system manages have no \(what)") }
  }

  deinit {
    let back = back
    Task { await back.stop() }
  }

  // MARK: Packs

  /// Makes a pack usable: downloads, verifies and installs it if the device has no version of it, and activates the newest installed version.
  ///
  /// Returns at once if a version is installed, with and without a network. An update of it is downloaded in the background, and used by a later call.
  /// Otherwise it returns when the pack is installed. It resumes what an earlier call, process or the extension began, and retries failures of the network
  /// until it succeeds or its task is cancelled; a cancelled call leaves the download running (``cancel(_:)`` ends it).
  ///
  /// - Throws: ``PackError/Code/unknownPack`` if the manifest has no such pack for this device, ``PackError/Code/offline`` or
  ///   ``PackError/Code/downloadFailed`` if there is no manifest and none can be fetched, ``PackError/Code/noSpace``, ``PackError/Code/versionFailed`` if the
  ///   only version failed here, ``PackError/Code/noKey``, ``PackError/Code/sealed`` if the pack is on the device and opens later, or another error that trying again does not help.
  public func ensure(_ id: String) async throws(PackError) {
    try await back.ensure([id])
  }

  /// Makes several packs usable, as ``ensure(_:)-(String)`` does one. They are downloaded at the same time; it returns when all of them are installed, and
  /// throws the first error that waiting does not help against.
  public func ensure(_ ids: some Collection<String>) async throws(PackError) {
    try await back.ensure(Array(ids))
  }

  /// Makes a pack readable as soon as what its launch reads is here, and goes on downloading it. As ``ensure(_:)-(String)`` for a pack that is here, or that
  /// has no lead: `layout` in packer.yml makes one.
  ///
  /// Reading what has not arrived waits for it, and it comes before everything else; after 30 seconds without a byte, reading fails with the error of the last
  /// attempt. ``stream(_:_:pieceSize:)`` and the requests of a web view wait without blocking a task; the other calls block their thread, so do not make them
  /// in tasks. All bytes are authenticated as those of an installed pack are.
  ///
  /// When the rest has arrived, the pack is installed; ``opened(_:)`` goes on with the same version, which the next ``ensure(_:)-(String)`` opens from the store.
  /// If a newer version is published before that, reading what has not arrived ends with ``PackError/Code/cancelled``, and the next call opens the new one. What
  /// has arrived is kept when the process ends, and a later call needs no network to go on reading it.
  ///
  /// - Throws: As ``ensure(_:)-(String)``.
  public func play(_ id: String) async throws(PackError) {
    try await back.play(id)
  }

  /// Returns the tags of the packs for this device, with their delivery classes, as far as the catalogue is on the device. Needs no network.
  ///
  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/cannotRead``, or ``PackError/Code/unsupported`` for managed asset packs.
  public func tags() async throws(PackError) -> TagCatalog {
    try requireStore("tags")
    return TagCatalog(try await store.listing().packs.filter(loop.delivery.isOffered))
  }

  /// Returns the notices from now on that there was no room for packs. The stream ends when its task ends.
  public func lowSpace() -> AsyncStream<LowSpace> { back.notices.listen() }

  /// Returns the status of a pack now, and then each change of it. The stream ends when its task is cancelled or the library is released.
  public func status(of id: String) -> AsyncStream<Status> {
    let (stream, continuation) = AsyncStream.makeStream(of: Status.self, bufferingPolicy: .bufferingNewest(16))
    let changes = back.changes.listen()
    let task = Task { [weak back] in
      if let now = await back?.status(of: id) { continuation.yield(now) }
      for await change in changes { if case .pack(id, let status) = change { continuation.yield(status) } }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  /// Ends downloads and retries, keeps what arrived, and lets another library use the directory. What is released does the same, but later.
  package func stop() async { await back.stop() }

  /// Returns each change from now on. A listener that is too slow loses the oldest.
  package func changes() -> AsyncStream<Change> { back.changes.listen() }

  /// Returns the status of a pack now.
  package func currentStatus(of id: String) async -> Status { await back.status(of: id) }

  /// Returns the packs that the accepted manifest offers for this device, as far as they are known.
  ///
  /// If the list is not complete, the first call starts to fetch what is missing, and ``refresh()`` waits for it. ``ensure(_:)-(String)`` finds a pack by its name in
  /// any case. Takes 1 KB of memory for each pack.
  public func offers() async -> Offers {
    await back.offers()
  }

  /// Returns the packs of ``offers()`` now, and then after each change. A slow listener receives only the latest list. The stream ends when its task is
  /// cancelled.
  public func lists() -> AsyncStream<[Offer]> {
    let (stream, continuation) = AsyncStream.makeStream(of: [Offer].self, bufferingPolicy: .bufferingNewest(1))
    let changes = back.changes.listen()
    let task = Task {
      var offers = await offers().packs
      continuation.yield(offers)
      for await change in changes {
        switch change {
        case .list: offers = await self.offers().packs
        case .pack(let id, let status):
          // One row, however many there are.
          guard let row = offers.firstIndex(where: { $0.id == id }) else { continue }
          offers[row].status = status
        }
        continuation.yield(offers)
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  /// Fetches the manifest, accepts it if it is newer, and starts the downloads that it requires. After a call of ``offers()``, also fetches what is missing of
  /// the list.
  ///
  /// Managed asset packs: has the system ask the server, download the updates of what is on the device, and remove what the server no longer has. Does
  /// not wait for the downloads.
  ///
  /// - Returns: Whether the manifest changed.
  /// - Throws: ``PackError/Code/offline``, ``PackError/Code/downloadFailed``, or the reason why the manifest is refused. The last accepted manifest stays.
  @discardableResult
  public func refresh() async throws(PackError) -> Bool {
    try await back.refresh()
  }

  /// Does what is to do after the app was suspended: installs what arrived meanwhile, and fetches the manifest if it is older than
  /// ``Options/refreshInterval``. On Apple's systems, the library calls this whenever the app comes to the foreground.
  public func resume() async {
    await back.resume()
  }

  /// Changes the languages of the user, for example to the one chosen in the app's settings. Of packs that differ only in their language, the closest one or the
  /// fallback is downloaded, unless it is on demand. The others are removed, or at the next start of the app if they were opened in this one.
  ///
  /// Managed asset packs have one language: the first of these, which also becomes the language of the app, or that of the settings if there is none.
  /// Waits for their downloads.
  ///
  /// - Parameter languages: BCP 47 tags, as in ``DeviceProfile/languages``. The extension must get the same.
  /// - Throws: ``PackError/Code/unsupported`` for managed asset packs before iOS 27.
  public func setLanguages(_ languages: [String]?) async throws(PackError) {
    try await back.setLanguages(languages)
  }

  /// Cancels the download of a pack. It is not downloaded again until ``ensure(_:)-(String)``. The system may download a managed asset pack that is not on demand
  /// again in a later process, and before iOS 26.4 may finish a download in spite of this: what then arrives is removed.
  public func cancel(_ id: String) async throws(PackError) {
    try await back.cancel(id)
  }

  /// Removes a pack from the device. It stays removed until ``ensure(_:)-(String)``, even if the manifest requires it; a managed asset pack that is not on demand
  /// may come again in a later process.
  ///
  /// - Throws: ``PackError/Code/inUse`` if something other than this object has the pack open.
  public func remove(_ id: String) async throws(PackError) {
    try await back.remove(id)
  }

  /// Confirms the version of a pack that ``ensure(_:)-(String)`` activated, if ``Options/confirmsVersions`` is false.
  ///
  /// - Throws: ``PackError/Code/staleConfirmation`` if it was rolled back in the meantime. Does nothing if the version is not on trial.
  public func confirm(_ id: String) async throws(PackError) {
    guard back is LibraryLoop, let token = try await store.trial(of: id) else { return }
    try await store.confirm(token)
  }

  /// Rolls a pack back to the version before, because the current one does not work. The rejected version is not installed again.
  ///
  /// - Parameter reason: A text for reports.
  /// - Returns: The version that is used from now on, or nil if none is left.
  /// - Throws: ``PackError/Code/unsupported`` for managed asset packs, of which the system keeps one version.
  @discardableResult
  public func reject(_ id: String, reason: String) async throws(PackError) -> UInt64? {
    try requireStore("earlier versions")
    return try await loop.reject(id, reason: reason)
  }

  // MARK: Content

  /// Returns the content of a file in a pack that ``ensure(_:)-(String)`` made usable.
  ///
  /// Every byte is authenticated. Blocks the thread for about as long as decrypting and decompressing takes: milliseconds per megabyte.
  ///
  /// - Parameter range: The bytes to read. If nil, the whole file.
  /// - Throws: ``PackError/Code/notInstalled`` if ``ensure(_:)-(String)`` was not called in this process, ``PackError/Code/noSuchEntry``,
  ///   ``PackError/Code/rangeNotSatisfiable``, or the error of a damaged pack.
  public func data(_ id: String, _ path: String, range: Range<UInt64>? = nil) throws(PackError) -> Data {
    Data(try opened(id).read(path, range: range))
  }

  /// Returns the content of a file as a sequence of pieces, for files that are too large for memory.
  ///
  /// - Parameter pieceSize: The largest number of bytes of a piece. A piece takes the decompression of the frames that it touches (1 to 2 MiB).
  /// - Throws: As ``data(_:_:range:)``. Reading a piece may throw the error of a damaged pack.
  public func stream(_ id: String, _ path: String, pieceSize: Int = 4 << 20) throws(PackError) -> PackByteStream {
    let pack = try opened(id)
    return PackByteStream(pack: pack, path: path, size: try pack.size(of: path), pieceSize: max(1, pieceSize))
  }

  /// Returns a file on disk with the content, for interfaces that take nothing else, such as media players.
  ///
  /// If the pack is kept encrypted, this writes the content in the clear to a temporary file. The files are removed when the next process creates a library.
  ///
  /// - Throws: As ``data(_:_:range:)``, or ``PackError/Code/cannotWrite`` and ``PackError/Code/noSpace``.
  public func file(_ id: String, _ path: String) async throws(PackError) -> URL {
    let pack = try opened(id)
    if let directory = pack.directory {
      _ = try pack.size(of: path)
      return URL(fileURLWithPath: directory).appendingPathComponent(path)
    }
    return URL(fileURLWithPath: try await back.exports.file(pack, path))
  }

  /// Returns the directory with the files of a pack that is kept unpacked (`install: unpacked`), for interfaces that take directories, such as Core ML's.
  ///
  /// Valid as long as this version is open: until ``close(_:)``, or an ``ensure(_:)-(String)`` that uses a newer one. Do not change what is in it. The files were
  /// authenticated when they were written, and are not checked again.
  ///
  /// - Throws: ``PackError/Code/notInstalled`` if ``ensure(_:)-(String)`` was not called in this process, or ``PackError/Code/usage`` if the pack is kept encrypted,
  ///   as those in managed asset packs always are.
  public func directory(_ id: String) throws(PackError) -> URL {
    if let directory = try opened(id).directory { return URL(fileURLWithPath: directory, isDirectory: true) }
    throw .noDirectory(
      of: id,
      advice: back is LibraryLoop
        ? "make the release with 'install: unpacked' for it" : "read its files with 'data', 'stream' or 'file' of the library")
  }

  /// Closes a pack that ``ensure(_:)-(String)`` opened, so that an earlier version of it can be removed. Reading it needs another ``ensure(_:)-(String)``. Files need not be
  /// closed: ``StorePolicy/openFiles`` bounds them.
  public func close(_ id: String) {
    back.opened.withLock { $0[id] = nil }
  }

  /// Returns the pack that ``ensure(_:)-(String)`` opened, for everything that ``OpenedPack`` offers. The version is not removed while the object is retained.
  ///
  /// - Throws: ``PackError/Code/notInstalled`` if ``ensure(_:)-(String)`` was not called in this process.
  public func opened(_ id: String) throws(PackError) -> OpenedPack {
    guard let pack = back.opened.withLock({ $0[id] }) else {
      throw PackError(.notInstalled, "pack '\(printable(id.utf8))' was not made usable in this process", advice: .install)
    }
    return pack
  }
}
