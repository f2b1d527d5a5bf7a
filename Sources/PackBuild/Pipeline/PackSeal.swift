/// Encrypts a finished payload in place: header, then segments on all cores (FORMAT.md §1, §3).
final class PackSeal: Sendable {
  let packSize: UInt64
  let payloadSize: UInt64

  private let draft: PackDraft
  private let layout: SegmentLayout
  private let headerBytes: [UInt8]
  private let opened: OpenedHeader
  private let backend: any CryptoBackend
  /// The number of pieces written. Locked while a piece is written, so that threads do not wait for each other in the system.
  private let written = Monitor(0)

  /// The approximate number of bytes that are read, encrypted and written at a time. They fit in the cache of a core.
  private static let pieceSize: UInt64 = 256 << 10

  /// Derives the salt and the keys.
  init(
    _ draft: PackDraft, header: PackHeader, usesRandomSalt: Bool, key: borrowing PackKey, backend: any CryptoBackend
  ) throws(PackError) {
    self.draft = draft
    self.backend = backend
    var random: [UInt8]?
    defer { if var bytes = random.take() { wipe(&bytes) } }
    if usesRandomSalt {
      var bytes = [UInt8](repeating: 0, count: 32)
      var target = bytes.mutableByteSpan
      try backend.fillRandom(&target)
      random = bytes
    }
    var header = header
    header.salt = try draft.makeSalt(random: random)
    let headerBytes = try HeaderAuthentication.seal(header, key: key, backend: backend)
    self.headerBytes = headerBytes
    // Opened with the code of the readers, so that a header that they would refuse is never written.
    opened = try HeaderAuthentication.open(headerBytes.byteSpan, key: key, backend: backend)
    payloadSize = draft.size
    layout = try SegmentLayout(
      payloadSize: payloadSize, headerSize: headerBytes.count - SegmentLayout.tinkHeaderSize,
      segmentSize: header.segmentSize)
    packSize = layout.packSize
  }

  /// Encrypts the payload, and gives the pack its name.
  ///
  /// - Parameter check: Called before that, with the finished file.
  func run(
    jobs: Int, progress: ProgressHandler?, check: @escaping @Sendable (OpenFile) throws(PackError) -> Void = { _ in }
  ) async throws(PackError) {
    let headerBytes = headerBytes
    try draft.output.write(headerBytes.byteSpan, at: 0, of: packSize)
    let counter = ProgressCounter(.sealing, total: payloadSize, handler: progress)
    let segmentsAtOnce = max(1, Self.pieceSize / UInt64(layout.segmentSize))
    let next = Monitor<UInt64>(0)
    let pieces = (layout.segmentCount + segmentsAtOnce - 1) / segmentsAtOnce
    try await WorkerPool.run(Int(min(UInt64(jobs), pieces))) { [self] (pool, _) throws(PackError) in
      let cipher = try SegmentCipher(schedule: opened.schedule, layout: layout, backend: backend)
      var plaintext = [UInt8](repeating: 0, count: Int(segmentsAtOnce) * Int(layout.segmentSize))
      var ciphertext = plaintext
      defer { wipe(&plaintext) }
      while true {
        try pool.checkpoint()
        let first = next.withLock { next in
          defer { next += segmentsAtOnce }
          return next
        }
        guard first < layout.segmentCount else { return }
        let last = min(first + segmentsAtOnce, layout.segmentCount) - 1
        let pack = layout.packRange(ofSegment: first).lowerBound..<layout.packRange(ofSegment: last).upperBound
        do {
          // The last tag is not written yet, and nothing follows the payload.
          var whole = plaintext.mutableByteSpan
          var target = whole._mutatingExtracting(first: pack.count - SegmentLayout.tagSize)
          try draft.read(at: pack.lowerBound, into: &target)
        }
        for segment in first...last {
          let range = layout.packRange(ofSegment: segment)
          let start = Int(range.lowerBound - pack.lowerBound)
          var whole = ciphertext.mutableByteSpan
          var target = whole._mutatingExtracting(start..<start + range.count)
          try cipher.seal(
            segment: segment, plaintext.byteSpan.extracting(start..<start + range.count - SegmentLayout.tagSize), into: &target)
        }
        try written.withLock { (written) throws(PackError) in
          try draft.output.write(ciphertext.byteSpan.extracting(first: pack.count), at: pack.lowerBound, of: packSize)
          written += 1
        }
        let payload = layout.payloadRange(ofSegment: first).lowerBound..<layout.payloadRange(ofSegment: last).upperBound
        counter.add(UInt64(payload.count))
      }
    }
    guard written.withLock({ $0 }) == pieces else {
      throw PackError(.internalError, of: draft.output.path, "was not encrypted completely")
    }
    try await WorkerPool.value { [draft] (_) throws(PackError) in try check(draft.output.file) }
    progress?(PackProgress(phase: .syncing, done: payloadSize, total: payloadSize))
    try draft.output.commit()
  }
}
