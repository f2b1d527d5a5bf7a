import NIOCore
import NIOHTTP1

/// The handler of one connection: reads a request, has its reply made on another thread, and sends the reply piece by piece.
///
/// All its code runs on the event loop of the connection. The previous handler passes a request on only after the reply to the one before.
final class ConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let serverState: ServerState
  private var context: ChannelHandlerContext?
  private var exchange: Exchange?
  private var isRequestUnderWay = false
  /// A request whose body is being read.
  private var arriving: (head: HTTPRequestHead, body: [UInt8], limit: Int)?
  /// Whether the client closed its side: it still reads the reply, but sends no more requests.
  private var isInputClosed = false
  private var deadline: Scheduled<Void>?

  init(_ serverState: ServerState) {
    self.serverState = serverState
  }

  /// A reply that is being sent.
  private final class Exchange {
    let request: PackRequest
    var closesAfterwards: Bool
    let isOldProtocol: Bool
    let start = NIODeadline.now()
    var status = 0
    var body: (any SiteBody)?
    var rate: UInt64?
    var note: String?
    var sentBytes: UInt64 = 0
    /// Whether a piece is being made. Pieces are made one at a time.
    var isProducing = false
    var isWriting = false
    var ready: Piece?
    /// Buffers that were written and can be reused.
    var spare: [PieceBuffer] = []
    var failure: PackError?

    init(_ request: PackRequest, closesAfterwards: Bool, isOldProtocol: Bool) {
      self.request = request
      self.closesAfterwards = closesAfterwards
      self.isOldProtocol = isOldProtocol
    }
  }

  // MARK: The connection

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
  }

  func channelActive(context: ChannelHandlerContext) {
    expect(within: serverState.limits.requestSeconds, context)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    if let exchange { report(exchange, isComplete: false) }
    exchange = nil
    serverState.dismiss(context.channel)
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed = event {
      isInputClosed = true
      if exchange == nil { context.close(promise: nil) }
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// Closes the connection. Errors of clients are not reported.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  /// Closes the connection after a time, unless the deadline is cancelled or set again before.
  private func expect(within seconds: Int64, _ context: ChannelHandlerContext) {
    deadline?.cancel()
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    deadline = context.eventLoop.scheduleTask(in: .seconds(seconds)) {
      bound.value.triggerUserOutboundEvent(LinkHandler.Cut(), promise: nil)
      bound.value.close(promise: nil)
    }
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      isRequestUnderWay = true
      let request = Self.request(head)
      let limit = serverState.site.bodyLimit(of: request)
      if limit > 0, exchange == nil { arriving = (head, [], limit) } else { begin(head, request, context) }
    case .body(let bytes):
      // Other bodies are ignored.
      guard let count = arriving?.body.count, let limit = arriving?.limit else { break }
      guard count + bytes.readableBytes <= limit else {
        arriving = nil
        context.close(promise: nil)
        break
      }
      arriving?.body += bytes.readableBytesView
    case .end:
      isRequestUnderWay = false
      guard let (head, body, _) = arriving else { break }
      arriving = nil
      begin(head, Self.request(head), body: body, context)
    }
  }

  private static func request(_ head: HTTPRequestHead) -> PackRequest {
    PackRequest(method: head.method.rawValue, target: head.uri, headers: HeaderFields(head.headers.map { .init($0.name, $0.value) }))
  }

  private func begin(_ head: HTTPRequestHead, _ request: PackRequest, body: [UInt8]? = nil, _ context: ChannelHandlerContext) {
    guard exchange == nil else { return }
    deadline?.cancel()
    serverState.begin(context.channel)
    let hasBody =
      head.headers.contains(name: "Transfer-Encoding") || (head.headers.first(name: "Content-Length").map { $0 != "0" } ?? false)
    // HTTP/1.0 and lower versions.
    let isOldProtocol = head.version.major < 1 || head.version.major == 1 && head.version.minor == 0
    let exchange = Exchange(
      request, closesAfterwards: !head.isKeepAlive || hasBody && body == nil || serverState.isDraining, isOldProtocol: isOldProtocol)
    self.exchange = exchange
    let bound = NIOLoopBound((self, exchange), eventLoop: context.eventLoop)
    let loop = context.eventLoop
    let isMissingHost = !isOldProtocol && head.headers["Host"].count != 1
    serverState.submit { [serverState] in
      if let body, !isMissingHost { serverState.site.take(body, of: request) }
      let made = isMissingHost ? MadeReply.missingHost : MadeReply(serverState.site, request)
      loop.execute { bound.value.0.answer(made, bound.value.1) }
    }
  }

  // MARK: Replies

  private func answer(_ made: MadeReply, _ exchange: Exchange) {
    guard exchange === self.exchange, let context else { return }
    exchange.status = made.reply.status
    // After an invalid request, it is not known where the next one begins.
    if exchange.status == 400 { exchange.closesAfterwards = true }
    exchange.body = made.reply.body
    exchange.rate = made.reply.rate
    exchange.note = made.reply.note
    exchange.failure = made.failure
    var headers = HTTPHeaders()
    headers.add(name: "Date", value: HTTPDate.now.text)
    headers.add(name: "Server", value: "packer")
    for field in made.reply.headers.fields { headers.add(name: field.name, value: field.value) }
    if exchange.closesAfterwards {
      headers.add(name: "Connection", value: "close")
    } else if exchange.isOldProtocol {
      headers.add(name: "Connection", value: "keep-alive")
    }
    let head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: exchange.status), headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    guard let body = exchange.body, body.length > 0 else { return end(exchange, context) }
    exchange.ready = made.first
    if let failure = made.first?.failure { return giveUp(exchange, failure, context) }
    advance(exchange, context)
  }

  /// Writes the piece that is ready, and has the next one made.
  private func advance(_ exchange: Exchange, _ context: ChannelHandlerContext) {
    guard let body = exchange.body else { return }
    var next: PieceBuffer?
    if !exchange.isWriting, let piece = exchange.ready {
      exchange.ready = nil
      if piece.roomTaken > 0 { serverState.giveRoom(piece.roomTaken) }
      if let failure = piece.failure { return giveUp(exchange, failure, context) }
      guard let buffer = piece.buffer, piece.count > 0 else {
        // The body is shorter than its length. The client notices it when the connection is closed.
        return giveUp(exchange, nil, context)
      }
      exchange.isWriting = true
      exchange.sentBytes += UInt64(piece.count)
      next = buffer
    }
    // This starts before the write, because a write takes half as long as making a piece.
    if !exchange.isProducing, exchange.ready == nil, exchange.sentBytes < body.length { prepare(body, exchange, context) }
    if let next { write(next, exchange, context) }
  }

  /// Has the next piece made. While another piece is being written, this is prefetching, which needs memory within the limit.
  private func prepare(_ body: any SiteBody, _ exchange: Exchange, _ context: ChannelHandlerContext) {
    var roomTaken = 0
    if exchange.isWriting {
      let room = Int(min(body.length - exchange.sentBytes, UInt64(PieceBuffer.expectedSize)))
      guard serverState.takeRoom(room) else { return }
      roomTaken = room
    }
    produce(body, exchange, roomTaken, context)
  }

  private func write(_ buffer: PieceBuffer, _ exchange: Exchange, _ context: ChannelHandlerContext) {
    let bytes = buffer.bytes
    let count = UInt64(bytes.readableBytes)
    expect(within: serverState.limits.stalledSeconds, context)
    let bound = NIOLoopBound((self, exchange, buffer), eventLoop: context.eventLoop)
    let start = NIODeadline.now()
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(bytes)))).whenComplete { result in
      let (handler, exchange, buffer) = bound.value
      guard case .success = result, handler.exchange === exchange, let context = handler.context else { return }
      guard let rate = exchange.rate, rate > 0 else { return handler.written(buffer, exchange, context) }
      let due = start + .nanoseconds(Int64(Double(count) / Double(rate) * 1e9))
      context.eventLoop.scheduleTask(deadline: due) {
        let (handler, exchange, buffer) = bound.value
        guard handler.exchange === exchange, let context = handler.context else { return }
        handler.written(buffer, exchange, context)
      }
    }
  }

  private func written(_ buffer: PieceBuffer, _ exchange: Exchange, _ context: ChannelHandlerContext) {
    exchange.isWriting = false
    exchange.spare.append(buffer)
    guard let body = exchange.body, exchange.sentBytes < body.length else { return end(exchange, context) }
    advance(exchange, context)
  }

  private func produce(_ body: any SiteBody, _ exchange: Exchange, _ roomTaken: Int, _ context: ChannelHandlerContext) {
    exchange.isProducing = true
    let buffer = exchange.spare.popLast() ?? PieceBuffer()
    let bound = NIOLoopBound((self, exchange), eventLoop: context.eventLoop)
    let loop = context.eventLoop
    serverState.submit { [serverState] in
      let piece = Piece(of: body, in: buffer, roomTaken: roomTaken)
      loop.execute {
        let (handler, exchange) = bound.value
        exchange.isProducing = false
        guard handler.exchange === exchange, let context = handler.context else {
          // The exchange has ended, so the piece is not needed.
          if roomTaken > 0 { serverState.giveRoom(roomTaken) }
          return
        }
        exchange.ready = piece
        handler.advance(exchange, context)
      }
    }
  }

  private func end(_ exchange: Exchange, _ context: ChannelHandlerContext) {
    report(exchange, isComplete: true)
    self.exchange = nil
    let closes = exchange.closesAfterwards || isRequestUnderWay || isInputClosed
    expect(within: closes ? serverState.limits.requestSeconds : serverState.limits.idleSeconds, context)
    let done = context.writeAndFlush(wrapOutboundOut(.end(nil)))
    guard closes else { return }
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    done.whenComplete { _ in bound.value.close(promise: nil) }
  }

  private func giveUp(_ exchange: Exchange, _ failure: PackError?, _ context: ChannelHandlerContext) {
    exchange.failure = failure ?? exchange.failure
    report(exchange, isComplete: false)
    self.exchange = nil
    // Send everything that was written so far.
    context.flush()
    context.close(promise: nil)
  }

  private func report(_ exchange: Exchange, isComplete: Bool) {
    if let piece = exchange.ready, piece.roomTaken > 0 { serverState.giveRoom(piece.roomTaken) }
    exchange.ready = nil
    guard let observe = serverState.observe else { return }
    let told = SiteExchange(
      request: exchange.request, status: exchange.status, sentBytes: exchange.sentBytes,
      decryptedBytes: exchange.body?.decryptedBytes ?? 0, microseconds: (NIODeadline.now() - exchange.start).nanoseconds / 1000,
      isComplete: isComplete, note: exchange.note, failure: exchange.failure)
    serverState.submit { observe(told) }
  }
}

