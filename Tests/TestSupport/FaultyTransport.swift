/// A transport without a network: it generates the content of a URL, with injected faults, and records all calls.
package final class FaultyTransport: Transport {
  /// One call of `download`.
  package struct Call: Hashable, Sendable {
    /// The number of earlier calls with the same identifier.
    package let attempt: Int
    package let request: TransferRequest
    /// The offset at which to continue.
    package let offset: UInt64
    /// The entity tag of the partial file.
    package let validator: String?
  }

  /// A fault of a download.
  package enum Fault: Sendable {
    /// The download fails without any bytes.
    case failure(TransferFailure)
    /// The download fails at this offset of the file.
    case cut(at: UInt64, TransferFailure)
    /// The download succeeds with only this many bytes of the file.
    case truncated(to: UInt64)
    /// Every byte from this offset on is wrong.
    case wrong(from: UInt64)
    /// The server announces another size of the file.
    case announced(UInt64)
    /// The download has this many bytes more than the file.
    case tooLong(by: Int)
    /// The server ignores the requested offset, and sends the whole file.
    case fromStart
    /// The server ignores the requested offset, and the download fails at this offset.
    case fromStartCut(at: UInt64)
    /// The server sends the bytes from this offset on, instead of from the requested one.
    case elsewhere(UInt64)
    /// The download stops at this offset without an end.
    case stuck(at: UInt64)
    /// The download starts after this time.
    case slow(Duration)
    /// The download starts when this many downloads have run at the same time, or after 180 seconds.
    case gathered(Int)
  }

  /// One call of `bytes`.
  package struct Piece: Hashable, Sendable {
    package let url: String
    package let range: Range<UInt64>
  }

  /// A fault of some bytes of a file.
  package enum PieceFault: Sendable {
    case failure(TransferFailure)
    /// The connection is lost after this many bytes of the piece.
    case cut(after: Int, TransferFailure)
    /// The server sends these bytes instead.
    case bytes([UInt8])
    /// One byte of the piece is wrong.
    case wrong
    /// The server sends whole files only.
    case wholeOnly
    /// The bytes come after this time.
    case slow(Duration)
    /// The bytes never come.
    case stuck
  }

  private struct State {
    var calls: [Call] = []
    var pieces: [Piece] = []
    var running: [String] = []
    var largestRunning = 0
    var priorities: [String: Double] = [:]
  }

  private let content: @Sendable (String) -> [UInt8]
  private let decide: @Sendable (Call) -> Fault?
  private let decidePiece: @Sendable (Piece) async -> PieceFault?
  private let pieceSize: Int
  private let state: Monitor<State>

  /// - Parameters:
  ///   - content: Returns the file at a URL.
  ///   - decide: Returns the fault of a call, or nil.
  package init(
    pieceSize: Int = 1000, content: @escaping @Sendable (String) -> [UInt8],
    pieces decidePiece: @escaping @Sendable (Piece) async -> PieceFault? = { _ in .wholeOnly },
    _ decide: @escaping @Sendable (Call) -> Fault? = { _ in nil }
  ) {
    self.content = content
    self.decidePiece = decidePiece
    self.decide = decide
    self.pieceSize = pieceSize
    state = Monitor(State())
  }

  /// The calls so far, in order.
  package var calls: [Call] { state.withLock { $0.calls } }
  /// The pieces that were asked for, in order.
  package var pieces: [Piece] { state.withLock { $0.pieces } }
  /// The largest number of downloads that ran at the same time.
  package var largestRunning: Int { state.withLock { $0.largestRunning } }
  /// The identifiers of the running downloads.
  package var running: [String] { state.withLock { $0.running } }
  /// The changed priorities, by identifier.
  package var priorities: [String: Double] { state.withLock { $0.priorities } }

  /// Clears the record of calls, to free its memory.
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
      return decide(call)
    }
    defer { state.withLock { $0.running.removeAll { $0 == request.identifier } } }
    try await send(request, fault, into: sink)
  }

  package func bytes(
    _ range: Range<UInt64>, of request: TransferRequest, onBytes: @escaping @Sendable (Span<UInt8>) -> Void
  ) async throws(TransferFailure) -> Bool {
    let piece = Piece(url: request.url, range: range)
    state.withLock { $0.pieces.append(piece) }
    let file = content(request.url)
    guard UInt64(file.count) == request.size else { throw .wrongSize(UInt64(file.count)) }
    guard range.upperBound <= UInt64(file.count) else { throw .status(416, retryAfter: nil) }
    var bytes = Array(file[Int(range.lowerBound)..<Int(range.upperBound)])
    switch await decidePiece(piece) {
    case nil: break
    case .failure(let failure): throw failure
    case .cut(let count, let failure):
      onBytes(bytes.byteSpan.extracting(first: count))
      throw failure
    case .bytes(let other): bytes = other
    case .wrong: bytes[bytes.count / 2] ^= 1
    case .wholeOnly: return false
    case .slow(let duration): await sleep(duration)
    case .stuck: while !Task.isCancelled { await sleep(.milliseconds(5)) }
    }
    if Task.isCancelled { throw .cancelled }
    onBytes(bytes.byteSpan)
    return true
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
    case .elsewhere(let offset): start = offset
    case .fromStartCut(let offset): (start, end, ending) = (0, Int(offset), .unreachable)
    case .stuck(let offset): (end, isStuck) = (Int(offset), true)
    case .slow(let duration): await sleep(duration)
    case .gathered(let count): await gather(count)
    }
    try sink.begin(at: start, size: announced, validator: "\"\(request.url)\"")
    var offset = Int(start)
    while offset < end {
      if Task.isCancelled { throw .cancelled }
      let count = min(pieceSize, end - offset)
      try sink.write(bytes.byteSpan.extracting(offset..<offset + count))
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

  package func setPriority(_ priority: Double, of identifier: String) async {
    state.withLock { $0.priorities[identifier] = priority }
  }
}

/// A clock that runs faster than real time, so that long waits end within a test.
package struct FastClock: DeviceClock {
  private let base = SystemClock()
  private let speed: Int

  package init(speed: Int = 1000) {
    self.speed = speed
  }

  package var secondsSince1970: Int64 { base.secondsSince1970 }

  package var now: Duration { base.now * speed }

  package func sleep(for duration: Duration) async {
    await base.sleep(for: duration / speed)
  }

  package func pause(for duration: Duration) {
    base.pause(for: duration / speed)
  }
}
