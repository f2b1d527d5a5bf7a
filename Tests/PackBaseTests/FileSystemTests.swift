import Foundation
import TestSupport
import Testing

@Suite("Files")
struct FileSystemTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test("a path that does not end in a name has no parts", arguments: namelessPaths)
  func nameless(path: String) {
    #expect(PathParts(path) == nil)
  }

  @Test(
    "a path is split at its last slash",
    arguments: [
      ("a", ".", "a"), ("a/", ".", "a"), ("a//", ".", "a"), ("/a", "/", "a"), ("//a", "/", "a"), ("a/b", "a", "b"),
      ("../a", "..", "a"), ("./a", ".", "a"), ("/a/b/c/", "/a/b", "c"), ("a/...", "a", "..."), ("a/\u{301}b", "a", "\u{301}b"),
      ("\u{301}", ".", "\u{301}"), ("a/\u{301}", "a", "\u{301}"),
    ])
  func parts(path: String, parent: String, name: String) throws {
    let parts = try #require(PathParts(path))
    #expect(parts.directory == parent)
    #expect(parts.name == name)
  }

  @Test(
    "the available space is what the system offers, and never less than what is free",
    arguments: [
      (100, 500, 500), (100, 100, 100), (100, 40, 100), (100, 0, 100), (0, 0, 0), (0, 7, 7), (100, -1, 100), (100, .min, 100),
      (.max, .max, .max), (100, nil, 100),
    ] as [(UInt64, Int64?, UInt64)])
  func available(free: UInt64, important: Int64?, expected: UInt64) {
    #expect(VolumeSpace.available(free: free, important: important) == expected)
  }

  @Test("a volume has at least its free space available")
  func systemSpace() throws {
    let files = SystemFiles()
    let place = try files.open(directory(""), .directory, in: nil)
    // Other processes may write between the two calls.
    #expect(try files.availableSpace(at: place) > files.freeSpace(at: place) / 2)
  }

  @Test("a read beyond the end is truncation, one up to it is not", arguments: [(0, 10), (10, 0), (3, 7)])
  func exactly(offset: Int, count: Int) throws {
    let files = FaultyFiles()
    let file = try files.open(directory.write(0..<10, to: "file"), .read, in: nil)
    var buffer = [UInt8](repeating: 0xFF, count: count)
    var span = buffer.mutableByteSpan
    try files.readExactly(file, at: UInt64(offset), into: &span, name: "file")
    #expect(buffer == (offset..<offset + count).map { UInt8($0) })
    var larger = [UInt8](repeating: 0, count: count + 1)
    let error = failure { () throws(PackError) in
      var span = larger.mutableByteSpan
      try files.readExactly(file, at: UInt64(offset), into: &span, name: "file")
    }
    #expect(error?.code == .truncated)
  }

  @Test("interrupted and short reads are continued")
  func stutter() throws {
    var random = SeededGenerator()
    let content = random.bytes(100_000)
    let files = FaultyFiles.stuttering()
    let file = try files.open(directory.write(content, to: "file"), .read, in: nil)
    var buffer = [UInt8](repeating: 0, count: 100_000)
    var span = buffer.mutableByteSpan
    try files.readExactly(file, at: 0, into: &span, name: "file")
    #expect(buffer == content)
  }

  @Test("a file that does not exist is missing, any other failure is a read error")
  func missing() throws {
    let failure = fileFailure { () throws(FileFailure) in _ = try SystemFiles().open(directory("none"), .read, in: nil) }
    #expect(failure?.reading("none").code == .missingInput)
    #expect(FileFailure.inputOutput.reading("file").code == .cannotRead)
    #expect(FileFailure.inputOutput.writing("file").code == .cannotWrite)
    #expect(FileFailure.fullDisk.writing("file").code == .noSpace)
  }

  @Test("a path that must not be a link is not opened through a link")
  func links() throws {
    let files = SystemFiles()
    try directory.write([1], to: "file")
    try directory.makeDirectory("folder")
    try FileManager.default.createSymbolicLink(atPath: directory("to-file"), withDestinationPath: "file")
    try FileManager.default.createSymbolicLink(atPath: directory("to-folder"), withDestinationPath: "folder")
    try FileManager.default.createSymbolicLink(atPath: directory("dangling"), withDestinationPath: "made")
    for (name, access) in [
      ("to-file", .readUnlinked), ("to-file", .writeUnlinked), ("to-folder", .directoryUnlinked), ("dangling", .create(mode: 0o644)),
      ("to-file", .create(mode: 0o644)), ("file", .create(mode: 0o644)), ("file", .directory),
    ] as [(String, FileAccess)] {
      #expect(fileFailure { () throws(FileFailure) in _ = try files.open(directory(name), access, in: nil) } != nil, "\(name)")
    }
    _ = try files.open(directory("to-file"), .read, in: nil)
    _ = try files.open(directory("to-folder"), .directory, in: nil)
    #expect(directory.bytes(of: "made") == nil)
  }

  @Test("no file is passed on to programs that are started, however it was opened")
  func notInherited() throws {
    let files = SystemFiles()
    let folder = try files.open(directory(""), .directory, in: nil)
    try directory.write([1], to: "file")
    var opened = [folder]
    for access in [.read, .readUnlinked, .writeUnlinked] as [FileAccess] { opened.append(try files.open("file", access, in: folder)) }
    opened.append(try files.open(directory(""), .directoryUnlinked, in: nil))
    opened.append(try files.open("new", .create(mode: 0o600), in: folder))
    if let nameless = try? files.open(".", .nameless(mode: 0o600), in: folder) { opened.append(nameless) }
    for file in opened { #expect(fcntl(file.descriptor, F_GETFD) & FD_CLOEXEC != 0) }
  }

  @Test("a lock is held by one open file at a time, until that is closed")
  func lock() throws {
    let files = SystemFiles()
    try directory.write([], to: "file")
    let other = try files.open(directory("file"), .read, in: nil)
    do {
      let holder = try files.open(directory("file"), .read, in: nil)
      #expect(try files.tryLock(holder))
      #expect(try !files.tryLock(other))
      withExtendedLifetime(holder) {}
    }
    #expect(try files.tryLock(other))
  }

  @Test("names do not include . and .., and names that are not UTF-8 are marked")
  func names() throws {
    let files = SystemFiles()
    try directory.write([], to: "ü")
    let invalid = Array(directory("").utf8) + [0xFF, 0]
    let descriptor = invalid.withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { creat($0.baseAddress!, 0o644) }
    }
    #expect(descriptor >= 0)
    close(descriptor)
    let names = try files.names(in: try files.open(directory.path, .directory, in: nil))
    #expect(Set(names) == [DirectoryName(text: "ü", isUTF8: true), DirectoryName(text: "\u{FFFD}", isUTF8: false)])
  }

  @Test("a tree is removed with its content, and links in it are not followed")
  func removeTree() throws {
    try directory.write([1], to: "tree/a/b/c")
    try directory.makeDirectory("tree/empty")
    try directory.write([1], to: "kept/file")
    try FileManager.default.createSymbolicLink(atPath: directory("tree/a/link"), withDestinationPath: directory("kept"))
    let files = SystemFiles()
    try files.removeTree("tree", in: try files.open(directory.path, .directory, in: nil))
    #expect(directory.names() == ["kept"])
    #expect(directory.bytes(of: "kept/file") == [1])
  }
}
