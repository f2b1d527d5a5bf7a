/// The journal record of one request or of a group: 16 bytes, always written in one piece.
///
///     state u8 · failures u8 · rank u8 · failure's code u8 · value u64 · checksum u32
///
/// A record of zeros has not been written yet. A record with a wrong checksum was being written when the process or the power failed, and counts as
/// not written. This is safe because every important state can be recovered from the files beside the journal.
package struct JournalRecord: Hashable, Sendable {
  /// The states of requests. The numbers are part of the format.
  enum State: UInt8, Sendable {
    case waiting = 1
    case running, retrying, paused, finished, failed, cancelled
  }

  package static let size = 16

  var state: State = .waiting
  var failures: UInt8 = 0
  var rank = RequestRank(bits: 0)
  /// The reason why it failed or is being retried.
  var failure: TransferFailure?
  /// The size of a finished file.
  var fileSize: UInt64 = 0

  /// - Parameter position: the number of the record in its journal. The checksum covers it, so that a record in the wrong place is invalid.
  package func bytes(position: UInt64) -> [UInt8] {
    var bytes: [UInt8] = [state.rawValue, failures, rank.bits, failure?.code ?? 0]
    bytes.append(littleEndian: failure?.value ?? fileSize)
    bytes.append(littleEndian: Self.checksum(bytes.byteSpan, position: position))
    return bytes
  }

  /// - Returns: nil if the record was not written, or not completely.
  package init?(_ bytes: Span<UInt8>, position: UInt64) {
    var cursor = FieldCursor(failure: .damagedQueue)
    guard let state = try? cursor.uint8("state", in: bytes), let failures = try? cursor.uint8("failures", in: bytes),
      let rank = try? cursor.uint8("rank", in: bytes), let code = try? cursor.uint8("code", in: bytes),
      let value = try? cursor.uint64("value", in: bytes), let checksum = try? cursor.uint32("checksum", in: bytes),
      checksum == Self.checksum(bytes.extracting(first: 12), position: position), let known = State(rawValue: state)
    else { return nil }
    self.state = known
    self.failures = failures
    self.rank = RequestRank(bits: rank)
    failure = code == 0 ? nil : TransferFailure(code: code, value: value)
    fileSize = code == 0 ? value : 0
  }

  init(_ state: State, failures: UInt8 = 0, rank: RequestRank = RequestRank(bits: 0), failure: TransferFailure? = nil, fileSize: UInt64 = 0)
  {
    self.state = state
    self.failures = failures
    self.rank = rank
    self.failure = failure
    self.fileSize = fileSize
  }

  /// Returns the FNV-1a hash of the position and the bytes before the checksum. It detects incomplete writes, not deliberate changes.
  private static func checksum(_ bytes: Span<UInt8>, position: UInt64) -> UInt32 {
    var hash: UInt32 = 0x811c_9dc5
    for shift in stride(from: 0, to: 64, by: 8) {
      hash = (hash ^ UInt32(truncatingIfNeeded: position >> UInt64(shift) & 0xff)) &* 0x0100_0193
    }
    for index in 0..<bytes.count { hash = (hash ^ UInt32(bytes[index])) &* 0x0100_0193 }
    return hash
  }
}

/// The file of records beside the batches of a group.
///
/// Record 0 belongs to the group itself. The records of a batch start at 1 + 500 times its number, so that no batch moves another's records. Each
/// record is written in place, by one call, and never crosses a sector boundary.
struct DownloadJournal: Sendable {
  private let group: String
  private let name: String
  let directory: OpenFile
  let files: any FileSystem

  init(group: UInt32, in directory: OpenFile, files: any FileSystem) {
    self.group = DownloadNames.group(group)
    name = self.group + "/journal"
    self.directory = directory
    self.files = files
  }

  static func position(batch: UInt32, index: UInt16) -> UInt64 {
    1 + UInt64(batch) * UInt64(QueuePolicy.largestBatch) + UInt64(index)
  }

  /// Writes a record without waiting for the disk. The first one creates the file.
  func write(_ record: JournalRecord, at position: UInt64) throws(PackError) {
    let found = try writing(Self.title, ifPresent(files.open(name, .writeUnlinked, in: directory)))
    let file = if let found { found } else { try writing(Self.title, files.open(name, .create(mode: 0o600), in: directory)) }
    try writing(
      Self.title, files.writeAll(file, at: position * UInt64(JournalRecord.size), record.bytes(position: position).byteSpan))
  }

  private static let title = "the journal of the download queue"

  /// Syncs the written records and the file's name to disk.
  func sync() throws(PackError) {
    try writing(Self.title, files.sync(files.open(name, .writeUnlinked, in: directory)))
    try writing(Self.title, files.sync(files.open(group, .directoryUnlinked, in: directory)))
  }

  /// Reads `count` records from `position` on. A record is nil if it was never written, or not completely.
  func read(_ count: Int, from position: UInt64) throws(PackError) -> [JournalRecord?] {
    var bytes = [UInt8](repeating: 0, count: count * JournalRecord.size)
    if let file = try reading(Self.title, ifPresent(files.open(name, .readUnlinked, in: directory))) {
      var span = bytes.mutableByteSpan
      _ = try files.read(file, at: position * UInt64(JournalRecord.size), filling: &span, name: Self.title)
    }
    return (0..<count).map { number in
      let start = number * JournalRecord.size
      return JournalRecord(bytes.byteSpan.extracting(start..<start + JournalRecord.size), position: position + UInt64(number))
    }
  }
}
