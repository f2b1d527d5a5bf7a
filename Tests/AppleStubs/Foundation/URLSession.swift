// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

// NSURLRequest.h, NSURLResponse.h, NSURLSession.h, NSURLAuthenticationChallenge.h and NSURLError.h. Optional requirements have default implementations.

public struct URLRequest: Hashable, Sendable {
  public enum CachePolicy: UInt, Sendable {
    case useProtocolCachePolicy = 0
    case reloadIgnoringLocalCacheData = 1
    @available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
    case reloadIgnoringLocalAndRemoteCacheData = 4
  }

  public enum NetworkServiceType: UInt, Sendable {
    case `default` = 0
    case background = 3
  }

  public init(url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60) {}
  public var url: URL? {
    get { nil }
    set {}
  }
  public var httpBody: Data? {
    get { nil }
    set {}
  }
  @available(macOS 10.8, iOS 6.0, *)
  public var allowsCellularAccess: Bool {
    get { true }
    set {}
  }
  @available(macOS 10.15, iOS 13.0, tvOS 13.0, *)
  public var allowsExpensiveNetworkAccess: Bool {
    get { true }
    set {}
  }
  @available(macOS 10.15, iOS 13.0, tvOS 13.0, *)
  public var allowsConstrainedNetworkAccess: Bool {
    get { true }
    set {}
  }
  public var httpMethod: String? {
    get { nil }
    set {}
  }
  public var allHTTPHeaderFields: [String: String]? {
    get { nil }
    set {}
  }
  public var networkServiceType: NetworkServiceType {
    get { .default }
    set {}
  }
  public func value(forHTTPHeaderField field: String) -> String? { nil }
  public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
}

public typealias NSURLRequest = URLRequest

open class URLResponse: NSObject, NSCopying, @unchecked Sendable {
  open var url: URL? { nil }
  open var expectedContentLength: Int64 { 0 }
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

open class HTTPURLResponse: URLResponse, @unchecked Sendable {
  public init?(url: URL, statusCode: Int, httpVersion HTTPVersion: String?, headerFields: [String: String]?) { super.init() }
  open var statusCode: Int { 0 }
  open var allHeaderFields: [AnyHashable: Any] { [:] }
  @available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
  open func value(forHTTPHeaderField field: String) -> String? { nil }
}

open class URLCache: NSObject, @unchecked Sendable {}

open class URLCredential: NSObject, NSCopying, @unchecked Sendable {
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {}

open class HTTPCookie: NSObject, @unchecked Sendable {
  public enum AcceptPolicy: UInt, Sendable {
    case always = 0
    case never = 1
    case onlyFromMainDocumentDomain = 2
  }
}

open class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
  open class var `default`: URLSessionConfiguration { fatalError() }
  open class var ephemeral: URLSessionConfiguration { fatalError() }
  @available(macOS 10.10, iOS 8.0, tvOS 9.0, watchOS 2.0, *)
  open class func background(withIdentifier identifier: String) -> URLSessionConfiguration { fatalError() }
  open var httpMaximumConnectionsPerHost = 0
  open var timeoutIntervalForRequest: TimeInterval = 0
  open var timeoutIntervalForResource: TimeInterval = 0
  open var isDiscretionary = false
  @available(macOS 11.0, iOS 7.0, tvOS 9.0, watchOS 2.0, *)
  open var sessionSendsLaunchEvents = true
  open var urlCache: URLCache?
  open var requestCachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
  open var httpCookieAcceptPolicy = HTTPCookie.AcceptPolicy.always
  open var httpShouldSetCookies = true
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

open class URLSessionTask: NSObject, @unchecked Sendable {
  public enum State: Int, Sendable {
    case running = 0
    case suspended = 1
    case canceling = 2
    case completed = 3
  }

  open var taskIdentifier: Int { 0 }
  open var originalRequest: URLRequest? { nil }
  open var response: URLResponse? { nil }
  open var state: State { .running }
  open var countOfBytesReceived: Int64 { 0 }
  open var taskDescription: String?
  @available(macOS 10.13, iOS 11.0, tvOS 11.0, watchOS 4.0, *)
  open var countOfBytesClientExpectsToReceive: Int64 = 0
  open var priority: Float = 0
  open func resume() {}
  open func cancel() {}
}

open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {}

open class URLSession: NSObject, @unchecked Sendable {
  public enum AuthChallengeDisposition: Int, Sendable {
    case useCredential = 0
    case performDefaultHandling = 1
    case cancelAuthenticationChallenge = 2
    case rejectProtectionSpace = 3
  }

