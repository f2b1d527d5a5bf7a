// AssetPack, AssetPackManager and ManagedDownloaderExtension of iOS 26, which exist in Swift only.

public import ExtensionFoundation
public import System

@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
public struct AssetPack: Identifiable, Hashable, Sendable {
  public let id: String
  public let downloadSize: Int
  public let version: Int
  public let userInfo: Data?

  @_spi(Fake)
  public init(id: String, downloadSize: Int, version: Int, userInfo: Data? = nil) {
    self.id = id
    self.downloadSize = downloadSize
    self.version = version
    self.userInfo = userInfo
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

  public var allAssetPacks: Set<AssetPack> { get async throws { Set(FakeSystem.shared.managed.map(\.pack)) } }

  public func assetPack(withID assetPackID: String) async throws -> AssetPack {
    guard let pack = FakeSystem.shared.managed.first(where: { $0.pack.id == assetPackID })?.pack else {
      throw ManagedBackgroundAssetsError.assetPackNotFound(withID: assetPackID)
    }
    return pack
  }

  @available(iOS, introduced: 26, deprecated: 26.4)
  public func ensureLocalAvailability(of assetPack: AssetPack) async throws { try FakeSystem.shared.bring(assetPack) }

  @available(iOS 26.4, macOS 26.4, tvOS 26.4, visionOS 26.4, *)
  public func ensureLocalAvailability(of assetPack: AssetPack, requireLatestVersion shouldUpdate: Bool = false) async throws {
    try FakeSystem.shared.bring(assetPack)
  }

  @discardableResult
  public func checkForUpdates() async throws -> (updatingIDs: Set<String>, removedIDs: Set<String>) { ([], []) }

  public func remove(assetPackWithID assetPackID: String) async throws { FakeSystem.shared.removeManaged(assetPackID) }

  public nonisolated func statusUpdates(
    forAssetPackWithID assetPackID: String
  ) -> some Sendable & AsyncSequence<DownloadStatusUpdate, Never> {
    AsyncStream { $0.finish() }
  }

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
