/// An index in memory, in the form of a payload, and in the form that a C program would keep.
final class SampleIndex: ByteSource {
  /// The paths of all entries, in order.
  let paths: [[UInt8]]
  let table: SeekTable
  let payload: [UInt8]
  /// The first path of each block, and the range of its compressed records in ``payload``.
  private var blocks: [(firstPath: [UInt8], records: Range<Int>)] = []

  private static let tarSize: UInt64 = 4 << 20

  init(count: Int) throws(PackError) {
    var noise = Noise(seed: 11)
    let lexicon = Lexicon.standard
    var paths: [[UInt8]] = []
    for number in 0..<count {
      let folder = String(decoding: lexicon.words[number / 40 % lexicon.words.count], as: UTF8.self)
      let name = String(decoding: lexicon.words[lexicon.word(&noise)], as: UTF8.self)
      paths.append(Array("assets/\(folder)/\(name)-\(number).json".utf8))
    }
    self.paths = paths.sorted { $0.lexicographicallyPrecedes($1) }

    let context = try CompressionContext(level: 3)
    func frame(_ content: [UInt8]) throws(PackError) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: PackFormat.Limits.compressBound(content.count))
      var span = bytes.mutableByteSpan
      let count = try context.compress(content.byteSpan, into: &span)
      return Array(bytes.prefix(count))
    }
    func skippable(_ content: [UInt8]) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.append(littleEndian: IndexHead.frameMagic)
      bytes.append(littleEndian: UInt32(content.count))
      return bytes + content
    }

    let data = try frame([UInt8](repeating: 0, count: Int(Self.tarSize)))
    var blockBytes: [UInt8] = []
    var directory: [(length: UInt32, firstPath: [UInt8])] = []
    for start in stride(from: 0, to: count, by: PackFormat.Limits.recordsPerBlock) {
      let members = self.paths[start..<min(count, start + PackFormat.Limits.recordsPerBlock)]
      let records = members.enumerated().map { (row, path) in
        IndexRecord(path: path, kind: .file, size: 512, offset: UInt64(512 + 1024 * row))
      }
      let compressed = try frame(RecordColumns.bytes(for: records))
      let first = self.paths[start]
      directory.append((UInt32(32 * members.count + compressed.count), first))
      let place = data.count + SeekTable.skippableHeaderSize + blockBytes.count
      blocks.append((first, place..<place + compressed.count))
      blockBytes += compressed
      noise.append(32 * members.count, to: &blockBytes)
    }
    let head = IndexHead(
      recordCount: UInt32(count), largestFrame: UInt32(Self.tarSize), contentSize: 512 * UInt64(count), tarSize: Self.tarSize,
      contentRoot: [UInt8](repeating: 0, count: 32))
    let frames = [skippable(blockBytes), skippable(head.bytes + (try frame(IndexDirectory.bytes(for: directory))))]

    var table: [UInt8] = []
    table.append(littleEndian: SeekTable.frameMagic)
    table.append(littleEndian: UInt32(3 * SeekTable.entrySize + SeekTable.footerSize))
    for (compressed, content) in [(data.count, Int(Self.tarSize)), (frames[0].count, 0), (frames[1].count, 0)] {
      table.append(littleEndian: UInt32(compressed))
      table.append(littleEndian: UInt32(content))
    }
    table.append(littleEndian: UInt32(3))
    table.append(0)
    table.append(littleEndian: SeekTable.footerMagic)
    let payload = data + frames[0] + frames[1] + table
    self.table = try SeekTable(parsing: table.byteSpan, payloadSize: UInt64(payload.count))
    self.payload = payload
  }

  func read(at offset: UInt64, into buffer: inout MutableSpan<UInt8>) throws(PackError) {
    let payload = payload
    copy(payload.byteSpan.extracting(Int(offset)..<Int(offset) + buffer.count), to: &buffer)
  }

  /// Returns how many of the wanted paths exist. Searches as a C program would: a binary search for the block, one call of zstd, and a linear
  /// scan of its records.
  func find(_ wanted: [[UInt8]], zstd: DirectZstd) -> Int {
    var found = 0
    let blocks = blocks
    let payload = payload
    for path in wanted {
      var low = 0
      var high = blocks.count
      while low < high {
        let middle = (low + high) / 2
        let firstPath = blocks[middle].firstPath
        if precedes(path.byteSpan, firstPath.byteSpan) { high = middle } else { low = middle + 1 }
      }
      guard low > 0 else { continue }
      let records = blocks[low - 1].records
      unsafe payload.withUnsafeBytes { payload in
        unsafe zstd.withContent(of: UnsafeRawBufferPointer(rebasing: payload[records])) { content in
          var place = 0
          for _ in 0..<PackFormat.Limits.recordsPerBlock {
            var end = place
            while end < content.count, unsafe content[end] != 0 { end += 1 }
            let isSame = unsafe end - place == path.count && content[place..<end].elementsEqual(path)
            if isSame {
              found += 1
              return
            }
            place = min(end + 1, content.count)
          }
        }
      }
    }
    return found
  }
}
