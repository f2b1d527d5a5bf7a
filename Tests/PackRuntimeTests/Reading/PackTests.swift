import Foundation
import TestSupport
import Testing

@Suite("Open packs", .bounded)
struct PackTests {
  let directory: TemporaryDirectory
  let tree: SampleTree

  init() throws {
    directory = try TemporaryDirectory()
    var random = SeededGenerator(for: "an open pack")
    tree = .awkward(&random)
  }

  /// Writes a variant of a pack and opens it.
  private func open(_ bytes: some Sequence<UInt8>, keyFrom first: UInt8 = 0) throws -> PackError.Code? {
    let path = try directory.write(bytes, to: "changed.pack")
    let key = try key(filledFrom: first)
    return code { () throws(PackError) in _ = try Pack.open(path, key: key) }
  }

  @Test("a missing file, a directory and a file that is not a pack have different errors")
  func noPack() throws {
    #expect(code { () throws(PackError) in _ = try PackRuntimeTests.open(directory("none")) } == .missingInput)
    #expect(code { () throws(PackError) in _ = try PackRuntimeTests.open(directory.path) } == .cannotRead)
    #expect(try open([]) == .truncated)
    #expect(try open("a text, and longer than the magic".utf8) == .notAPack)
  }

  @Test("a file that differs from its digest in the index is refused when it was read whole")
  func wrongDigest() throws {
    let vector = try TestVector(named: "hostile/record-digest-wrong.vector")
    let pack = try Pack.open(try directory.write(vector.pack, to: "lying.pack"), key: try vector.key.packKey())
    let reader = try PackReader(pack)
    var codes: [PackError.Code] = []
    try pack.forEachEntry { (entry) throws(PackError) in
      guard entry.kind == .file, entry.size > 0 else { return }
      let found = try reader.entry(at: entry.path)
      if let code = code({ () throws(PackError) in try reader.read(found, range: nil) { _ in } }) { codes.append(code) }
    }
    #expect(codes == [.digestMismatch])
  }

  @Test("a small file is read without reading the rest of the pack")
  func oneFile() async throws {
    var random = SeededGenerator(for: "one file of many")
    var large = SampleTree()
    for number in 0..<40 {
      large.files["\(number).bin"] = SampleTree.File(random.bytes(200_000))
    }
    large.files["one.txt"] = SampleTree.File([UInt8](repeating: 7, count: 10_000))
    let path = try await makePack(large, in: directory)
    let files = FaultyFiles()
    let key = try knownKey()
    let pack = try Pack(path, key: key, files: files, backend: CryptoBackends.standard)
    #expect(try pack.read("one.txt") == large.files["one.txt"]?.bytes)
    // One frame, one block of the index, and the few kilobytes read by opening, out of 8 MB.
    #expect(files.bytesRead < 300_000, "\(files.bytesRead) bytes were read")
  }

  @Test("another key is wrong, and the message has both ids")
  func wrongKey() async throws {
    let path = try await makePack(SampleTree(), in: directory)
    let key = try key(filledFrom: 1)
    let error = await failure { () throws(PackError) in _ = try Pack.open(path, key: key) }
    #expect(error?.code == .wrongKey)
    #expect(error?.message.contains("e545120e613dd715") == true)
    #expect(error?.message.contains("\(key.id)") == true)
  }