/// A reply with the first piece of its body, so that most requests change threads only once.
private struct MadeReply: Sendable {
  var reply: SiteReply
  var first: Piece?
  var failure: PackError?

  init(_ site: any Site, _ request: PackRequest) {
    do throws(PackError) {
      reply = try site.reply(to: request)
      if let body = reply.body, body.length > 0 { first = Piece(of: body, in: PieceBuffer(), roomTaken: 0) }
    } catch {
      reply = .text(500, "The server cannot read this file.\n", isHead: request.method == "HEAD")
      failure = error
    }
    guard let broken = first?.failure else { return }
    // Nothing was sent yet, so the client can still get status 500.
    reply = .text(500, "The server cannot read this file.\n", isHead: request.method == "HEAD")
    failure = broken
    first = reply.body.map { Piece(of: $0, in: PieceBuffer(), roomTaken: 0) }
  }

  private init(_ reply: SiteReply) {
    self.reply = reply
    first = reply.body.map { Piece(of: $0, in: PieceBuffer(), roomTaken: 0) }
  }

  /// The reply to a request without exactly one `Host` field (RFC 9112 §3.2).
  static var missingHost: MadeReply {
    MadeReply(.text(400, "The request must have exactly one Host field.\n"))
  }
}

/// One piece of a body.
private struct Piece: Sendable {
  /// The bytes; nil at the end of the body.
  let buffer: PieceBuffer?
  let count: Int
  let failure: PackError?
  /// The number of bytes reserved for it within the limit for prefetched pieces.
  let roomTaken: Int

  init(of body: any SiteBody, in buffer: PieceBuffer, roomTaken: Int) {
    self.roomTaken = roomTaken
    do throws(PackError) {
      var count = 0
      let isThere = try body.next { (span) throws(PackError) in
        buffer.fill(span)
        count = span.count
      }
      self.count = count
      self.buffer = isThere ? buffer : nil
      failure = nil
    } catch {
      self.buffer = nil
      count = 0
      failure = error
    }
  }
}

/// Memory for one piece, which is reused after the piece was written.
final class PieceBuffer: Sendable {
  /// The number of bytes reserved for a piece before it is made: the default size of a frame.
  static let expectedSize = 2 << 20

  private let held = Monitor(ByteBuffer())

  func fill(_ span: Span<UInt8>) {
    held.withLock { buffer in
      buffer.clear()
      unsafe buffer.writeBytes(span.bytes)
    }
  }

  var bytes: ByteBuffer { held.withLock { $0 } }
}
