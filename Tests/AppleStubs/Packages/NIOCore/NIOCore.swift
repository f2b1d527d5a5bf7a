// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are NIO's.

// The parts of NIOCore that PackServer uses, as apple/swift-nio 2.101 declares them: its own sources need the socket headers of Apple's SDK. `Channel`
// is Sendable there too, through a protocol. NIO supports macOS 10.15; what needs more says so.

// MARK: Bytes and time

public struct ByteBuffer: Sendable, Hashable {
  public init() {}
  public init(string: String) {}
  public init<Bytes: Sequence>(bytes: Bytes) where Bytes.Element == UInt8 {}
  public var readableBytes: Int { 0 }
  public var readableBytesView: ByteBufferView { ByteBufferView() }
  public mutating func clear() {}
  public mutating func readSlice(length: Int) -> ByteBuffer? { nil }
  @discardableResult
  @available(macOS 10.14.4, iOS 12.2, watchOS 5.2, tvOS 12.2, visionOS 1.0, *)
  public mutating func writeBytes(_ bytes: RawSpan) -> Int { 0 }
}

public struct ByteBufferView: RandomAccessCollection, Sendable {
  public typealias Element = UInt8
  public var startIndex: Int { 0 }
  public var endIndex: Int { 0 }
  public subscript(position: Int) -> UInt8 { 0 }
}

public struct NIOAny {
  public init<T>(_ value: T) {}
}

@available(*, unavailable)
extension NIOAny: Sendable {}

public struct TimeAmount: Hashable, Sendable {
  public let nanoseconds: Int64
  public static func nanoseconds(_ amount: Int64) -> TimeAmount { TimeAmount(nanoseconds: amount) }
  public static func milliseconds(_ amount: Int64) -> TimeAmount { TimeAmount(nanoseconds: amount) }
  public static func seconds(_ amount: Int64) -> TimeAmount { TimeAmount(nanoseconds: amount) }
}

public struct NIODeadline: Equatable, Hashable, Comparable, Sendable {
  public static let distantPast = NIODeadline()
  public static let distantFuture = NIODeadline()
  public static func uptimeNanoseconds(_ nanoseconds: UInt64) -> NIODeadline { NIODeadline() }
  public var uptimeNanoseconds: UInt64 { 0 }
  public static func < (left: NIODeadline, right: NIODeadline) -> Bool { false }
  public static func now() -> NIODeadline { NIODeadline() }
  public static func - (left: NIODeadline, right: NIODeadline) -> TimeAmount { .nanoseconds(0) }
  public static func + (left: NIODeadline, right: TimeAmount) -> NIODeadline { left }
}

// MARK: Event loops

public protocol EventLoopGroup: AnyObject, Sendable {
  func next() -> any EventLoop
}

