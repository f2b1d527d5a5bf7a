import PackFiles
import PackFormat
import PackWork

/// The place where the bytes of one download go: a file that grows, and is not handed out before it is whole and checked.
///
/// It belongs to one attempt. Calls may come from any thread, one at a time; they write, so they block for as long as the disk takes.
public final class DownloadSink: Sendable {
  private struct State {
    var file: OpenFile?
    var offset: UInt64
    var validator: String?
    var isClosed = false
    var told: Duration?
  }

  /// The bytes that the file has when it is whole.
  public let size: UInt64

  private let names: DownloadNames
  private let directory: OpenFile
  private let files: any FileSystem
  private let clock: any QueueClock
  private let interval: Duration
  private let progress: @Sendable (UInt64) -> Void
  private let state: Monitor<State>

  init(
    size: UInt64, offset: UInt64, validator: String?, names: DownloadNames, in directory: OpenFile, files: any FileSystem,
    clock: any QueueClock, interval: Duration, progress: @escaping @Sendable (UInt64) -> Void
  ) {
    self.size = size
    self.names = names
    self.directory = directory
    self.files = files
    self.clock = clock
    self.interval = interval
    self.progress = progress
    state = Monitor(State(offset: offset, validator: validator))
  }

  /// The bytes that are there: where the next attempt may go on.
  public var offset: UInt64 { state.withLock { $0.offset } }

  /// The strong entity tag, quotes included, of what is there; nil where the server gave none.
  public var validator: String? { state.withLock { $0.validator } }

  /// Tells what the server is about to send. Must come before the first ``write(_:)``.
  ///
  /// - Parameters:
  ///   - offset: where the bytes start: at ``offset``, or 0, which throws away what is there.
  ///   - size: the bytes of the whole file, where the server says so.
  ///   - validator: the strong entity tag that the server sent along.
  public func begin(at offset: UInt64, size: UInt64?, validator: String?) throws(TransferFailure) {
    if let size, size != self.size { throw .wrongSize(size) }
    try state.withLock { (state) throws(TransferFailure) in
      guard !state.isClosed else { throw .cancelled }
      guard offset == 0 || offset == state.offset else { throw .malformedResponse }
      do throws(FileFailure) {
        if offset == 0 {
          state.file = nil
          try removeIfThere(names.part)
          try removeIfThere(names.tag)
          state.offset = 0
          state.validator = nil
          state.file = try files.open(names.part, .create(mode: 0o600), in: directory)
        } else {
          state.file = try files.open(names.part, .writeUnlinked, in: directory)
        }
        if let validator = validator.flatMap({ DownloadNames.entityTag($0.utf8) }), validator != state.validator {
          try removeIfThere(names.tag)
          // Not brought to the disk: what is wrong in it makes the server send everything, and the digest decides anyway.
          try files.writeAll(try files.open(names.tag, .create(mode: 0o600), in: directory), at: 0, Array(validator.utf8).span)
          state.validator = validator
        }
      } catch {
        throw failure(error, missing: self.size - state.offset)
      }
    }
  }

  /// Takes the next bytes.
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

  /// Takes a whole file that the system's download service made, and removes it from where it is.
  ///
  /// Where it lies on the same volume nothing is copied; elsewhere, this needs as much space again while it runs.
  public func adopt(_ path: String) throws(TransferFailure) {
    try state.withLock { (state) throws(TransferFailure) in
      guard !state.isClosed else { throw .cancelled }
      state.file = nil
      do throws(FileFailure) {
        try removeIfThere(names.part)
        try removeIfThere(names.tag)
        state.offset = 0
        let found = try files.status(of: path, in: nil, following: .asThemselves)
        guard found.kind == .file else { throw FileFailure.unsupported }
        do throws(FileFailure) {
          try files.link(path, in: nil, as: names.part, in: directory)
        } catch {
          guard error.isUnlinkable else { throw error }
          try copy(path)
        }
        state.offset = found.size
        try? files.remove(path, .file, in: nil)
      } catch {
        throw failure(error, missing: size)
      }
    }
    progress(offset)
  }

  /// Lets the file go. What comes later is refused: a download that was stopped may still have bytes on their way.
  func close() {
    state.withLock { state in
      state.file = nil
      state.isClosed = true
    }
  }

  private func copy(_ path: String) throws(FileFailure) {
    let source = try files.open(path, .readUnlinked, in: nil)
    let target = try files.open(names.part, .create(mode: 0o600), in: directory)
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    var offset: UInt64 = 0
    while true {
      var span = buffer.mutableSpan
      let count: Int
      do throws(PackError) {
        count = try files.read(source, at: offset, filling: &span, name: path)
      } catch {
        throw FileFailure.inputOutput
      }
      if count == 0 { return }
      try files.writeAll(target, at: offset, buffer.span.extracting(first: count))
      offset += UInt64(count)
    }
  }

  private func removeIfThere(_ name: String) throws(FileFailure) {
    do throws(FileFailure) {
      try files.remove(name, .file, in: directory)
    } catch {
      guard error.isMissing else { throw error }
    }
  }

  private func failure(_ failure: FileFailure, missing: UInt64) -> TransferFailure {
    guard failure.isFullDisk else { return .cannotWrite }
    return .noSpace(needed: missing, free: (try? files.freeSpace(at: directory)) ?? 0)
  }
}