  public enum ResponseDisposition: Int, Sendable {
    case cancel = 0
    case allow = 1
    case becomeDownload = 2
    case becomeStream = 3
  }

  open class var shared: URLSession { fatalError() }
  public init(configuration: URLSessionConfiguration) { super.init() }
  public init(configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue?) {
    super.init()
  }
  open var delegateQueue: OperationQueue { fatalError() }
  open func invalidateAndCancel() {}
  open func dataTask(with request: URLRequest) -> URLSessionDataTask { fatalError() }
  open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { fatalError() }
  @available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
  open var allTasks: [URLSessionTask] { get async { [] } }
  @available(macOS 12.0, iOS 15.0, watchOS 8.0, tvOS 15.0, *)
  public func data(for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (Data, URLResponse) {
    fatalError()
  }
  @available(macOS 12.0, iOS 15.0, watchOS 8.0, tvOS 15.0, *)
  public func data(from url: URL, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (Data, URLResponse) { fatalError() }
}

public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
  @available(macOS 11.0, iOS 7.0, tvOS 9.0, watchOS 2.0, *)
  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}

extension URLSessionDelegate {
  public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}
}

public protocol URLSessionTaskDelegate: URLSessionDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void)
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

extension URLSessionTaskDelegate {
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {}
  public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}
}

public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

extension URLSessionDataDelegate {
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {}
  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}
}

public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
    totalBytesExpectedToWrite: Int64)
}

extension URLSessionDownloadDelegate {
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
    totalBytesExpectedToWrite: Int64
  ) {}
}

public struct URLError: Error, Hashable, Sendable {
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let badServerResponse = Code(rawValue: NSURLErrorBadServerResponse)
    public static let notConnectedToInternet = Code(rawValue: NSURLErrorNotConnectedToInternet)
  }

  public init(_ code: Code, userInfo: [String: Any] = [:]) {}
  public var code: Code { fatalError() }
}

public let NSURLErrorDomain = ""
@available(macOS 10.10, iOS 8.0, tvOS 9.0, watchOS 2.0, *)
public let NSURLErrorBackgroundTaskCancelledReasonKey = ""
public var NSURLErrorCancelled: Int { -999 }
public var NSURLErrorTimedOut: Int { -1001 }
public var NSURLErrorCannotFindHost: Int { -1003 }
public var NSURLErrorCannotConnectToHost: Int { -1004 }
public var NSURLErrorNetworkConnectionLost: Int { -1005 }
public var NSURLErrorDNSLookupFailed: Int { -1006 }
public var NSURLErrorHTTPTooManyRedirects: Int { -1007 }
public var NSURLErrorNotConnectedToInternet: Int { -1009 }
public var NSURLErrorRedirectToNonExistentLocation: Int { -1010 }
public var NSURLErrorBadServerResponse: Int { -1011 }
public var NSURLErrorCannotDecodeRawData: Int { -1015 }
public var NSURLErrorCannotDecodeContentData: Int { -1016 }
public var NSURLErrorCannotParseResponse: Int { -1017 }
public var NSURLErrorInternationalRoamingOff: Int { -1018 }
public var NSURLErrorCallIsActive: Int { -1019 }
public var NSURLErrorDataNotAllowed: Int { -1020 }
@available(macOS 10.11, iOS 9.0, watchOS 2.0, tvOS 9.0, *)
public var NSURLErrorAppTransportSecurityRequiresSecureConnection: Int { -1022 }
public var NSURLErrorSecureConnectionFailed: Int { -1200 }
public var NSURLErrorServerCertificateHasBadDate: Int { -1201 }
public var NSURLErrorServerCertificateUntrusted: Int { -1202 }
public var NSURLErrorServerCertificateHasUnknownRoot: Int { -1203 }
public var NSURLErrorServerCertificateNotYetValid: Int { -1204 }
public var NSURLErrorClientCertificateRejected: Int { -1205 }
public var NSURLErrorClientCertificateRequired: Int { -1206 }
