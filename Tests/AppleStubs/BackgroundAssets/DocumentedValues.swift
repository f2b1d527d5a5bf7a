// The values of the real system, with their sources: Apple's documentation, headers and engineers, and logs of devices. The fake and the tests take
// them from here, and not from the code that they test.

/// A value, where it is documented, and the date of that source.
@_spi(Fake)
public struct DocumentedValue<Value: Sendable>: Sendable {
  public let value: Value
  /// URLs and names of headers.
  public let source: String
  /// As exact as the source shows it.
  public let date: String

  init(_ value: Value, _ source: String, _ date: String) {
    (self.value, self.source, self.date) = (value, source, date)
  }
}

/// A code of an error domain.
@_spi(Fake)
public struct DocumentedCode: Sendable, Hashable {
  /// Its name as Swift imports it.
  public let name: String
  public let code: Int

  init(_ code: Int, _ name: String) {
    (self.name, self.code) = (name, code)
  }
}

@_spi(Fake)
public enum Documented {
  // MARK: Errors of Background Assets

  /// The domain in logs of current systems.
  public static let errorDomain = DocumentedValue(
    "BAErrorDomain", "https://developer.apple.com/forums/thread/814877, logs of iOS 26.0 to 26.3", "2026")

  /// The domain in a log of iOS 16.1, from before the constant `BAErrorDomain` was public (iOS 17, macOS 14).
  public static let earlierErrorDomain = DocumentedValue(
    "com.apple.backgroundassets.error", "https://developer.apple.com/forums/thread/718588, a log of iOS 16.1", "2022")

  public static let errorCodes = DocumentedValue(
    [
      DocumentedCode(0, "downloadInvalid"), DocumentedCode(50, "callFromExtensionNotAllowed"),
      DocumentedCode(51, "callFromInactiveProcessNotAllowed"), DocumentedCode(55, "callerConnectionNotAccepted"),
      DocumentedCode(56, "callerConnectionInvalid"), DocumentedCode(100, "downloadAlreadyScheduled"),
      DocumentedCode(101, "downloadNotScheduled"), DocumentedCode(102, "downloadFailedToStart"),
      DocumentedCode(103, "downloadAlreadyFailed"), DocumentedCode(109, "downloadEssentialDownloadNotPermitted"),
      DocumentedCode(111, "downloadBackgroundActivityProhibited"), DocumentedCode(112, "downloadWouldExceedAllowance"),
      DocumentedCode(202, "sessionDownloadDisallowedByDomain"), DocumentedCode(203, "sessionDownloadDisallowedByAllowance"),
      DocumentedCode(204, "sessionDownloadAllowanceExceeded"), DocumentedCode(206, "sessionDownloadNotPermittedBeforeAppLaunch"),
    ], "BAError.h, https://github.com/xamarin/xamarin-macios/wiki/BackgroundAssets-macOS-xcode15.0-b6", "2023-08-01")

  public static let laterErrorCodes = DocumentedValue(
    [DocumentedCode(113, "downloadDoesNotExist")],
    "https://learn.microsoft.com/en-us/dotnet/api/backgroundassets.baerrorcode?view=net-ios-26.4-10.0", "2026")

  // MARK: Requests and downloads

  public static let contentRequests = DocumentedValue(
    [DocumentedCode(1, "install"), DocumentedCode(2, "update"), DocumentedCode(3, "periodic")],
    "BATypes.h, https://developer.apple.com/documentation/backgroundassets/bacontentrequest", "2022")

  public static let downloadStates = DocumentedValue(
    [
      DocumentedCode(-1, "failed"), DocumentedCode(0, "created"), DocumentedCode(1, "waiting"), DocumentedCode(2, "downloading"),
      DocumentedCode(3, "finished"),
    ], "BADownload.h, https://developer.apple.com/documentation/backgroundassets/badownload/state-swift.enum", "2022")

  /// The content requests that may return essential downloads.
  public static let essentialRequests = DocumentedValue(
    [1, 2], "https://developer.apple.com/videos/play/wwdc2023/10108", "2023-06")

  // MARK: Limits of an extension

  /// The time that an extension may run in a day. After that it is not started.
  public static let extensionSecondsPerDay = DocumentedValue(
    10 * 60, "https://developer.apple.com/forums/thread/718588, an Apple engineer's answer", "2022")

  /// The shortest time between two periodic requests: none is documented, so the fake sends them at any time.
  public static let periodicIntervalSeconds = DocumentedValue<Int?>(
    nil, "https://developer.apple.com/documentation/backgroundassets/configuring-an-unmanaged-background-assets-project", "2025")

  // MARK: Managed packs

  /// The requirements of `BADownloaderExtension` that an extension with `ManagedDownloaderExtension` may implement.
  public static let managedRequirements = DocumentedValue<Set<String>>(
    ["backgroundDownload(_:didReceive:)"], "https://developer.apple.com/documentation/backgroundassets/manageddownloaderextension", "2026")

  /// Those that an extension with `StoreDownloaderExtension`, for packs that Apple hosts, may implement.
  public static let storeRequirements = DocumentedValue<Set<String>>(
    [], "https://developer.apple.com/documentation/storekit/storedownloaderextension", "2026")

  // MARK: Other domains

  /// The codes of the URL loading system that mean the same failure, by its name.
  public static let urlErrorCodes = DocumentedValue(
    [
      DocumentedCode(-1001, "timedOut"), DocumentedCode(-1003, "cannotFindHost"), DocumentedCode(-1004, "cannotConnectToHost"),
      DocumentedCode(-1005, "networkConnectionLost"), DocumentedCode(-1006, "dnsLookupFailed"),
      DocumentedCode(-1007, "httpTooManyRedirects"), DocumentedCode(-1008, "resourceUnavailable"),
      DocumentedCode(-1009, "notConnectedToInternet"), DocumentedCode(-1010, "redirectToNonExistentLocation"),
      DocumentedCode(-1011, "badServerResponse"), DocumentedCode(-1012, "userCancelledAuthentication"),
      DocumentedCode(-1013, "userAuthenticationRequired"), DocumentedCode(-1014, "zeroByteResource"),
      DocumentedCode(-1015, "cannotDecodeRawData"), DocumentedCode(-1016, "cannotDecodeContentData"),
      DocumentedCode(-1017, "cannotParseResponse"), DocumentedCode(-1018, "internationalRoamingOff"),
      DocumentedCode(-1019, "callIsActive"), DocumentedCode(-1020, "dataNotAllowed"), DocumentedCode(-1100, "fileDoesNotExist"),
      DocumentedCode(-1102, "noPermissionsToReadFile"), DocumentedCode(-1103, "dataLengthExceedsMaximum"),
    ], "NSURLError.h, https://developer.apple.com/documentation/foundation/urlerror-swift.struct/code", "2025")
}
