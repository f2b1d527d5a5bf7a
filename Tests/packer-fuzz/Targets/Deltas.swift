import TestSupport

extension FuzzTarget {
  /// A delta over a known base, with the fields of its head and its windows from the input and valid tags, as the holder of the key could make it.
  ///
  /// The first byte is the minor version. Then come the length of the head, the head before compression, and the windows.
  static let deltas = FuzzTarget(
    "deltas", largestInput: 8192, rounds: 300,
    files: [
      "Sources/PackFormat/Varint.swift", "Sources/PackStore/Deltas/DeltaHead.swift", "Sources/PackStore/Deltas/DeltaPack.swift",
      "Sources/PackStore/Deltas/DeltaApplication.swift", "Sources/PackStore/Deltas/DeltaTarget.swift",
      "Sources/PackStore/Deltas/StreamReader.swift", "Sources/PackStore/Deltas/CopyStream.swift",
      "Sources/PackStore/Deltas/BaseString.swift", "Sources/PackStore/Deltas/TreeList.swift", "Sources/PackStore/Deltas/BaseRecords.swift",
      "Sources/PackStore/Rewriting/RewritePlan.swift",
    ],
    seeds: { try DeltaSample.base.get().seeds() },
    run: { (input) throws(BrokenPromise) in
      let base = try required("the base") { () throws(PackError) in try DeltaSample.base.get() }
      var feed = ByteFeed(input)
      let minor = feed.byte() & 1
      let head = feed.piece()
      let windows = feed.rest()
      guard !head.isEmpty else { return }
      let sealed = try required("sealing") { () throws(PackError) in
        let frame = try Sealing.frame(head)
        var header = try Sealing.header(minor: minor)
        header.kind = .delta
        return try Sealing.pack(windows + frame + DeltaHead.trailer(headSize: frame.count), header: header)
      }
      let trial = PackTrial(sealed)
      let below = try required("opening the base") { () throws(PackError) in try base.open() }
      guard let (delta, _) = try trial.apply(over: [below]) else { return }
      try hold(delta.head.target == Array(head.dropFirst(33).prefix(32)), "the delta has another content root than its head")
    })
}

/// A base, and deltas over it.
struct DeltaSample: Sendable {
  /// A file of a target.
  private enum Source {
    case same
    case moved(Int)
    case new([UInt8])
    case again(Int)
  }

  private let sealed: [UInt8]
  private let records: [IndexRecord]
  private let contents: [String: [UInt8]]
  private let string: BaseString

  static let base: Result<DeltaSample, PackError> = {
    do throws(PackError) { return .success(try DeltaSample()) } catch { return .failure(error) }
  }()

  private init() throws(PackError) {
    var noise = SeededGenerator(seed: 11)
    var tar: [UInt8] = []
    var records: [IndexRecord] = []
    var contents: [String: [UInt8]] = [:]
    var list: [UInt8] = []
    let text = Array((0..<90).map { "line \($0) of a text that repeats itself\n" }.joined().utf8)
    for (name, bytes) in [("a.txt", text), ("b.bin", noise.bytes(2000)), ("c/d", [7]), ("c/empty", [])] {
      TarHeader(path: name, kind: .file, size: UInt64(bytes.count), linkTarget: nil).append(to: &tar)
      records.append(
        IndexRecord(path: Array(name.utf8), kind: .file, size: UInt64(bytes.count), offset: bytes.isEmpty ? 0 : UInt64(tar.count)))
      tar += bytes + [UInt8](repeating: 0, count: (512 - bytes.count % 512) % 512)
      contents[name] = bytes
      list += Self.line(name, UInt64(bytes.count))
    }
    tar += [UInt8](repeating: 0, count: 1024)
    var bytes: [UInt8] = []
    for record in records { record.appendAsInput(to: &bytes) }
    let payload = try TreeInput([3, 0] + lengthAndBytes(tar) + bytes).payload()
    sealed = try Sealing.pack(payload, header: try Sealing.header())
    self.records = records
    self.contents = contents
    var string = BaseString()
    string.add(list: list)
    for record in records where record.size > 0 { string.add(contentAt: record.offset, size: record.size) }
    self.string = string
  }

  /// Opens the base. It is closed with its last reference, so that nothing stays open.
  func open() throws(PackError) -> Pack {
    let disk = MemoryDisk()
    disk.write(sealed, to: "/p/base.pack")
    return try Pack("/p/base.pack", key: knownKey(), files: MemoryFiles(disk), backend: CryptoBackends.standard)
  }

  private static func line(_ path: String, _ size: UInt64) -> [UInt8] {
    var line = Array(path.utf8) + [0, IndexRecord.Kind.file.rawValue]
    Varint.append(size, to: &line)
    return line
  }

