import Foundation
import TestSupport
import Testing

@Suite("Packing and unpacking", .bounded)
struct RoundTripTests {
  @Test("an awkward tree comes back exactly, and verify finds no difference", arguments: [1, 3])
  func awkward(_ jobs: Int) async throws {
    var random = SeededGenerator()
    var tree = SampleTree.awkward(&random)
    let project = try SampleProject()
    // Sizes around those of a frame with its headers, and of segments.
    for size in [64_511, 64_512, 64_513, 65_023, 65_024, 65_025, 130_560, 131_072, 4095, 4096, 4097, 8120, 8121, 1024, 1025] {
      tree.files["edge/\(size).dat"] = .init(random.bytes(size))
    }
    tree.files["long/" + String(repeating: "ü", count: 127) + "x"] = .init([1])
    // The longest path, with the most components.
    tree.files[String(repeating: "0123456789abcde/", count: 63) + "0123456789abcdef"] = .init([2])
    tree.files["日本語/ファイル.txt"] = .init(Array("text".utf8))
    tree.files["bin/tool"] = .init([3], isExecutable: true)
    tree.files["bin/tool-copy"] = .init([3], isExecutable: true)
    tree.files["bin/no-tool"] = .init([3])
    tree.files["large.bin"] = .init(random.bytes(3_000_000))
    tree.emptyDirectories.insert("日本語/空")
    try tree.write(to: "tree", in: project.directory)
    let report = try await project.pack { $0.jobs = jobs }
    #expect(report.contentSize == UInt64(tree.contentSize))
    #expect(report.files == tree.files.count && report.emptyDirectories == tree.emptyDirectories.count)
    #expect(report.packSize == UInt64(project.packed.count))
    let unpacked = try await project.unpacked()
    #expect(unpacked == tree)
    let verified = try await project.verify(against: "tree", jobs: jobs)
    #expect(verified.findings.isEmpty && verified.entries == tree.files.count + tree.emptyDirectories.count)
  }

  @Test("an empty tree comes back empty")
  func empty() async throws {
    let project = try SampleProject()
    let report = try await project.pack()
    #expect(report.files == 0 && report.packSize == 340)
    let unpacked = try await project.unpacked()
    #expect(unpacked == SampleTree())
    #expect(try await project.verify(against: "tree").findings.isEmpty)
  }

  @Test(
    "one file of any size around a frame and a segment comes back",
    arguments: [0, 1, 3000, 4040, 4096, 64_000, 64_512, 65_024, 65_536, 196_608])
  func oneFile(_ size: Int) async throws {
    let project = try SampleProject()
    var random = SeededGenerator(seed: UInt64(size))
    let bytes = random.bytes(size)
    for change in [0, 1, 2] where size + change >= 1 {
      let content = bytes + [UInt8](repeating: 7, count: change)
      try project.add("file", content)
      try await project.pack()
      let isSame = try await project.unpacked().files == ["file": .init(content)]
      #expect(isSame, "\(content.count) bytes")
      #expect(try await project.verify(against: "tree").findings.isEmpty)
    }
  }

  @Test("every level and every size of segments and frames gives a pack that opens", arguments: [1, 5, 19], [4096, 65_536, 1 << 20])
  func settings(_ level: Int, _ segmentSize: UInt32) async throws {
    var random = SeededGenerator(seed: 3)
    let tree = SampleTree.awkward(&random)
    let project = try SampleProject()
    try tree.write(to: "tree", in: project.directory)
    try await project.pack {
      $0.settings.level = .number(level)
      $0.settings.segmentSize = segmentSize
      $0.settings.frameSize = level == 1 ? 8 << 20 : 65_537
    }
    let unpacked = try await project.unpacked()
    #expect(unpacked == tree)
  }

  @Test("a payload is stored in the output, which has no name before it is complete")
  func draft() async throws {
    var random = SeededGenerator(seed: 8)
    let block = random.bytes(2_500_000)
    let project = try SampleProject()
    // Nine files that neither compress nor equal each other: 22.5 MB.
    for number in 0..<9 { try project.add("\(number).bin", [UInt8(number)] + block.map { $0 ^ UInt8(number * 29) }) }
    let directory = project.directory
    let files = FaultyFiles { call in
      if call.operation == .write, directory.names() != ["tree"] { Issue.record("\(directory.names())") }
      return nil
    }
    let report = try await project.pack {
      $0.files = files
      $0.settings.frameSize = 1 << 20
    }
    #expect(report.payloadSize > 20 << 20)
    #expect(files.calls.contains { $0.operation == .link })
    #expect(project.directory.names() == ["out.pack", "tree"])
    let source = try SampleTree(reading: project.directory("tree"))
    let isSame = try await project.unpacked() == source
    #expect(isSame)
    // The pack is the same if the file system has no files without a name, and with one thread.
    let first = project.packed
    for jobs in [1, 3] {
      try await project.pack {
        $0.files = FaultyFiles { $0.operation == .open && $0.name == "." ? .failure(.unsupported) : nil }
        $0.settings.frameSize = 1 << 20
        $0.jobs = jobs
      }
      let isRepeatable = project.packed == first
      #expect(isRepeatable)
    }
    #expect(try await project.verify(against: "tree").findings.isEmpty)
  }

