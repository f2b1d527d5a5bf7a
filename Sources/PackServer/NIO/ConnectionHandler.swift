import NIOCore
import NIOHTTP1
import PackManifest
import PackServing
import PackWork

/// One connection: takes a request, has its reply made elsewhere, and sends that piece by piece.
///
/// Everything in here runs on the connection's event loop. The handler in front of it passes on a request only when the one before was answered.
final class ConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let serverState: ServerState
  private var context: ChannelHandlerContext?
  private var exchange: Exchange?
  private var isRequestUnderWay = false
  /// The client ended its side: it still takes what it asked for, and asks for nothing more.
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
    /// What is not asked for again: pieces are made one at a time.
    var isProducing = false
    var isWriting = false
    var ready: Piece?
    /// Buffers that were written and can be filled again.
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

  /// What a client does wrong ends its connection, and is nothing to tell anybody.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  /// Closes the connection unless something happens within a time.
  private func expect(within seconds: Int64, _ context: ChannelHandlerContext) {
    deadline?.cancel()
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    deadline = context.eventLoop.scheduleTask(in: .seconds(seconds)) { bound.value.close(promise: nil) }
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      isRequestUnderWay = true
      begin(head, context)
    case .body:
      // Nothing here takes one.
      break
    case .end:
      isRequestUnderWay = false
    }
  }

  private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    guard exchange == nil else { return }
    deadline?.cancel()
    let request = PackRequest(
      method: head.method.rawValue, target: head.uri, headers: HeaderFields(head.headers.map { .init($0.name, $0.value) }))
    let hasBody =
      head.headers.contains(name: "Transfer-Encoding") || (head.headers.first(name: "Content-Length").map { $0 != "0" } ?? false)
    // HTTP/1.0 and what called itself by lower numbers.
    let isOldProtocol = head.version.major < 1 || head.version.major == 1 && head.version.minor == 0
    let exchange = Exchange(
      request, closesAfterwards: !head.isKeepAlive || hasBody || serverState.isDraining, isOldProtocol: isOldProtocol)
    self.exchange = exchange
    let bound = NIOLoopBound((self, exchange), eventLoop: context.eventLoop)
    let loop = context.eventLoop
    let isMissingHost = !isOldProtocol && head.headers["Host"].count != 1
    serverState.submit { [serverState] in
      let made = isMissingHost ? MadeReply.missingHost : MadeReply(serverState.site, request)
      loop.execute { bound.value.0.answer(made, bound.value.1) }
    }
  }

  // MARK: Replies

  private func answer(_ made: MadeReply, _ exchange: Exchange) {
    guard exchange === self.exchange, let context else { return }
    exchange.status = made.reply.status
    // Where one request was none, the next may begin anywhere.
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

  /// Does what can be done next: writes the piece that is ready, and has the one behind it made.
  private func advance(_ exchange: Exchange, _ context: ChannelHandlerContext) {
    guard let body = exchange.body else { return }
    var next: PieceBuffer?
    if !exchange.isWriting, let piece = exchange.ready {
      exchange.ready = nil
      if piece.roomTaken > 0 { serverState.giveRoom(piece.roomTaken) }
      if let failure = piece.failure { return giveUp(exchange, failure, context) }
      guard let buffer = piece.buffer, piece.count > 0 else {
        // Less than was promised: the client learns it by the end of the connection.
        return giveUp(exchange, nil, context)
      }
      exchange.isWriting = true
      exchange.sentBytes += UInt64(piece.count)
      next = buffer
    }
    // Begun before the system takes the piece, which takes half as long as to make one.
    if !exchange.isProducing, exchange.ready == nil, exchange.sentBytes < body.length { prepare(body, exchange, context) }
    if let next { write(next, exchange, context) }
  }

  /// Has a piece made. While one is on its way the next is made ahead of its turn, where there is room for it.
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
          // Nobody is there any more to take it.
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
    // What was written so far goes out first.
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

/// A reply, and the first piece of its body: one trip between threads for most requests.
private struct MadeReply: Sendable {
  var reply: SiteReply
  var first: Piece?
  var failure: PackError?

  init(_ site: any Site, _ request: PackRequest) {
    do throws(PackError) {
      reply = try site.reply(to: request)
      if let body = reply.body, body.length > 0 { first = Piece(of: body, in: PieceBuffer(), roomTaken: 0) }
    } catch {
      reply = .text(500, "This cannot be read.\n", isHead: request.method == "HEAD")
      failure = error
    }
    guard let broken = first?.failure else { return }
    // Nothing was sent yet, so the client can be told in so many words.
    reply = .text(500, "This cannot be read.\n", isHead: request.method == "HEAD")
    failure = broken
    first = reply.body.map { Piece(of: $0, in: PieceBuffer(), roomTaken: 0) }
  }

  private init(_ reply: SiteReply) {
    self.reply = reply
    first = reply.body.map { Piece(of: $0, in: PieceBuffer(), roomTaken: 0) }
  }

  /// RFC 9112 §3.2: a request says which host it means, once.
  static var missingHost: MadeReply {
    MadeReply(.text(400, "A request names one host.\n"))
  }
}

/// What a body handed out at one time.
private struct Piece: Sendable {
  /// nil where there was nothing left.
  let buffer: PieceBuffer?
  let count: Int
  let failure: PackError?
  /// What it holds of the room for pieces that are ahead.
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

/// Memory for one piece, which is filled again when the piece is gone.
private final class PieceBuffer: Sendable {
  /// What is set aside for a piece that is not there yet: a frame, unless somebody chose larger ones.
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
