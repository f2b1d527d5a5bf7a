import NIOCore

/// Plays a ``SharedLink`` to one connection: what the client sends comes half a round trip later, and what is sent to it waits for the link.
///
/// A promise is kept when the bytes have left, so that the next ones are made while they are under way. Closing waits for what was written, unless a
/// ``Cut`` comes first.
final class LinkHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// An outbound event before the closing of a connection whose client must not be waited for.
  struct Cut {}

  private enum Arrival {
    case bytes(ByteBuffer)
    case end
  }

  private let link: SharedLink
  private var id = 0
  private var context: ChannelHandlerContext?
  /// Before this time, the client would not have had its connection.
  private var opening = NIODeadline.distantPast
  /// What the client sent, until it arrives.
  private var arriving = CircularBuffer<(arrival: Arrival, time: NIODeadline)>()
  private var arrivingBytes = 0
  private var isReadHeld = false
  /// What was written, until it leaves, and how much of it the link does not know.
  private var waiting = CircularBuffer<(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)>()
  private var untoldBytes = 0
  /// The number of bytes that have left and that the system has not accepted.
  private var underWay = 0
  private var isCut = false
  /// Kept when the connection is closed; nil before somebody closes it.
  private var closing: EventLoopPromise<Void>?

  /// The number of bytes from the client after which no more are read before some of them arrived.
  private static let mostArriving = 256 << 10

  init(_ link: SharedLink) {
    self.link = link
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    id = link.add(self)
    opening = context.eventLoop.now + link.roundTrip
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    link.remove(id)
    for (_, promise) in waiting { promise?.fail(ChannelError.ioOnClosedChannel) }
    waiting.removeAll()
    closing?.succeed()
  }

  // MARK: From the client

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    arrivingBytes += bytes.readableBytes
    receive(.bytes(bytes), context)
  }

  func channelReadComplete(context: ChannelHandlerContext) {}

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed = event { receive(.end, context) } else { context.fireUserInboundEventTriggered(event) }
  }

  func read(context: ChannelHandlerContext) {
    if arrivingBytes < Self.mostArriving { context.read() } else { isReadHeld = true }
  }

  func channelInactive(context: ChannelHandlerContext) {
    // A handler reports a client that goes away before the end of its handshake.
    pass(until: .distantFuture, context)
    context.fireChannelInactive()
  }

  private func receive(_ arrival: Arrival, _ context: ChannelHandlerContext) {
    let time = max(context.eventLoop.now, opening) + .nanoseconds(link.roundTrip.nanoseconds / 2)
    arriving.append((arrival, time))
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(deadline: time) {
      let (handler, context) = bound.value
      guard handler.context != nil else { return }
      handler.pass(until: time, context)
    }
  }

  /// Passes on what arrives until a time.
  private func pass(until time: NIODeadline, _ context: ChannelHandlerContext) {
    var isRead = false
    while let first = arriving.first, first.time <= time {
      arriving.removeFirst()
      switch first.arrival {
      case .bytes(let bytes):
        arrivingBytes -= bytes.readableBytes
        guard closing == nil else { break }
        isRead = true
        context.fireChannelRead(wrapInboundOut(bytes))
      case .end:
        if closing == nil { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
      }
    }
    if isRead { context.fireChannelReadComplete() }
    guard isReadHeld, arrivingBytes < Self.mostArriving else { return }
    isReadHeld = false
    context.read()
  }

  // MARK: To the client

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard closing == nil else {
      promise?.fail(ChannelError.outputClosed)
      return
    }
    let bytes = unwrapOutboundIn(data)
    untoldBytes += bytes.readableBytes
    if bytes.readableBytes == 0, waiting.isEmpty { promise?.succeed() } else { waiting.append((bytes, promise)) }
  }

  func flush(context: ChannelHandlerContext) {
    let bytes = untoldBytes
    untoldBytes = 0
    link.send(bytes, of: id)
  }

  /// Gives bytes that leave to a function.
  func take(_ count: Int, _ give: (ByteBuffer) -> Void) {
    underWay += count
    var left = count
    var kept: [EventLoopPromise<Void>] = []
    while let first = waiting.first, left > 0 || first.bytes.readableBytes == 0 {
      var rest = waiting.removeFirst()
      guard let part = rest.bytes.readSlice(length: min(left, rest.bytes.readableBytes)) else { break }
      left -= part.readableBytes
      if part.readableBytes > 0 { give(part) }
      if rest.bytes.readableBytes > 0 { waiting.prepend(rest) } else if let promise = rest.promise { kept.append(promise) }
    }
    // At the end, because they lead to further writes.
    for promise in kept { promise.succeed() }
  }

  /// Passes bytes that arrived to the system.
  func deliver(_ bytes: ByteBuffer) {
    guard let context else { return }
    let count = bytes.readableBytes
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(bytes)).whenComplete { _ in
      let handler = bound.value
      handler.underWay -= count
      guard let context = handler.context else { return }
      handler.link.accept(count, of: handler.id)
      if handler.closing != nil, handler.isEmpty { context.close(promise: nil) }
    }
  }

  /// Whether everything that was written has been accepted by the system.
  private var isEmpty: Bool { waiting.isEmpty && underWay == 0 }

  // MARK: The end

  func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
    guard event is Cut else { return context.triggerUserOutboundEvent(event, promise: promise) }
    isCut = true
    promise?.succeed()
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard mode == .all, !isCut, !isEmpty else { return context.close(mode: mode, promise: promise) }
    flush(context: context)
    let closing = closing ?? context.eventLoop.makePromise()
    self.closing = closing
    closing.futureResult.cascade(to: promise)
  }
}
