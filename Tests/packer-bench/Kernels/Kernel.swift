/// One piece of work, done by this project and as a C program would do it with the same library.
struct Kernel {
  let name: String
  /// The library that the other side calls.
  let library: String
  /// The amount that one pass handles, in ``unit``.
  let amount: Double
  let unit: String
  /// The share of the library's throughput that this project must reach, or nil if the two sides do not do exactly the same.
  var limit: Limit?
  let ours: () throws(PackError) -> Void
  let direct: () throws(PackError) -> Void

  static let frameSize = 1 << 20
  static let segmentSize = 1 << 16

  /// Every kernel.
  static func all() throws(PackError) -> [Kernel] {
    let text = sample(.texts, 4) { if case .text = $0.content { true } else { false } }
    let media = sample(.media, 4) { if case .media = $0.content { true } else { false } }
    var kernels: [Kernel] = []
    for (name, content) in [("text", text), ("media", media)] {
      kernels.append(try compression(name, content, level: 3))
      kernels.append(try compression(name, Array(content.prefix(1 << 20)), level: 19))
      kernels.append(try decompression(name, content))
    }
    #if canImport(COpenSSL)
      kernels += try encryption(media)
      kernels += try digests(media)
    #endif
    kernels.append(try tarHeaders())
    kernels.append(try lookUps())
    return kernels
  }

  /// Returns some MiB of the files of a corpus that pass a filter.
  private static func sample(_ kind: CorpusKind, _ mebibytes: Int, _ filter: (FileRecipe) -> Bool) -> [UInt8] {
    var content: [UInt8] = []
    var bytes: [UInt8] = []
    for file in CorpusPlan(kind, size: 40_000_000, count: 400, seed: 1).files where filter(file) && content.count < mebibytes << 20 {
      file.make(in: &bytes)
      content += bytes
    }
    return Array(content.prefix(mebibytes << 20))
  }

  private static func compression(_ name: String, _ content: [UInt8], level: Int) throws(PackError) -> Kernel {
    let context = try KeptEncoder(level: level)
    let direct = try DirectZstd(level: level, frameSize: frameSize)
    return Kernel(
      name: "compress \(name) -\(level)", library: "libzstd", amount: Double(content.count), unit: "B", limit: Limit(0.97, 1),
      ours: { () throws(PackError) in try context.compress(content) },
      direct: { () throws(PackError) in _ = direct.compress(content, frameSize: frameSize) })
  }

  private static func decompression(_ name: String, _ content: [UInt8]) throws(PackError) -> Kernel {
    let encoder = try KeptEncoder(level: 3)
    var frames: [[UInt8]] = []
    for start in stride(from: 0, to: content.count, by: frameSize) {
      frames.append(try encoder.frame(Array(content[start..<min(content.count, start + frameSize)])))
    }
    let decoder = try KeptDecoder(content.count)
    let direct = try DirectZstd(level: 3, frameSize: frameSize)
    return Kernel(
      name: "decompress \(name)", library: "libzstd", amount: Double(content.count), unit: "B", limit: Limit(0.97, 1),
      ours: { () throws(PackError) in try decoder.decompress(frames) },
      direct: { () throws(PackError) in _ = direct.decompress(frames) })
  }

  #if canImport(COpenSSL)
    private static func encryption(_ content: [UInt8]) throws(PackError) -> [Kernel] {
      let segments = try KeptCipher(content)
      let direct = try DirectOpenSSL(segmentSize: segmentSize)
      let sealed = direct.sealed(Array(content.prefix(segmentSize - 16)))
      let count = content.count / (segmentSize - 16)
      return [
        Kernel(
          name: "seal", library: "libcrypto, EVP", amount: Double(content.count), unit: "B", limit: Limit(0.97, 1),
          ours: { () throws(PackError) in try segments.seal() }, direct: { () throws(PackError) in _ = direct.seal(content) }),
        Kernel(
          name: "open", library: "libcrypto, EVP", amount: Double(count * (segmentSize - 16)), unit: "B", limit: Limit(0.97, 1),
          ours: { () throws(PackError) in try segments.open(times: count) },
          direct: { () throws(PackError) in
            guard direct.open(sealed, times: count) else { throw PackError(.internalError, "OpenSSL refused its own tag") }
          }),
      ]
    }

    private static func digests(_ content: [UInt8]) throws(PackError) -> [Kernel] {
      let direct = try DirectOpenSSL(segmentSize: segmentSize)
      return try [("SHA-256, 1 MiB", 1 << 20), ("SHA-256, 4 KiB", 4_096)].map { (name, size) throws(PackError) in
        let context = try CryptoBackends.standard.makeDigest()
        return Kernel(
          name: name, library: "libcrypto, EVP", amount: Double(content.count), unit: "B", limit: Limit(0.97, 1),
          ours: { () throws(PackError) in
            var digest = [UInt8](repeating: 0, count: 32)
            var target = digest.mutableByteSpan
            for start in stride(from: 0, to: content.count, by: size) {
              try context.update(content.byteSpan.extracting(start..<min(content.count, start + size)))
              try context.finish(into: &target)
            }
          },
          direct: { () throws(PackError) in direct.digest(content, size: size) })
      }
    }
  #endif

