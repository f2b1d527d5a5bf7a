// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

// BADownload.h, BAURLDownload.h, BADownloadManager.h, BADownloaderExtension.h, BAAppExtensionInfo.h, BATypes.h and BAError.h of iOS, as Swift imports
// them.
//
// Types that Apple marks as Sendable are Sendable here; the manager and its delegate are not. Deprecations are those of iOS and macOS, which the sources
// are compiled for. The thread of a callback is not documented: here it is
// never the main one. Declarations only for the fake are behind @_spi(Fake), so the adapters cannot see them.

public import ExtensionFoundation
@_exported public import Foundation

#if canImport(FoundationNetworking)
  // Foundation itself on Apple platforms.
  @_exported public import FoundationNetworking
#endif

/// A value behind a lock.
final class Guarded<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value
  init(_ value: Value) { self.value = value }

  func read<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}

@available(iOS 16.1, macOS 13, tvOS 18.4, visionOS 2.4, *)
public class BADownload: NSObject, NSCopying, @unchecked Sendable {
  public enum State: Int, Sendable {
    case failed = -1
    case created = 0
    case waiting = 1
    case downloading = 2
    case finished = 3
  }

  /// NS_TYPED_EXTENSIBLE_ENUM of NSInteger. The header does not give the values.
  public struct Priority: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public init(_ rawValue: Int) { self.rawValue = rawValue }
    public static let min = Priority(-1000)
    public static let `default` = Priority(0)
    public static let max = Priority(1000)
  }

  struct Values {
    var identifier: String
    var request: URLRequest
    var isEssential: Bool
    var size: Int
    var group: String
    var priority: Priority
    var state = State.created
    /// The system's own download of the manifest. Nothing public tells.
    var isManifest = false
  }

  let values: Guarded<Values>
  public let uniqueIdentifier = UUID().uuidString

  required init(_ values: Values) {
    self.values = Guarded(values)
  }

  public var state: State { values.read { $0.state } }
  public var identifier: String { values.read { $0.identifier } }
  public var priority: Priority { values.read { $0.priority } }
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  public var isEssential: Bool { values.read { $0.isEssential } }

  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  public func removingEssential() -> Self {
    var copy = values.read { $0 }
    copy.isEssential = false
    copy.state = .created
    return Self(copy)
  }

  public func copy(with zone: NSZone? = nil) -> Any { Self(values.read { $0 }) }
}

@available(iOS 16.1, macOS 13, tvOS 18.4, visionOS 2.4, *)
public class BAURLDownload: BADownload, @unchecked Sendable {
  required init(_ values: Values) { super.init(values) }

  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  public init(
    identifier: String, request: URLRequest, essential: Bool, fileSize: Int, applicationGroupIdentifier: String, priority: Priority
  ) {
    precondition(request.url?.scheme == "https", "the URL of a download must be https")
    precondition(fileSize > 0, "the size of a download must be known")
    precondition(applicationGroupIdentifier.hasPrefix("group."), "an app group must be named")
    super.init(
      Values(
        identifier: identifier, request: request, isEssential: essential, size: fileSize, group: applicationGroupIdentifier,
        priority: priority))
  }

  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  public convenience init(identifier: String, request: URLRequest, fileSize: Int, applicationGroupIdentifier: String) {
    self.init(
      identifier: identifier, request: request, essential: false, fileSize: fileSize,
      applicationGroupIdentifier: applicationGroupIdentifier, priority: .default)
  }
}

@available(iOS 16.1, macOS 13, tvOS 18.4, visionOS 2.4, *)
public enum BAContentRequest: Int, Sendable {
  case install = 1
  case update = 2
  case periodic = 3
  @available(iOS 27, macOS 27, tvOS 27, visionOS 27, *)
  case languageChange = 4
}

@available(iOS 16.1, macOS 13, tvOS 18.4, visionOS 2.4, *)
open class BAAppExtensionInfo: NSObject, @unchecked Sendable {
  /// Nil after the app was started.
  public let restrictedDownloadSizeRemaining: Int?
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  public var restrictedEssentialDownloadSizeRemaining: Int? { essential }
  private let essential: Int?

