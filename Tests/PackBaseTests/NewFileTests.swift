import TestSupport
import Testing

@Suite("A new file that two processes make", .bounded)
struct NewFileTests {
  @Test(
    "never replaces the other one, at any switch between the two, and is on the disk",
    arguments: [(MemoryDisk.Kind.linux, true), (.apple, true), (.apple, false)])
  func race(kind: MemoryDisk.Kind, hasLinks: Bool) async throws {
    var point = 0
    var runs = 0
    while true {
      var isReached = false
      for back in [nil, 1, 3, 5, 7] as [Int?] {
        let disk = MemoryDisk(kind)
        disk.write([0], to: "/place/other")
        let switches = Interleaving(first: point, second: back)
        let failures = await withTaskGroup(of: (Int, FileFailure?).self) { group in
          for process in [0, 1] {
            group.addTask {
              let files = LinklessFiles(MemoryFiles(disk, before: { switches.step(process) }), hasLinks: hasLinks)
              let failure = await WorkerPool.settled { () -> FileFailure? in
                fileFailure { () throws(FileFailure) in
                  let place = try files.open("/place", .directory, in: nil)
                  try files.makeNew("new", mode: 0o600, in: place) { (file) throws(FileFailure) in
                    try files.writeAll(file, at: 0, [UInt8](repeating: UInt8(process + 1), count: 100).byteSpan)
                  }
                }
              }
              switches.end(process)
              return (process, failure)
            }
          }
          var failures: [FileFailure?] = [nil, nil]
          for await (process, failure) in group { failures[process] = failure }
          return failures
        }
        runs += 1
        isReached = isReached || switches.counts[0] > point
        let place: Comment = "the first until operation \(point), the second until \(back.map(String.init) ?? "its end")"
        try #require(failures.count { $0 == nil } == 1, place)
        let winner = failures[0] == nil ? 1 : 2
        #expect(failures.contains { $0?.isExisting == true }, place)
        for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent] {
          #expect(disk.after(crash).bytes(of: "/place/new") == [UInt8](repeating: UInt8(winner), count: 100), place)
        }
        #expect(Set(disk.tree(below: "/place").keys) == ["new", "other"], place)
      }
      guard isReached else { break }
      point += 1
    }
    #expect(point > 5)
    print("interleaving: two new files: \(point) switch points, \(runs) runs")
  }
}

/// A file system that may have no hard links, like exFAT.
private struct LinklessFiles: FileSystem {
  private let base: MemoryFiles
  private let hasLinks: Bool

  init(_ base: MemoryFiles, hasLinks: Bool) {
    self.base = base
    self.hasLinks = hasLinks
  }

  func open(_ name: String, _ access: FileAccess, in directory: OpenFile?) throws(FileFailure) -> OpenFile {
    if !hasLinks, case .nameless = access { throw .unsupported }
    return try base.open(name, access, in: directory)
  }
  func link(_ file: OpenFile, as name: String, in directory: OpenFile?) throws(FileFailure) {
    guard hasLinks else { throw .unsupported }
    try base.link(file, as: name, in: directory)
  }
  func link(_ name: String, in directory: OpenFile?, as newName: String, in newDirectory: OpenFile?) throws(FileFailure) {
    guard hasLinks else { throw .unsupported }
    try base.link(name, in: directory, as: newName, in: newDirectory)
  }
  func read(_ file: OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int {
    try base.read(file, at: offset, into: buffer)
  }
  func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int { try base.read(file, into: buffer) }
  func write(_ file: OpenFile, at offset: UInt64, _ buffer: UnsafeRawBufferPointer) throws(FileFailure) -> Int {
    try base.write(file, at: offset, buffer)
  }
  func write(_ file: OpenFile, _ buffer: UnsafeRawBufferPointer) throws(FileFailure) -> Int { try base.write(file, buffer) }
  func status(of file: OpenFile) throws(FileFailure) -> FileStatus { try base.status(of: file) }
  func status(of name: String, in directory: OpenFile?, following links: LinkPolicy) throws(FileFailure) -> FileStatus {
    try base.status(of: name, in: directory, following: links)
  }
  func names(in directory: OpenFile) throws(FileFailure) -> [DirectoryName] { try base.names(in: directory) }
  func makeDirectory(_ name: String, mode: UInt32, in directory: OpenFile?) throws(FileFailure) {
    try base.makeDirectory(name, mode: mode, in: directory)
  }
  func remove(_ name: String, _ kind: FileStatus.Kind, in directory: OpenFile?) throws(FileFailure) {
    try base.remove(name, kind, in: directory)
  }
  func rename(_ name: String, to newName: String, in directory: OpenFile?) throws(FileFailure) {
    try base.rename(name, to: newName, in: directory)
  }
  func clone(_ file: OpenFile, as name: String, mode: UInt32, in directory: OpenFile?) throws(FileFailure) -> OpenFile {
    try base.clone(file, as: name, mode: mode, in: directory)
  }
  func exchange(_ name: String, with otherName: String, in directory: OpenFile?) throws(FileFailure) {
    try base.exchange(name, with: otherName, in: directory)
  }
  func setMode(_ mode: UInt32, of file: OpenFile) throws(FileFailure) { try base.setMode(mode, of: file) }
  func reserve(_ size: UInt64, for file: OpenFile) throws(FileFailure) { try base.reserve(size, for: file) }
  func sync(_ file: OpenFile) throws(FileFailure) { try base.sync(file) }
  var syncsWholeVolumes: Bool { base.syncsWholeVolumes }
  func syncVolume(of directory: OpenFile) throws(FileFailure) { try base.syncVolume(of: directory) }
  func freeSpace(at file: OpenFile) throws(FileFailure) -> UInt64 { try base.freeSpace(at: file) }
  func availableSpace(at file: OpenFile) throws(FileFailure) -> UInt64 { try base.availableSpace(at: file) }
  func tryLock(_ file: OpenFile) throws(FileFailure) -> Bool { try base.tryLock(file) }
  func canonicalPath(of name: String) throws(FileFailure) -> String { try base.canonicalPath(of: name) }
}
