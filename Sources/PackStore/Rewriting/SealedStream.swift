/// Encrypts a payload whose length is not known before, and writes it segment by segment (FORMAT.md §1, §3). No plaintext reaches the disk.
///
/// Memory: two segments. Used by one thread at a time.
final class SealedStream: PayloadSink, @unchecked Sendable {
  private let files: any FileSystem
  private let output: OpenFile
  private let path: String
  private let backend: any CryptoBackend
  /// The largest length of the file in bytes.
  private let limit: UInt64
  private let opened: OpenedHeader
  private let headerSize: Int
  /// The layout of the largest pack, so that every segment but the last has a cipher before the length is known.
  private let largest: SegmentLayout
  private let cipher: SegmentCipher
  private let digest: any DigestContext
  private var plaintext: [UInt8]
  private var ciphertext: [UInt8]
  /// The number of bytes of the current segment so far. A full one is written when another byte follows, because the last segment is sealed as such.
  private var filled = 0
  private var segment: UInt64 = 0
  private var payloadSize: UInt64 = 0
  /// The number of bytes written so far.
  private(set) var size: UInt64 = 0

  /// - Parameters:
  ///   - output: A new file.
  ///   - path: Its path, for errors.
  ///   - limit: The number of bytes that there is room for.
  ///   - header: With the salt.
  init(
    _ output: OpenFile, path: String, limit: UInt64, header: PackHeader, key: borrowing PackKey, files: any FileSystem,
    backend: any CryptoBackend
  ) throws(PackError) {
    self.files = files
    self.output = output
    self.path = path
    self.backend = backend
    self.limit = limit
    let bytes = try HeaderAuthentication.seal(header, key: key, backend: backend)
    // Opened with the code of the readers, so that a header that they would refuse is never written.
    let opened = try HeaderAuthentication.open(bytes.byteSpan, key: key, backend: backend)
    headerSize = bytes.count - SegmentLayout.tinkHeaderSize
    largest = try SegmentLayout(packSize: Limits.packSize, headerSize: headerSize, segmentSize: header.segmentSize)
    cipher = try SegmentCipher(schedule: opened.schedule, layout: largest, backend: backend)
    digest = try backend.makeDigest()
    plaintext = [UInt8](repeating: 0, count: Int(largest.capacity))
    ciphertext = [UInt8](repeating: 0, count: Int(header.segmentSize))
    self.opened = opened
    try write(bytes.byteSpan)
  }

  deinit {
    wipe(&plaintext)
  }

  /// The number of payload bytes that the current segment can hold. Tink's header takes a part of the first one.
  private var room: Int { plaintext.count - (segment == 0 ? SegmentLayout.tinkHeaderSize : 0) }

  /// Appends bytes of the payload.
  package func append(_ bytes: Span<UInt8>) throws(PackError) {
    var done = 0
    while done < bytes.count {
      if filled == room { try seal(with: cipher) }
      let count = min(room - filled, bytes.count - done)
      fill(bytes.extracting(done..<done + count))
      filled += count
      done += count
    }
    payloadSize += UInt64(bytes.count)
  }

  private func fill(_ bytes: Span<UInt8>) {
    var own: [UInt8] = []
    swap(&own, &plaintext)
    defer { swap(&own, &plaintext) }
    var whole = own.mutableByteSpan
    copy(bytes, to: &whole, at: filled)
  }

  /// Writes the last segment and syncs the file.
  ///
  /// - Returns: The SHA-256 of the whole file.
  func finish() throws(PackError) -> [UInt8] {
    let layout = try SegmentLayout(payloadSize: payloadSize, headerSize: headerSize, segmentSize: largest.segmentSize)
    try seal(with: SegmentCipher(schedule: opened.schedule, layout: layout, backend: backend))
    guard size == layout.packSize, segment == layout.segmentCount else {
      throw PackError(.internalError, of: path, "is \(size) bytes instead of \(layout.packSize)")
    }
    try writing(path, files.sync(output))
    return try digest.finish()
  }

  private func seal(with cipher: SegmentCipher) throws(PackError) {
    guard segment < largest.segmentCount - 1 else {
      throw PackError(.limitExceeded, of: path, "would be more than \(Limits.packSize) bytes")
    }
    let content = plaintext
    var sealed: [UInt8] = []
    swap(&sealed, &ciphertext)
    defer { swap(&sealed, &ciphertext) }
    let count = filled + SegmentLayout.tagSize
    do {
      var whole = sealed.mutableByteSpan
      var target = whole._mutatingExtracting(first: count)
      try cipher.seal(segment: segment, content.byteSpan.extracting(first: filled), into: &target)
    }
    try write(sealed.byteSpan.extracting(first: count))
    segment += 1
    filled = 0
  }

  private func write(_ bytes: Span<UInt8>) throws(PackError) {
    guard size.adding(UInt64(bytes.count)) <= limit else {
      throw PackError(.limitExceeded, "the pack made here would be more than \(limit) bytes")
    }
    try files.filling(path, with: UInt64(bytes.count), at: output, files.writeAll(output, at: size, bytes))
    try digest.update(bytes)
    size += UInt64(bytes.count)
  }
}
