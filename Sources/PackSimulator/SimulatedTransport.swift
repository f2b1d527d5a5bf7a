/// The transport of the app's download queue: reads the files beside the manifest, at the speed and with the faults of the simulation.
final class SimulatedTransport: Transport {
  /// An event that the simulation must handle.
  enum Signal: Sendable {
    /// There is no network: the person ends the app.
    case offline
    /// The system has forgotten a download.
    case forgotten
  }

  private let world: SimulatedWorld
  private let relay: Relay
  private let listener = Monitor<AsyncStream<Signal>.Continuation?>(nil)
  private let known = Monitor<Set<String>>([])

  private static let piece = 256 << 10

  init(_ world: SimulatedWorld, _ relay: Relay) {
    self.world = world
    self.relay = relay
  }

  /// Returns the signals from now on. Each run of a queue has its own stream, which replaces the previous one.
  func signals() -> AsyncStream<Signal> {
    let (stream, continuation) = AsyncStream.makeStream(of: Signal.self)
    listener.withLock { $0 = continuation }
    return stream
  }

  private func signal(_ signal: Signal) {
    _ = listener.withLock { $0 }?.yield(signal)
  }

  func inFlight() async -> Set<String>? { known.withLock { $0 } }

  func download(_ request: TransferRequest, into sink: DownloadSink) async throws(TransferFailure) {
    await relay.turn()
    // Request identifiers have the form `deliveries/<download>`.
    let identifier = request.identifier.split(separator: "/").last.map(String.init) ?? request.identifier
    guard let source = world.source(request.identifier) ?? world.source(identifier) else {
      await relay.hold()
      throw .status(404, retryAfter: nil)
    }
    let pack = source.id
    if world.isOffline(pack) {
      world.timeline.tell(
        .app, "\(pack): there is no network", pack: pack, error: .plain("no connection"), remedy: "the download waits", isInjected: true)
      signal(.offline)
      await untilCancelled()
      throw .offline
    }
    known.withLock { _ = $0.insert(request.identifier) }
    defer { known.withLock { _ = $0.remove(request.identifier) } }
    if world.strikes(.forgotten, pack) {
      world.timeline.tell(.system, "\(pack): forgets the download", pack: pack, isInjected: true)
      known.withLock { _ = $0.remove(request.identifier) }
      await relay.hold()
      signal(.forgotten)
      await untilCancelled()
      throw .cancelled
    }
    await relay.hold()
    try send(source, into: sink)
  }

  private func send(_ source: SimulatedWorld.Source, into sink: DownloadSink) throws(TransferFailure) {
    let pack = source.id
    let offset = sink.offset
    let file: OpenFile
    let size: UInt64
    do throws(FileFailure) {
      file = try SystemFiles().open(source.path, .read, in: nil)
      size = try SystemFiles().status(of: file).size
    } catch {
      world.timeline.tell(.app, "\(pack): the server has no such file", pack: pack, error: .plain("the server has no such file"))
      throw .status(404, retryAfter: nil)
    }
    let served = world.servedSize(of: pack, declared: source.bytes.size) ?? size
    if served != source.bytes.size {
      world.timeline.tell(
        .app, "\(pack): the server has \(served) bytes, but the manifest says \(source.bytes.size)", pack: pack,
        error: .plain("the size is not the declared one"), isInjected: served != size)
    }
    try sink.begin(at: offset, size: served, validator: nil)
    let isCut = world.strikes(.truncate, pack)
    let end = isCut ? offset + (size - offset) / 2 : size
    world.timeline.tell(
      .app, "\(pack): downloads \(size - offset) bytes in the foreground\(offset > 0 ? ", from byte \(offset) on" : "")", pack: pack)
    var done = offset
    while done < end {
      var bytes = [UInt8](repeating: 0, count: Int(min(UInt64(Self.piece), end - done)))
      var span = bytes.mutableByteSpan
      do throws(PackError) {
        try SystemFiles().readExactly(file, at: done, into: &span, name: source.path)
      } catch {
        throw .malformedResponse
      }
      try sink.write(bytes.byteSpan)
      done += UInt64(bytes.count)
    }
    world.transfer(done - offset, of: pack)
    guard isCut else { return }
    world.timeline.tell(
      .app, "\(pack): the connection is cut at byte \(done) of \(size)", pack: pack, error: .plain("the connection is cut"),
      isInjected: true)
    throw .unreachable
  }

  private func untilCancelled() async {
    while !Task.isCancelled { try? await Task.sleep(for: VirtualClock.endless) }
  }
}
