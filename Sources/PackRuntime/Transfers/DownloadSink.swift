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

  private let identifier: String
  private let place: TransferPlace
  private let clock: any DeviceClock
  private let interval: Duration
  private let progress: @Sendable (UInt64) -> Void
  private let state: Monitor<State>

  init(
    _ download: PlannedDownload, offset: UInt64, in place: TransferPlace, clock: any DeviceClock, interval: Duration,
    progress: @escaping @Sendable (UInt64) -> Void
  ) {
    identifier = download.identifier.description
    size = download.bytes.size
    self.place = place
    self.clock = clock
    self.interval = interval
    self.progress = progress
    state = Monitor(State(offset: offset, validator: offset > 0 ? place.validator(identifier) : nil))
  }

  /// The number of bytes already in the file: the offset where the next attempt may continue.
  public var offset: UInt64 { state.withLock { $0.offset } }

  /// The strong entity tag, including quotes, or the date, that the server gave for the bytes in the file. Nil if it sent none.
  public var validator: String? { state.withLock { $0.validator } }

  /// Announces what the server is about to send. Must be called before the first ``write(_:)``.
  ///
  /// - Parameters:
  ///   - offset: the offset of the first byte: ``offset``, or 0, which discards the bytes in the file.
  ///   - size: the size of the complete file in bytes, if the server reports it.
  ///   - validator: the strong entity tag that the server sent; its `Last-Modified` if it sends no tags and the date is a strong validator (RFC 9110 §8.8.2.2).
  public func begin(at offset: UInt64, size: UInt64?, validator: String?) throws(TransferFailure) {
    if let size, size != self.size { throw .wrongSize(size) }
    try state.withLock { (state) throws(TransferFailure) in
      guard !state.isClosed else { throw .cancelled }
      guard offset == 0 || offset == state.offset else { throw .malformedResponse }
      do throws(FileFailure) {
        if offset == 0 {
          state.file = nil
          place.removePart(identifier)
          state.offset = 0
          state.validator = nil
          state.file = try place.files.open(TransferPlace.part(identifier), .create(mode: 0o600), in: place.handle)
        } else {
          state.file = try place.files.open(TransferPlace.part(identifier), .writeUnlinked, in: place.handle)
        }
        if let validator = validator.flatMap({ TransferPlace.validator($0.utf8) }), validator != state.validator {
          try place.keep(validator, of: identifier)
          state.validator = validator
        }
      } catch {
        throw place.failure(error, missing: self.size - state.offset)
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
        try place.files.writeAll(file, at: state.offset, bytes)
      } catch {
        throw place.failure(error, missing: size - state.offset)
      }
      state.offset += UInt64(bytes.count)
      return isReportDue(&state) ? state.offset : nil
    }
    if let due { progress(due) }
  }

  /// Notes bytes that did not come through ``write(_:)``: the file has those before `offset`, and `received` of it are on the device.
  package func note(offset: UInt64, received: UInt64) {
    let isDue = state.withLock { state in
      state.offset = offset
      return isReportDue(&state)
    }
    if isDue { progress(received) }
  }

  private func isReportDue(_ state: inout State) -> Bool {
    let now = clock.now
    if let told = state.told, now - told < interval { return false }
    state.told = now
    return true
  }

  /// Closes the file. Later calls are refused: a stopped download may still have bytes on their way.
  func close() {
    state.withLock { state in
      state.file = nil
      state.isClosed = true
    }
  }
}

extension TransferPlace {
  /// - Parameter missing: The number of bytes that were to be written.
  package func failure(_ failure: FileFailure, missing: UInt64) -> TransferFailure {
    guard failure.isFullDisk else { return .cannotWrite }
    return .noSpace(needed: missing, free: (try? files.freeSpace(at: handle)) ?? 0)
  }
}
