import NIOCore
import NIOHTTP1
import NIOPosix
import PackFiles
package import PackFormat
import PackWork

/// A server of one ``Site`` over HTTP/1.1.
///
/// One thread waits for sockets and never for anything else. Replies and the pieces of their bodies are made on a few threads that may block, one piece
/// ahead of what the client takes: a connection holds at most two pieces, and all together hold no more than ``Limits/prefetchedBytes`` of those that are
/// ahead.
package final class HTTPServer: Sendable {
  /// What a server allows its clients.
  package struct Limits: Sendable {
    /// Connections at once; one more is told 503 and closed.
    package var connections = 256
    /// The time for a request to arrive, and to end, in seconds.
    package var requestSeconds: Int64 = 15
    /// The time between two requests on a connection, in seconds.
    package var idleSeconds: Int64 = 75
    /// The time a client may leave one piece of a body lying, in seconds. A paused video takes nothing for minutes.
    package var stalledSeconds: Int64 = 600
    /// The sum of the pieces that were made before their turn, in bytes.
    package var prefetchedBytes = 64 << 20
    /// Threads that make replies.
    package var threads = max(2, WorkerPool.defaultSize)

    package init() {}
  }

  private let group: MultiThreadedEventLoopGroup
  private let serverState: ServerState
  private let listeners: [any Channel]
  /// The port that clients connect to.
  package let port: Int

  /// Starts to listen.
  ///
  /// - Parameters:
  ///   - hosts: the addresses to listen on, all on one port. Of the others than the first those are left out that the system does not have,
  ///     or that are taken where the port was not chosen.
  ///   - port: 0 for one that is free.
  ///   - observe: is told of every exchange, on a thread that may block.
  /// - Throws: ``PackError/Code/cannotServe`` where the port is taken or forbidden.
  package init(
    _ site: any Site, hosts: [String], port: Int, limits: Limits = .init(),
    observe: (@Sendable (SiteExchange) -> Void)? = nil
  ) async throws(PackError) {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let serverState = ServerState(site: site, limits: limits, observe: observe)
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 256)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      // A client may end its side after its last request and still wants the reply.
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard serverState.admit(channel) else {
            try channel.pipeline.syncOperations.addHandler(RefusalHandler())
            return
          }
          var decoder = NIOHTTPDecoderLimitConfiguration()
          decoder.maxHeaderFieldSize = 32 << 10
          decoder.maxHeaderListSize = 64 << 10
          try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: decoder)
          try channel.pipeline.syncOperations.addHandler(ConnectionHandler(serverState))
        }
      }
    var listeners: [any Channel] = []
    var bound = port
    do {
      for (index, host) in hosts.enumerated() {
        do {
          let listener = try await bootstrap.bind(host: host, port: bound).get()
          listeners.append(listener)
          bound = listener.localAddress?.port ?? bound
        } catch  where index > 0 && !(port > 0 && (error as? IOError)?.errnoCode == SystemErrors.addressInUse) {
          // Who asks for a name of this machine may be led to the other address first: a stranger must not answer there.
          continue
        }
      }
    } catch {
      let failure = Self.failure(error, hosts[0], port)
      await serverState.close()
      try? await group.shutdownGracefully()
      throw failure
    }
    self.group = group
    self.serverState = serverState
    self.listeners = listeners
    self.port = bound
  }

  /// Has something done again and again, on a thread that may block. The next time is counted from the end of the last.
  ///
  /// - Returns: what ends it.
  package func every(milliseconds: Int64, _ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let task = group.next().scheduleRepeatedAsyncTask(initialDelay: .milliseconds(milliseconds), delay: .milliseconds(milliseconds)) {
      [group, serverState] _ in
      let done = group.next().makePromise(of: Void.self)
      // A promise must be kept even where the server is being closed.
      serverState.submit(work) { done.succeed() }
      return done.futureResult
    }
    return { task.cancel() }
  }

  /// Takes no more requests, lets those under way end, and returns when all connections are closed.
  ///
  /// - Parameter seconds: the time that is left to them; what is not done then is cut off.
  package func stop(within seconds: Double) async {
    for listener in listeners { try? await listener.close().get() }
    await serverState.drain(within: seconds)
    await serverState.close()
    try? await group.shutdownGracefully()
  }

  private static func failure(_ error: any Error, _ host: String, _ port: Int) -> PackError {
    let isUnknown = error is SocketAddressError || error is SocketAddressError.UnknownHost
    if isUnknown || (error as? IOError)?.errnoCode == SystemErrors.addressNotAvailable {
      return PackError(
        .cannotServe, "'\(host)' is no address of this machine", hint: "give one of its addresses, or 0.0.0.0 for all of them")
    }
    guard let error = error as? IOError else {
      return PackError(.cannotServe, "\(host) port \(port) cannot be listened on: \(error)")
    }
    let failure = FileFailure(number: error.errnoCode)
    switch error.errnoCode {
    case SystemErrors.addressInUse:
      return PackError(
        .cannotServe, "port \(port) is taken by another program", hint: "choose another with --port, or --port 0 for one that is free")
    case SystemErrors.permissionDenied:
      return PackError(.cannotServe, "port \(port) is kept for the system", hint: "choose one above 1023 with --port")
    default:
      return PackError(.cannotServe, "\(host) port \(port) cannot be listened on: \(failure.text)")
    }
  }
}
