// FilePath and FileDescriptor of Apple's System module: developer.apple.com/documentation/system.

@available(macOS 11, iOS 14, watchOS 7, tvOS 14, *)
public struct FilePath: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  public var string: String
  public init(_ string: String) { self.string = string }
  public init(stringLiteral: String) { string = stringLiteral }
  public var description: String { string }
}

@available(macOS 11, iOS 14, watchOS 7, tvOS 14, *)
public struct FileDescriptor: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }
  public func close() throws {}
}
