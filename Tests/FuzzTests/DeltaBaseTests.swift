import TestSupport
import Testing

@testable import packer_fuzz

@Suite("Deltas over hostile bases", .bounded)
struct DeltaBaseTests {
  /// A file of the base: where its content lies in the tar.
  typealias File = (path: String, offset: UInt64, size: UInt64)

  private let disk = MemoryDisk()
  private static let tar =
    [UInt8](repeating: 0, count: 512) + (0..<2560).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    + [UInt8](repeating: 0, count: 1024)

  /// Writes a base with these files, and a delta that leaves all of them unchanged, and opens both.
  private func open(_ files: [File]) throws -> (delta: DeltaPack, base: Pack) {
    var records: [UInt8] = []
    var list: [UInt8] = []
    let root = try ContentRoot(backend: CryptoBackends.standard)
    for file in files {
      IndexRecord(path: Array(file.path.utf8), kind: .file, size: file.size, offset: file.offset).appendAsInput(to: &records)
      list += Array(file.path.utf8) + [0, IndexRecord.Kind.file.rawValue]
      Varint.append(file.size, to: &list)
      let digest = try Sealing.digest(Array(Self.tar[Int(file.offset)..<Int(file.offset + file.size)]))
      try root.add(path: Array(file.path.utf8).byteSpan, kind: .file, size: file.size, digest: digest.byteSpan)
    }
    disk.write(
      try Sealing.pack(TreeInput([1, 0] + lengthAndBytes(Self.tar) + records).payload(), header: try Sealing.header()), to: "/p/base")
    let base = try Pack("/p/base", key: knownKey(), files: MemoryFiles(disk), backend: CryptoBackends.standard)
    try writeDelta(list, root: try root.finish())
    return (try DeltaPack.open("/p/delta", key: knownKey(), files: MemoryFiles(disk)), base)
  }

  private func writeDelta(_ list: [UInt8], root: [UInt8]) throws {
    let window = try Sealing.frame(list)
    var head = DeltaHead(bases: [root], target: root, listSize: list.count, contentSize: 0)
    head.windows = [.init(compressedSize: window.count, size: list.count, prefix: .nothing)]
    let frame = try Sealing.frame(head.bytes)
    var header = try Sealing.header()
    header.kind = .delta
    disk.write(try Sealing.pack(window + frame + DeltaHead.trailer(headSize: frame.count), header: header), to: "/p/delta")
  }

  @Test(
    "a base in which contents overlap is damaged",
    arguments: [
      [("a", 512, 600), ("b", 1024, 300)], [("a", 512, 100), ("b", 512, 2000)], [("a", 512, 2000), ("b", 512, 100)],
      [("a", 512, 2000), ("b", 1024, 100), ("c", 1536, 100)],
    ] as [[File]])
  func overlapping(_ files: [File]) {
    #expect {
      let (delta, base) = try open(files)
      _ = try DeltaApplication(delta, over: [base])
    } throws: { error in
      let error = error as? PackError
      return error?.code == .damagedPayload && error?.message.hasPrefix("/p/delta: /p/base: ") == true
    }
  }

  @Test("contents that are the same or apart are read, across frames of the base")
  func sameOrApart() async throws {
    let files: [File] = [("a", 512, 700), ("b", 512, 700), ("c", 1536, 1400), ("d", 1536, 1400), ("e", 0, 0)]
    let (delta, base) = try open(files)
    disk.write([], to: "/out/beside")
    let unpacking = DeltaUnpacking(delta, over: [base], jobs: 2)
    let made = try await unpacking.run(contentLimit: 1 << 20) { (_, _) throws(PackError) in
      try OutputDirectory("/out/tree", files: delta.source.files)
    }
    try made.output.commit()
    let tree = disk.tree(below: "/out/tree")
    #expect(tree.count == files.count)
    for file in files {
      let isSame = tree[file.path] == .some(Array(Self.tar[Int(file.offset)..<Int(file.offset + file.size)]))
      #expect(isSame, "\(file.path)")
    }
  }
}
