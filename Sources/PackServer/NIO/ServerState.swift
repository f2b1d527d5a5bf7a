import NIOCore
import NIOPosix

/// The shared state of all connections of a server: the site, the threads that make replies, and the open connections.
final class ServerState: Sendable {
  private struct State {
    var connections: [ObjectIdentifier: any Channel] = [:]
    /// Those that have not sent a whole request, in their order.
    var silent: [any Channel] = []
    var prefetchedBytes = 0
    var isDraining = false
    var whenEmpty: CheckedContinuation<Void, Never>?
  }

  let site: any Site
  let limits: HTTPServer.Limits
  let observe: (@Sendable (SiteExchange) -> Void)?
  private let observeFailure: (@Sendable (ConnectionFailure) -> Void)?
  private let threads: NIOThreadPool
  private let state = Monitor(State())

  init(
    site: any Site, limits: HTTPServer.Limits, observe: (@Sendable (SiteExchange) -> Void)?,
    observeFailure: (@Sendable (ConnectionFailure) -> Void)?
  ) {
    self.site = site
    self.limits = limits
    self.observe = observe
    self.observeFailure = observeFailure
    threads = NIOThreadPool(numberOfThreads: limits.threads)
    threads.start()
  }

  /// Runs `work` on a thread that may block. Does not run it if the server is being closed.
  ///
  /// - Parameter completion: called in either case.
  func submit(_ work: @escaping @Sendable () -> Void, completion: @escaping @Sendable () -> Void = {}) {
    threads.submit { state in
      if case .active = state { work() }
      completion()
    }
  }

  // MARK: Connections

  /// Reports a connection that failed before its first request, unless the server is being stopped.
  func report(_ kind: ConnectionFailure.Kind, _ reason: String, of channel: any Channel) {
    guard let observeFailure, !isDraining else { return }
    let failure = ConnectionFailure(kind, reason, from: channel.remoteAddress?.ipAddress)
    submit { observeFailure(failure) }
  }

  /// Registers a connection. If there are too many, the oldest one on which no request came is closed, such as a handshake that is not completed.
  ///
  /// - Returns: false if there are too many connections with requests, or if the server is being stopped.
  func admit(_ channel: any Channel) -> Bool {
    let (isAdmitted, closed) = state.withLock { state -> (Bool, (any Channel)?) in
      guard !state.isDraining else { return (false, nil) }
      var closed: (any Channel)?
      if state.connections.count >= limits.connections {
        guard !state.silent.isEmpty else { return (false, nil) }
        let oldest = state.silent.removeFirst()
        state.connections[ObjectIdentifier(oldest)] = nil
        closed = oldest
      }
      state.connections[ObjectIdentifier(channel)] = channel
      state.silent.append(channel)
      return (true, closed)
    }
    if let closed { Self.cut(closed) }
    return isAdmitted
  }

  /// Notes that a request came on a connection.
  func begin(_ channel: any Channel) {
    state.withLock { $0.silent.removeAll { $0 === channel } }
  }

  func dismiss(_ channel: any Channel) {
    let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.connections[ObjectIdentifier(channel)] = nil
      state.silent.removeAll { $0 === channel }
      guard state.connections.isEmpty else { return nil }
      defer { state.whenEmpty = nil }
      return state.whenEmpty
    }
    waiting?.resume()
  }

  /// Closes a connection, whatever is under way to its client.
  private static func cut(_ channel: any Channel) {
    channel.triggerUserOutboundEvent(LinkHandler.Cut(), promise: nil)
    channel.close(promise: nil)
  }

  var isDraining: Bool { state.withLock { $0.isDraining } }

  /// Waits until all connections are closed. Closes the remaining ones after `seconds`.
  func drain(within seconds: Double) async {
    let channels = state.withLock { state in
      state.isDraining = true
      return Array(state.connections.values)
    }
    for channel in channels { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
    let loop = channels.first?.eventLoop
    let end = loop?.scheduleTask(in: .nanoseconds(Int64(seconds * 1e9))) { [state] in
      for channel in state.withLock({ Array($0.connections.values) }) { Self.cut(channel) }
    }
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let isEmpty = state.withLock { state in
        if !state.connections.isEmpty { state.whenEmpty = continuation }
        return state.connections.isEmpty
      }
      if isEmpty { continuation.resume() }
    }
    end?.cancel()
  }

  /// Ends the threads after their current work.
  func close() async {
    try? await threads.shutdownGracefully()
  }

  // MARK: Memory

  /// Reserves memory for a prefetched piece.
  ///
  /// - Returns: false if the limit would be exceeded.
  func takeRoom(_ bytes: Int) -> Bool {
    state.withLock { state in
      guard state.prefetchedBytes + bytes <= limits.prefetchedBytes else { return false }
      state.prefetchedBytes += bytes
      return true
    }
  }

  func giveRoom(_ bytes: Int) {
    state.withLock { $0.prefetchedBytes -= bytes }
  }
}
