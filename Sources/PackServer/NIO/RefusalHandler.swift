import NIOCore

/// Refuses a connection above the limit: sends status 503 at once, without waiting for a request, and closes it.
final class RefusalHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  func channelActive(context: ChannelHandlerContext) {
    let text =
      "HTTP/1.1 503 Service Unavailable\r\nDate: \(HTTPDate.now.text)\r\nServer: packer\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text))).whenComplete { _ in bound.value.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