public protocol EventLoop: EventLoopGroup {
  var now: NIODeadline { get }
  @preconcurrency func execute(_ task: @escaping @Sendable () -> Void)
  @discardableResult @preconcurrency
  func scheduleTask<T>(deadline: NIODeadline, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T>
  @discardableResult @preconcurrency
  func scheduleTask<T>(in: TimeAmount, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T>
}

extension EventLoop {
  public func makePromise<T>(of type: T.Type = T.self, file: StaticString = #fileID, line: UInt = #line) -> EventLoopPromise<T> {
    fatalError()
  }
  @preconcurrency
  public func makeCompletedFuture<Success: Sendable>(withResultOf body: () throws -> Success) -> EventLoopFuture<Success> { fatalError() }
  @discardableResult @preconcurrency
  public func scheduleRepeatedAsyncTask(
    initialDelay: TimeAmount, delay: TimeAmount, notifying promise: EventLoopPromise<Void>? = nil,
    _ task: @escaping @Sendable (RepeatedTask) -> EventLoopFuture<Void>
  ) -> RepeatedTask { fatalError() }
}

extension EventLoopGroup {
  @available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
  public func shutdownGracefully() async throws {}
}

public final class EventLoopFuture<Value>: @unchecked Sendable {
  init() {}
  @preconcurrency public func cascade(to promise: EventLoopPromise<Value>?) where Value: Sendable {}
  @preconcurrency public func whenComplete(_ callback: @escaping @Sendable (Result<Value, any Error>) -> Void) {}
}

extension EventLoopFuture {
  @available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
  @preconcurrency public func get() async throws -> Value where Value: Sendable { fatalError() }
}

public struct EventLoopPromise<Value>: Sendable {
  public let futureResult: EventLoopFuture<Value>
}

extension EventLoopPromise {
  public func fail(_ error: any Error) {}
}

extension EventLoopPromise where Value == Void {
  public func succeed() {}
}

public struct Scheduled<T> {
  public func cancel() {}
}

extension Scheduled: Sendable where T: Sendable {}

public final class RepeatedTask: @unchecked Sendable {
  public func cancel(promise: EventLoopPromise<Void>? = nil) {}
}

public struct NIOLoopBound<Value>: @unchecked Sendable {
  public init(_ value: Value, eventLoop: any EventLoop) { self.value = value }
  public var value: Value
}

public final class NIOLoopBoundBox<Value>: @unchecked Sendable {
  init(_ value: Value) { self.value = value }
  public static func makeBoxSendingValue(
    _ value: sending Value, as: Value.Type = Value.self, eventLoop: any EventLoop
  ) -> NIOLoopBoundBox<Value> { NIOLoopBoundBox(value) }
  public var value: Value
}

public struct CircularBuffer<Element> {
  public init() {}
  public var first: Element? { nil }
  public var isEmpty: Bool { true }
  public mutating func append(_ element: Element) {}
  public mutating func prepend(_ element: Element) {}
  @discardableResult public mutating func removeFirst() -> Element { fatalError() }
  public mutating func removeAll(keepingCapacity: Bool = false) {}
}

extension CircularBuffer: Sequence {
  public func makeIterator() -> IndexingIterator<[Element]> { [].makeIterator() }
}

extension CircularBuffer: Sendable where Element: Sendable {}

// MARK: Channels

public protocol ChannelOutboundInvoker {}

extension ChannelOutboundInvoker {
  public func close(file: StaticString = #fileID, line: UInt = #line) -> EventLoopFuture<Void> { fatalError() }
}

public enum CloseMode: Sendable {
  case output
  case input
  case all
}

public protocol Channel: AnyObject, ChannelOutboundInvoker, Sendable {
  var pipeline: ChannelPipeline { get }
  var localAddress: SocketAddress? { get }
  var remoteAddress: SocketAddress? { get }
  var eventLoop: any EventLoop { get }
}

extension Channel {
  public func close(mode: CloseMode = .all, promise: EventLoopPromise<Void>?) {}
  @preconcurrency public func triggerUserOutboundEvent(_ event: Any & Sendable, promise: EventLoopPromise<Void>?) {}
}

public enum ChannelError: Error {
  case outputClosed
  case ioOnClosedChannel
  case eof
}

public enum ChannelEvent: Equatable, Sendable {
  case inputClosed
  case outputClosed
}

public struct ChannelShouldQuiesceEvent: Sendable {
  public init() {}
}

public enum SocketAddress: Sendable {
  case none
  public var port: Int? { nil }
  public var ipAddress: String? { nil }
  public init(ipAddress: String, port: Int) throws { self = .none }
}

public struct NIONetworkDevice {
  public var address: SocketAddress? { nil }
}

public enum System: Sendable {
  public static func enumerateDevices() throws -> [NIONetworkDevice] { [] }
}

public enum SocketAddressError: Error, Equatable, Hashable {
  case unsupported
}

extension SocketAddressError {
  public struct UnknownHost: Error, Hashable, Sendable {}
}

public struct IOError: Error {
  public var errnoCode: CInt { 0 }
}

public final class ChannelPipeline: @unchecked Sendable {
  public struct SynchronousOperations {
    public struct Position {
      public static var first: Position { Position() }
      public static var last: Position { Position() }
    }

    public func addHandler(_ handler: any ChannelHandler, name: String? = nil, position: Position = .last) throws {}
  }

  public var syncOperations: SynchronousOperations { SynchronousOperations() }
  public func fireUserInboundEventTriggered(_ event: Any) {}
}

@available(*, unavailable)
extension ChannelPipeline.SynchronousOperations: Sendable {}

public final class ChannelHandlerContext: ChannelOutboundInvoker {
  public var eventLoop: any EventLoop { fatalError() }
  public var channel: any Channel { fatalError() }
  public func fireChannelActive() {}
  public func fireChannelInactive() {}
  public func fireUserInboundEventTriggered(_ event: Any) {}
  public func fireChannelRead(_ data: NIOAny) {}
  public func fireChannelReadComplete() {}
  public func read() {}
  public func triggerUserOutboundEvent(_ event: Any, promise: EventLoopPromise<Void>?) {}
  public func writeAndFlush(_ data: NIOAny, promise: EventLoopPromise<Void>?) {}
  public func write(_ data: NIOAny, promise: EventLoopPromise<Void>?) {}
  public func flush() {}
  public func close(mode: CloseMode = .all, promise: EventLoopPromise<Void>?) {}
  public func writeAndFlush(_ data: NIOAny, file: StaticString = #fileID, line: UInt = #line) -> EventLoopFuture<Void> { fatalError() }
}

@available(*, unavailable)
extension ChannelHandlerContext: Sendable {}

// MARK: Handlers

public protocol ChannelHandler: AnyObject {
  func handlerAdded(context: ChannelHandlerContext)
  func handlerRemoved(context: ChannelHandlerContext)
}

public protocol _ChannelInboundHandler: ChannelHandler {
  func channelActive(context: ChannelHandlerContext)
  func channelInactive(context: ChannelHandlerContext)
  func channelRead(context: ChannelHandlerContext, data: NIOAny)
  func channelReadComplete(context: ChannelHandlerContext)
  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any)
  func errorCaught(context: ChannelHandlerContext, error: any Error)
}

extension ChannelHandler {
  public func handlerAdded(context: ChannelHandlerContext) {}
  public func handlerRemoved(context: ChannelHandlerContext) {}
}

extension _ChannelInboundHandler {
  public func channelActive(context: ChannelHandlerContext) {}
  public func channelInactive(context: ChannelHandlerContext) {}
  public func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
  public func channelReadComplete(context: ChannelHandlerContext) {}
  public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {}
  public func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}

public protocol _EmittingChannelHandler {
  associatedtype OutboundOut = Never
}

extension _EmittingChannelHandler {
  public func wrapOutboundOut(_ value: OutboundOut) -> NIOAny { fatalError() }
}

public protocol ChannelInboundHandler: _ChannelInboundHandler, _EmittingChannelHandler {
  associatedtype InboundIn
  associatedtype InboundOut = Never
}

public protocol _ChannelOutboundHandler: ChannelHandler {
  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?)
  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?)
  func flush(context: ChannelHandlerContext)
  func read(context: ChannelHandlerContext)
  func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?)
}

