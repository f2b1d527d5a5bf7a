import Foundation
import TestSupport
import Testing

@Suite("The disk in memory that crash tests use")
struct MemoryFilesTests {
  private typealias Crash = MemoryDisk.Crash
  private static let crashes: [Crash] =
    [.kill, .powerCut, .zeroedContent, .emptiedContent] + (0..<40).map { .luck(seed: $0) }

  private func write(_ bytes: [UInt8], to name: String, by files: MemoryFiles, synced: Bool) throws(FileFailure) {
    let file = try files.open(name, .create(mode: 0o644), in: nil)
    try files.writeAll(file, at: 0, bytes.byteSpan)
    if synced { try files.sync(file) }
  }

  private func sync(_ directory: String, by files: MemoryFiles) throws(FileFailure) {
    try files.sync(try files.open(directory, .directory, in: nil))
  }

  // MARK: Power cuts

  @Test("a file that was not synced is lost after a power cut, and kept after a kill")
  func unsynced() throws {
    let disk = MemoryDisk()
    try write([1, 2], to: "a", by: MemoryFiles(disk), synced: false)
    #expect(disk.after(.powerCut).tree() == [:])
    #expect(disk.after(.kill).tree() == ["a": [1, 2]])
  }

  @Test("content without a name is lost; a name without content is empty or zeros, depending on the crash")
  func halfSynced() throws {
    let disk = MemoryDisk()
    let files = MemoryFiles(disk)
    try files.makeDirectory("d", mode: 0o755, in: nil)
    try write([1, 2], to: "d/content", by: files, synced: true)
    try sync("/", by: files)
    #expect(disk.after(.powerCut).tree() == ["d": nil])
    #expect(disk.after(.zeroedContent).tree() == ["d": nil, "d/content": [1, 2]])
    try write([3, 4], to: "d/name", by: files, synced: false)
    try sync("d", by: files)
    #expect(disk.after(.powerCut).tree() == ["d": nil, "d/content": [1, 2], "d/name": []])
    #expect(disk.after(.zeroedContent).tree() == ["d": nil, "d/content": [1, 2], "d/name": [0, 0]])
    #expect(disk.after(.emptiedContent).tree() == ["d": nil, "d/content": [1, 2], "d/name": []])
    let lucky = Set((0..<40).map { disk.after(.luck(seed: $0)).bytes(of: "d/name") })
    #expect(lucky.isSuperset(of: [[], [0, 0], [3, 4], [3, 0]]))
  }

  @Test("what was synced with its directory survives every crash", arguments: crashes)
  private func synced(crash: Crash) throws {
    let disk = MemoryDisk()
    let files = MemoryFiles(disk)
    try write([1, 2], to: "a", by: files, synced: true)
    try sync("/", by: files)
    #expect(disk.after(crash).tree() == ["a": [1, 2]])
  }

  @Test("a sync of the volume saves everything if it is supported, otherwise nothing", arguments: [true, false])
  func wholeVolume(syncsWhole: Bool) throws {
    let disk = MemoryDisk(syncsWhole ? .linux : .apple)
    let files = MemoryFiles(disk)
    try files.makeDirectory("d", mode: 0o755, in: nil)
    try write([1, 2], to: "d/a", by: files, synced: false)
    try files.syncVolume(of: try files.open("/", .directory, in: nil))
    #expect(disk.after(.powerCut).tree() == (syncsWhole ? ["d": nil, "d/a": [1, 2]] : [:]))
  }

  @Test("a disk that lies about syncs saves nothing")
  func lying() throws {
    let disk = MemoryDisk(.init(isHonest: false))
    let files = MemoryFiles(disk)
    try write([1, 2], to: "a", by: files, synced: true)
    try sync("/", by: files)
    try files.syncVolume(of: try files.open("/", .directory, in: nil))
    #expect(disk.after(.powerCut).tree() == [:])
  }

  @Test("content that was written after a sync is lost")
  func writtenAgain() throws {
    let disk = MemoryDisk()
    disk.write([1, 2, 3], to: "a")
    let files = MemoryFiles(disk)
    try files.writeAll(try files.open("a", .writeUnlinked, in: nil), at: 1, [9, 9, 9].byteSpan)
    #expect(disk.after(.kill).bytes(of: "a") == [1, 9, 9, 9])
    #expect(disk.after(.powerCut).bytes(of: "a") == [1, 2, 3])
    #expect(disk.after(.zeroedContent).bytes(of: "a") == [1, 2, 3, 0])
  }

