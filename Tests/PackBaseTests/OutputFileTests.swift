import Foundation
import TestSupport
import Testing

@Suite("An output file")
struct OutputFileTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private let new = Array("new content".utf8)
  private let old = Array("old".utf8)

  private func write(_ files: any FileSystem, to name: String = "out") throws(PackError) {
    let output = try OutputFile(directory(name), files: files)
    try output.reserve(UInt64(new.count))
    try output.write(new.byteSpan, at: 0, of: UInt64(new.count))
    try output.commit()
  }

  @Test("a path that does not end in a name is refused", arguments: namelessPaths)
  func nameless(path: String) {
    #expect(failure { () throws(PackError) in _ = try OutputFile(path, files: FaultyFiles()) }?.code == .usage)
    #expect(failure { () throws(PackError) in _ = try OutputFile(directory(path + "/.."), files: FaultyFiles()) }?.code == .usage)
    #expect(directory.names() == [])
  }

  @Test("a directory that does not exist is not made, and is named in the message")
  func missingDirectory() throws {
    let error = failure { () throws(PackError) in try write(FaultyFiles(), to: "missing/out") }
    #expect(error?.code == .cannotWrite)
    #expect(error?.message.contains("directory \(directory("missing")) does not exist") == true)
    #expect(directory.names() == [])
  }

  @Test("a name of 256 bytes is refused, and nothing is left")
  func longName() {
    let error = failure { () throws(PackError) in try write(FaultyFiles(), to: String(repeating: "x", count: 256)) }
    #expect(error?.code == .cannotWrite)
    #expect(directory.names() == [])
  }

  @Test("a name of 255 bytes is accepted", arguments: ["x", "é", "日", "😀"])
  func longestName(character: String) throws {
    let count = character.utf8.count
    let name = String(repeating: character, count: 255 / count) + String(repeating: "y", count: 255 % count)
    try write(FaultyFiles(), to: name)
    #expect(directory.names() == [name])
    #expect(directory.bytes(of: name) == new)
  }

  @Test("the name before final slashes is the file's")
  func finalSlash() throws {
    try write(FaultyFiles(), to: "out//")
    #expect(directory.names() == ["out"])
  }

  @Test("standard output is not meant")
  func standardOutput() {
    #expect(failure { () throws(PackError) in _ = try OutputFile("-", files: FaultyFiles()) }?.code == .usage)
  }

  @Test("a file that is mounted is written in place", arguments: [100, 1])
  func mounted(size: Int) throws {
    try directory.write([UInt8](repeating: 9, count: size), to: "out")
    let inode = try SystemFiles().status(of: directory("out"), in: nil, following: .asThemselves).inode
    try write(FaultyFiles { $0.operation == .rename ? .failure(FileFailure(number: 16)) : nil })
    #expect(directory.bytes(of: "out") == new && directory.names() == ["out"])
    #expect(try SystemFiles().status(of: directory("out"), in: nil, following: .asThemselves).inode == inode)
  }

  @Test("without locks it is written, and what another process may be using stays")
  func lockless() throws {
    try directory.write([1], to: ".out.packer-000000000000000a")
    try write(FaultyFiles { $0.operation == .lock ? .failure(.unsupported) : nil })
    #expect(directory.bytes(of: "out") == new && directory.names() == [".out.packer-000000000000000a", "out"])
  }

  @Test("a directory or a pipe is not replaced")
  func notAFile() throws {
    try directory.makeDirectory("out")
    #expect(failure { () throws(PackError) in try write(FaultyFiles()) }?.code == .outputExists)
    #expect(mkfifo(directory("pipe"), 0o644) == 0)
    #expect(failure { () throws(PackError) in try write(FaultyFiles(), to: "pipe") }?.code == .outputExists)
    #expect(directory.names() == ["out", "pipe"])
  }

  @Test("a symbolic link is replaced, and what it points to stays")
  func symbolicLink() throws {
    try directory.write([1], to: "target")
    try FileManager.default.createSymbolicLink(atPath: directory("out"), withDestinationPath: "target")
    try write(FaultyFiles())
    #expect(directory.bytes(of: "target") == [1])
    #expect(directory.bytes(of: "out") == new)
  }

  @Test("nothing appears under the name before the commit, and no temporary name stays after it")
  func commit() throws {
    let output = try OutputFile(directory("out"), files: FaultyFiles())
    try output.write(new.byteSpan, at: 0, of: UInt64(new.count))
    #expect(directory.bytes(of: "out") == nil)
    #expect(directory.names().count == 1)
    try output.commit()
    #expect(directory.bytes(of: "out") == new)
    #expect(directory.names() == ["out"])
  }

  @Test("an earlier file stays until the commit, and stays if there is no commit")
  func dropped() throws {
    try directory.write([1, 2], to: "out")
    do {
      let output = try OutputFile(directory("out"), files: FaultyFiles())
      try output.write(new.byteSpan, at: 0, of: UInt64(new.count))
      #expect(directory.bytes(of: "out") == [1, 2])
      withExtendedLifetime(output) {}
    }
    #expect(directory.bytes(of: "out") == [1, 2])
    #expect(directory.names() == ["out"])
    try write(FaultyFiles())
    #expect(directory.bytes(of: "out") == new)
  }

  @Test("temporary files of a killed process are removed, but not locked ones or those of another output")
  func stale() throws {
    for name in [
      ".out.packer-000000000000000a", ".out.packer-0123456789abcdef/below/file", ".out.packer-notes", ".other.packer-000000000000000a",
      "out.packer-000000000000000a", ".outer",
    ] {
      try directory.write([1], to: name)
    }
    let running = try OutputFile(directory("out"), files: FaultyFiles())
    let before = directory.names()
    #expect(before.count == 5)
    #expect(Set(before).isSuperset(of: [".out.packer-notes", ".other.packer-000000000000000a", "out.packer-000000000000000a", ".outer"]))
    try write(FaultyFiles())
    #expect(Set(directory.names()) == Set(before + ["out"]))
    try running.write([7].byteSpan, at: 0, of: 1)
    try running.commit()
    #expect(directory.bytes(of: "out") == [7])
  }

  @Test("a new directory, whose owner syncs it, is not searched for each of its files")
  func newDirectory() throws {
    for (durability, searches) in [(OutputFile.Durability.synced, 1), (.leftToDirectory, 0)] {
      let files = FaultyFiles()
      let output = try OutputFile(directory("out"), isHidden: true, durability: durability, files: files)
      try output.write(new.byteSpan, at: 0, of: UInt64(new.count))
      try output.commit()
      #expect(files.calls.count { $0.operation == .names } == searches)
      #expect(directory.bytes(of: "out") == new)
    }
  }

  @Test("a stale name that is a symbolic link is not followed")
  func staleLink() throws {
    try directory.write([1], to: "kept/file")
    try FileManager.default.createSymbolicLink(atPath: directory(".out.packer-000000000000000a"), withDestinationPath: "kept")
    try write(FaultyFiles())
    #expect(directory.bytes(of: "kept/file") == [1])
  }

  @Test("if another process removes a new temporary file as stale, another name is tried")
  func lostRace() throws {
    let lockedOnce = FaultyFiles { $0.operation == .lock && $0.number < 8 ? .locked : nil }
    try write(lockedOnce)
    #expect(directory.bytes(of: "out") == new)
  }

  @Test("if another process removes a new temporary file before it is locked, another name is tried")
  func removedBeforeLock() throws {
    let directory = directory
    let files = FaultyFiles { call in
      if call.operation == .lock, call.number < 8 {
        for name in directory.names() where name.hasPrefix(".out.packer-") { try? FileManager.default.removeItem(atPath: directory(name)) }
      }
      return nil
    }
    try write(files)
    #expect(files.calls.count { $0.operation == .lock } > 1)
    #expect(directory.bytes(of: "out") == new)
    #expect(directory.names() == ["out"])
  }

  @Test("permissions are the caller's without those in the process's mask")
  func permissions() throws {
    let masked = try OutputFile(directory("masked"), files: FaultyFiles(mask: 0o077))
    try masked.commit()
    #expect(try directory.mode(of: "masked") == 0o600)
    let secret = try OutputFile(directory("secret"), mode: 0o600, files: FaultyFiles())
    try secret.commit()
    #expect(try directory.mode(of: "secret") == 0o600)
  }

  @Test("a full disk is an error with the missing bytes, the old file stays", arguments: [FaultyFiles.Call.Operation.write, .reserve])
  func fullDisk(operation: FaultyFiles.Call.Operation) throws {
    try directory.write([1], to: "out")
    let files = FaultyFiles { call in
      call.operation == operation ? .failure(.fullDisk) : call.operation == .freeSpace ? .freeSpace(1000) : nil
    }
    let error = failure { () throws(PackError) in
      let output = try OutputFile(directory("out"), files: files)
      try output.reserve(5000)
      try output.write(new.byteSpan, at: 500, of: 5500)
    }
    #expect(error?.code == .noSpace)
    #expect(error?.message.contains("4000 bytes are missing") == true, "\(error?.message ?? "")")
    #expect(directory.names() == ["out"])
    #expect(directory.bytes(of: "out") == [1])
  }

  @Test("whatever operation fails, the old file or the whole new one exists, and nothing else")
  func everyFailure() throws {
    for number in 0..<1000 {
      try directory.write([1], to: "out")
      let files = FaultyFiles.failing(at: number)
      let error = failure { () throws(PackError) in try write(files) }
      guard files.reached(number) else { return #expect(number > 6) }
      let call = files.calls[number]
      #expect(directory.names() == ["out"], "after a failed \(call)")
      let renamed = files.calls[..<number].contains { $0.operation == .rename }
      #expect(directory.bytes(of: "out") == (renamed || error == nil ? new : [1]), "after a failed \(call)")
    }
    Issue.record("the output never finished")
  }

  @Test("wherever a run stops, the old file or the whole new one exists, and the next run cleans up")
  func everyStop() throws {
    for number in 0..<1000 {
      try directory.write([1], to: "out")
      let files = FaultyFiles.stopping(at: number)
      let error = failure { () throws(PackError) in try write(files) }
      let renamed = files.calls.prefix(number).contains { $0.operation == .rename }
      #expect(directory.bytes(of: "out") == (renamed ? new : [1]))
      try write(FaultyFiles())
      // A process that another test is starting has a copy of the lock for a moment.
      for _ in 0..<500 where directory.names() != ["out"] {
        usleep(10_000)
        try write(FaultyFiles())
      }
      #expect(directory.bytes(of: "out") == new)
      #expect(directory.names() == ["out"])
      if error == nil { return #expect(number > 6) }
    }
    Issue.record("the output never finished")
  }

  @Test("interrupted and short writes are continued")
  func stutter() throws {
    var random = SeededGenerator()
    let content = random.bytes(100_000)
    let output = try OutputFile(directory("out"), files: FaultyFiles.stuttering())
    try output.write(content.byteSpan, at: 0, of: 100_000)
    try output.commit()
    #expect(directory.bytes(of: "out") == content)
  }

  @Test("a write of 0 bytes is an error, not a loop")
  func noProgress() throws {
    let files = FaultyFiles { $0.operation != .write ? nil : $0.number > 1000 ? .failure(.fullDisk) : .short(0) }
    #expect(failure { () throws(PackError) in try write(files) }?.code == .cannotWrite)
    #expect(directory.names() == [])
  }

  @Test("a hidden file has no name before it is complete, and replaces an earlier one")
  func hidden() throws {
    let files = FaultyFiles(mask: 0o027)
    try directory.write(old, to: "out")
    do {
      let output = try OutputFile(directory("out"), isHidden: true, files: files)
      try output.write(new.byteSpan, at: 0, of: UInt64(new.count))
      #expect(directory.names() == ["out"])
      #expect(directory.bytes(of: "out") == old)
      try output.commit()
    }
    #expect(directory.names() == ["out"])
    #expect(directory.bytes(of: "out") == new)
    #expect(try files.status(of: directory("out"), in: nil, following: .asThemselves).mode == 0o640)
  }

  @Test("a hidden file that is not committed leaves nothing")
  func hiddenAndGivenUp() throws {
    do {
      let output = try OutputFile(directory("out"), isHidden: true, files: FaultyFiles())
      try output.write(new.byteSpan, at: 0, of: UInt64(new.count))
    }
    #expect(directory.names() == [])
  }

  @Test(
    "if a file system has no nameless files, a hidden file is readable by its owner only until it is complete",
    arguments: [FileFailure.unsupported, .isDirectory])
  func hiddenByPermissions(_ failure: FileFailure) throws {
    // Another user who opens what may be opened keeps it open.
    let others = Monitor<[OpenFile]>([])
    let files = FaultyFiles(mask: 0o027) { [path = directory.path] call in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      for name in names {
        guard let file = try? SystemFiles().open("\(path)/\(name)", .read, in: nil), let status = try? SystemFiles().status(of: file),
          status.mode & 0o077 != 0
        else { continue }
        others.withLock { $0.append(file) }
      }
      return call.operation == .open && call.name == "." ? .failure(failure) : nil
    }
    let output = try OutputFile(directory("out"), isHidden: true, files: files)
    try output.write(new.byteSpan, at: 0, of: UInt64(new.count))
    for file in others.withLock({ $0 }) { #expect(try SystemFiles().status(of: file).size == 0) }
    let temporary = try #require(directory.names().first)
    #expect(try files.status(of: directory(temporary), in: nil, following: .asThemselves).mode == 0o600)
    try output.commit()
    #expect(directory.names() == ["out"])
    #expect(directory.bytes(of: "out") == new)
    #expect(try files.status(of: directory("out"), in: nil, following: .asThemselves).mode == 0o640)
  }

  @Test("a hidden file that cannot be made or named is an error, and nothing is left", arguments: [0, 1, 2])
  func hiddenFailures(_ step: Int) throws {
    let files = FaultyFiles { call in
      switch step {
      case 0 where call.operation == .open && call.name == ".": .failure(.fullDisk)
      case 1 where call.operation == .link: .failure(.inputOutput)
      case 2 where call.operation == .rename: .failure(.inputOutput)
      default: nil
      }
    }
    try directory.write(old, to: "out")
    let error = failure { () throws(PackError) in
      let output = try OutputFile(directory("out"), isHidden: true, files: files)
      try output.write(new.byteSpan, at: 0, of: UInt64(new.count))
      try output.commit()
    }
    #expect(error?.code == (step == 0 ? .noSpace : .cannotWrite))
    #expect(directory.names() == ["out"])
    #expect(directory.bytes(of: "out") == old)
  }

  @Test("a temporary name that is taken is not replaced: another one is tried")
  func takenName() throws {
    // Only the first name, which is the last of the first ten calls.
    let files = FaultyFiles { $0.operation == .link && $0.number < 10 ? .failure(.exists) : nil }
    let output = try OutputFile(directory("out"), isHidden: true, files: files)
    try output.write(new.byteSpan, at: 0, of: UInt64(new.count))
    try output.commit()
    #expect(files.calls.count { $0.operation == .link } > 1)
    #expect(directory.names() == ["out"])
  }
}