extension _ChannelOutboundHandler {
  public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {}
  public func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {}
  public func flush(context: ChannelHandlerContext) {}
  public func read(context: ChannelHandlerContext) {}
  public func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {}
}

public protocol ChannelOutboundHandler: _ChannelOutboundHandler, _EmittingChannelHandler {
  associatedtype OutboundIn
}

extension ChannelOutboundHandler {
  public func unwrapOutboundIn(_ value: NIOAny) -> OutboundIn { fatalError() }
}

public typealias ChannelDuplexHandler = ChannelInboundHandler & ChannelOutboundHandler

extension ChannelInboundHandler {
  public func unwrapInboundIn(_ value: NIOAny) -> InboundIn { fatalError() }
  public func wrapInboundOut(_ value: InboundOut) -> NIOAny { fatalError() }
}

// MARK: Options

public protocol ChannelOption: Equatable, Sendable {
  associatedtype Value: Sendable
}

public enum NIOBSDSocket: Sendable {
  public struct Option: RawRepresentable, Hashable, Sendable {
    public let rawValue: CInt
    public init(rawValue: CInt) { self.rawValue = rawValue }
    public static let so_reuseaddr = Option(rawValue: 4)
    public static let tcp_nodelay = Option(rawValue: 1)
  }
}

public enum ChannelOptions: Sendable {
  public enum Types: Sendable {
    public struct SocketOption: ChannelOption { public typealias Value = CInt }
    public struct BacklogOption: ChannelOption { public typealias Value = Int32 }
    public struct AllowRemoteHalfClosureOption: ChannelOption { public typealias Value = Bool }
  }
}

extension ChannelOption where Self == ChannelOptions.Types.SocketOption {
  public static func socketOption(_ name: NIOBSDSocket.Option) -> Self { fatalError() }
  public static func tcpOption(_ name: NIOBSDSocket.Option) -> Self { fatalError() }
}

extension ChannelOption where Self == ChannelOptions.Types.BacklogOption {
  public static var backlog: Self { fatalError() }
}

extension ChannelOption where Self == ChannelOptions.Types.AllowRemoteHalfClosureOption {
  public static var allowRemoteHalfClosure: Self { fatalError() }
}
