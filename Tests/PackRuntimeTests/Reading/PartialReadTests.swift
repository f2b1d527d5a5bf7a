import Foundation
import TestSupport
import Testing

@testable import PackReading

@Suite("Files read at random", .bounded)
struct PartialReadTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Makes files of all kinds that share frames of 1 MiB: an empty one, one byte, text, noise, runs, and one that has several frames.
  private func tree(_ random: inout SeededGenerator) -> SampleTree {
    var files: [String: SampleTree.File] = ["empty": .init([]), "one": .init([7])]
    for number in 0..<40 {
      let noise = random.bytes(20_000 + number)
      files["noise/\(number).png"] = .init(noise)
      files["text/\(number).txt"] = .init(noise.map { $0 & 15 | 64 })
      files["runs/\(number)"] = .init([UInt8](repeating: UInt8(number), count: 30_000))
    }
    files["long.wav"] = .init(random.bytes(1_500_000).map { $0 & 63 } + random.bytes(700_000))
    return SampleTree(files)
  }

  /// Reads a part of a file as a server does, and adds up what was decrypted for it.
  private func read(_ pack: Pack, _ path: String, _ range: Range<UInt64>, _ decrypted: inout UInt64) throws(PackError) -> [UInt8] {
    let entry = try pack.entry(at: path)
    var bytes: [UInt8] = []
    while bytes.count < range.count {
      let rest = range.lowerBound + UInt64(bytes.count)..<range.upperBound
      try pack.withPiece(of: entry, rest, decryptedBytes: &decrypted) { bytes.append(copying: $0) }
    }
    return bytes
  }

  @Test("a small file costs what is before it in its frame, and files in order cost the frame once")
  func cost() async throws {
    var random = SeededGenerator(for: "the cost of a small file")
    var files: [String: SampleTree.File] = [:]
    for number in 100..<160 { files["\(number).txt"] = .init(random.bytes(15_000).map { $0 & 15 }) }
    let pack = try open(try await makePack(SampleTree(files), in: directory, frameSize: 1 << 20))
    let frame = pack.table[0]
    try #require(pack.table.dataFrameCount == 1 && frame.compressedSize > 400_000)
    let entries = try files.keys.map { (path) throws(PackError) in try pack.entry(at: path) }.sorted { $0.offset < $1.offset }
    var (first, all) = (0 as UInt64, 0 as UInt64)
    for (number, entry) in entries.enumerated() {
      #expect(try read(pack, entry.path, 0..<entry.size, &all) == files[entry.path]?.bytes)
      if number == 0 { first = all }
    }
    #expect(first < frame.compressedSize / 5, "\(first) of \(frame.compressedSize) bytes were decrypted for the first file")
    #expect(all < frame.compressedSize * 5 / 4, "\(all) of \(frame.compressedSize) bytes were decrypted for all files")
  }

  @Test("parts are the bytes of the files, whoever reads what at the same time, and between look-ups")
  func manyReaders() async throws {
    var random = SeededGenerator(for: "many readers")
    let tree = tree(&random)
    let pack = try open(try await makePack(tree, in: directory, frameSize: 1 << 20))
    try #require(pack.table.dataFrameCount > 3)
    let paths = tree.files.keys.sorted()
    let seed = random.next()
    try await WorkerPool.run(6) { (_, worker) throws(PackError) in
      var random = SeededGenerator(seed: seed &+ UInt64(worker))
      for _ in 0..<Effort.number(quick: 60, full: 600) {
        let path = paths[Int.random(in: 0..<paths.count, using: &random)]
        let right = tree.files[path]?.bytes ?? []
        let ends = [0, 1].map { _ in Int.random(in: 0...right.count, using: &random) }.sorted()
        let range = Bool.random(using: &random) ? 0..<right.count : ends[0]..<ends[1]
        var decrypted: UInt64 = 0
        let bytes =
          Bool.random(using: &random)
          ? try pack.read(path, range: UInt64(range.lowerBound)..<UInt64(range.upperBound))
          : try read(pack, path, UInt64(range.lowerBound)..<UInt64(range.upperBound), &decrypted)
        guard bytes == Array(right[range]) else { throw PackError(.internalError, "other bytes of \(path) in \(range)") }
      }
    }
  }

  @Test("six players at once, with look-ups and small files between their ranges, decode each frame once")
  func players() async throws {
    var random = SeededGenerator(for: "six players")
    var files: [String: SampleTree.File] = [:]
    for number in 0..<6 { files["film \(number)"] = .init(random.bytes(700_000).map { $0 & 63 }) }
    for number in 0..<300 { files["small/\(number)"] = .init([UInt8](repeating: UInt8(number & 0xFF), count: 100)) }
    let pack = try open(try await makePack(SampleTree(files), in: directory, frameSize: 512 << 10))
    let compressed = (0..<pack.table.dataFrameCount).reduce(0 as UInt64) { $0 + UInt64(pack.table[$1].compressedSize) }
    try #require(compressed > 3_000_000)
    var decrypted: UInt64 = 0
    for start in stride(from: 0 as UInt64, to: 700_000, by: 64 << 10) {
      for number in 0..<6 {
        let (path, range) = ("film \(number)", start..<min(700_000, start + 64 << 10))
        #expect(
          try read(pack, path, range, &decrypted) == (files[path]?.bytes).map { Array($0[Int(range.lowerBound)..<Int(range.upperBound)]) })
        let small = "small/\(Int.random(in: 0..<300, using: &random))"
        #expect(try read(pack, small, 0..<100, &decrypted) == files[small]?.bytes)
      }
    }
    #expect(decrypted < compressed * 5 / 4, "\(decrypted) bytes were decrypted for \(compressed)")
  }

  @Test("readers are kept up to the limit, and one that is used beside another is not made anew each time")
  func kept() async throws {
    var random = SeededGenerator(for: "kept readers")
    let pack = try open(
      try await makePack(SampleTree(["a": .init(random.bytes(200).flatMap { [UInt8](repeating: $0, count: 20_000) })]), in: directory))
    let most = Pack.keptSize / (PackReader.fixedSize + DecompressionContext.room(for: Int(pack.table.largestFrame)))
    try #require(pack.table.dataFrameCount > most)
    var seen: [ObjectIdentifier: PackReader] = [:]
    func read(_ depth: Int) throws(PackError) {
      let number = Int.random(in: 0..<pack.table.dataFrameCount, using: &random)
      try pack.withReader(holding: number) { (reader) throws(PackError) in
        seen[ObjectIdentifier(reader)] = reader
        _ = try reader.load(number)
        reader.isSpent = false
        if depth > 0 { try read(depth - 1) }
      }
    }
    for _ in 0..<100 { try read(2) }
    // The last frame is smaller than the others.
    #expect((most...most + 5).contains(seen.count), "\(seen.count) readers for \(most) at a time")
    pack.dropBuffers()
    let before = seen
    try read(0)
    #expect(seen.count == before.count + 1, "nothing is kept")
  }

  @Test("a file before a damaged segment of its frame is read, one behind it is not, and the pack stays usable")
  func damage() async throws {
    var random = SeededGenerator(for: "a damaged segment")
    var files: [String: SampleTree.File] = [:]
    for number in 100..<160 { files["\(number).txt"] = .init(random.bytes(15_000).map { $0 & 15 }) }
    let path = try await makePack(SampleTree(files), in: directory, frameSize: 1 << 20)
    let frame = try open(path).table[0]
    let layout = try open(path).layout
    var bytes = try #require(directory.bytes(of: "sample.pack"))
    let segment = layout.segment(holding: frame.offset + UInt64(frame.compressedSize) / 2)
    bytes[Int(layout.packRange(ofSegment: segment).lowerBound) + 9] ^= 1
    let pack = try open(try directory.write(bytes, to: "damaged.pack"))
    for _ in 0..<3 {
      for (path, isRead) in [("100.txt", true), ("159.txt", false), ("110.txt", true)] {
        let entry = try pack.entry(at: path)
        try #require(isRead == (entry.offset < frame.size / 2))
        if isRead { #expect(try pack.read(path) == files[path]?.bytes) }
        if !isRead { #expect(code { () throws(PackError) in _ = try pack.read(path) } == .authenticationFailed) }
      }
    }
    let failure = await failure { () async throws(PackError) in try await pack.verify(jobs: 1) }
    #expect(failure?.code == .authenticationFailed)
  }
}
