/// The destination of one download's bytes: a growing file that is not handed out before it is complete and checked.
///
/// A sink belongs to one attempt. It may be called from any thread, one call at a time. Calls block while the disk writes.
public final class DownloadSink: Sendable {
  private struct State {
    var file: OpenFile?
    var offset: UInt64
    var validator: String?
    var isClosed = false
    var told: Duration?
  }

  /// The size of the complete file in bytes.
  public let size: UInt64

  private let part: String
  private let tag: String
  private let directory: OpenFile
  private let files: any FileSystem
  private let clock: any DeviceClock
  private let interval: Duration
  private let progress: @Sendable (UInt64) -> Void
  private let state: Monitor<State>

  init(
    _ download: PlannedDownload, offset: UInt64, in place: TransferPlace, clock: any DeviceClock, interval: Duration,
    progress: @escaping @Sendable (UInt64) -> Void
  ) {
    let identifier = download.identifier.description
    size = download.bytes.size
    part = TransferPlace.part(identifier)
    tag = TransferPlace.tag(identifier)
    directory = place.handle
    files = place.files
    self.clock = clock
    self.interval = interval
    self.progress = progress
    state = Monitor(State(offset: offset, validator: offset > 0 ? place.entityTag(identifier) : nil))
  }

  /// The number of bytes already in the file: the offset where the next attempt may continue.
  public var offset: UInt64 { state.withLock { $0.offset } }

  /// The strong entity tag, including quotes, of the bytes in the file; nil if the server sent none.
  public var validator: String? { state.withLock { $0.validator } }

  /// Announces what the server is about to send. Must be called before the first ``write(_:)``.
  ///
  /// - Parameters:
  ///   - offset: the offset of the first byte: ``offset``, or 0, which discards the bytes in the file.
  ///   - size: the size of the complete file in bytes, if the server reports it.
  ///   - validator: the strong entity tag that the server sent, if any.
  public func begin(at offset: UInt64, size: UInt64?, validator: String?) throws(TransferFailure) {
    if let size, size != self.size { throw .wrongSize(size) }
    try state.withLock { (state) throws(TransferFailure) in
      guard !state.isClosed else { throw .cancelled }
      guard offset == 0 || offset == state.offset else { throw .malformedResponse }
      do throws(FileFailure) {
        if offset == 0 {
          state.file = nil
          try removeIfThere(part)
          try removeIfThere(tag)
          state.offset = 0
          state.validator = nil
          state.file = try files.open(part, .create(mode: 0o600), in: directory)
        } else {
          state.file = try files.open(part, .writeUnlinked, in: directory)
        }
        if let validator = validator.flatMap({ TransferPlace.entityTag($0.utf8) }), validator != state.validator {
          try removeIfThere(tag)
          // Not synced to disk: with a wrong tag the server sends the whole file, and the digest is checked in any case.
          try files.writeAll(try files.open(tag, .create(mode: 0o600), in: directory), at: 0, Array(validator.utf8).byteSpan)
          state.validator = validator
        }
      } catch {
        throw failure(error, missing: self.size - state.offset)
      }
    }
  }

  /// Appends bytes.
  public func write(_ bytes: Span<UInt8>) throws(TransferFailure) {
    let due = try state.withLock { (state) throws(TransferFailure) -> UInt64? in
      guard !state.isClosed else { throw .cancelled }
      guard let file = state.file else { throw .malformedResponse }
      guard UInt64(bytes.count) <= size - state.offset else { throw .wrongSize(state.offset + UInt64(bytes.count)) }
      do throws(FileFailure) {
        try files.writeAll(file, at: state.offset, bytes)
      } catch {
        throw failure(error, missing: size - state.offset)
      }
      state.offset += UInt64(bytes.count)
      let now = clock.now
      if let told = state.told, now - told < interval { return nil }
      state.told = now
      return state.offset
    }
    if let due { progress(due) }
  }

  /// Closes the file. Later calls are refused: a stopped download may still have bytes on their way.
  func close() {
    state.withLock { state in
      state.file = nil
      state.isClosed = true
    }
  }

  private func removeIfThere(_ name: String) throws(FileFailure) {
    try ifPresent(files.remove(name, .file, in: directory))
  }

  private func failure(_ failure: FileFailure, missing: UInt64) -> TransferFailure {
    guard failure.isFullDisk else { return .cannotWrite }
    return .noSpace(needed: missing, free: (try? files.freeSpace(at: directory)) ?? 0)
  }
}
