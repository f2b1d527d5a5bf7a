import TestSupport

extension FuzzTarget {
  private static let readers = [
    "Sources/PackReading/Pack.swift", "Sources/PackReading/PackSource.swift", "Sources/PackReading/PackReader.swift",
    "Sources/PackReading/ContentTable.swift", "Sources/PackReading/TreeWalk.swift", "Sources/PackReading/StagingWriter.swift",
    "Sources/PackReading/RecordBatch.swift", "Sources/PackReading/Payload/IndexReader.swift", "Sources/PackFormat/PayloadIndex.swift",
    "Sources/PackFormat/SeekTable.swift", "Sources/PackGate/Packs/ArchiveComparison.swift",
  ]

  /// A whole pack with the input as its payload and valid tags, as the holder of the key could make it.
  ///
  /// The first byte is the minor version, the second one selects the segment size.
  static let pack = FuzzTarget(
    "pack", largestInput: 16_384, rounds: 300, files: readers,
    seeds: {
      var seeds: [FuzzSeed] = []
      for name in TestVector.all {
        let vector = try TestVector(named: name)
        guard let (header, payload) = Sealing.payload(of: vector.pack, key: vector.key.bytes), payload.count <= 6000 else { continue }
        let title = name.dropLast(7).split(separator: "/").joined(separator: "-")
        seeds.append(FuzzSeed(title, [header.minor, UInt8(truncatingIfNeeded: header.segmentSize.trailingZeroBitCount - 12)] + payload))
      }
      return seeds
    },
    run: { (input) throws(BrokenPromise) in
      var feed = ByteFeed(input)
      let (minor, size) = (feed.byte(), feed.byte())
      let payload = feed.rest()
      let sealed = try required("sealing") { () throws(PackError) in
        try Sealing.pack(payload, header: try Sealing.header(segmentSize: 4096 << UInt32(size % 9), minor: minor))
      }
      let trial = PackTrial(sealed)
      guard let pack = try trial.open() else { return }
      _ = try trial.examine(pack)
    })

  /// A whole pack with tar and records from the input. Everything else is computed from them: lengths, digests, directory, tags.
  ///
  /// The first byte is the frame size, the second one the minor version. Then come the length of the tar, the tar, and the records.
  static let tree = FuzzTarget(
    "tree", largestInput: 12_288, rounds: 300, files: readers,
    seeds: {
      func seed(_ name: String, cut: UInt8 = 15, _ entries: [(path: String, content: String?)], links: [String: String] = [:]) throws
        -> FuzzSeed
      {
        var tar: [UInt8] = []
        var records: [(path: String, bytes: [UInt8])] = []
        var places: [String: (UInt64, UInt64)] = [:]
        for (path, content) in entries {
          let bytes = Array((content ?? "").utf8)
          let kind: IndexRecord.Kind = content == nil ? .directory : path.hasSuffix(".sh") ? .executable : .file
          let target = links[path]
          TarHeader(path: path, kind: kind, size: target == nil ? UInt64(bytes.count) : 0, linkTarget: target).append(to: &tar)
          var place = (UInt64(bytes.count), bytes.isEmpty ? 0 : UInt64(tar.count))
          if let target { place = places[target] ?? place }
          places[path] = place
          if target == nil { tar += bytes + [UInt8](repeating: 0, count: (512 - bytes.count % 512) % 512) }
          var record: [UInt8] = []
          IndexRecord(path: Array(path.utf8), kind: kind, size: place.0, offset: place.1).appendAsInput(to: &record)
          records.append((path, record))
        }
        tar += [UInt8](repeating: 0, count: 1024)
        records.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        return FuzzSeed(name, [cut, 0] + lengthAndBytes(tar) + records.flatMap(\.bytes))
      }
      return [
        try seed("none", []), try seed("one", [("a.txt", "hello")]),
        try seed("three", cut: 1, [("a.txt", "hello"), ("b/run.sh", String(repeating: "x", count: 1300)), ("d", nil)]),
        try seed("link", [("a", "same"), ("b", "same")], links: ["b": "a"]), try seed("empty", [("a", ""), ("b/c", "")]),
        try seed("pax", [(String(repeating: "long/", count: 40) + "ä", "text")]),
      ]
    },
    run: { (input) throws(BrokenPromise) in
      let made = TreeInput(input)
      let sealed = try required("making a pack") { () throws(PackError) in
        try Sealing.pack(try made.payload(), header: try Sealing.header(minor: made.minor))
      }
      let trial = PackTrial(sealed)
      guard let pack = try trial.open(), let tree = try trial.examine(pack) else { return }
      for content in tree where !content.isDirectory {
        guard let record = made.records.first(where: { $0.path == Array(content.path.utf8) }) else {
          throw BrokenPromise("'\(content.path)' was unpacked, but not packed")
        }
        try hold(made.content(of: record) == content.bytes, "'\(content.path)' differs from what was packed")
      }
    })