  @_spi(Fake)
  public init(restrictedDownloadSizeRemaining: Int?, restrictedEssentialDownloadSizeRemaining: Int?) {
    self.restrictedDownloadSizeRemaining = restrictedDownloadSizeRemaining
    essential = restrictedEssentialDownloadSizeRemaining
  }
}

@available(iOS 17, macOS 14, tvOS 18.4, visionOS 2.4, *)
public let BAErrorDomain = Documented.errorDomain.value

/// NS_ENUM and not NS_ERROR_ENUM: the framework throws NSError.
@available(iOS 17, macOS 14, tvOS 18.4, visionOS 2.4, *)
public enum BAErrorCode: Int, Sendable {
  case downloadInvalid = 0
  case callFromExtensionNotAllowed = 50
  case callFromInactiveProcessNotAllowed = 51
  case callerConnectionNotAccepted = 55
  case callerConnectionInvalid = 56
  case downloadAlreadyScheduled = 100
  case downloadNotScheduled = 101
  case downloadFailedToStart = 102
  case downloadAlreadyFailed = 103
  case downloadEssentialDownloadNotPermitted = 109
  case downloadBackgroundActivityProhibited = 111
  case downloadWouldExceedAllowance = 112
  case downloadDoesNotExist = 113
  case sessionDownloadDisallowedByDomain = 202
  case sessionDownloadDisallowedByAllowance = 203
  case sessionDownloadAllowanceExceeded = 204
  case sessionDownloadNotPermittedBeforeAppLaunch = 206
}

/// All requirements are optional in Objective-C. The challenge also has a form with a completion handler, which is the same method.
@available(iOS 16.1, macOS 13, tvOS 18.4, visionOS 2.4, *)
public protocol BADownloadManagerDelegate: NSObjectProtocol {
  func downloadDidBegin(_ download: BADownload)
  func downloadDidPause(_ download: BADownload)
  func download(
    _ download: BADownload, didWriteBytes bytesWritten: Int64, totalBytesWritten: Int64, totalBytesExpectedToWrite totalExpectedBytes: Int64
  )
  func download(
    _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
  func download(_ download: BADownload, failedWithError error: any Error)
  func download(_ download: BADownload, finishedWithFileURL fileURL: URL)
}

@available(iOS 16.1, macOS 13, tvOS 18.4, visionOS 2.4, *)
extension BADownloadManagerDelegate {
  public func downloadDidBegin(_ download: BADownload) {}
  public func downloadDidPause(_ download: BADownload) {}
  public func download(
    _ download: BADownload, didWriteBytes bytesWritten: Int64, totalBytesWritten: Int64, totalBytesExpectedToWrite totalExpectedBytes: Int64
  ) {}
  public func download(
    _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) { (.performDefaultHandling, nil) }
  public func download(_ download: BADownload, failedWithError error: any Error) {}
  public func download(_ download: BADownload, finishedWithFileURL fileURL: URL) {}
}

/// The methods call the fake: see Fake.swift.
@available(iOS 16.1, macOS 13, tvOS 18.4, visionOS 2.4, *)
open class BADownloadManager: NSObject {
  nonisolated(unsafe) private static let only = BADownloadManager()
  open class var shared: BADownloadManager { only }
  override init() {}

  open weak var delegate: (any BADownloadManagerDelegate)?

  /// May block. Must not be called on the main thread.
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  open func fetchCurrentDownloads() throws -> [BADownload] { try FakeSystem.shared.currentDownloads() }

  open func fetchCurrentDownloads(completionHandler: @escaping @Sendable ([BADownload], (any Error)?) -> Void) {
    FakeSystem.shared.fetch(completionHandler)
  }

  open func scheduleDownload(_ download: BADownload) throws { try FakeSystem.shared.schedule(download) }
  open func startForegroundDownload(_ download: BADownload) throws { try FakeSystem.shared.startInForeground(download) }
  open func cancel(_ download: BADownload) throws { try FakeSystem.shared.cancel(download) }

