import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import PackServer

/// `Tests/Interop/serving.py` tests the server with other people's clients. Here the time is virtual.
@Suite("A connection over a link that is simulated", .bounded)
struct LinkHandlerTests {
  /// A system that accepts nothing before it is told to.
  private final class Socket: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    var accepts = true
    private var held: [(NIOAny, EventLoopPromise<Void>?)] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      if accepts { context.write(data, promise: promise) } else { held.append((data, promise)) }
    }

    func accept(_ context: ChannelHandlerContext) {
      accepts = true
      for (data, promise) in held { context.write(data, promise: promise) }
      context.flush()
      held = []
    }
  }

  /// The side of the server: what came, and when.
  private final class Server: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    var came: [String] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { came.append(String(buffer: unwrapInboundIn(data))) }
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if case ChannelEvent.inputClosed = event { came.append("end") }
    }
    func channelInactive(context: ChannelHandlerContext) { came.append("closed") }
  }

  private let loop = EmbeddedEventLoop()
  private let link: SharedLink

  init() throws {
    link = SharedLink(try NetworkLink(parsing: "8Mbit/s,100ms"), on: loop)
  }

  private func connect(_ socket: Socket = Socket(), _ server: Server = Server()) throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(handlers: [socket, LinkHandler(link), server], loop: loop)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return channel
  }

  private func pass(_ milliseconds: Int64) { loop.advanceTime(by: .milliseconds(milliseconds)) }

  private func sent(_ channel: EmbeddedChannel) throws -> Int {
    var count = 0
    while let bytes = try channel.readOutbound(as: ByteBuffer.self) { count += bytes.readableBytes }
    return count
  }

  private func bytes(_ count: Int) -> ByteBuffer { ByteBuffer(repeating: 7, count: count) }

  @Test("the first bytes of a client come after its handshake and half a round trip, later ones after half, and its end after them")
  func inbound() throws {
    let server = Server()
    let channel = try connect(Socket(), server)
    try channel.writeInbound(ByteBuffer(string: "a"))
    pass(149)
    #expect(server.came == [])
    pass(1)
    #expect(server.came == ["a"])
    try channel.writeInbound(ByteBuffer(string: "b"))
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    pass(49)
    #expect(server.came == ["a"])
    pass(1)
    #expect(server.came == ["a", "b", "end"])
  }

  @Test("what a client sent before it went away comes before its end")
  func goneEarly() throws {
    let server = Server()
    let channel = try connect(Socket(), server)
    try channel.writeInbound(ByteBuffer(string: "a"))
    channel.pipeline.fireChannelInactive()
    #expect(server.came == ["a", "closed"])
  }

  @Test("a client that sends much is read no further before some of it arrived")
  func reading() throws {
    final class Reads: ChannelOutboundHandler {
      typealias OutboundIn = ByteBuffer
      var count = 0
      func read(context: ChannelHandlerContext) { count += 1 }
    }
    let reads = Reads()
    let channel = EmbeddedChannel(handlers: [reads, LinkHandler(link), Server()], loop: loop)
    channel.read()
    #expect(reads.count == 1)
    channel.pipeline.fireChannelRead(bytes(256 << 10))
    channel.read()
    #expect(reads.count == 1)
    pass(150)
    #expect(reads.count == 2)
  }

  @Test("a promise is kept when the bytes have left, and they arrive half a round trip later")
  func outbound() throws {
    let channel = try connect()
    let left = Monitor<[String]>([])
    channel.writeAndFlush(bytes(100_000)).whenSuccess { left.add("first") }
    channel.write(bytes(0)).whenSuccess { left.add("empty") }
    channel.writeAndFlush(bytes(100_000)).whenSuccess { left.add("second") }
    pass(50)
    #expect(try sent(channel) == 0)
    pass(100)
    #expect(left.all == ["first", "empty"])
    #expect(try (99_000...100_000).contains(sent(channel)))
    pass(100)
    #expect(left.all == ["first", "empty", "second"])
    #expect(try (99_000...101_500).contains(sent(channel)))
    #expect(try sent(channel) == 0)
  }

  @Test("two connections share the rate")
  func shared() throws {
    let channels = [try connect(), try connect()]
    for channel in channels { channel.writeAndFlush(bytes(100_000), promise: nil) }
    pass(150)
    // What was taken ahead is of the first one.
    let first = try channels.map(sent)
    #expect(first.allSatisfy { (43_000...57_000).contains($0) } && (98_000...100_000).contains(first[0] + first[1]))
    pass(100)
    let second = try channels.map(sent)
    #expect(first[0] + second[0] == 100_000 && first[1] + second[1] == 100_000)
  }

  @Test("closing waits for what was written, also if the system accepts it late, and nothing more is read or written")
  func closing() throws {
    let (socket, server) = (Socket(), Server())
    let channel = try connect(socket, server)
    socket.accepts = false
    channel.writeAndFlush(bytes(10_000), promise: nil)
    let events = Monitor<[String]>([])
    channel.close().whenSuccess { events.add("closed") }
    channel.writeAndFlush(bytes(10_000)).whenFailure { _ in events.add("refused") }
    channel.pipeline.fireChannelRead(ByteBuffer(string: "a"))
    pass(10_000)
    #expect(channel.isActive && server.came == [] && events.all == ["refused"])
    socket.accept(try channel.pipeline.syncOperations.context(handler: socket))
    #expect(!channel.isActive && server.came == ["closed"])
    loop.run()
    #expect(events.all == ["refused", "closed"])
    #expect(try sent(channel) == 10_000)
  }

  @Test("a cut closes a connection at once, before and after it was to be closed", arguments: [false, true])
  func cut(isClosing: Bool) throws {
    let channel = try connect()
    let failed = Monitor<[String]>([])
    channel.writeAndFlush(bytes(1_000_000)).whenFailure { _ in failed.add("failed") }
    pass(20)
    if isClosing { channel.close(promise: nil) }
    #expect(channel.isActive)
    channel.triggerUserOutboundEvent(LinkHandler.Cut(), promise: nil)
    channel.close(promise: nil)
    loop.run()
    #expect(!channel.isActive && failed.all == ["failed"])
    pass(10_000)
    #expect(try sent(channel) == 0)
  }
}

extension Monitor<[String]> {
  fileprivate var all: [String] { withLock { $0 } }
  fileprivate func add(_ text: String) { withLock { $0.append(text) } }
}