  /// A pack that was changed without the key. Readers return only content of the original pack.
  ///
  /// The input is a list of changes: the kind (change, cut, add, copy), the place, and a value.
  static let tamper = FuzzTarget(
    "tamper", largestInput: 256, rounds: 300, files: ["Sources/PackReading/PackSource.swift", "Sources/PackCrypto/SegmentCipher.swift"],
    seeds: {
      [
        FuzzSeed("nothing", [UInt8]()), FuzzSeed("flip", [0, 0x40, 0x01, 1]), FuzzSeed("flip-body", [0, 0x00, 0x10, 0x80]),
        FuzzSeed("cut", [1, 0x00, 0x10, 0]), FuzzSeed("cut-segment", [1, 0, 0, 1]), FuzzSeed("add", [2, 0, 0, 9]),
        FuzzSeed("copy", [3, 0xB4, 0x10, 0]),
        FuzzSeed("size", [0, 12, 0, 0x30]),
      ]
    },
    run: { (input) throws(BrokenPromise) in
      let original = try required("the pack") { () throws(PackError) in try TamperedPack.original.get() }
      var pack = original.pack
      var feed = ByteFeed(input)
      while !feed.isEmpty {
        let (kind, place, value) = (feed.byte(), Int(feed.number(width: 2)), feed.byte())
        guard !pack.isEmpty else { break }
        switch kind % 4 {
        case 0: pack[place % pack.count] ^= value
        // At any byte, or after a whole segment: the header of this pack ends at byte 144.
        case 1:
          pack.removeLast(value & 1 == 0 ? min(pack.count, 1 + place % pack.count) : max(0, pack.count - 144 - 4096 * (1 + place % 4)))
        case 2: pack += [UInt8](repeating: value, count: 1 + place % 5000)
        default:
          // Copies a segment to another place, as far as both exist.
          let (from, to) = (Int(value % 4) * 4096 + 184, place % pack.count)
          let count = min(4096, pack.count - min(from, pack.count), pack.count - to)
          if count > 0 { pack.replaceSubrange(to..<to + count, with: Array(pack[from..<from + count])) }
        }
      }
      let trial = PackTrial(pack)
      guard let opened = try trial.open() else { return }
      var position: UInt64 = 0
      // Everything that a reader returns, piece by piece, whatever else is wrong.
      let segments = try accepted { () throws(PackError) in try PackReader(opened) }
      while let segments, position < UInt64(original.payload.count) {
        let end = min(position + 512, UInt64(original.payload.count), opened.layout.payloadSize)
        guard position < end else { break }
        if let piece = try accepted({ () throws(PackError) in try segments.payload(position..<end) }) {
          try hold(
            piece == Array(original.payload[Int(position)..<Int(end)]), "bytes were returned that differ from the original, at \(position)")
        }
        position = end
      }
      for (path, content) in original.contents {
        if let read = try accepted({ () throws(PackError) in try opened.read(path) }) {
          try hold(read == content, "'\(path)' was returned with changes")
        }
      }
      if let tree = try trial.examine(opened) {
        try hold(pack == original.pack, "a changed pack counts as valid")
        try hold(tree.count == original.contents.count, "the unpacked tree differs from the packed one")
      } else {
        try hold(pack != original.pack, "the unchanged pack counts as damaged")
      }
    })
}

/// A valid pack, and its content.
private struct TamperedPack: Sendable {
  let pack: [UInt8]
  let payload: [UInt8]
  let contents: [String: [UInt8]]

  static let original: Result<TamperedPack, PackError> = {
    do throws(PackError) { return .success(try TamperedPack()) } catch { return .failure(error) }
  }()

