// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are NIO's.

// The parts of NIOHTTP1 that PackServer uses, as apple/swift-nio 2.101 declares them.

public import NIOCore

public enum HTTPPart<HeadT: Equatable, BodyT: Equatable> {
  case head(HeadT)
  case body(BodyT)
  case end(HTTPHeaders?)
}

extension HTTPPart: Sendable where HeadT: Sendable, BodyT: Sendable {}

public enum IOData: Equatable {
  case byteBuffer(ByteBuffer)
}

public typealias HTTPServerRequestPart = HTTPPart<HTTPRequestHead, ByteBuffer>
public typealias HTTPServerResponsePart = HTTPPart<HTTPResponseHead, IOData>

public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
}

public struct HTTPVersion: Hashable, Sendable {
  public static let http1_1 = HTTPVersion(major: 1, minor: 1)
  public var major: Int
  public var minor: Int
  public init(major: Int, minor: Int) { (self.major, self.minor) = (major, minor) }
}

public struct HTTPHeaders: RandomAccessCollection, Hashable, Sendable {
  public typealias Element = (name: String, value: String)
  public init(_ headers: [(String, String)] = []) {}
  public mutating func add(name: String, value: String) {}
  public subscript(name: String) -> [String] { [] }
  public func first(name: String) -> String? { nil }
  public func contains(name: String) -> Bool { false }
  public var startIndex: Int { 0 }
  public var endIndex: Int { 0 }
  public subscript(position: Int) -> Element { fatalError() }
}

public struct HTTPRequestHead: Equatable, Sendable {
  public var method: HTTPMethod { fatalError() }
  public var uri: String { "" }
  public var version: HTTPVersion { fatalError() }
  public var headers: HTTPHeaders
  public var isKeepAlive: Bool { true }
}

public enum HTTPResponseStatus: Hashable, Sendable {
  case custom(code: UInt, reasonPhrase: String)
  public init(statusCode: Int, reasonPhrase: String = "") { self = .custom(code: UInt(statusCode), reasonPhrase: reasonPhrase) }
}

public struct HTTPResponseHead: Equatable, Sendable {
  public init(version: HTTPVersion, status: HTTPResponseStatus, headers: HTTPHeaders = HTTPHeaders()) {}
}

public enum HTTPResponseEncoder {
  public struct Configuration: Sendable, Hashable {
    public init() {}
  }
}

public struct NIOHTTPDecoderLimitConfiguration: Sendable, Hashable {
  public var maxHeaderFieldSize = 0
  public var maxHeaderListSize = 0
  public init() {}
}

extension ChannelPipeline.SynchronousOperations {
  public func configureHTTPServerPipeline(
    position: ChannelPipeline.SynchronousOperations.Position = .last, withPipeliningAssistance pipelining: Bool = true,
    withErrorHandling errorHandling: Bool = true, withOutboundHeaderValidation headerValidation: Bool = true,
    withEncoderConfiguration encoderConfiguration: HTTPResponseEncoder.Configuration,
    withDecoderLimitConfiguration decoderLimitConfiguration: NIOHTTPDecoderLimitConfiguration
  ) throws {}
}