  @Test("if there are several faults, the first in the format's order is reported: key, MAC, last segment")
  func order() async throws {
    let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try await makePack(tree, in: directory))))
    // Ends inside the tag of a segment that has no other bytes.
    let cut = Array(whole.prefix(144 + 2 * 4096 + 16))
    #expect(try open(cut) == .truncated)
    #expect(try open(cut, keyFrom: 1) == .wrongKey)
    var forged = cut
    forged[120] ^= 1
    #expect(try open(forged) == .damagedHeader)
    #expect(try open(forged, keyFrom: 1) == .wrongKey)
    // Without a tag the header is incomplete, which is reported before the key.
    #expect(try open(whole.prefix(199), keyFrom: 1) == .truncated)
  }

  @Test("a pack that ends at an edge of a segment is truncated; one that ends elsewhere is truncated or damaged")
  func truncation() async throws {
    let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try await makePack(tree, in: directory))))
    for edge in stride(from: 144 + 4096, to: whole.count, by: 16 * 4096) {
      #expect(try open(whole.prefix(edge)) == .truncated)
      for beside in [edge - 1, edge + 1, edge + 16, edge + 17] {
        #expect([.truncated, .authenticationFailed].contains(try open(whole.prefix(beside))))
      }
    }
    #expect(try open(whole.dropLast()) == .authenticationFailed)
    #expect(try open(whole + [0]) == .authenticationFailed)
    #expect(try open(whole) == nil)
  }

  @Test("all entries are listed with size, digest and flag, in byte order", arguments: CryptoBackends.all.indices)
  func list(backend: Int) async throws {
    let pack = try PackRuntimeTests.open(
      try await makePack(tree, in: directory, backend: CryptoBackends.all[backend]), backend: CryptoBackends.all[backend])
    var paths: [String] = []
    var seen = SampleTree()
    try pack.forEachEntry { entry in
      paths.append(entry.path)
      if entry.kind == .directory {
        seen.emptyDirectories.insert(entry.path)
      } else {
        guard let file = tree.files[entry.path] else { return }
        #expect(entry.size == UInt64(file.bytes.count))
        #expect((try? sha256(file.bytes)) == entry.sha256.hex)
        seen.files[entry.path] = SampleTree.File(file.bytes, isExecutable: entry.isExecutable)
      }
    }
    #expect(seen == tree)
    #expect(paths == paths.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
    #expect(pack.entryCount == paths.count)
    var lines: [UInt8] = []
    try pack.forEachBlock { lines += $0.pathLines() }
    #expect(lines == paths.flatMap { Array("\($0)\n".utf8) })
    #expect(pack.contentSize == UInt64(tree.contentSize))
    #expect(pack.largestFrame == 65_536)
  }

  @Test("a missing entry, a directory above entries and a range of a directory are refused")
  func missing() async throws {
    let pack = try PackRuntimeTests.open(try await makePack(tree, in: directory))
    for path in ["", "/", ".", "..", "nothing", "run.sh/", "/run.sh", "run.s", "run.sh0", "size", "deep/er", "~~~", "\u{1}"] {
      #expect(code { () throws(PackError) in _ = try pack.entry(at: path) } == .noSuchEntry, "\(path)")
      #expect(code { () throws(PackError) in _ = try pack.read(path) } == .noSuchEntry, "\(path)")
    }
    #expect(try pack.entry(at: "empty").kind == .directory)
    #expect(code { () throws(PackError) in _ = try pack.read("empty") } == .noSuchEntry)
    #expect(code { () throws(PackError) in _ = try pack.read("empty", range: 0..<0) } == .noSuchEntry)
  }

  @Test("no entry is found in a pack without entries")
  func emptyPack() async throws {
    let pack = try PackRuntimeTests.open(try await makePack(SampleTree(), in: directory))
    #expect(pack.entryCount == 0)
    #expect(code { () throws(PackError) in _ = try pack.entry(at: "a") } == .noSuchEntry)
    try pack.forEachEntry { _ in Issue.record("there is an entry") }
    try await pack.verify()
  }

  @Test("entries are found in indexes of one block, full blocks, and many", arguments: [1, 127, 128, 129, 256, 257, 300])
  func lookup(count: Int) async throws {
    var many = SampleTree()
    for number in 0..<count { many.files["\(number)-\(number % 7).bin"] = .init([UInt8(number & 0xFF), 1]) }
    let pack = try PackRuntimeTests.open(try await makePack(many, in: directory))
    for (path, file) in many.files { #expect(try pack.read(path) == file.bytes) }
    #expect(code { () throws(PackError) in _ = try pack.entry(at: "\(count)-\(count % 7).bin") } == .noSuchEntry)
    #expect(code { () throws(PackError) in _ = try pack.entry(at: "0") } == .noSuchEntry)
    #expect(code { () throws(PackError) in _ = try pack.entry(at: "x") } == .noSuchEntry)
  }

  @Test("a range that ends after the file is not satisfiable", arguments: [0, 1, 513, 200_000] as [UInt64])
  func beyond(size: UInt64) async throws {
    let pack = try PackRuntimeTests.open(try await makePack(tree, in: directory))
    for range in [0..<size + 1, size..<size + 1, size + 1..<size + 1, 0..<UInt64.max, UInt64.max - 1..<UInt64.max] {
      #expect(code { () throws(PackError) in _ = try pack.read("size/\(size).bin", range: range) } == .rangeNotSatisfiable)
      let entry = try pack.entry(at: "size/\(size).bin")
      #expect(code { () throws(PackError) in try pack.read(entry, range: range) { _ in } } == .rangeNotSatisfiable)
    }
    #expect(try pack.read("size/\(size).bin", range: size..<size) == [])
    #expect(try pack.read("size/\(size).bin", range: 0..<0) == [])
  }

  @Test("every file reads as it was packed", arguments: CryptoBackends.all.indices)
  func whole(backend: Int) async throws {
    // Sealed by one back end, opened by each of them.
    let path = try await makePack(tree, in: directory, backend: CryptoBackends.all[backend])
    for other in CryptoBackends.all {
      let pack = try PackRuntimeTests.open(path, backend: other)
      for (path, file) in tree.files { #expect(try pack.read(path) == file.bytes) }
    }
  }

  @Test("both back ends create the same pack")
  func sameBytes() async throws {
    var seen: Set<String> = []
    for backend in CryptoBackends.all {
      let path = try await makePack(tree, in: directory, backend: backend)
      seen.insert(try sha256([UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))))
    }
    #expect(seen.count == 1)
  }

  @Test("ranges around every edge of a frame are those of the source")
  func frameEdges() async throws {
    let pack = try PackRuntimeTests.open(try await makePack(tree, in: directory))
    let path = "size/200000.bin"
    let content = try #require(tree.files[path]).bytes
    let entry = try pack.entry(at: path)
    let starts = (0..<pack.table.dataFrameCount).map { pack.table[$0].tarOffset }
    let edges = starts.filter { $0 > entry.offset && $0 < entry.offset + entry.size }.map { Int($0 - entry.offset) }
    #expect(edges.count == 3)
    let places = Set((edges + [0, content.count]).flatMap { [$0 - 1, $0, $0 + 1] }.filter { (0...content.count).contains($0) })
    for start in places {
      for end in places where end >= start {
        #expect(try pack.read(path, range: UInt64(start)..<UInt64(end)) == Array(content[start..<end]))
      }
    }
  }

  @Test("bytes around every edge of a segment are the same for every kind of read")
  func segmentEdges() async throws {
    let pack = try PackRuntimeTests.open(try await makePack(tree, in: directory))
    let size = pack.layout.payloadSize
    let whole = try pack.withReader { (reader) throws(PackError) in try reader.payload(0..<size) }
    for index in 1..<min(pack.layout.segmentCount, 80) {
      let edge = pack.layout.payloadRange(ofSegment: index).lowerBound
      for (before, after) in [(0, 1), (1, 0), (1, 1), (1, 4081), (4081, 1), (0, 4080), (4040, 0)] as [(UInt64, UInt64)] {
        let range = edge - min(edge, before)..<min(size, edge + after)
        let part = try pack.withReader { (reader) throws(PackError) in try reader.payload(range) }
        #expect(part == Array(whole[Int(range.lowerBound)..<Int(range.upperBound)]))
      }
    }
  }

  @Test("random ranges of random files are those of the source")
  func randomRanges() async throws {
    var random = SeededGenerator()
    let pack = try PackRuntimeTests.open(try await makePack(tree, in: directory))
    for _ in 0..<300 {
      let (path, file) = tree.files.randomElement(using: &random)!
      let start = Int.random(in: 0...file.bytes.count, using: &random)
      let end = Int.random(in: start...file.bytes.count, using: &random)
      #expect(try pack.read(path, range: UInt64(start)..<UInt64(end)) == Array(file.bytes[start..<end]))
    }
  }

  @Test("a caller that stops reading halfway does not spoil the next read")
  func abandonedRead() async throws {
    let pack = try PackRuntimeTests.open(try await makePack(tree, in: directory))
    let entry = try pack.entry(at: "size/200000.bin")
    let stop = PackError(.usage, "enough")
    for pieces in 0..<4 {
      var left = pieces
      #expect(
        code { () throws(PackError) in
          try pack.read(entry) { (_) throws(PackError) in
            guard left > 0 else { throw stop }
            left -= 1
          }
        } == .usage)
      #expect(code { () throws(PackError) in _ = try pack.read("size/200000.bin") } == nil)
      #expect(try pack.read("size/513.bin") == tree.files["size/513.bin"]?.bytes)
    }
  }

  @Test("a read that fails once does not spoil the next one")
  func failedRead() async throws {
    let path = try await makePack(tree, in: directory)
    let broken = Monitor(false)
    let pack = try PackRuntimeTests.open(
      path, files: FaultyFiles { $0.operation == .read && broken.withLock { $0 } ? .failure(.inputOutput) : nil })
    for name in ["size/200000.bin", "size/65537.bin"] {
      broken.withLock { $0 = true }
      #expect(code { () throws(PackError) in _ = try pack.read(name) } == .cannotRead)
      broken.withLock { $0 = false }
      #expect(try pack.read(name) == tree.files[name]?.bytes)
    }
  }

  @Test("a body that reads the same pack gets correct content")
  func nestedRead() async throws {
    let pack = try PackRuntimeTests.open(try await makePack(tree, in: directory))
    let entry = try pack.entry(at: "size/200000.bin")
    var content: [UInt8] = []
    try pack.read(entry) { (piece) throws(PackError) in
      content += [UInt8](copying: piece)
      let inner = try pack.read("size/65537.bin")
      #expect(inner == tree.files["size/65537.bin"]?.bytes)
    }
    #expect(content == tree.files["size/200000.bin"]?.bytes)
  }

  @Test("many tasks read one pack at once")
  func concurrent() async throws {
    let pack = try PackRuntimeTests.open(try await makePack(tree, in: directory))
    let seed = SeededGenerator().seed
    let files = tree.files.sorted { $0.key < $1.key }
    let wrong = await withTaskGroup(of: Int.self) { group in
      for number in 0..<8 {
        group.addTask {
          var random = SeededGenerator(seed: seed &+ UInt64(number))
          var wrong = 0
          for _ in 0..<60 {
            let (path, file) = files.randomElement(using: &random)!
            let end = Int.random(in: 0...file.bytes.count, using: &random)
            if (try? pack.read(path, range: 0..<UInt64(end))) != Array(file.bytes[..<end]) { wrong += 1 }
            if (try? pack.read(path)) != file.bytes { wrong += 1 }
          }
          return wrong
        }
      }
      return await group.reduce(0, +)
    }
    #expect(wrong == 0)
  }

  @Test("interrupted and short reads return the same bytes")
  func stutter() async throws {
    let path = try await makePack(tree, in: directory)
    let pack = try PackRuntimeTests.open(path, files: FaultyFiles.stuttering())
    #expect(try pack.read("size/200000.bin") == tree.files["size/200000.bin"]?.bytes)
    try await pack.verify(jobs: 2)
  }

  @Test("a changed byte in any segment is found by verifying, and no read returns bytes that it affects")
  func flipped() async throws {
    let small = SampleTree(["a.bin": tree.files["size/65537.bin"]!, "b.txt": .init([1, 2, 3])])
    let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try await makePack(small, in: directory))))
    for position in stride(from: 184, to: whole.count, by: 4096) {
      var changed = whole
      changed[position] ^= 0x10
      let path = try directory.write(changed, to: "changed.pack")
      let error = await failure { () throws(PackError) in
        let pack = try PackRuntimeTests.open(path)
        try await pack.verify(jobs: 2)
      }
      #expect(error?.code == .authenticationFailed)
      if let pack = try? PackRuntimeTests.open(path) {
        for (name, file) in small.files {
          var seen: [UInt8] = []
          if let entry = try? pack.entry(at: name) { try? pack.read(entry) { seen += [UInt8](copying: $0) } }
          #expect(file.bytes.starts(with: seen))
        }
      }
    }
  }

  @Test("the parts of a pack that are shown without a key add up to its size")
  func summary() async throws {
    let path = try await makePack(tree, in: directory)
    let summary = try PackSummary.read(path)
    #expect(summary.parts.reduce(0) { $0 + $1.size } == summary.packSize)
    #expect(summary.packSize == UInt64(directory.bytes(of: "sample.pack")!.count))
    #expect(summary.stanzas.keyID.description == "e545120e613dd715")
    let cut = try directory.write(directory.bytes(of: "sample.pack")!.prefix(144 + 2 * 4096 + 16), to: "cut.pack")
    #expect(code { () throws(PackError) in _ = try PackSummary.read(cut) } == .truncated)
  }
}
