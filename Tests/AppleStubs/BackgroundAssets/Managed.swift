// AssetPack, AssetPackManifest, AssetPackManager and ManagedDownloaderExtension of iOS 26, with what 26.4 and 27 add. Their Objective-C twins
// (BAAssetPack and so on) are NS_REFINED_FOR_SWIFT, so Swift sees only these.

public import ExtensionFoundation
public import System

@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
public struct AssetPack: Identifiable, Hashable, Sendable {
  public let id: String
  public let downloadSize: Int
  public let version: Int
  /// Always nil for packs that Apple hosts.
  public let userInfo: Data?
  /// Nil if it is not for one language.
  @available(iOS 27, macOS 27, tvOS 27, visionOS 27, *)
  public var language: Locale.Language? { tag.map { Locale.Language(identifier: $0) } }
  let tag: String?

  init(id: String, downloadSize: Int, version: Int, tag: String?) {
    self.id = id
    self.downloadSize = downloadSize
    self.version = version
    self.tag = tag
    userInfo = nil
  }

  public struct Status: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let downloadAvailable = Status(rawValue: 1 << 0)
    public static let updateAvailable = Status(rawValue: 1 << 1)
    public static let upToDate = Status(rawValue: 1 << 2)
    public static let outOfDate = Status(rawValue: 1 << 3)
    public static let obsolete = Status(rawValue: 1 << 4)
    public static let downloading = Status(rawValue: 1 << 5)
    public static let downloaded = Status(rawValue: 1 << 6)
  }
}

@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
public struct AssetPackManifest: Sendable {
  public let assetPacks: Set<AssetPack>
  /// Those that fit the user's languages best.
  @available(iOS 27, macOS 27, tvOS 27, visionOS 27, *)
  public var localizedAssetPacks: Set<AssetPack> { assetPacks.filter { $0.tag == nil || $0.tag == FakeSystem.shared.language } }
  @available(iOS 27, macOS 27, tvOS 27, visionOS 27, *)
  public func assetPack(withID id: String) -> AssetPack? { assetPacks.first { $0.id == id } }
}

@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
public enum ManagedBackgroundAssetsError: Error, Sendable {
  case assetPackNotFound(withID: String)
  case fileNotFound(at: FilePath)
}

