import NIOCore

/// Recognizes clients that send HTTPS to a port that serves HTTP. Passes everything on.
final class GreetingHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let report: (ConnectionFailure.Kind, String) -> Void
  private var isFirst = true

  /// - Parameter report: called if the first bytes of the client are those of TLS.
  init(report: @escaping (ConnectionFailure.Kind, String) -> Void) {
    self.report = report
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // The first two bytes of a handshake record (RFC 8446 §5.1).
    if isFirst, unwrapInboundIn(data).readableBytesView.starts(with: [22, 3]) { report(.encrypted, "") }
    isFirst = false
    context.fireChannelRead(data)
  }
}