  private static func tarHeaders() throws(PackError) -> Kernel {
    let index = try SampleIndex(count: 2_000)
    let paths = index.paths.map { String(decoding: $0, as: UTF8.self) }
    let headers = paths.map { TarHeader(path: $0, kind: .file, size: 0, linkTarget: nil) }
    let direct = try DirectTar()
    return Kernel(
      name: "tar headers", library: "libarchive", amount: Double(paths.count), unit: "headers",
      ours: { () throws(PackError) in
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1_024 * headers.count)
        for header in headers { header.append(to: &bytes) }
      },
      direct: { () throws(PackError) in _ = direct.write(paths) })
  }

  private static func lookUps() throws(PackError) -> Kernel {
    let index = try SampleIndex(count: 20_000)
    let reader = try IndexReader(source: index, table: index.table, minor: 0)
    let decoder = try KeptDecoder(0)
    let direct = try DirectZstd(level: 3, frameSize: frameSize)
    var noise = Noise(seed: 3)
    let wanted = (0..<200).map { _ in index.paths[noise.below(index.paths.count)] }
    func block(_ number: Int) throws(PackError) -> IndexBlock {
      var order = EntryPath.TreeOrder()
      return try reader.block(number, source: index, decoder: decoder.context, order: &order)
    }
    return Kernel(
      name: "index look-ups", library: "libzstd and a scan", amount: Double(wanted.count), unit: "look-ups",
      ours: { () throws(PackError) in
        for path in wanted {
          guard let number = reader.block(holding: path.byteSpan),
            try block(number).row(of: path.byteSpan) != nil
          else { throw PackError(.internalError, "an entry was not found") }
        }
      },
      direct: { () throws(PackError) in
        guard index.find(wanted, zstd: direct) == wanted.count else { throw PackError(.internalError, "an entry was not found") }
      })
  }
}

/// An encoder with its buffer.
private final class KeptEncoder {
  private let context: CompressionContext
  private var buffer: [UInt8]

  init(level: Int) throws(PackError) {
    context = try CompressionContext(level: level)
    buffer = [UInt8](repeating: 0, count: PackFormat.Limits.compressBound(Kernel.frameSize))
  }

  func compress(_ content: [UInt8]) throws(PackError) {
    var buffer: [UInt8] = []
    swap(&buffer, &self.buffer)
    for start in stride(from: 0, to: content.count, by: Kernel.frameSize) {
      var target = buffer.mutableByteSpan
      _ = try context.compress(content.byteSpan.extracting(start..<min(content.count, start + Kernel.frameSize)), into: &target)
    }
    swap(&buffer, &self.buffer)
  }

  func frame(_ content: [UInt8]) throws(PackError) -> [UInt8] {
    var frame = [UInt8](repeating: 0, count: PackFormat.Limits.compressBound(content.count))
    var target = frame.mutableByteSpan
    let count = try context.compress(content.byteSpan, into: &target)
    return Array(frame.prefix(count))
  }
}

/// A decoder with its buffer.
private final class KeptDecoder {
  let context: DecompressionContext
  private var buffer: [UInt8]
  private let size: Int

  init(_ size: Int) throws(PackError) {
    context = try DecompressionContext()
    buffer = [UInt8](repeating: 0, count: Kernel.frameSize)
    self.size = size
  }

  func decompress(_ frames: [[UInt8]]) throws(PackError) {
    var left = size
    var buffer: [UInt8] = []
    swap(&buffer, &self.buffer)
    for frame in frames {
      let count = min(left, Kernel.frameSize)
      var whole = buffer.mutableByteSpan
      var target = whole._mutatingExtracting(0..<count)
      try context.decompress(frame.byteSpan, into: &target, name: "frame")
      left -= count
    }
    swap(&buffer, &self.buffer)
  }
}

#if canImport(COpenSSL)
  /// The segments of one body, with a buffer.
  private final class KeptCipher {
    private let content: [UInt8]
    private let layout: SegmentLayout
    private let cipher: SegmentCipher
    private var buffer = [UInt8](repeating: 0, count: Kernel.segmentSize)
    private let sealed: [UInt8]

    init(_ content: [UInt8]) throws(PackError) {
      self.content = content
      let header = PackHeader(
        segmentSize: UInt32(Kernel.segmentSize), flags: 0, packVersion: 1, packID: [UInt8](repeating: 1, count: 32),
        salt: [UInt8](repeating: 2, count: 32))
      let key = try PackKey(bytes: [UInt8](repeating: 3, count: 32).byteSpan)
      let schedule = try KeySchedule(key: key, core: header.bytes.byteSpan)
      layout = try SegmentLayout(payloadSize: UInt64(content.count), headerSize: 256, segmentSize: UInt32(Kernel.segmentSize))
      cipher = try SegmentCipher(schedule: schedule, layout: layout)
      // A segment in the middle, which has the full size.
      let range = layout.payloadRange(ofSegment: 1)
      var segment = [UInt8](repeating: 0, count: Int(range.count) + 16)
      var target = segment.mutableByteSpan
      try cipher.seal(segment: 1, content.byteSpan.extracting(Int(range.lowerBound)..<Int(range.upperBound)), into: &target)
      sealed = segment
    }

    func seal() throws(PackError) {
      let content = content
      var buffer: [UInt8] = []
      swap(&buffer, &self.buffer)
      for segment in 0..<layout.segmentCount {
        let range = layout.payloadRange(ofSegment: segment)
        var whole = buffer.mutableByteSpan
        var target = whole._mutatingExtracting(0..<Int(range.count) + 16)
        try cipher.seal(segment: segment, content.byteSpan.extracting(Int(range.lowerBound)..<Int(range.upperBound)), into: &target)
      }
      swap(&buffer, &self.buffer)
    }

    func open(times: Int) throws(PackError) {
      let sealed = sealed
      var buffer: [UInt8] = []
      swap(&buffer, &self.buffer)
      for _ in 0..<times {
        var whole = buffer.mutableByteSpan
        var target = whole._mutatingExtracting(0..<sealed.count - 16)
        try cipher.open(segment: 1, sealed.byteSpan, into: &target)
      }
      swap(&buffer, &self.buffer)
    }
  }
#endif
