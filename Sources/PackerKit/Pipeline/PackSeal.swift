import PackCrypto
import PackFiles
import PackFormat
import PackRuntime

/// Encrypts a finished payload to its place: header, then segments on all cores (FORMAT.md §1, §3).
final class PackSeal: Sendable {
  let packSize: UInt64

  private let spool: PayloadSpool
  private let output: OutputFile
  private let layout: SegmentLayout
  private let headerBytes: [UInt8]
  private let opened: OpenedHeader
  private let backend: any CryptoBackend

  /// Derives salt and keys, and asks for the space that the pack needs.
  init(
    spool: PayloadSpool, header: PackHeader, usesRandomSalt: Bool, key: borrowing PackKey, output: String,
    files: any FileSystem, backend: any CryptoBackend
  ) throws(PackError) {
    self.spool = spool
    self.backend = backend
    var random: [UInt8]?
    defer { if var bytes = random.take() { wipe(&bytes) } }
    if usesRandomSalt {
      var bytes = [UInt8](repeating: 0, count: 32)
      var target = bytes.mutableSpan
      try backend.fillRandom(&target)
      random = bytes
    }
    var header = header
    header.salt = try spool.finish(random: random)
    let headerBytes = try HeaderAuthentication.seal(header, key: key, backend: backend)
    self.headerBytes = headerBytes
    // Opened again by the code of the readers: a header that they would refuse is never written.
    opened = try HeaderAuthentication.open(headerBytes.span, key: key, backend: backend)
    layout = try SegmentLayout(
      payloadSize: spool.size, headerSize: headerBytes.count - SegmentLayout.tinkHeaderSize,
      segmentSize: header.segmentSize)
    packSize = layout.packSize
    self.output = try OutputFile(output, files: files)
    try self.output.reserve(packSize)
  }

  func run(jobs: Int, progress: ProgressHandler?) async throws(PackError) {
    let headerBytes = headerBytes
    try output.write(headerBytes.span, at: 0, of: packSize)
    let counter = ProgressCounter(.sealing, total: spool.size, handler: progress)
    // About 1 MiB at a time, so that a thread writes in large pieces.
    let segmentsAtOnce = max(1, (1 << 20) / UInt64(layout.segmentSize))
    let next = Monitor<UInt64>(0)
    let pieces = (layout.segmentCount + segmentsAtOnce - 1) / segmentsAtOnce
    try await Crew.run(Int(min(UInt64(jobs), pieces))) { [self] (crew, _) throws(PackError) in
      let cipher = try SegmentCipher(schedule: opened.schedule, layout: layout, backend: backend)
      var plaintext = [UInt8](repeating: 0, count: Int(segmentsAtOnce) * Int(layout.segmentSize))
      var ciphertext = plaintext
      defer { wipe(&plaintext) }
      while true {
        try crew.checkpoint()
        let first = next.withLock { next in
          defer { next += segmentsAtOnce }
          return next
        }
        guard first < layout.segmentCount else { return }
        let last = min(first + segmentsAtOnce, layout.segmentCount) - 1
        let payload = layout.payloadRange(ofSegment: first).lowerBound..<layout.payloadRange(ofSegment: last).upperBound
        let pack = layout.packRange(ofSegment: first).lowerBound..<layout.packRange(ofSegment: last).upperBound
        do {
          var whole = plaintext.mutableSpan
          var target = whole._mutatingExtracting(first: payload.count)
          try spool.read(at: payload.lowerBound, into: &target)
        }
        for segment in first...last {
          let from = layout.payloadRange(ofSegment: segment)
          let to = layout.packRange(ofSegment: segment)
          var whole = ciphertext.mutableSpan
          var target = whole._mutatingExtracting(
            Int(to.lowerBound - pack.lowerBound)..<Int(to.upperBound - pack.lowerBound))
          try cipher.seal(
            segment: segment,
            plaintext.span.extracting(
              Int(from.lowerBound - payload.lowerBound)..<Int(from.upperBound - payload.lowerBound)),
            into: &target)
        }
        try output.write(ciphertext.span.extracting(first: pack.count), at: pack.lowerBound, of: packSize)
        counter.add(UInt64(payload.count))
      }
    }
    progress?(PackProgress(phase: .syncing, done: spool.size, total: spool.size))
    try output.commit()
  }
}
