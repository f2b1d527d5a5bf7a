import NIOCore

/// Decrypts what a client sends, and encrypts what is sent to it.
///
/// The deadline for a request includes the handshake: ``ConnectionHandler`` sets it when the connection begins.
final class TLSHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let session: TLSSession
  private let report: (ConnectionFailure.Kind, String) -> Void
  /// Whether the client has sent anything.
  private var hasBegun = false
  /// Whether this end closed the connection first.
  private var isClosing = false
  /// Whether the client sends nothing more.
  private var isFinished = false

  private static let plainHTTP = """
    HTTP/1.1 400 Bad Request\r
    Server: packer\r
    Content-Type: text/plain; charset=utf-8\r
    Content-Length: 29\r
    Connection: close\r
    \r
    This port serves HTTPS only.

    """

  /// - Parameter report: called once if the connection fails before its first request.
  init(_ session: TLSSession, report: @escaping (ConnectionFailure.Kind, String) -> Void) {
    self.session = session
    self.report = report
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isFinished else { return }
    hasBegun = true
    session.take(Array(unwrapInboundIn(data).readableBytesView))
    while true {
      let outcome = session.next()
      send(context)
      switch outcome {
      case .content(let bytes):
        context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: bytes)))
      case .incomplete:
        return
      case .closed:
        isFinished = true
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        return
      case .failed(let kind, let reason):
        isFinished = true
        report(kind, reason)
        if kind == .plainHTTP { context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: Self.plainHTTP)), promise: nil) }
        context.close(promise: nil)
        return
      }
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    // Browsers open connections in advance. One on which nothing was sent is no failure.
    if hasBegun, !isFinished, !session.isEstablished {
      isFinished = true
      report(isClosing ? .stalled : .abandoned, "")
    }
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // Without the end of a handshake, there is no request to answer.
    if case ChannelEvent.inputClosed = event, !session.isEstablished { return context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard session.write(Array(unwrapOutboundIn(data).readableBytesView)) else {
      promise?.fail(ChannelError.outputClosed)
      context.close(promise: nil)
      return
    }
    context.write(wrapOutboundOut(ByteBuffer(bytes: session.drain())), promise: promise)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if mode == .all {
      isClosing = true
      session.close()
      send(context)
    }
    context.close(mode: mode, promise: promise)
  }

  /// Sends what the session itself has to say: its part of the handshake, or an alert.
  private func send(_ context: ChannelHandlerContext) {
    let bytes = session.drain()
    if !bytes.isEmpty { context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil) }
  }
}
