/// The file of an open pack and what is needed to open its segments. Shared by all readers of the pack.
package final class PackSource: Sendable {
  package let held: HeldFile
  package let files: any FileSystem
  package let path: String
  package let layout: SegmentLayout
  package let backend: any CryptoBackend
  /// What says which bytes of the file are here; nil if all are.
  fileprivate let arrival: (any PackArrival)?
  fileprivate let opened: OpenedHeader

  package var header: PackHeader { opened.header }
  package var stanzas: KeyStanzas { opened.stanzas }
  /// Whether its file may have been incomplete when it was opened.
  package var isArriving: Bool { arrival != nil }
  /// The open file.
  package var file: OpenFile { get throws(PackError) { try held.open() } }

  /// - Parameter start: the start of the pack at `path`, which was already read.
  package init(
    _ start: PackStart, path: String, key: borrowing PackKey, files: any FileSystem, backend: any CryptoBackend,
    arrival: (any PackArrival)? = nil
  ) throws(PackError) {
    self.path = path
    self.arrival = arrival
    self.files = files
    self.backend = backend
    held = HeldFile(start.file, path: path, files: files) { () throws(FileFailure) in try files.open(path, .read, in: nil) }
    layout = start.layout
    do throws(PackError) {
      opened = try HeaderAuthentication.open(start.bytes.byteSpan, key: key, backend: backend)
      try start.layout.checkLastSegment()
    } catch {
      throw error.about(path)
    }
  }

  /// Checks that the pack was made under this name. An intact pack may still be the wrong one, for example a renamed file.
  ///
  /// - Throws: ``PackError/Code/wrongPack`` if the name differs.
  package func checkName(_ name: PackName) throws(PackError) {
    guard try PackID.bytes(for: name, backend: backend) == header.packID else {
      throw PackError(.wrongPack, "pack was made under another name than '\(name)'", advice: .fetchAgain).about(self)
    }
  }

  /// Creates a cipher for one reader.
  fileprivate func makeCipher() throws(PackError) -> SegmentCipher {
    try SegmentCipher(schedule: opened.schedule, layout: layout, backend: backend)
  }
}