  /// Returns inputs of the target.
  func seeds() throws -> [FuzzSeed] {
    let text = contents["a.txt"] ?? []
    let edited = Array(text[..<1000]) + Array("another line\n".utf8) + Array(text[1100...])
    let start = string.range(of: 1).lowerBound
    let copies = [
      DeltaHead.Copy(gap: 0, place: start, length: 1000),
      DeltaHead.Copy(gap: 13, place: start + 1100, length: UInt32(text.count - 1100)),
    ]
    return [
      try seed("unchanged", [("a.txt", .same), ("b.bin", .same), ("c/d", .same), ("c/empty", .new([]))]),
      try seed("edited", [("a.txt", .new(edited)), ("b.bin", .same), ("c/d", .same)], copies),
      try seed("moved", [("b.bin", .same), ("text", .moved(0)), ("twice", .moved(0))]),
      try seed("new", [("x", .new(Array("hello".utf8))), ("y", .again(0))]),
      try seed("ranges", [("z", .new(Array(text[100..<900]) + [1, 2, 3]))], extras: [start + 50..<start + 950]),
      try seed("none", []),
    ]
  }

  private func seed(
    _ name: String, _ files: [(path: String, source: Source)], _ copies: [DeltaHead.Copy] = [], extras: [Range<UInt64>] = []
  ) throws -> FuzzSeed {
    let root = try ContentRoot(backend: CryptoBackends.standard)
    var lines: [UInt8] = []
    var (moved, repeated): ([DeltaHead.Moved], [DeltaHead.Repeated]) = ([], [])
    var new: [(record: Int, content: [UInt8])] = []
    for (number, file) in files.enumerated() {
      var content: [UInt8]
      switch file.source {
      case .same: content = contents[file.path] ?? []
      case .moved(let record):
        content = contents[String(decoding: records[record].path, as: UTF8.self)] ?? []
        moved.append(DeltaHead.Moved(record: UInt32(number), content: UInt32(record)))
      case .new(let bytes):
        content = bytes
        if !bytes.isEmpty { new.append((number, bytes)) }
      case .again(let source):
        content = new[source].content
        repeated.append(DeltaHead.Repeated(record: UInt32(number), source: UInt32(source)))
      }
      lines += Self.line(file.path, UInt64(content.count))
      let digest = try Sealing.digest(content)
      try root.add(path: Array(file.path.utf8).byteSpan, kind: .file, size: UInt64(content.count), digest: digest.byteSpan)
    }
    let all = new.flatMap(\.content)
    let base = try open()
    var head = DeltaHead(
      bases: [base.contentRoot], target: try root.finish(), listSize: lines.count, contentSize: UInt64(all.count))
    head.copies = ([], copies)
    (head.moved, head.repeated, head.new) = (moved, repeated, new.map { UInt32($0.record) })
    var windows: [UInt8] = []
    func append(_ literals: [UInt8], after ranges: [Range<UInt64>], _ prefix: DeltaHead.Prefix) throws {
      guard !literals.isEmpty else { return }
      var bytes = [UInt8](repeating: 0, count: ranges.reduce(0) { $0 + $1.count })
      try BaseStringReader(string, [base]).read(ranges, into: &bytes)
      let frame = try frame(literals, after: bytes)
      head.windows.append(DeltaHead.Window(compressedSize: frame.count, size: literals.count, prefix: prefix))
      windows += frame
    }
    let list = string.range(of: 0)
    head.extras = lines.isEmpty ? [] : [list]
    try append(lines, after: [list], .extended(0..<1))
    let stream = CopyStream(size: UInt64(all.count), copies)
    var literals: [UInt8] = []
    try stream.forEachRun(of: 0..<stream.literalCount) { (run, _) in literals += all[Int(run.lowerBound)..<Int(run.upperBound)] }
    let context = stream.context(of: 0..<stream.literalCount, in: string, room: UInt64(Limits.deltaContextSize))
    let first = head.extras.count
    if !literals.isEmpty { head.extras += extras }
    try append(literals, after: extras + context, extras.isEmpty ? .derived : .extended(first..<first + extras.count))
    return FuzzSeed(name, [0] + lengthAndBytes(head.bytes) + windows)
  }

  private func frame(_ literals: [UInt8], after prefix: [UInt8]) throws(PackError) -> [UInt8] {
    let bytes = prefix + literals
    var frame = [UInt8](repeating: 0, count: Limits.compressBound(literals.count) + 64)
    var target = frame.mutableByteSpan
    let count = try CompressionContext(level: 1).compress(bytes.byteSpan, from: prefix.count, into: &target)
    return Array(frame[..<count])
  }
}
