// FilePath and FileDescriptor of Apple's System module.

public struct FilePath: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  public var string: String
  public init(_ string: String) { self.string = string }
  public init(stringLiteral: String) { string = stringLiteral }
  public var description: String { string }
}

public struct FileDescriptor: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }
  public func close() throws {}
}