/// The first use of `shared` is a fatal error in an app without such an extension or without an app group.
@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
public actor AssetPackManager {
  public static let shared = AssetPackManager()

  public enum DownloadStatusUpdate: Sendable {
    case began(AssetPack)
    case paused(AssetPack)
    case downloading(AssetPack, Progress)
    case finished(AssetPack)
    case failed(AssetPack, any Error)
  }

  /// Never finishes.
  public let statusUpdates: some Sendable & AsyncSequence<DownloadStatusUpdate, Never> = StatusUpdates(id: nil)

  /// Finishes after `finished` or `failed`.
  public nonisolated func statusUpdates(
    forAssetPackWithID assetPackID: String
  ) -> some Sendable & AsyncSequence<DownloadStatusUpdate, Never> {
    StatusUpdates(id: assetPackID)
  }

  @available(iOS 27, macOS 27, tvOS 27, visionOS 27, *)
  public var manifest: AssetPackManifest { get async throws { AssetPackManifest(assetPacks: try FakeSystem.shared.listed()) } }

  @available(iOS, introduced: 26, deprecated: 27, message: "Use `manifest` instead")
  @available(macOS, introduced: 26, deprecated: 27, message: "Use `manifest` instead")
  public var allAssetPacks: Set<AssetPack> { get async throws { try FakeSystem.shared.listed() } }

  @available(iOS, introduced: 26, deprecated: 27, message: "Use `manifest` instead")
  @available(macOS, introduced: 26, deprecated: 27, message: "Use `manifest` instead")
  public func assetPack(withID assetPackID: String) async throws -> AssetPack {
    guard let pack = try FakeSystem.shared.listed().first(where: { $0.id == assetPackID }) else {
      throw ManagedBackgroundAssetsError.assetPackNotFound(withID: assetPackID)
    }
    return pack
  }

  @available(iOS, introduced: 26, deprecated: 26.4, renamed: "ensureLocalAvailability(of:requireLatestVersion:)")
  @available(macOS, introduced: 26, deprecated: 26.4, renamed: "ensureLocalAvailability(of:requireLatestVersion:)")
  public func ensureLocalAvailability(of assetPack: AssetPack) async throws { try await FakeSystem.shared.ensure(assetPack) }

  @available(iOS 26.4, macOS 26.4, tvOS 26.4, visionOS 26.4, *)
  public func ensureLocalAvailability(of assetPack: AssetPack, requireLatestVersion shouldUpdate: Bool = false) async throws {
    try await FakeSystem.shared.ensure(assetPack, requiresLatest: shouldUpdate)
  }

  @available(iOS, introduced: 26, deprecated: 26.4, renamed: "status(relativeTo:)")
  @available(macOS, introduced: 26, deprecated: 26.4, renamed: "status(relativeTo:)")
  public func status(ofAssetPackWithID assetPackID: String) async throws -> AssetPack.Status {
    try FakeSystem.shared.status(assetPackID)
  }

  @available(iOS 26.4, macOS 26.4, tvOS 26.4, visionOS 26.4, *)
  public func status(relativeTo assetPack: AssetPack) async throws -> AssetPack.Status { try FakeSystem.shared.status(assetPack.id) }

  /// Only what is known without the server.
  @available(iOS 26.4, macOS 26.4, tvOS 26.4, visionOS 26.4, *)
  public func localStatus(ofAssetPackWithID assetPackID: String) async -> AssetPack.Status {
    AssetPack.Status(rawValue: FakeSystem.shared.assetPacks.localStatus(assetPackID))
  }

  @available(iOS 26.4, macOS 26.4, tvOS 26.4, visionOS 26.4, *)
  public nonisolated func assetPackIsAvailableLocally(withID assetPackID: String) -> Bool {
    FakeSystem.shared.assetPacks.localVersion(assetPackID) != nil
  }

  /// Waits until the downloads are registered, not until they begin.
  @discardableResult
  public func checkForUpdates() async throws -> (updatingIDs: Set<String>, removedIDs: Set<String>) {
    try FakeSystem.shared.checkForUpdates()
  }

  public func remove(assetPackWithID assetPackID: String) async throws { FakeSystem.shared.assetPacks.remove(assetPackID) }

  /// Setting it downloads and removes nothing, but changes the language of the app.
  @available(iOS 27, macOS 27, tvOS 27, visionOS 27, *)
  public nonisolated var resolvedLanguage: Locale.Language? {
    get { FakeSystem.shared.language.map { Locale.Language(identifier: $0) } }
    set { FakeSystem.shared.setLanguage(newValue?.minimalIdentifier) }
  }

  /// Waits for the downloads.
  @available(iOS 27, macOS 27, tvOS 27, visionOS 27, *)
  public func reconcilePreferredLanguages() async throws {}

  /// Returns a valid URL even if no file exists. The app must not keep it.
  public nonisolated func url(for path: FilePath) throws -> URL { try FakeSystem.shared.managedURL(path.string, in: nil) }

  public nonisolated func contents(
    at path: FilePath, searchingInAssetPackWithID assetPackID: String? = nil, options: Data.ReadingOptions = .mappedIfSafe
  ) throws -> Data {
    try Data(contentsOf: FakeSystem.shared.managedFile(path.string, in: assetPackID), options: options)
  }

  public nonisolated func descriptor(
    for path: FilePath, searchingInAssetPackWithID assetPackID: String? = nil
  ) throws -> FileDescriptor {
    try FakeSystem.shared.managedDescriptor(path.string, in: assetPackID)
  }
}

/// The events of one asset pack, or of all of them.
@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
struct StatusUpdates: AsyncSequence, Sendable {
  let id: String?
  func makeAsyncIterator() -> AsyncStream<AssetPackManager.DownloadStatusUpdate>.Iterator {
    FakeSystem.shared.updates(of: id).makeAsyncIterator()
  }
}

@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
@MainActor @preconcurrency public protocol ManagedDownloaderExtensionConfiguration: BADownloaderExtensionConfiguration {}

@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
struct ManagedDownloaderConfiguration: ManagedDownloaderExtensionConfiguration {}

@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
public protocol ManagedDownloaderExtension: BADownloaderExtension where Configuration: ManagedDownloaderExtensionConfiguration {
  func shouldDownload(_ assetPack: AssetPack) -> Bool
}

@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
extension ManagedDownloaderExtension {
  @MainActor @preconcurrency public var configuration: some ManagedDownloaderExtensionConfiguration { ManagedDownloaderConfiguration() }
  public func shouldDownload(_ assetPack: AssetPack) -> Bool { true }
  // These are the system's for managed packs, and hide those of BADownloaderExtension.
  public func downloads(for request: BAContentRequest, manifestURL: URL, extensionInfo: BAAppExtensionInfo) -> Set<BADownload> {
    FakeSystem.shared.noteDefault("downloads(for:manifestURL:extensionInfo:)")
    return []
  }
  public func backgroundDownload(
    _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
    FakeSystem.shared.noteDefault("backgroundDownload(_:didReceive:)")
    return (.performDefaultHandling, nil)
  }
  public func backgroundDownload(_ failedDownload: BADownload, failedWithError error: any Error) {
    FakeSystem.shared.noteDefault("backgroundDownload(_:failedWithError:)")
  }
  public func backgroundDownload(_ finishedDownload: BADownload, finishedWithFileURL fileURL: URL) {
    FakeSystem.shared.noteDefault("backgroundDownload(_:finishedWithFileURL:)")
  }
}