  private init() throws(PackError) {
    var noise = SeededGenerator(seed: 7)
    var tar: [UInt8] = []
    var records: [UInt8] = []
    var contents: [String: [UInt8]] = [:]
    for (name, size) in [("a", 5000), ("b", 1), ("c", 4000)] {
      let bytes = noise.bytes(size)
      TarHeader(path: name, kind: .file, size: UInt64(size), linkTarget: nil).append(to: &tar)
      IndexRecord(path: Array(name.utf8), kind: .file, size: UInt64(size), offset: UInt64(tar.count)).appendAsInput(to: &records)
      tar += bytes + [UInt8](repeating: 0, count: (512 - size % 512) % 512)
      contents[name] = bytes
    }
    tar += [UInt8](repeating: 0, count: 1024)
    payload = try TreeInput([3, 0] + lengthAndBytes(tar) + records).payload()
    pack = try Sealing.pack(payload, header: try Sealing.header())
    self.contents = contents
  }
}

/// The tar and the records of an input, and the payload made from them.
struct TreeInput {
  let minor: UInt8
  /// The tar, padded to a legal length.
  let tar: [UInt8]
  /// The records that could be read. The rest of the input is ignored.
  let records: [IndexRecord]
  private let frameSize: Int

  init(_ input: [UInt8]) {
    var feed = ByteFeed(input)
    let cut = feed.byte()
    minor = feed.byte() & 1
    var tar = feed.piece()
    tar += [UInt8](repeating: 0, count: max(1024 - tar.count, (512 - tar.count % 512) % 512))
    self.tar = tar
    frameSize = (1 + Int(cut)) * 512
    var records: [IndexRecord] = []
    let rest = feed.rest()
    var place = 0
    while place + IndexRecord.inputSize <= rest.count, records.count < 1000 {
      var fields = ByteFeed(Array(rest[place...].prefix(IndexRecord.inputSize)))
      let length = Int(fields.number(width: 2))
      let kind = IndexRecord.Kind(rawValue: fields.byte()) ?? .file
      let (size, offset) = (fields.number(width: 8), fields.number(width: 8))
      place += IndexRecord.inputSize
      records.append(IndexRecord(path: Array(rest[place...].prefix(length)), kind: kind, size: size, offset: offset))
      place = min(rest.count, place + length)
    }
    self.records = records
  }

  /// Returns the part of the tar that a record names, or no bytes if it is outside of the tar.
  func content(of record: IndexRecord) -> [UInt8] {
    guard record.offset <= UInt64(tar.count), record.size <= UInt64(tar.count) - record.offset else { return [] }
    return Array(tar[Int(record.offset)..<Int(record.offset + record.size)])
  }

  func payload() throws(PackError) -> [UInt8] {
    var payload: [UInt8] = []
    var frames: [(compressed: UInt32, content: UInt32)] = []
    var largest = 0
    for start in stride(from: 0, to: tar.count, by: frameSize) {
      let content = Array(tar[start..<min(start + frameSize, tar.count)])
      let frame = try Sealing.frame(content)
      payload += frame
      frames.append((UInt32(frame.count), UInt32(content.count)))
      largest = max(largest, content.count)
    }
    let root = try ContentRoot(backend: CryptoBackends.standard)
    let encoder = try CompressionContext(level: 1)
    var contentSize: UInt64 = 0
    var index = IndexEncoder()
    for start in stride(from: 0, to: records.count, by: Limits.recordsPerBlock) {
      var block = IndexEncoder.BlockEncoder()
      for record in records[start..<min(start + Limits.recordsPerBlock, records.count)] {
        let digest = record.kind == .directory ? IndexRecord.noDigest : try Sealing.digest(content(of: record))
        block.add(record, digest: digest.byteSpan)
        try root.add(path: record.path.byteSpan, kind: record.kind, size: record.size, digest: digest.byteSpan)
        contentSize &+= record.size
      }
      index.add(try block.finish(by: encoder))
    }
    let head = IndexHead(
      recordCount: UInt32(records.count), largestFrame: UInt32(largest), contentSize: contentSize, tarSize: UInt64(tar.count),
      contentRoot: try root.finish())
    try index.finish(head, frames: frames, by: encoder) { (bytes) throws(PackError) in payload.append(copying: bytes) }
    return payload
  }
}
