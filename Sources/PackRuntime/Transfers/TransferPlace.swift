/// The directory of ``Transfers``. One process at a time uses it:
///
///     downloads             the kind and version of this directory
///     lock                  locked while it is in use
///     <download>.part       the bytes of a file that is not complete
///     <download>.<offset>.chunk
///                           bytes of it from this offset on, which arrived before others in front of them
///     <download>.leaves     the SHA-256 of each segment of a pack that is read while it arrives (FORMAT.md §9.9)
///     <download>.map        which of its segments are in the part, one bit for each. What it says was on the disk before.
///     <download>.tag        the validator that the server gave for them: a strong entity tag, or a date
package final class TransferPlace: Sendable {
  private let directory: RecordDirectory
  private let lock: Monitor<OpenFile?>

  private static let form = RecordDirectory.Form("packer-downloads/2", in: "downloads", isPrivate: true)
  private static let temporary = ".downloads"

  var files: any FileSystem { directory.files }
  var handle: OpenFile { directory.handle }
  var path: String { directory.path }

  /// Opens the directory and takes its lock. Creates it if only its parent exists.
  init(_ root: String, timeout: Duration, clock: any DeviceClock, files: any FileSystem) throws(PackError) {
    directory = try RecordDirectory(making: root, Self.form, files: files)
    guard let lock = try directory.lock(LockWait(timeout, clock: clock, isCancelled: { WorkerPool.isCancelled })) else {
      throw PackError(
        .downloadsBusy, "another process downloads into \(root)", advice: .developer("use one library per directory, in one process"))
    }
    self.lock = Monitor(lock)
    switch try directory.kind() {
    case .own: return
    case .unmarked:
      // Leftovers of a process that ended while it created the directory.
      guard try directory.names().allSatisfy({ $0 == RecordDirectory.lockName || $0.hasPrefix(Self.temporary) }) else {
        throw Self.foreign(root)
      }
      try directory.mark(by: Self.temporary)
      try directory.settle()
    case .ofOtherVersion, .foreign: throw Self.foreign(root)
    }
  }

  private static func foreign(_ root: String) -> PackError {
    PackError(.notDownloads, of: root, "is not a directory for downloads, or belongs to a newer version", advice: .chooseDirectory)
  }

  /// Gives up the lock.
  func release() {
    lock.withLock { $0 = nil }
  }

  // MARK: Parts

  static func part(_ identifier: String) -> String { identifier + ".part" }
  static func tag(_ identifier: String) -> String { identifier + ".tag" }
  private static func map(_ identifier: String) -> String { identifier + ".map" }
  /// Where the others are written before they get their names.
  private static func draft(_ identifier: String) -> String { identifier + ".new" }
  private static func leaves(_ identifier: String) -> String { identifier + ".leaves" }
  /// What is beside a part. The map goes before the digests that it is about.
  private static func notes(_ identifier: String) -> [String] {
    [tag(identifier), map(identifier), leaves(identifier), draft(identifier)]
  }
  private static func chunk(_ identifier: String, at offset: UInt64) -> String { "\(identifier).\(offset).chunk" }

  func path(_ name: String) -> String { directory.path(name) }

  /// Returns the identifiers of which something is here.
  func parts() throws(PackError) -> Set<String> {
    Set(
      try directory.names().compactMap { name in
        if let chunk = Self.chunk(name) { return chunk.identifier }
        return [".part", ".tag", ".map", ".leaves", ".new"].first { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) }
      })
  }

  /// Removes what is here of a file. If that fails, the next attempt finds it again.
  package func removePart(_ identifier: String) {
    // The chunks first: they continue this part only.
    removeChunks(identifier)
    try? files.remove(Self.part(identifier), .file, in: handle)
    for name in Self.notes(identifier) { try? files.remove(name, .file, in: handle) }
  }

  /// Removes what belongs to a complete part: its validator, and chunks whose bytes it has.
  func tidy(_ identifier: String) {
    removeChunks(identifier)
    for name in Self.notes(identifier) { try? files.remove(name, .file, in: handle) }
  }

  /// - Returns: Whether there were any.
  @discardableResult
  func removeChunks(_ identifier: String) -> Bool {
    let starts = (try? starts(of: identifier)) ?? []
    for start in starts { try? files.remove(Self.chunk(identifier, at: start), .file, in: handle) }
    return !starts.isEmpty
  }

  /// Returns the validator of a part, or nil.
  package func validator(_ identifier: String) -> String? {
    guard case .file(let bytes)? = try? directory.contents(of: Self.tag(identifier), limit: Self.longestTag) else { return nil }
    return Self.validator(bytes)
  }

  /// The maximum length of a stored validator in bytes; longer ones are ignored.
  private static let longestTag = 512

  /// Returns a validator that was stored or received from a server. Returns nil for invalid ones, such as the zeros that a power failure leaves in
  /// a file. The validator becomes a header line of a request.
  static func validator(_ bytes: some Collection<UInt8>) -> String? {
    guard (1...longestTag).contains(bytes.count), bytes.isPrintableASCII else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: Packs that are read while they arrive

  /// Whether the part of a file has holes.
  func hasMap(_ identifier: String) -> Bool { (try? size(of: Self.map(identifier))) != nil }

  /// Returns the digests of the segments, and which of these are in the part; nil if either is not here.
  func arrived(_ identifier: String, segments count: Int) -> (leaves: [UInt8], map: [UInt8])? {
    guard case .file(let leaves)? = try? directory.contents(of: Self.leaves(identifier), limit: 32 * count), leaves.count == 32 * count,
      case .file(let map)? = try? directory.contents(of: Self.map(identifier), limit: (count + 7) / 8), map.count == (count + 7) / 8
    else { return nil }
    return (leaves, map)
  }

  /// Stores the digests of the segments, before anything is said to be in the part.
  func keep(leaves: [UInt8], map: [UInt8], of identifier: String) throws(PackError) {
    try directory.remove(Self.map(identifier), isOrdered: false)
    try directory.replace(Self.leaves(identifier), with: leaves.byteSpan, by: Self.draft(identifier))
    try keep(map: map, of: identifier)
  }

  /// Stores which segments are in the part. Their bytes must be on the disk.
  func keep(map: [UInt8], of identifier: String) throws(PackError) {
    try directory.replace(Self.map(identifier), with: map.byteSpan, by: Self.draft(identifier))
  }

  /// Keeps only some bytes of a part, each at its place. For a moment, they need their space twice.
  ///
  /// - Parameter map: The segments that these are.
  func shorten(_ identifier: String, to kept: [Range<UInt64>], map: [UInt8]) throws(PackError) {
    let (name, draft) = (Self.part(identifier), Self.draft(identifier))
    // What is not said to be in the part may be there.
    try keep(map: map, of: identifier)
    let part = try writing(name, files.open(name, .readUnlinked, in: handle))
    try? files.remove(draft, .file, in: handle)
    let copy = try writing(draft, files.open(draft, .create(mode: 0o600), in: handle))
    for range in kept {
      try files.forEachPiece(of: part, range, atOnce: 1 << 20, name: name) { (bytes, start) throws(PackError) in
        try writing(draft, files.writeAll(copy, at: start, bytes))
      }
    }
    try writing(draft, files.sync(copy))
    // If power is lost, an older map must not be found beside the new part.
    try directory.settle()
    try writing(name, files.rename(draft, to: name, in: handle))
    // A map of what comes later must not be found beside the old part.
    directory.noteChange(in: ".")
  }

  // MARK: Chunks

  /// The bytes of a file that are here.
  package struct Extent: Hashable, Sendable {
    /// The number of bytes in the part.
    package var offset: UInt64 = 0
    /// The chunks that the part does not contain, in order.
    package var chunks: [Range<UInt64>] = []

    package init() {}

    /// The number of bytes in part and chunks.
    package var size: UInt64 { chunks.reduce(offset) { $0 + UInt64($1.count) } }
  }

  /// Parses the name of a chunk.
  private static func chunk(_ name: String) -> (identifier: String, offset: UInt64)? {
    guard name.hasSuffix(".chunk") else { return nil }
    let front = name.dropLast(".chunk".count)
    guard let point = front.lastIndex(of: "."), let offset = UInt64(front[front.index(after: point)...]) else { return nil }
    return (String(front[..<point]), offset)
  }

  /// Returns which bytes of a file are here.
  package func extent(of identifier: String) throws(FileFailure) -> Extent {
    var extent = Extent()
    extent.offset = try size(of: Self.part(identifier)) ?? 0
    for chunk in try starts(of: identifier) {
      guard let size = try size(of: Self.chunk(identifier, at: chunk)) else { continue }
      let (end, overflow) = chunk.addingReportingOverflow(size)
      let start = max(chunk, extent.chunks.last?.upperBound ?? extent.offset)
      if !overflow, start < end { extent.chunks.append(start..<end) }
    }
    return extent
  }

  /// Returns the offsets of the chunks of a file, in order.
  private func starts(of identifier: String) throws(FileFailure) -> [UInt64] {
    try files.names(in: handle).compactMap { Self.chunk($0.text) }.filter { $0.identifier == identifier }.map(\.offset).sorted()
  }

  /// Returns the size of a file, here or at another path of the volume. Returns nil if it does not exist.
  package func size(of name: String) throws(FileFailure) -> UInt64? {
    try ifPresent(files.status(of: name, in: handle, following: .asThemselves).size)
  }

  /// Moves a file with bytes from an offset on to its place, by one rename. One that begins at 0 replaces everything that is here.
  ///
  /// - Parameters:
  ///   - file: Its path, on the volume of the directory.
  ///   - validator: What the server gave for a file that begins at 0, if anything.
  package func take(_ file: String, as identifier: String, at offset: UInt64, validator: String?) throws(FileFailure) {
    guard offset == 0 else {
      return try files.rename(file, to: path(Self.chunk(identifier, at: offset)), in: nil)
    }
    removePart(identifier)
    try files.rename(file, to: path(Self.part(identifier)), in: nil)
    if let validator { try keep(validator, of: identifier) }
  }

  /// Stores the validator of a part. Not synced to disk: with a wrong one the server sends the whole file, and the digest is checked in any case.
  func keep(_ validator: String, of identifier: String) throws(FileFailure) {
    guard let validator = Self.validator(validator.utf8) else { return }
    let tag = Self.tag(identifier)
    try ifPresent(files.remove(tag, .file, in: handle))
    try files.writeAll(try files.open(tag, .create(mode: 0o600), in: handle), at: 0, Array(validator.utf8).byteSpan)
  }

  /// Appends the chunks that continue the part, and removes each when its bytes are there. It continues one that another process left half appended.
  ///
  /// - Returns: What is here then.
  package func join(_ identifier: String) throws(FileFailure) -> Extent {
    var extent = try extent(of: identifier)
    guard extent.offset > 0 else { return extent }
    for start in try starts(of: identifier) where start <= extent.offset {
      let name = Self.chunk(identifier, at: start)
      guard let size = try size(of: name) else { continue }
      if start + size > extent.offset { try append(name, extent.offset - start..<size, to: identifier, at: extent.offset) }
      extent.offset = max(extent.offset, start + size)
      try ifPresent(files.remove(name, .file, in: handle))
    }
    extent.chunks.removeAll { $0.upperBound <= extent.offset }
    return extent
  }

  private func append(_ name: String, _ range: Range<UInt64>, to identifier: String, at offset: UInt64) throws(FileFailure) {
    let chunk = try files.open(name, .readUnlinked, in: handle)
    let part = try files.open(Self.part(identifier), .writeUnlinked, in: handle)
    var failure: FileFailure?
    do throws(PackError) {
      try files.forEachPiece(of: chunk, range, atOnce: 1 << 20, name: name) { (bytes, start) throws(PackError) in
        do throws(FileFailure) {
          try files.writeAll(part, at: offset + (start - range.lowerBound), bytes)
        } catch {
          failure = error
          throw error.writing(name)
        }
      }
    } catch {
      throw failure ?? .inputOutput
    }
  }
}
