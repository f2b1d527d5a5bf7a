import PackDownloads
import PackWork

/// A transport without a network: it makes the bytes of a URL up, with faults where a test wants them, and a record of what was asked.
package final class FaultyTransport: Transport {
  /// One call for a download.
  package struct Call: Hashable, Sendable {
    /// How often the identifier was asked for before.
    package let attempt: Int
    package let request: TransferRequest
    /// Where it was to go on.
    package let offset: UInt64
    /// The entity tag of what was there.
    package let validator: String?
  }

  /// What happens instead of a whole download.
  package enum Fault: Sendable {
    /// Nothing comes.
    case failure(TransferFailure)
    /// Some bytes come, counted from the start of the file, and then this.
    case cut(at: UInt64, TransferFailure)
    /// The transport says that all came, when so much of the file did.
    case truncated(to: UInt64)
    /// Every byte from here on is another.
    case wrong(from: UInt64)
    /// The server says that the file has another size.
    case announced(UInt64)
    /// So many bytes more come than the file has.
    case tooLong(by: Int)
    /// The server does not go on where it is asked to, but begins anew.
    case fromStart
    /// The same, and breaks off there.
    case fromStartCut(at: UInt64)
    /// Some bytes come, then nothing for ever; the system knows of it or not.
    case stuck(at: UInt64, isKnown: Bool)
    /// All is well, but takes so long.
    case slow(Duration)
    /// All is well, but waits until so many ran at a time; not for ever.
    case gathered(Int)
  }

  private struct State {
    var calls: [Call] = []
    var running: [String] = []
    var largestRunning = 0
    var known: Set<String> = []
    var cancelled: [String] = []
    var priorities: [String: Double] = [:]
  }

  private let content: @Sendable (String) -> [UInt8]
  private let decide: @Sendable (Call) -> Fault?
  private let pieceSize: Int
  private let state: Monitor<State>

  /// - Parameters:
  ///   - known: what the system goes on with since before the process was started.
  ///   - content: the file at a URL.
  ///   - decide: what goes wrong.
  package init(
    known: Set<String> = [], pieceSize: Int = 1000, content: @escaping @Sendable (String) -> [UInt8],
    _ decide: @escaping @Sendable (Call) -> Fault? = { _ in nil }
  ) {
    self.content = content
    self.decide = decide
    self.pieceSize = pieceSize
    state = Monitor(State(known: known))
  }

  /// What was asked for, in order.
  package var calls: [Call] { state.withLock { $0.calls } }
  /// The most downloads that ran at a time.
  package var largestRunning: Int { state.withLock { $0.largestRunning } }
  /// What runs now.
  package var running: [String] { state.withLock { $0.running } }
  /// What was cancelled by its identifier.
  package var cancelled: [String] { state.withLock { $0.cancelled } }
  /// The priorities that were changed while something ran.
  package var priorities: [String: Double] { state.withLock { $0.priorities } }

  /// Lets the record go, which takes memory.
  package func forgetCalls() {
    state.withLock { $0.calls = [] }
  }

  package func download(_ request: TransferRequest, into sink: DownloadSink) async throws(TransferFailure) {
    let fault = state.withLock { state in
      let call = Call(
        attempt: state.calls.count { $0.request.identifier == request.identifier }, request: request, offset: sink.offset,
        validator: sink.validator)
      state.calls.append(call)
      state.running.append(request.identifier)
      state.largestRunning = max(state.largestRunning, state.running.count)
      let fault = decide(call)
      if case .stuck(_, false) = fault {} else { state.known.insert(request.identifier) }
      return fault
    }
    defer {
      state.withLock { state in
        state.running.removeAll { $0 == request.identifier }
        state.known.remove(request.identifier)
      }
    }
    try await send(request, fault, into: sink)
  }

  private func send(_ request: TransferRequest, _ fault: Fault?, into sink: DownloadSink) async throws(TransferFailure) {
    var bytes = content(request.url)
    var start = sink.offset
    var announced = UInt64(bytes.count)
    var end = bytes.count
    var ending: TransferFailure?
    var isStuck = false
    switch fault {
    case nil: break
    case .failure(let failure): throw failure
    case .cut(let offset, let failure): (end, ending) = (Int(offset), failure)
    case .truncated(let size): end = Int(size)
    case .wrong(let offset): for index in Int(offset)..<bytes.count { bytes[index] ^= 1 }
    case .announced(let size): announced = size
    case .tooLong(let count):
      bytes += [UInt8](repeating: 7, count: count)
      end = bytes.count
    case .fromStart: start = 0
    case .fromStartCut(let offset): (start, end, ending) = (0, Int(offset), .unreachable)
    case .stuck(let offset, _): (end, isStuck) = (Int(offset), true)
    case .slow(let duration): await sleep(duration)
    case .gathered(let count): await gather(count)
    }
    try sink.begin(at: start, size: announced, validator: "\"\(request.url)\"")
    var offset = Int(start)
    while offset < end {
      if Task.isCancelled { throw .cancelled }
      let count = min(pieceSize, end - offset)
      try sink.write(bytes.span.extracting(offset..<offset + count))
      offset += count
      await Task.yield()
    }
    while isStuck {
      if Task.isCancelled { throw .cancelled }
      await sleep(.seconds(1))
    }
    if let ending { throw ending }
  }

  private func gather(_ count: Int) async {
    let start = ContinuousClock.now
    while largestRunning < count, start.duration(to: .now) < .seconds(180), !Task.isCancelled { await sleep(.milliseconds(2)) }
  }

  private func sleep(_ duration: Duration) async {
    try? await Task.sleep(for: duration)
  }

  package func inFlight() async -> Set<String>? { state.withLock { $0.known } }

  package func cancel(_ identifier: String) async {
    state.withLock { state in
      state.cancelled.append(identifier)
      state.known.remove(identifier)
    }
  }

  package func setPriority(_ priority: Double, of identifier: String) async {
    state.withLock { $0.priorities[identifier] = priority }
  }
}

/// A clock that runs faster than the world's, so that tests see long waits end.
package struct FastClock: QueueClock {
  private let base = SystemQueueClock()
  private let speed: Int

  package init(speed: Int = 1000) {
    self.speed = speed
  }

  package var now: Duration { base.now * speed }

  package func sleep(for duration: Duration) async {
    await base.sleep(for: duration / speed)
  }
}