  @Test("a rename over another file gives the old or the new one, and always the new one once it is synced", arguments: crashes)
  private func replaced(crash: Crash) throws {
    let disk = MemoryDisk()
    disk.write([1], to: "d/a")
    let files = MemoryFiles(disk)
    try write([2], to: "d/b", by: files, synced: true)
    try files.rename("b", to: "a", in: try files.open("d", .directory, in: nil))
    let left = disk.after(crash).bytes(of: "d/a")
    #expect(left == [1] || left == [2])
    if crash == .powerCut { #expect(left == [1]) }
    if crash == .kill { #expect(left == [2]) }
    try sync("d", by: files)
    #expect(disk.after(crash).tree() == ["d": nil, "d/a": [2]])
  }

  @Test("a move between directories leaves the file in one place, whichever of the two is synced", arguments: ["from", "to", ""])
  func moved(synced: String) throws {
    let disk = MemoryDisk()
    disk.write([1], to: "from/a/file")
    disk.write([1], to: "to/other")
    let files = MemoryFiles(disk)
    try files.rename("from/a", to: "to/a", in: nil)
    if !synced.isEmpty { try sync(synced, by: files) }
    for crash in Self.crashes {
      let left = disk.after(crash)
      let places = ["from/a/file", "to/a/file"].filter { left.bytes(of: $0) == [1] }
      #expect(places.count == 1)
      if !synced.isEmpty { #expect(places == ["to/a/file"]) }
    }
  }

  @Test("an exchange happens whole or not at all", arguments: crashes)
  private func exchanged(crash: Crash) throws {
    let disk = MemoryDisk()
    disk.write([1], to: "a")
    disk.write([2], to: "b")
    try MemoryFiles(disk).exchange("a", with: "b", in: nil)
    let left = disk.after(crash)
    #expect([[[1], [2]], [[2], [1]]].contains([left.bytes(of: "a"), left.bytes(of: "b")]))
  }

  @Test("a removed file comes back until the directory is synced")
  func removed() throws {
    let disk = MemoryDisk()
    disk.write([1], to: "d/a")
    let files = MemoryFiles(disk)
    try files.remove("d/a", .file, in: nil)
    #expect(disk.tree() == ["d": nil])
    #expect(disk.after(.powerCut).tree() == ["d": nil, "d/a": [1]])
    try sync("d", by: files)
    #expect(disk.after(.powerCut).tree() == ["d": nil])
  }

  @Test("a random crash loses some of many changes, keeps some, and is the same for the same seed")
  func luck() throws {
    let disk = MemoryDisk()
    let files = MemoryFiles(disk)
    for name in 0..<20 { try write([1], to: "\(name)", by: files, synced: true) }
    for seed in UInt64(0)..<20 {
      let left = disk.after(.luck(seed: seed)).tree()
      #expect((1..<20).contains(left.count))
      #expect(left == disk.after(.luck(seed: seed)).tree())
    }
  }

  @Test("the crash of a copy leaves the disk as it was, and a crash after a crash loses nothing more")
  func again() throws {
    let disk = MemoryDisk()
    try write([1], to: "a", by: MemoryFiles(disk), synced: false)
    #expect(disk.after(.powerCut).tree() == [:])
    #expect(disk.after(.kill).after(.powerCut).tree() == [:])
    #expect(disk.after(.zeroedContent).after(.powerCut).tree() == ["a": [0]])
    #expect(disk.tree() == ["a": [1]])
  }

  // MARK: Stops and failures

  @Test("after its end a process changes nothing, and half of its last write is done")
  func stopped() throws {
    let disk = MemoryDisk()
    let files = MemoryFiles(disk, .stop(before: 1))
    let failure = fileFailure { () throws(FileFailure) in try write([1, 2, 3, 4], to: "a", by: files, synced: false) }
    #expect(failure == .inputOutput)
    #expect(files.struck?.operation == "write")
    #expect(fileFailure { () throws(FileFailure) in try files.remove("a", .file, in: nil) } == .inputOutput)
    #expect(fileFailure { () throws(FileFailure) in _ = try files.status(of: "a", in: nil, following: .followed) } == .inputOutput)
    #expect(disk.tree() == ["a": [1, 2]])
  }

  @Test("stops can count changes only")
  func stoppedBeforeChange() throws {
    let disk = MemoryDisk()
    let files = MemoryFiles(disk, .stopBeforeChange(1))
    try files.makeDirectory("d", mode: 0o755, in: nil)
    _ = try files.status(of: "d", in: nil, following: .followed)
    #expect(fileFailure { () throws(FileFailure) in try files.makeDirectory("e", mode: 0o755, in: nil) } == .inputOutput)
    #expect(files.struck?.number == 2)
    #expect(disk.tree() == ["d": nil])
  }

  @Test("a failure occurs once, and the process continues")
  func failed() throws {
    let disk = MemoryDisk()
    let files = MemoryFiles(disk, .fail(0, .fullDisk))
    #expect(fileFailure { () throws(FileFailure) in try files.makeDirectory("d", mode: 0o755, in: nil) } == .fullDisk)
    try files.makeDirectory("d", mode: 0o755, in: nil)
    #expect(disk.tree() == ["d": nil])
  }

  @Test("a lock excludes all others until its file is closed or its process ends")
  func locks() throws {
    let disk = MemoryDisk()
    disk.write([], to: "lock")
    let (mine, theirs) = (MemoryFiles(disk), MemoryFiles(disk))
    let other = try theirs.open("lock", .read, in: nil)
    do {
      let file = try mine.open("lock", .read, in: nil)
      #expect(try mine.tryLock(file))
      #expect(try mine.tryLock(file))
      #expect(try !theirs.tryLock(other))
      #expect(try !mine.tryLock(try mine.open("lock", .read, in: nil)))
      withExtendedLifetime(file) {}
    }
    #expect(try theirs.tryLock(other))
    let last = try mine.open("lock", .read, in: nil)
    #expect(try !mine.tryLock(last))
    theirs.end()
    #expect(try mine.tryLock(last))
    withExtendedLifetime((other, last)) {}
  }

  @Test("a full disk refuses what does not fit, in whole blocks, and removing files frees space")
  func full() throws {
    let disk = MemoryDisk(.init(capacity: 3 * 4096))
    let files = MemoryFiles(disk)
    let root = try files.open("/", .directory, in: nil)
    try write([UInt8](repeating: 1, count: 4097), to: "a", by: files, synced: true)
    #expect(try files.freeSpace(at: root) == 4096)
    let large = [UInt8](repeating: 1, count: 4097)
    #expect(fileFailure { () throws(FileFailure) in try write(large, to: "b", by: files, synced: true) } == .fullDisk)
    #expect(fileFailure { () throws(FileFailure) in try files.reserve(4097, for: files.open("b", .read, in: nil)) } == .fullDisk)
    try files.makeDirectory("d", mode: 0o755, in: nil)
    #expect(fileFailure { () throws(FileFailure) in try files.makeDirectory("e", mode: 0o755, in: nil) } == .fullDisk)
    try files.remove("a", .file, in: nil)
    #expect(try files.freeSpace(at: root) == 8192)
  }

  // MARK: Comparison with the system

  @Test("random operations have the same results as on the system's files")
  func asTheSystem() throws {
    var random = SeededGenerator()
    for _ in 0..<30 {
      let directory = try TemporaryDirectory()
      let disk = MemoryDisk()
      let both: [any FileSystem] = [SystemFiles(), MemoryFiles(disk)]
      var roots: [OpenFile] = []
      for (files, path) in zip(both, [directory.path, "/"]) { roots.append(try files.open(path, .directory, in: nil)) }
      for step in 0..<60 {
        let action = Action(&random)
        var outcomes: [String] = []
        for (files, root) in zip(both, roots) { outcomes.append(action.run(by: files, in: root)) }
        #expect(outcomes[0] == outcomes[1], "step \(step): \(action)")
      }
      var found: [String: [UInt8]?] = [:]
      for name in FileManager.default.enumerator(atPath: directory.path)?.allObjects as? [String] ?? [] {
        found[name] = .some(directory.bytes(of: name))
      }
      // Files and directories are also distinguished by their content.
      #expect(found.mapValues { $0 } == disk.tree())
    }
  }

  private struct Action: CustomStringConvertible {
    let operation: Int
    let one: String
    let other: String
    let bytes: [UInt8]
    let offset: UInt64

    init(_ random: inout SeededGenerator) {
      let names = ["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "f/a", "./a", "d/../b"]
      operation = Int.random(in: 0..<9, using: &random)
      one = names[Int.random(in: 0..<names.count, using: &random)]
      other = names[Int.random(in: 0..<names.count, using: &random)]
      bytes = random.bytes(Int.random(in: 1..<9, using: &random))
      offset = UInt64.random(in: 0..<9, using: &random)
    }

    var description: String { "operation \(operation) of \(one) and \(other)" }

    func run(by files: any FileSystem, in root: OpenFile) -> String {
      do throws(FileFailure) {
        switch operation {
        case 0: try files.writeAll(try files.open(one, .create(mode: 0o644), in: root), at: offset, bytes.byteSpan)
        case 1: try files.writeAll(try files.open(one, .writeUnlinked, in: root), at: offset, bytes.byteSpan)
        case 2: try files.makeDirectory(one, mode: 0o755, in: root)
        case 3: try files.remove(one, .file, in: root)
        case 4: try files.remove(one, .directory, in: root)
        case 5: try files.rename(one, to: other, in: root)
        case 6: try files.link(one, in: root, as: other, in: root)
        case 7:
          let status = try files.status(of: one, in: root, following: .asThemselves)
          return "\(status.kind) \(status.kind == .file ? "\(status.size) \(status.linkCount)" : "")"
        default:
          let names = try files.names(in: try files.open(one, .directoryUnlinked, in: root))
          return "\(names.map(\.text).sorted())"
        }
        return "done"
      } catch {
        return error.text
      }
    }
  }
}
