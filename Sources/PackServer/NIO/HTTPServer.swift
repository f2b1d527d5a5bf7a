import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP/1.1 server of one ``Site``.
///
/// One thread waits for sockets and never blocks otherwise. Replies and the pieces of their bodies are made on a few threads that may block, one
/// piece ahead of the client. A connection holds at most two pieces, and the prefetched pieces of all connections together have at most
/// ``Limits/prefetchedBytes``.
package final class HTTPServer: Sendable {
  /// The limits that a server sets for its clients.
  package struct Limits: Sendable {
    /// The largest number of connections at once. Further connections get status 503 and are closed.
    package var connections = 256
    /// The time in which a request must arrive, and in which the end of the last reply must be sent, in seconds.
    package var requestSeconds: Int64 = 15
    /// The longest time between two requests on a connection, in seconds.
    package var idleSeconds: Int64 = 75
    /// The longest time for which a client may not take a piece of a body, in seconds. A paused video takes nothing for minutes.
    package var stalledSeconds: Int64 = 600
    /// The largest total size of prefetched pieces, in bytes.
    package var prefetchedBytes = 64 << 20
    /// The number of threads that make replies.
    package var threads = max(2, WorkerPool.defaultSize)

    package init() {}

    /// The limits for an address that other machines can reach: silent and stalled clients are closed sooner, so that they cannot keep others out.
    package static var `public`: Self {
      var limits = Self()
      limits.requestSeconds = 5
      limits.idleSeconds = 15
      limits.stalledSeconds = 30
      return limits
    }

    /// Returns limits with the time that a link takes, if clients do all at once: a piece for each, with a few round trips.
    func over(_ link: NetworkLink) -> Self {
      let pieces = Double(connections) * Double(PieceBuffer.expectedSize) * 8 / Double(link.bitsPerSecond)
      let added = Int64((pieces + Double(link.roundTripNanoseconds) / 1e8).rounded(.up))
      var limits = self
      limits.requestSeconds += added
      limits.idleSeconds += added
      limits.stalledSeconds += added
      return limits
    }
  }

  private let group: MultiThreadedEventLoopGroup
  private let serverState: ServerState
  private let listeners: [any Channel]
  /// The port that clients connect to.
  package let port: Int

  /// Starts to listen.
  ///
  /// - Parameters:
  ///   - hosts: the addresses to listen on, all on one port. Addresses after the first are skipped if the system does not have them, or if `port` is
  ///     0 and the port is in use there.
  ///   - port: the port; 0 for any free port.
  ///   - tls: the certificate and key for HTTPS; nil for HTTP.
  ///   - link: the link to the clients that is simulated; nil for none.
  ///   - observe: called after every exchange, on a thread that may block.
  ///   - observeFailure: called after every connection that failed before its first request, on such a thread.
  /// - Throws: ``PackError/Code/cannotServe`` if the port is in use or not permitted.
  package init(
    _ site: any Site, hosts: [String], port: Int, tls: TLSContext? = nil, link: NetworkLink? = nil, limits: Limits = .init(),
    observe: (@Sendable (SiteExchange) -> Void)? = nil, observeFailure: (@Sendable (ConnectionFailure) -> Void)? = nil
  ) async throws(PackError) {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let serverState = ServerState(
      site: site, limits: link.map(limits.over) ?? limits, observe: observe, observeFailure: observeFailure)
    let loop = group.next()
    let shared = link.map { NIOLoopBoundBox.makeBoxSendingValue(SharedLink($0, on: loop), eventLoop: loop) }
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 256)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      // A client may close its side after its last request and still read the reply.
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard serverState.admit(channel) else {
            // Before its handshake, a client of HTTPS understands only the end of the connection.
            guard tls == nil else { throw ChannelError.eof }
            try channel.pipeline.syncOperations.addHandler(RefusalHandler())
            return
          }
          if let shared { try channel.pipeline.syncOperations.addHandler(LinkHandler(shared.value)) }
          func report(_ kind: ConnectionFailure.Kind, _ reason: String) { serverState.report(kind, reason, of: channel) }
          if let tls {
            let session: TLSSession
            do {
              session = try TLSSession(tls)
            } catch {
              // Without a handler, nothing else would do this.
              serverState.dismiss(channel)
              throw error
            }
            try channel.pipeline.syncOperations.addHandler(TLSHandler(session, report: report))
          } else {
            try channel.pipeline.syncOperations.addHandler(GreetingHandler(report: report))
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
          // Clients may try this address first for a name of this machine, so another program must not listen on this port there.
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

  /// Repeats some work on a thread that may block. The interval is counted from the end of one run to the start of the next.
  ///
  /// - Returns: a function that stops the repetition.
  package func every(milliseconds: Int64, _ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let task = group.next().scheduleRepeatedAsyncTask(initialDelay: .milliseconds(milliseconds), delay: .milliseconds(milliseconds)) {
      [group, serverState] _ in
      let done = group.next().makePromise(of: Void.self)
      // The promise must be completed even if the server is being closed.
      serverState.submit(work) { done.succeed() }
      return done.futureResult
    }
    return { task.cancel() }
  }

  /// Stops accepting requests, waits for replies under way, and returns when all connections are closed.
  ///
  /// - Parameter seconds: the longest time to wait. Remaining connections are then closed.
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
        .cannotServe, "'\(host)' is not an address of this machine", hint: "use one of its addresses, or 0.0.0.0 for all of them")
    }
    guard let error = error as? IOError else {
      return PackError(.cannotServe, "cannot listen on \(host) port \(port): \(error)")
    }
    let failure = FileFailure(number: error.errnoCode)
    switch error.errnoCode {
    case SystemErrors.addressInUse:
      return PackError(
        .cannotServe, "port \(port) is in use by another program", hint: "choose another with --port, or use --port 0 for a free one")
    case SystemErrors.permissionDenied:
      return PackError(.cannotServe, "port \(port) is reserved for the system", hint: "choose a port above 1023 with --port")
    default:
      return PackError(.cannotServe, "cannot listen on \(host) port \(port): \(failure.text)")
    }
  }
}