  @Test("differences between a pack and a directory are reported: missing, extra, changed")
  func findings() async throws {
    let project = try SampleProject()
    for name in ["same", "gone", "content", "size", "mode", "kind", "dir/a"] { try project.add(name, Array("abc".utf8)) }
    try project.directory.makeDirectory("tree/empty")
    try await project.pack()
    let manager = FileManager.default
    try manager.removeItem(atPath: project.directory("tree/gone"))
    try project.add("content", Array("abd".utf8))
    try project.add("size", Array("abcd".utf8))
    try project.add("mode", Array("abc".utf8), mode: 0o755)
    try manager.removeItem(atPath: project.directory("tree/kind"))
    try project.directory.makeDirectory("tree/kind")
    try project.add("dir/new", [1])
    try project.add("empty/file", [1])
    try project.link("link", to: "same")
    let findings = try await project.verify(against: "tree").findings
    let expected: [String] = [
      "differs content", "extra dir/new", "missing empty", "extra empty/file", "missing gone", "differs kind", "extra link", "differs mode",
      "differs size",
    ]
    #expect(findings.map { "\($0.kind) \($0.path)" } == expected)
  }

  @Test("a directory that does not exist cannot be compared")
  func missingTree() async throws {
    let project = try SampleProject()
    try await project.pack()
    let error = await #expect(throws: PackError.self) { try await project.verify(against: "nowhere") }
    #expect(error?.code == .missingInput)
  }
}

@Suite("Files with equal content", .bounded)
struct DuplicateTests {
  @Test("are stored once and come back as separate files", arguments: [8192, 70_000, 300_000])
  func storedOnce(_ size: Int) async throws {
    var random = SeededGenerator(seed: 2)
    let content = random.bytes(size)
    let project = try SampleProject()
    try project.add("a.bin", content)
    try await project.pack()
    let single = project.packed.count
    for name in ["b.bin", "sub/c.bin", "d.txt", "ü.txt"] { try project.add(name, content) }
    let report = try await project.pack()
    #expect(report.duplicateFiles == 4 && report.duplicateBytes == UInt64(4 * size))
    #expect(project.packed.count < single + 1000)
    let tree = try await project.unpacked()
    let areSame = tree.files.values.allSatisfy { $0.bytes == content }
    #expect(areSame && tree.files.count == 5)
    #expect(try await project.verify(against: "tree").findings.isEmpty)
  }

  @Test("and less than 8 KiB are stored once if their names are equal, too")
  func small() async throws {
    var random = SeededGenerator(seed: 3)
    let content = random.bytes(8191)
    let project = try SampleProject()
    for name in ["a/icon.bin", "b/icon.bin", "c/d/icon.bin", "c/other.bin"] { try project.add(name, content) }
    let report = try await project.pack()
    #expect(report.duplicateFiles == 2)
    let areSame = try await project.unpacked().files.values.allSatisfy { $0.bytes == content }
    #expect(areSame)
  }

  @Test("but other permissions, or no content at all, are stored separately")
  func apart() async throws {
    let project = try SampleProject()
    try project.add("a", [UInt8](repeating: 1, count: 9000))
    try project.add("b", [UInt8](repeating: 1, count: 9000), mode: 0o755)
    try project.add("empty", [])
    try project.add("empty2", [])
    let report = try await project.pack()
    #expect(report.duplicateFiles == 0)
    #expect(try await project.unpacked().files["b"]?.isExecutable == true)
  }

  @Test("are not confused with files of the same size and other content", arguments: [9000, 70_000])
  func sameSize(_ size: Int) async throws {
    let project = try SampleProject()
    // They differ only at the end, after the part that a first comparison reads.
    try project.add("a", [UInt8](repeating: 1, count: size))
    try project.add("b", [UInt8](repeating: 1, count: size - 1) + [2])
    let report = try await project.pack()
    #expect(report.duplicateFiles == 0)
    #expect(try await project.unpacked().files["b"]?.bytes.last == 2)
  }

  @Test("are the same entries whatever the number of threads that search for them")
  func manyGroups() async throws {
    let project = try SampleProject()
    for number in 0..<120 { try project.add("f\(number).\(number % 3)", [UInt8](repeating: UInt8(number % 7), count: 8192)) }
    var packs: Set<[UInt8]> = []
    for jobs in [1, 2, 7] {
      let report = try await project.pack { $0.jobs = jobs }
      #expect(report.duplicateFiles == 113)
      packs.insert(project.packed)
    }
    #expect(packs.count == 1)
  }
}
