import Foundation
import TestSupport
import Testing

/// The count of a tree against what `du` says of the unpacked tree, on the volume of temporary files and, if there is one, in memory.
@Suite("What a tree takes on a disk", .bounded)
struct DiskSizeTests {
  /// A tree to measure.
  struct Sample: Sendable, CustomStringConvertible {
    let description: String
    var frameSize = 65_536
    let make: @Sendable (inout SeededGenerator) -> SampleTree
  }

  private static func names(_ count: Int, length: Int, in directory: String = "") -> SampleTree {
    SampleTree(
      Dictionary(
        uniqueKeysWithValues: (0..<count).map { number in
          let name = String(100_000 + number)
          return (directory + name + String(repeating: "n", count: length - name.utf8.count), SampleTree.File([]))
        }))
  }

  private static func files(_ sizes: [Int], _ random: inout SeededGenerator) -> SampleTree {
    var tree: [String: SampleTree.File] = [:]
    for (number, size) in sizes.enumerated() { tree["\(number).bin"] = .init(random.bytes(size)) }
    return SampleTree(tree)
  }

  static let samples: [Sample] = [
    Sample(description: "nothing") { _ in SampleTree() },
    Sample(description: "sizes around a block") { random in files([0, 1, 4095, 4096, 4097, 8192], &random) },
    Sample(description: "empty directories") { _ in SampleTree(emptyDirectories: Set((0..<500).map { "\($0)" })) },
    Sample(description: "as deep as possible") { _ in
      let below = String(repeating: "d/", count: 62)
      return SampleTree(Dictionary(uniqueKeysWithValues: (0..<30).map { ("\($0)/\(below)e", SampleTree.File([1])) }))
    },
    Sample(description: "the names of one block") { _ in names(253, length: 6) },
    Sample(description: "one name more than in a block") { _ in names(254, length: 6) },
    Sample(description: "16 of the longest names") { _ in names(16, length: 255) },
    Sample(description: "40 of the longest names") { _ in names(40, length: 255) },
    Sample(description: "300 of the longest names") { _ in names(300, length: 255) },
    Sample(description: "3000 of the longest names") { _ in names(3000, length: 255) },
    Sample(description: "3000 short names") { _ in names(3000, length: 6) },
    Sample(description: "2000 names of 100 bytes") { _ in names(2000, length: 100) },
    Sample(description: "2000 names of 100 bytes, below") { _ in names(2000, length: 100, in: "a/b/") },
    Sample(description: "many directories with long names") { _ in
      SampleTree(
        Dictionary(
          uniqueKeysWithValues: (0..<600).map { number in
            ("\(number % 200)/\(number)\(String(repeating: "x", count: 200))/file", SampleTree.File([]))
          }))
    },
    Sample(description: "a file in many small frames") { random in files([9 << 20], &random) },
    Sample(description: "two files in many small frames") { random in files([5 << 20, 3 << 20, 70_000], &random) },
    Sample(description: "files in large frames", frameSize: 8 << 20) { random in files([20 << 20, 12 << 20], &random) },
    Sample(description: "zeros") { _ in SampleTree(["zeros": .init([UInt8](repeating: 0, count: 24 << 20))]) },
    Sample(description: "equal files") { random in
      let bytes = random.bytes(30_000)
      return SampleTree(Dictionary(uniqueKeysWithValues: (0..<60).map { ("\($0)", SampleTree.File(bytes, isExecutable: $0 % 2 == 0)) }))
    },
    Sample(description: "a mixture") { random in SampleTree.awkward(&random) },
    Sample(description: "names beyond ASCII") { _ in
      SampleTree(Dictionary(uniqueKeysWithValues: (0..<400).map { ("日本語のファイル-\($0)-ü", SampleTree.File([2])) }))
    },
    Sample(description: "small files in many directories") { random in
      var tree: [String: SampleTree.File] = [:]
      for number in 0..<1500 { tree["a\(number % 40)/b\(number % 7)/\(number).txt"] = .init(random.bytes(number % 9000)) }
      return SampleTree(tree)
    },
  ]

  @Test("is at most what was counted before the first write", arguments: Effort.sample(of: samples, 12, for: "disk sizes"))
  func measured(_ sample: Sample) async throws {
    let directory = try TemporaryDirectory()
    var random = SeededGenerator(for: "disk size \(sample.description)")
    let pack = try PackRuntimeTests.open(
      try await makePack(sample.make(&random), in: directory, frameSize: sample.frameSize), files: SystemFiles())
    let count = try pack.measureTree()
    var places = [("disk", FileManager.default.temporaryDirectory.path)]
    if FileManager.default.fileExists(atPath: "/dev/shm") { places.append(("memory", "/dev/shm")) }
    for number in places.indices { places[number].1 += "/packer-tests-\(UUID().uuidString)" }
    defer { for (_, place) in places { try? FileManager.default.removeItem(atPath: place) } }
    for (name, place) in places {
      try await pack.unpack(to: place)
      let used = try diskUse(of: place)
      #expect(used <= count.diskSize, "\(sample), \(name): counted \(count.diskSize), used \(used)")
      print("du, \(name), \(sample): counted \(count.diskSize), used \(used)")
    }
  }

  /// What `du` says, in bytes.
  private func diskUse(of path: String) throws -> UInt64 {
    let output = try ChildProcess.run("/usr/bin/du", ["-sk", path])
    let text = String(decoding: output, as: UTF8.self)
    return try #require(UInt64(text.prefix { $0.isNumber })) * 1024
  }
}
