// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

// The parts of Foundation that this project calls, for the check against the oldest systems. Names, labels and optionality as in the interface of the
// module in Apple's SDK (macOS 15.5), availability as in developer.apple.com/documentation/foundation. Without an attribute: iOS 8 and macOS 10.10 or
// older. What is newer than the oldest systems says so, even if nothing uses it: a use without `if #available` must be refused.

public import Combine
@_exported public import CoreFoundation
@_exported public import Darwin
@_exported public import Dispatch
@_exported public import ObjectiveC

// MARK: Names of Combine

// Names only: members of these types need an import of Combine.
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public typealias Published = Combine.Published
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public typealias ObservableObject = Combine.ObservableObject

// MARK: Bytes

public protocol ContiguousBytes {
  func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
}

extension Array: ContiguousBytes where Element == UInt8 {}
extension ArraySlice: ContiguousBytes where Element == UInt8 {}
extension UnsafeRawBufferPointer: @unsafe ContiguousBytes {
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
}

public protocol DataProtocol: RandomAccessCollection where Element == UInt8 {}

extension Array: DataProtocol where Element == UInt8 {}
extension ArraySlice: DataProtocol where Element == UInt8 {}
extension UnsafeRawBufferPointer: @unsafe DataProtocol {}

public struct Data: DataProtocol, ContiguousBytes, MutableCollection, RangeReplaceableCollection, Hashable, Codable, Sendable,
  CustomStringConvertible
{
  public struct ReadingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let mappedIfSafe = ReadingOptions(rawValue: 1)
    public static let uncached = ReadingOptions(rawValue: 2)
    public static let alwaysMapped = ReadingOptions(rawValue: 8)
  }

  public struct WritingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let atomic = WritingOptions(rawValue: 1)
  }

  public struct Base64EncodingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
  }

  public init() {}
  public init(capacity: Int) {}
  public init(count: Int) {}
  public init(bytes: UnsafeRawPointer, count: Int) {}
  public init<SourceType>(buffer: UnsafeBufferPointer<SourceType>) {}
  public init<S: Sequence>(_ elements: S) where S.Element == UInt8 {}
  public init(contentsOf url: URL, options: ReadingOptions = []) throws {}
  public func write(to url: URL, options: WritingOptions = []) throws {}
  public func base64EncodedString(options: Base64EncodingOptions = []) -> String { "" }
  public func withUnsafeBytes<ResultType>(_ body: (UnsafeRawBufferPointer) throws -> ResultType) rethrows -> ResultType { fatalError() }
  public mutating func append(contentsOf bytes: [UInt8]) {}
  public mutating func append(_ other: Data) {}
  public mutating func removeAll(keepingCapacity: Bool = false) {}
  public var startIndex: Int { 0 }
  public var endIndex: Int { 0 }
  public var count: Int { 0 }
  public func index(after i: Int) -> Int { i + 1 }
  public func index(before i: Int) -> Int { i - 1 }
  public subscript(index: Int) -> UInt8 {
    get { 0 }
    set {}
  }
  public subscript(bounds: Range<Int>) -> Data {
    get { self }
    set {}
  }
  public mutating func replaceSubrange<C: Collection>(_ subrange: Range<Int>, with newElements: C) where C.Element == UInt8 {}
  public var description: String { "" }

  // With the availability that Span has: swiftlang/swift-foundation, Data.swift.
  public var bytes: RawSpan {
    @_lifetime(borrow self)
    borrowing get { fatalError() }
  }
  public var span: Span<UInt8> {
    @_lifetime(borrow self)
    borrowing get { fatalError() }
  }
}

// MARK: Values

public typealias TimeInterval = Double

public struct Date: Hashable, Comparable, Codable, Sendable {
  public init() {}
  public init(timeIntervalSinceNow: TimeInterval) {}
  public init(timeIntervalSince1970: TimeInterval) {}
  public init(timeIntervalSinceReferenceDate: TimeInterval) {}
  public var timeIntervalSinceNow: TimeInterval { 0 }
  public var timeIntervalSince1970: TimeInterval { 0 }
  public static var now: Date { Date() }
  public static let distantFuture = Date()
  public static func < (left: Date, right: Date) -> Bool { false }
}

