import Foundation
import TestSupport
import Testing

@Suite("An output directory")
struct OutputDirectoryTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func fill(_ files: any FileSystem, _ name: String = "out") throws(PackError) {
    let output = try OutputDirectory(directory(name), files: files)
    do throws(FileFailure) {
      try files.makeDirectory("below", mode: 0o755, in: output.root)
      let file = try files.open("file", .create(mode: 0o644), in: output.root)
      try files.writeAll(file, at: 0, [1, 2, 3].byteSpan)
    } catch {
      throw error.writing(output.path)
    }
    try output.commit()
  }

  @Test("is made under another name if a process that removes what others left took it for such a directory before it was locked")
  func swept() throws {
    let files = SystemFiles()
    let staging = try StagedName(for: directory("out"), files: files)
    var names: [String] = []
    let made = try staging.make(.directory) { (name, parent) throws(FileFailure) in
      names.append(name)
      try files.makeDirectory(name, mode: 0o700, in: parent)
      if names.count == 1 { try files.remove(name, .directory, in: parent) }
      return try files.open(name, .directoryUnlinked, in: parent)
    }
    #expect(names.count == 2 && directory.names(in: "") == [names[1]])
    withExtendedLifetime(made) {}
  }

  @Test("a path that does not end in a name is refused", arguments: namelessPaths)
  func nameless(path: String) throws {
    try directory.makeDirectory("a")
    let place = directory("a") + "/" + path + "/.."
    #expect([.usage, .outputExists].contains(failure { () throws(PackError) in try fill(FaultyFiles(), "a/x/..") }?.code))
    #expect(
      [.usage, .outputExists].contains(failure { () throws(PackError) in _ = try OutputDirectory(place, files: FaultyFiles()) }?.code))
    #expect(directory.names() == ["a"])
  }

  @Test("a directory with anything in it, a file or a link is refused and kept")
  func taken() throws {
    try directory.write([1], to: "full/file")
    try directory.write([1], to: "hidden/.file")
    try directory.write([1], to: "file")
    try FileManager.default.createSymbolicLink(atPath: directory("dangling"), withDestinationPath: "nowhere")
    let before = directory.names()
    for name in ["full", "hidden", "file", "dangling", "full/", "full/.", "hidden/../full/../full", "file/x"] {
      let code = failure { () throws(PackError) in try fill(FaultyFiles(), name) }?.code
      #expect(code == (name == "file/x" ? .cannotWrite : .outputExists), "\(name)")
    }
    #expect(directory.names() == before)
    #expect(directory.names(in: "full") == ["file"])
  }

  @Test("it appears at the commit, under a new name or in place of an empty directory", arguments: ["new", "empty", "new/", "empty//"])
  func commit(name: String) throws {
    try directory.makeDirectory("empty")
    try fill(FaultyFiles(), name)
    let final = String(name.prefix { $0 != "/" })
    #expect(directory.names(in: final) == ["below", "file"])
    #expect(directory.names().filter { $0.hasPrefix(".") } == [])
  }

  @Test(
    "until the commit only its owner can read it; then it has the mode that the mask allows",
    arguments: [0o077, 0o027, 0o022] as [UInt32])
  func modes(mask: UInt32) throws {
    let output = try OutputDirectory(directory("out"), files: FaultyFiles(mask: mask))
    #expect(try directory.mode(of: directory.names()[0]) == 0o700)
    try output.commit()
    #expect(try directory.mode(of: "out") == Int(0o777 & ~mask))
  }

  @Test("a mode that the caller gives does not depend on the mask", arguments: [0o755, 0o700] as [UInt32])
  func givenMode(mode: UInt32) throws {
    let output = try OutputDirectory(directory("out"), files: FaultyFiles(mask: 0o077))
    try output.commit(mode: mode)
    #expect(try directory.mode(of: "out") == Int(mode))
  }

  @Test("a link to a directory stays, and its target is replaced")
  func linked() throws {
    try directory.makeDirectory("disk/empty")
    try FileManager.default.createSymbolicLink(atPath: directory("link"), withDestinationPath: "disk/empty")
    try fill(FaultyFiles(), "link")
    #expect(directory.names(in: "disk/empty") == ["below", "file"])
    #expect(directory.names(in: "disk") == ["empty"] && directory.names() == ["disk", "link"])
    #expect(failure { () throws(PackError) in try fill(FaultyFiles(), "link") }?.code == .outputExists)
  }

  @Test("a directory that is named as '.' keeps its place, and its files come one after the other")
  func current() throws {
    try directory.makeDirectory("new/inner")
    let inode = try SystemFiles().status(of: directory("new/inner"), in: nil, following: .asThemselves).inode
    try fill(FaultyFiles(), "new/inner/.")
    #expect(directory.names(in: "new/inner") == ["below", "file"] && directory.names(in: "new") == ["inner"])
    #expect(try SystemFiles().status(of: directory("new/inner"), in: nil, following: .asThemselves).inode == inode)
    try directory.makeDirectory("other")
    let files = FaultyFiles { $0.operation == .rename ? .failure(.inputOutput) : nil }
    #expect(failure { () throws(PackError) in try fill(files, "other/.") }?.code == .cannotWrite)
    #expect(directory.names(in: "other") == [])
    let output = try OutputDirectory(directory("other/."), files: FaultyFiles())
    try directory.write([1], to: "other/theirs")
    #expect(failure { () throws(PackError) in try output.commit() }?.code == .outputExists)
    #expect(directory.bytes(of: "other/theirs") == [1])
  }

  @Test("it is removed with its content if there is no commit")
  func dropped() throws {
    do {
      let output = try OutputDirectory(directory("out"), files: FaultyFiles())
      try directory.write([1], to: "\(directory.names()[0])/a/b/c")
      try FileManager.default.createSymbolicLink(
        atPath: directory("\(directory.names()[0])/link"), withDestinationPath: directory.path)
      withExtendedLifetime(output) {}
    }
    #expect(directory.names() == [])
  }

  @Test("a directory that is filled meanwhile is not replaced")
  func filledMeanwhile() throws {
    let output = try OutputDirectory(directory("out"), files: FaultyFiles())
    try directory.write([1], to: "out/theirs")
    #expect(failure { () throws(PackError) in try output.commit() }?.code == .outputExists)
    #expect(directory.names(in: "out") == ["theirs"])
  }

  @Test(
    "missing space is reported before anything is written",
    arguments: [(999, nil), (1000, nil), (1001, "1 bytes are missing")] as [(UInt64, String?)])
  func space(size: UInt64, message: String?) throws {
    let files = FaultyFiles { $0.operation == .freeSpace ? .freeSpace(1000) : nil }
    let output = try OutputDirectory(directory("out"), files: files)
    let error = failure { () throws(PackError) in try output.checkSpace(size) }
    #expect(error?.code == (message == nil ? nil : .noSpace))
    #expect(message == nil || error?.message.contains(message!) == true)
  }

  @Test("space that the system can purge counts as available, but not in the error of a full disk")
  func purgeable() throws {
    let files = FaultyFiles { $0.operation == .freeSpace ? .freeSpace($0.name == FaultyFiles.available ? 5000 : 0) : nil }
    let output = try OutputDirectory(directory("out"), files: files)
    try output.checkSpace(5000)
    #expect(failure { () throws(PackError) in try output.checkSpace(5001) }?.message.contains("1 bytes are missing") == true)
    #expect(try files.freeSpace(at: files.open(directory(""), .directory, in: nil)) == 0)
  }

  @Test("whatever operation fails, nothing or the whole directory exists, and nothing else")
  func everyFailure() throws {
    for number in 0..<1000 {
      let files = FaultyFiles.failing(at: number)
      let error = failure { () throws(PackError) in try fill(files) }
      guard files.reached(number) else { return #expect(number > 8) }
      let call = files.calls[number]
      let isThere = error == nil || files.calls[..<number].contains { $0.operation == .rename }
      #expect(directory.names() == (isThere ? ["out"] : []), "after a failed \(call)")
      if isThere { #expect(directory.names(in: "out") == ["below", "file"]) }
      try? FileManager.default.removeItem(atPath: directory("out"))
    }
    Issue.record("the output never finished")
  }

  @Test("wherever a run stops, nothing or the whole directory exists, and the next run cleans up")
  func everyStop() throws {
    for number in 0..<1000 {
      let error = failure { () throws(PackError) in try fill(FaultyFiles.stopping(at: number)) }
      let names = directory.names().filter { !$0.hasPrefix(".out.packer-") }
      #expect(names == [] || names == ["out"])
      if names == ["out"] {
        #expect(directory.names(in: "out") == ["below", "file"])
        try FileManager.default.removeItem(atPath: directory("out"))
      }
      try fill(FaultyFiles())
      #expect(directory.names() == ["out"], "after a stop at operation \(number)")
      try FileManager.default.removeItem(atPath: directory("out"))
      if error == nil { return #expect(number > 8) }
    }
    Issue.record("the output never finished")
  }
}
