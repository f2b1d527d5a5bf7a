/// The transport of the app's own downloads: reads the files beside the manifest, at the speed and with the faults of the simulation.
struct SimulatedTransport: Transport {
  private let world: SimulatedWorld

  private static let piece = 256 << 10

  init(_ world: SimulatedWorld) {
    self.world = world
  }

  func download(_ request: TransferRequest, into sink: DownloadSink) async throws(TransferFailure) {
    guard let source = world.source(request.identifier) else { throw .status(404, retryAfter: nil) }
    let pack = source.id
    if world.isOffline(pack) {
      world.timeline.tell(
        .app, "\(pack): there is no network", pack: pack, error: .plain("no connection"), remedy: "the download waits", isInjected: true)
      throw .offline
    }
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
}