public struct UUID: Hashable, Codable, Sendable {
  public init() {}
  public var uuidString: String { "" }
}

extension StringProtocol {
  public var precomposedStringWithCanonicalMapping: String { "" }
  @available(macOS 10.11, iOS 9.0, *)
  public var localizedLowercase: String { "" }
  public var localizedCapitalized: String { "" }
}

public struct Locale: Hashable, Codable, Sendable {
  public static var current: Locale { Locale() }
  public static var preferredLanguages: [String] { ["en-US"] }

  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  public struct Language: Hashable, Codable, Sendable {
    public init(identifier: String) {}
    public var minimalIdentifier: String { "" }
  }
}

// MARK: URLs

public struct URL: Hashable, Codable, Sendable, CustomStringConvertible {
  public init?(string: String) {}
  @available(macOS 14.0, iOS 17.0, watchOS 10.0, tvOS 17.0, *)
  public init?(string: String, encodingInvalidCharacters: Bool) {}
  public init(fileURLWithPath path: String, isDirectory: Bool) {}
  public init(fileURLWithPath path: String) {}
  public var absoluteString: String { "" }
  public var scheme: String? { nil }
  public var host: String? { nil }
  public var port: Int? { nil }
  public var path: String { "" }
  public var query: String? { nil }
  public var fragment: String? { nil }
  public var lastPathComponent: String { "" }
  public var pathExtension: String { "" }
  public var isFileURL: Bool { false }
  public func appendingPathComponent(_ pathComponent: String) -> URL { self }
  public func appendingPathComponent(_ pathComponent: String, isDirectory: Bool) -> URL { self }
  public func deletingLastPathComponent() -> URL { self }
  @available(macOS 13.0, iOS 16.0, watchOS 9.0, tvOS 16.0, *)
  public func path(percentEncoded: Bool = true) -> String { "" }
  @available(macOS 13.0, iOS 16.0, watchOS 9.0, tvOS 16.0, *)
  public func host(percentEncoded: Bool = true) -> String? { nil }
  @available(macOS 13.0, iOS 16.0, watchOS 9.0, tvOS 16.0, *)
  public func appending<S: StringProtocol>(path: S, directoryHint: DirectoryHint = .inferFromPath) -> URL { self }
  @available(macOS 13.0, iOS 16.0, watchOS 9.0, tvOS 16.0, *)
  public func appending<S: StringProtocol>(component: S, directoryHint: DirectoryHint = .inferFromPath) -> URL { self }
  @available(macOS 13.0, iOS 16.0, watchOS 9.0, tvOS 16.0, *)
  public static var applicationSupportDirectory: URL { fatalError() }
  @available(macOS 13.0, iOS 16.0, watchOS 9.0, tvOS 16.0, *)
  public static var cachesDirectory: URL { fatalError() }
  public func resourceValues(forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues { fatalError() }
  public mutating func setResourceValues(_ values: URLResourceValues) throws {}
  public var description: String { "" }

  @available(macOS 13.0, iOS 16.0, watchOS 9.0, tvOS 16.0, *)
  public enum DirectoryHint: Sendable {
    case isDirectory
    case notDirectory
    case checkFileSystem
    case inferFromPath
  }
}

public struct URLResourceKey: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public static let isExcludedFromBackupKey = URLResourceKey(rawValue: "")
  @available(macOS 10.13, iOS 11.0, *)
  @available(tvOS, unavailable)
  @available(watchOS, unavailable)
  public static let volumeAvailableCapacityForImportantUsageKey = URLResourceKey(rawValue: "")
  @available(macOS 10.13, iOS 11.0, *)
  @available(tvOS, unavailable)
  @available(watchOS, unavailable)
  public static let volumeAvailableCapacityForOpportunisticUsageKey = URLResourceKey(rawValue: "")
  public static let volumeAvailableCapacityKey = URLResourceKey(rawValue: "")
}

