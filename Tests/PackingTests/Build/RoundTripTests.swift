import Foundation
import PackFiles
import PackFormat
import TestSupport
import Testing

@Suite("What goes into a pack comes out of it")
struct RoundTripTests {
  @Test("an awkward tree comes back exact, and verify finds no difference", arguments: [1, 3])
  func awkward(_ jobs: Int) async throws {
    var random = SeededGenerator()
    var tree = SampleTree.awkward(&random)
    let shop = try ServerState()
    // Around the edges of a frame with its headers, and of segments.
    for size in [64_511, 64_512, 64_513, 65_023, 65_024, 65_025, 130_560, 131_072, 4095, 4096, 4097, 8120, 8121, 1024, 1025] {
      tree.files["edge/\(size).dat"] = .init(random.bytes(size))
    }
    tree.files["long/" + String(repeating: "ü", count: 127) + "x"] = .init([1])
    tree.files[String(repeating: "0123456/", count: 127) + "12345678"] = .init([2])
    tree.files["日本語/ファイル.txt"] = .init(Array("text".utf8))
    tree.files["bin/tool"] = .init([3], isExecutable: true)
    tree.files["bin/tool-copy"] = .init([3], isExecutable: true)
    tree.files["bin/no-tool"] = .init([3])
    tree.files["large.bin"] = .init(random.bytes(3_000_000))
    tree.emptyDirectories.insert("日本語/空")
    try tree.write(to: "tree", in: shop.directory)
    let report = try await shop.pack { $0.jobs = jobs }
    #expect(report.contentSize == UInt64(tree.contentSize))
    #expect(report.files == tree.files.count && report.directories == tree.emptyDirectories.count)
    #expect(report.packSize == UInt64(shop.packed.count))
    let unpacked = try await shop.unpacked()
    #expect(unpacked == tree)
    let verified = try await shop.verify(against: "tree", jobs: jobs)
    #expect(verified.findings.isEmpty && verified.entries == tree.files.count + tree.emptyDirectories.count)
  }

  @Test("an empty tree comes back empty")
  func empty() async throws {
    let shop = try ServerState()
    let report = try await shop.pack()
    #expect(report.files == 0 && report.packSize == 340)
    let unpacked = try await shop.unpacked()
    #expect(unpacked == SampleTree())
    #expect(try await shop.verify(against: "tree").findings.isEmpty)
  }

  @Test(
    "one file of any size around a frame and a segment comes back",
    arguments: [0, 1, 3000, 4040, 4096, 64_000, 64_512, 65_024, 65_536, 196_608])
  func oneFile(_ size: Int) async throws {
    let shop = try ServerState()
    var random = SeededGenerator(seed: UInt64(size))
    let bytes = random.bytes(size)
    for change in [0, 1, 2] where size + change >= 1 {
      let content = bytes + [UInt8](repeating: 7, count: change)
      try shop.add("file", content)
      try await shop.pack()
      let isSame = try await shop.unpacked().files == ["file": .init(content)]
      #expect(isSame, "\(content.count) bytes")
      #expect(try await shop.verify(against: "tree").findings.isEmpty)
    }
  }

  @Test("every level and every size of segments and frames gives a pack that opens", arguments: [1, 5, 19], [4096, 65_536, 1 << 20])
  func settings(_ level: Int, _ segmentSize: UInt32) async throws {
    var random = SeededGenerator(seed: 3)
    let tree = SampleTree.awkward(&random)
    let shop = try ServerState()
    try tree.write(to: "tree", in: shop.directory)
    try await shop.pack {
      $0.level = .number(level)
      $0.segmentSize = segmentSize
      $0.frameSize = level == 1 ? 8 << 20 : 65_537
    }
    let unpacked = try await shop.unpacked()
    #expect(unpacked == tree)
  }

  @Test("a payload waits in the output, which has no name before it is whole")
  func draft() async throws {
    var random = SeededGenerator(seed: 8)
    let block = random.bytes(2_500_000)
    let shop = try ServerState()
    // Nine files that neither compress nor equal each other: 22.5 MB.
    for number in 0..<9 { try shop.add("\(number).bin", [UInt8(number)] + block.map { $0 ^ UInt8(number * 29) }) }
    let directory = shop.directory
    let files = FaultyFiles { call in
      if call.operation == .write, directory.names() != ["tree"] { Issue.record("\(directory.names())") }
      return nil
    }
    let report = try await shop.pack {
      $0.files = files
      $0.frameSize = 1 << 20
    }
    #expect(report.payloadSize > 20 << 20)
    #expect(files.calls.contains { $0.operation == .link })
    #expect(shop.directory.names() == ["out.pack", "tree"])
    let source = try SampleTree(reading: shop.directory("tree"))
    let isSame = try await shop.unpacked() == source
    #expect(isSame)
    // Where no file is without a name, the pack is the same, and so it is with one thread.
    let first = shop.packed
    for jobs in [1, 3] {
      try await shop.pack {
        $0.files = FaultyFiles { $0.operation == .open && $0.name == "." ? .failure(.unsupported) : nil }
        $0.frameSize = 1 << 20
        $0.jobs = jobs
      }
      let isRepeatable = shop.packed == first
      #expect(isRepeatable)
    }
    #expect(try await shop.verify(against: "tree").findings.isEmpty)
  }