  /// NS_SWIFT_DISABLE_ASYNC. The header of the SDKs before 27 marks the block NS_SWIFT_SENDABLE, that of 27 does not.
  @available(iOS, introduced: 16.1, deprecated: 27, message: "Use the asynchronous overload of `withExclusiveControl(_:)` instead")
  @available(macOS, introduced: 13, deprecated: 27, message: "Use the asynchronous overload of `withExclusiveControl(_:)` instead")
  @available(tvOS, introduced: 18.4, deprecated: 27, message: "Use the asynchronous overload of `withExclusiveControl(_:)` instead")
  @available(visionOS, introduced: 2.4, deprecated: 27, message: "Use the asynchronous overload of `withExclusiveControl(_:)` instead")
  open func withExclusiveControl(_ performHandler: @escaping (Bool, (any Error)?) -> Void) {
    FakeSystem.shared.control(before: .distantFuture, performHandler)
  }
  @available(iOS, introduced: 16.1, deprecated: 27, message: "Use `withExclusiveControl(before:_:)` instead")
  @available(macOS, introduced: 13, deprecated: 27, message: "Use `withExclusiveControl(before:_:)` instead")
  @available(tvOS, introduced: 18.4, deprecated: 27, message: "Use `withExclusiveControl(before:_:)` instead")
  @available(visionOS, introduced: 2.4, deprecated: 27, message: "Use `withExclusiveControl(before:_:)` instead")
  open func withExclusiveControl(beforeDate date: Date, perform performHandler: @escaping (Bool, (any Error)?) -> Void) {
    FakeSystem.shared.control(before: date, performHandler)
  }

  /// This and the next are Swift's, of the 27 SDK, @backDeployed(before: iOS 27, macOS 27, tvOS 27, visionOS 27): every system has them. They return when
  /// control is given up again.
  public final func withExclusiveControl<ReturnType>(
    _ body: @escaping () throws -> sending ReturnType
  ) async throws -> sending ReturnType { try await FakeSystem.shared.control(before: .distantFuture, body) }
  public final func withExclusiveControl<ReturnType>(
    before date: Date, _ body: @escaping () throws -> sending ReturnType
  ) async throws -> sending ReturnType { try await FakeSystem.shared.control(before: date, body) }
}

@available(iOS 16.1, macOS 13, tvOS 18.4, visionOS 2.4, *)
@MainActor @preconcurrency public protocol BADownloaderExtensionConfiguration: AppExtensionConfiguration {}

@available(iOS 16.1, macOS 13, tvOS 18.4, visionOS 2.4, *)
struct DownloaderConfiguration: BADownloaderExtensionConfiguration {}

/// All requirements have default implementations.
@available(iOS 16.1, macOS 13, tvOS 18.4, visionOS 2.4, *)
public protocol BADownloaderExtension: AppExtension {
  func downloads(for request: BAContentRequest, manifestURL: URL, extensionInfo: BAAppExtensionInfo) -> Set<BADownload>
  func backgroundDownload(
    _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
  func backgroundDownload(_ failedDownload: BADownload, failedWithError error: any Error)
  func backgroundDownload(_ finishedDownload: BADownload, finishedWithFileURL fileURL: URL)
  @available(iOS, introduced: 16.1, deprecated: 16.4, message: "will not be invoked in all applicable circumstances")
  @available(macOS, introduced: 13.0, deprecated: 13.3, message: "will not be invoked in all applicable circumstances")
  @available(tvOS, introduced: 18.4, deprecated: 18.4, message: "will not be invoked in all applicable circumstances")
  @available(visionOS, introduced: 2.4, deprecated: 2.4, message: "will not be invoked in all applicable circumstances")
  func extensionWillTerminate()
}

@available(iOS 16.1, macOS 13, tvOS 18.4, visionOS 2.4, *)
extension BADownloaderExtension {
  @MainActor @preconcurrency public var configuration: some BADownloaderExtensionConfiguration { DownloaderConfiguration() }
  public func downloads(for request: BAContentRequest, manifestURL: URL, extensionInfo: BAAppExtensionInfo) -> Set<BADownload> { [] }
  public func backgroundDownload(
    _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) { (.performDefaultHandling, nil) }
  public func backgroundDownload(_ failedDownload: BADownload, failedWithError error: any Error) {}
  public func backgroundDownload(_ finishedDownload: BADownload, finishedWithFileURL fileURL: URL) {}
  public func extensionWillTerminate() {}
}

#if canImport(FoundationNetworking)
  // Part of Foundation on Apple platforms. The fake chooses the directory of an app group.
  extension FileManager {
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
      FakeSystem.shared.container(of: groupIdentifier)
    }
  }
#endif