public struct URLResourceValues: Sendable {
  public init() {}
  public var isExcludedFromBackup: Bool? {
    get { nil }
    set {}
  }
  @available(macOS 10.13, iOS 11.0, *)
  @available(tvOS, unavailable)
  @available(watchOS, unavailable)
  public var volumeAvailableCapacityForImportantUsage: Int64? { nil }
  @available(macOS 10.13, iOS 11.0, *)
  @available(tvOS, unavailable)
  @available(watchOS, unavailable)
  public var volumeAvailableCapacityForOpportunisticUsage: Int64? { nil }
  public var volumeAvailableCapacity: Int? { nil }
}

// MARK: Errors

public let NSLocalizedDescriptionKey = ""
public let NSLocalizedFailureReasonErrorKey = ""
public let NSLocalizedRecoverySuggestionErrorKey = ""
public let NSUnderlyingErrorKey = ""

open class NSError: NSObject, NSCopying, Error, @unchecked Sendable {
  public init(domain: String, code: Int, userInfo dict: [String: Any]? = nil) { super.init() }
  open var domain: String { "" }
  open var code: Int { 0 }
  open var userInfo: [String: Any] { [:] }
  open var localizedDescription: String { "" }
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

// The compiler calls these for `as` and `catch`.
public func _convertErrorToNSError(_ error: any Error) -> NSError { fatalError() }
public func _convertNSErrorToError(_ error: NSError?) -> any Error { fatalError() }

extension Error {
  public var localizedDescription: String { "" }
}

public protocol LocalizedError: Error {
  var errorDescription: String? { get }
  var failureReason: String? { get }
  var recoverySuggestion: String? { get }
  var helpAnchor: String? { get }
}

extension LocalizedError {
  public var errorDescription: String? { nil }
  public var failureReason: String? { nil }
  public var recoverySuggestion: String? { nil }
  public var helpAnchor: String? { nil }
}

public protocol CustomNSError: Error {
  static var errorDomain: String { get }
  var errorCode: Int { get }
  var errorUserInfo: [String: Any] { get }
}

extension CustomNSError {
  public static var errorDomain: String { "" }
  public var errorCode: Int { 0 }
  public var errorUserInfo: [String: Any] { [:] }
}

extension String {
  public init(format: String, _ arguments: any CVarArg...) { self = "" }
}

// MARK: Objects

public protocol NSCopying {
  func copy(with zone: NSZone?) -> Any
}

public protocol NSLocking {
  func lock()
  func unlock()
}

open class NSNumber: NSObject, ExpressibleByBooleanLiteral, @unchecked Sendable {
  public required init(booleanLiteral value: Bool) {}
}

open class NSLock: NSObject, NSLocking, @unchecked Sendable {
  open func lock() {}
  open func unlock() {}
}

open class Thread: NSObject, @unchecked Sendable {
  open class var isMainThread: Bool { false }
}

open class OperationQueue: NSObject, @unchecked Sendable {
  @available(macOS 10.6, iOS 4.0, watchOS 2.0, tvOS 9.0, *)
  open func addOperation(_ block: @escaping @Sendable () -> Void) {}
  @available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
  open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {}
}

open class Bundle: NSObject, @unchecked Sendable {
  open class var main: Bundle { fatalError() }
  open var bundleIdentifier: String? { nil }
  open var bundleURL: URL { fatalError() }
  open var resourceURL: URL? { nil }
  open var infoDictionary: [String: Any]? { nil }
  open func object(forInfoDictionaryKey key: String) -> Any? { nil }
  open func localizedString(forKey key: String, value: String?, table tableName: String?) -> String { "" }
  open func url(forResource name: String?, withExtension ext: String?) -> URL? { nil }
  open func url(forResource name: String?, withExtension ext: String?, subdirectory subpath: String?) -> URL? { nil }
  open func path(forResource name: String?, ofType ext: String?) -> String? { nil }
}

open class ProcessInfo: NSObject, @unchecked Sendable {
  open class var processInfo: ProcessInfo { fatalError() }
  open var environment: [String: String] { [:] }
  // NSProcessInfo.h: API_AVAILABLE(ios(8.2), watchos(2.0), tvos(9.0)) API_UNAVAILABLE(macos).
  @available(iOS 8.2, *)
  @available(macOS, unavailable)
  open func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {}
}

open class FileManager: NSObject, @unchecked Sendable {
  public enum SearchPathDirectory: UInt, Sendable {
    case documentDirectory = 9
    case cachesDirectory = 13
    case applicationSupportDirectory = 14
  }