  @Test("what differs between a pack and a directory is told: missing, extra, changed")
  func findings() async throws {
    let shop = try ServerState()
    for name in ["same", "gone", "content", "size", "mode", "kind", "dir/a"] { try shop.add(name, Array("abc".utf8)) }
    try shop.directory.makeDirectory("tree/empty")
    try await shop.pack()
    let manager = FileManager.default
    try manager.removeItem(atPath: shop.directory("tree/gone"))
    try shop.add("content", Array("abd".utf8))
    try shop.add("size", Array("abcd".utf8))
    try shop.add("mode", Array("abc".utf8), mode: 0o755)
    try manager.removeItem(atPath: shop.directory("tree/kind"))
    try shop.directory.makeDirectory("tree/kind")
    try shop.add("dir/new", [1])
    try shop.add("empty/file", [1])
    try shop.link("link", to: "same")
    let findings = try await shop.verify(against: "tree").findings
    let expected: [String] = [
      "differs content", "extra dir/new", "missing empty", "extra empty/file", "missing gone", "differs kind", "extra link", "differs mode",
      "differs size",
    ]
    #expect(findings.map { "\($0.kind) \($0.path)" } == expected)
  }

  @Test("a directory that does not exist cannot be compared")
  func missingTree() async throws {
    let shop = try ServerState()
    try await shop.pack()
    let error = await #expect(throws: PackError.self) { try await shop.verify(against: "nowhere") }
    #expect(error?.code == .missingInput)
  }
}

@Suite("Files with equal content")
struct DuplicateTests {
  @Test("are stored once and come back as files of their own", arguments: [8192, 70_000, 300_000])
  func storedOnce(_ size: Int) async throws {
    var random = SeededGenerator(seed: 2)
    let content = random.bytes(size)
    let shop = try ServerState()
    try shop.add("a.bin", content)
    try await shop.pack()
    let single = shop.packed.count
    for name in ["b.bin", "sub/c.bin", "d.txt", "ü.txt"] { try shop.add(name, content) }
    let report = try await shop.pack()
    #expect(report.duplicateFiles == 4 && report.duplicateBytes == UInt64(4 * size))
    #expect(shop.packed.count < single + 1000)
    let tree = try await shop.unpacked()
    let areSame = tree.files.values.allSatisfy { $0.bytes == content }
    #expect(areSame && tree.files.count == 5)
    #expect(try await shop.verify(against: "tree").findings.isEmpty)
  }

  @Test("and less than 8 KiB are stored once where their names are equal too")
  func small() async throws {
    var random = SeededGenerator(seed: 3)
    let content = random.bytes(8191)
    let shop = try ServerState()
    for name in ["a/icon.bin", "b/icon.bin", "c/d/icon.bin", "c/other.bin"] { try shop.add(name, content) }
    let report = try await shop.pack()
    #expect(report.duplicateFiles == 2)
    let areSame = try await shop.unpacked().files.values.allSatisfy { $0.bytes == content }
    #expect(areSame)
  }

  @Test("but other permissions, or no content at all, are stored apart")
  func apart() async throws {
    let shop = try ServerState()
    try shop.add("a", [UInt8](repeating: 1, count: 9000))
    try shop.add("b", [UInt8](repeating: 1, count: 9000), mode: 0o755)
    try shop.add("empty", [])
    try shop.add("empty2", [])
    let report = try await shop.pack()
    #expect(report.duplicateFiles == 0)
    #expect(try await shop.unpacked().files["b"]?.isExecutable == true)
  }

  @Test("and of one size with other content are not taken for equal", arguments: [9000, 70_000])
  func sameSize(_ size: Int) async throws {
    let shop = try ServerState()
    // They differ at the end alone, behind all that a first look takes.
    try shop.add("a", [UInt8](repeating: 1, count: size))
    try shop.add("b", [UInt8](repeating: 1, count: size - 1) + [2])
    let report = try await shop.pack()
    #expect(report.duplicateFiles == 0)
    #expect(try await shop.unpacked().files["b"]?.bytes.last == 2)
  }

  @Test("are the same entries whatever the number of threads that look for them")
  func manyGroups() async throws {
    let shop = try ServerState()
    for number in 0..<120 { try shop.add("f\(number).\(number % 3)", [UInt8](repeating: UInt8(number % 7), count: 8192)) }
    var packs: Set<[UInt8]> = []
    for jobs in [1, 2, 7] {
      let report = try await shop.pack { $0.jobs = jobs }
      #expect(report.duplicateFiles == 113)
      packs.insert(shop.packed)
    }
    #expect(packs.count == 1)
  }
}