/// Reads the plaintext of a pack's segments. Used by one worker only: it reuses one cipher and its buffers. These grow up to 64 KiB of ciphertext (or
/// one segment if that is more) and one segment of plaintext.
package final class SegmentReader: ByteSource {
  private struct Buffers {
    var ciphertext: [UInt8] = []
    var segment: [UInt8] = []
    /// The segment whose plaintext is in `segment`.
    var cached: UInt64?
  }

  private let source: PackSource
  private let cipher: SegmentCipher
  /// The maximum number of bytes of ciphertext read by one call.
  private var capacity: Int { max(64 << 10, Int(source.layout.segmentSize)) }
  private var buffers = Buffers()
  /// The number of bytes of plaintext decrypted so far.
  package private(set) var decryptedBytes: UInt64 = 0

  package init(_ source: PackSource) throws(PackError) {
    self.source = source
    cipher = try source.makeCipher()
  }

  deinit {
    wipe(&buffers.segment)
  }

  package func read(at offset: UInt64, into buffer: inout MutableSpan<UInt8>) throws(PackError) {
    guard !buffer.isEmpty else { return }
    let layout = source.layout
    let end = offset + UInt64(buffer.count)
    guard end <= layout.payloadSize else {
      throw PackError(.damagedPayload, "payload is \(layout.payloadSize) bytes, but bytes up to \(end) were requested")
    }
    // Moved out and back, because spans of a class's own arrays cannot be lent.
    var own = Buffers()
    swap(&own, &buffers)
    defer { swap(&own, &buffers) }
    let wanted = layout.segment(holding: offset)...layout.segment(holding: end - 1)
    try require(wanted)
    var first = wanted.lowerBound
    if own.cached == first {
      copyCached(own.segment, of: first, offset..<end, into: &buffer)
      first += 1
    }
    while first <= wanted.upperBound {
      // Reads as many whole segments in one call as fit into the buffer.
      let last = min(wanted.upperBound, first + UInt64(capacity) / UInt64(layout.segmentSize) - 1)
      let start = layout.packRange(ofSegment: first).lowerBound
      try load(start, Int(layout.packRange(ofSegment: last).upperBound - start), into: &own)
      for index in first...last {
        let range = layout.packRange(ofSegment: index)
        try open(
          index, at: Int(range.lowerBound - start)..<Int(range.upperBound - start), of: offset..<end, into: &buffer,
          from: own.ciphertext, by: &own.segment, caching: &own.cached)
      }
      first = last + 1
    }
  }

  /// Opens the last segment, which authenticates the length of the pack (FORMAT.md §3.4).
  package func openLastSegment() throws(PackError) {
    let layout = source.layout
    let last = layout.segmentCount - 1
    let range = layout.packRange(ofSegment: last)
    let payload = layout.payloadRange(ofSegment: last)
    try require(last...last)
    try load(range.lowerBound, range.count, into: &buffers)
    buffers.cached = nil
    var plaintext = [UInt8](repeating: 0, count: payload.count)
    var target = plaintext.mutableByteSpan
    let ciphertext = buffers.ciphertext
    let bytes = ciphertext.byteSpan.extracting(first: range.count)
    do throws(PackError) {
      try cipher.open(segment: last, bytes, into: &target)
    } catch {
      // If the segment was sealed as one that others follow, the pack was truncated after it.
      guard cipher.wasSealedAsMiddle(segment: last, bytes, scratch: &target) else {
        guard error.code == .authenticationFailed else { throw error }
        throw PackError(error.code, "\(error.message); it is the last one, so the pack was changed or truncated", advice: .fetchAgain)
      }
      throw PackError(
        .truncated, "pack ends after segment \(last), at byte \(layout.packSize), but more must follow",
        advice: .fetchAgain)
    }
    wipe(&plaintext)
  }

  /// Returns when these segments are here, of a pack that is still arriving.
  private func require(_ segments: ClosedRange<UInt64>) throws(PackError) {
    guard let arrival = source.arrival else { return }
    let layout = source.layout
    let range = layout.packRange(ofSegment: segments.lowerBound).lowerBound..<layout.packRange(ofSegment: segments.upperBound).upperBound
    try ParkedReading.require(range, of: arrival)
  }

  private func load(_ start: UInt64, _ length: Int, into own: inout Buffers) throws(PackError) {
    if own.ciphertext.count < length { own.ciphertext = [UInt8](repeating: 0, count: length) }
    var whole = own.ciphertext.mutableByteSpan
    var target = whole._mutatingExtracting(first: length)
    try source.files.readExactly(source.file, at: start, into: &target, name: source.path)
  }

  /// Opens a segment whose ciphertext is in `range` of its buffer. Decrypts directly into `buffer` if the whole segment is wanted.
  private func open(
    _ index: UInt64, at range: Range<Int>, of wanted: Range<UInt64>, into buffer: inout MutableSpan<UInt8>,
    from ciphertext: borrowing [UInt8], by segment: inout [UInt8], caching cached: inout UInt64?
  ) throws(PackError) {
    let payload = source.layout.payloadRange(ofSegment: index)
    decryptedBytes += UInt64(payload.count)
    if wanted.contains(payload) {
      let place = Int(payload.lowerBound - wanted.lowerBound)
      var target = buffer._mutatingExtracting(place..<place + payload.count)
      try cipher.open(segment: index, ciphertext.byteSpan.extracting(range), into: &target)
    } else {
      cached = nil
      if segment.count < payload.count { segment = [UInt8](repeating: 0, count: payload.count) }
      do {
        var whole = segment.mutableByteSpan
        var target = whole._mutatingExtracting(first: payload.count)
        try cipher.open(segment: index, ciphertext.byteSpan.extracting(range), into: &target)
      }
      cached = index
      copyCached(segment, of: index, wanted, into: &buffer)
    }
  }

  /// Copies the wanted part of the plaintext of segment `index`.
  private func copyCached(
    _ segment: borrowing [UInt8], of index: UInt64, _ wanted: Range<UInt64>, into buffer: inout MutableSpan<UInt8>
  ) {
    let payload = source.layout.payloadRange(ofSegment: index)
    let shared = payload.clamped(to: wanted)
    let from = Int(shared.lowerBound - payload.lowerBound)
    let to = Int(shared.lowerBound - wanted.lowerBound)
    copy(segment.byteSpan.extracting(from..<from + shared.count), to: &buffer, at: to)
  }
}

extension Range<UInt64> {
  /// Whether all of `other` is in the range.
  fileprivate func contains(_ other: Range<UInt64>) -> Bool {
    lowerBound <= other.lowerBound && other.upperBound <= upperBound
  }
}