  public struct SearchPathDomainMask: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let userDomainMask = SearchPathDomainMask(rawValue: 1)
  }

  open class var `default`: FileManager { fatalError() }
  open var temporaryDirectory: URL { fatalError() }
  open func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? { nil }
  open func url(
    for directory: SearchPathDirectory, in domain: SearchPathDomainMask, appropriateFor url: URL?, create shouldCreate: Bool
  ) throws -> URL { fatalError() }
  open func urls(for directory: SearchPathDirectory, in domainMask: SearchPathDomainMask) -> [URL] { [] }
  open func createDirectory(
    at url: URL, withIntermediateDirectories createIntermediates: Bool, attributes: [FileAttributeKey: Any]? = nil
  ) throws {}
  open func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {}
  open func fileExists(atPath path: String) -> Bool { false }
  open func subpaths(atPath path: String) -> [String]? { nil }
  open func copyItem(at srcURL: URL, to dstURL: URL) throws {}
  open func moveItem(at srcURL: URL, to dstURL: URL) throws {}
  open func removeItem(at URL: URL) throws {}
}

public struct FileAttributeKey: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  @available(macOS 11.0, iOS 4.0, watchOS 2.0, tvOS 9.0, *)
  public static let protectionKey = FileAttributeKey(rawValue: "NSFileProtectionKey")
}

public struct FileProtectionType: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  @available(macOS 11.0, iOS 5.0, watchOS 2.0, tvOS 9.0, *)
  public static let completeUntilFirstUserAuthentication = FileProtectionType(
    rawValue: "NSFileProtectionCompleteUntilFirstUserAuthentication")
}

open class Progress: NSObject, @unchecked Sendable {
  public init(totalUnitCount unitCount: Int64) { super.init() }
  open var totalUnitCount: Int64 {
    get { 0 }
    set {}
  }
  open var completedUnitCount: Int64 {
    get { 0 }
    set {}
  }
  open var fractionCompleted: Double { 0 }
  open var isCancelled: Bool { false }
  open func cancel() {}
  open var kind: ProgressKind? {
    get { nil }
    set {}
  }
  open var cancellationHandler: (@Sendable () -> Void)? {
    get { nil }
    set {}
  }
}

@available(macOS 10.11, iOS 9.0, *)
public protocol ProgressReporting: NSObjectProtocol {
  var progress: Progress { get }
}

public struct ProgressKind: Hashable, RawRepresentable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public static let file = ProgressKind(rawValue: "NSProgressKindFile")
}

public func NSTemporaryDirectory() -> String { "" }
public func NSHomeDirectory() -> String { "" }

// MARK: Encoding

open class JSONEncoder: @unchecked Sendable {
  public struct OutputFormatting: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let prettyPrinted = OutputFormatting(rawValue: 1)
    @available(macOS 10.13, iOS 11.0, watchOS 4.0, tvOS 11.0, *)
    public static let sortedKeys = OutputFormatting(rawValue: 2)
    @available(macOS 10.15, iOS 13.0, watchOS 6.0, tvOS 13.0, *)
    public static let withoutEscapingSlashes = OutputFormatting(rawValue: 8)
  }

  public init() {}
  open var outputFormatting: OutputFormatting {
    get { [] }
    set {}
  }
  open func encode<T: Encodable>(_ value: T) throws -> Data { fatalError() }
}

open class JSONDecoder: @unchecked Sendable {
  public init() {}
  open func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T { fatalError() }
}

open class PropertyListSerialization: NSObject {
  public enum PropertyListFormat: UInt, Sendable {
    case xml = 100
    case binary = 200
  }
}

open class PropertyListEncoder: @unchecked Sendable {
  public init() {}
  open var outputFormat: PropertyListSerialization.PropertyListFormat {
    get { .xml }
    set {}
  }
  open func encode<Value: Encodable>(_ value: Value) throws -> Data { fatalError() }
}
