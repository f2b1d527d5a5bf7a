/// The transport of the app's own downloads: reads the files beside the manifest, at the speed and with the faults of the simulation.
struct SimulatedTransport: Transport {
  private let world: SimulatedWorld

  private static let piece = 256 << 10

  init(_ world: SimulatedWorld) {
    self.world = world
  }

  func download(_ request: TransferRequest, into sink: DownloadSink) async throws(TransferFailure) {
    try send(try source(of: request), into: sink)
  }

  func bytes(
    _ range: Range<UInt64>, of request: TransferRequest, onBytes: @escaping @Sendable (Span<UInt8>) -> Void
  ) async throws(TransferFailure) -> Bool {
    let source = try source(of: request)
    // The lead has another identifier here, and is fetched by the system.
    guard request.size == source.bytes.size else { return false }
    let (file, served, size) = try open(source)
    guard served == source.bytes.size else { throw .wrongSize(served) }
    guard range.upperBound <= size else { throw .status(416, retryAfter: nil) }
    if world.strikes(.truncate, source.id) {
      world.timeline.tell(
        .app, "\(source.id): the connection is cut", pack: source.id, error: .plain("the connection is cut"), isInjected: true)
      throw .unreachable
    }
    let count = range.upperBound - range.lowerBound
    world.timeline.tell(
      .app, "\(source.id): downloads \(count) bytes in the foreground, from byte \(range.lowerBound) on", pack: source.id)
    var bytes = [UInt8](repeating: 0, count: Int(count))
    var span = bytes.mutableByteSpan
    try read(file, at: range.lowerBound, into: &span, of: source)
    world.transfer(count, of: source.id)
    onBytes(bytes.byteSpan)
    return true
  }

  private func source(of request: TransferRequest) throws(TransferFailure) -> SimulatedWorld.Source {
    guard let source = world.source(request.identifier) else { throw .status(404, retryAfter: nil) }
    let pack = source.id
    if world.isOffline(pack) {
      world.timeline.tell(
        .app, "\(pack): there is no network", pack: pack, error: .plain("no connection"), remedy: "the download waits", isInjected: true)
      throw .offline
    }
    return source
  }

  /// Opens a file, and returns the size that the server says it has.
  private func open(_ source: SimulatedWorld.Source) throws(TransferFailure) -> (file: OpenFile, served: UInt64, size: UInt64) {
    let pack = source.id
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
    return (file, served, size)
  }

  private func read(
    _ file: OpenFile, at offset: UInt64, into bytes: inout MutableSpan<UInt8>, of source: SimulatedWorld.Source
  ) throws(TransferFailure) {
    do throws(PackError) {
      try SystemFiles().readExactly(file, at: offset, into: &bytes, name: source.path)
    } catch {
      throw .malformedResponse
    }
  }

  private func send(_ source: SimulatedWorld.Source, into sink: DownloadSink) throws(TransferFailure) {
    let pack = source.id
    let offset = sink.offset
    let (file, served, size) = try open(source)
    try sink.begin(at: offset, size: served, validator: nil)
    let isCut = world.strikes(.truncate, pack)
    let end = isCut ? offset + (size - offset) / 2 : size
    world.timeline.tell(
      .app, "\(pack): downloads \(size - offset) bytes in the foreground\(offset > 0 ? ", from byte \(offset) on" : "")", pack: pack)
    var done = offset
    while done < end {
      var bytes = [UInt8](repeating: 0, count: Int(min(UInt64(Self.piece), end - done)))
      var span = bytes.mutableByteSpan
      try read(file, at: done, into: &span, of: source)
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
}
