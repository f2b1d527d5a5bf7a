import Foundation
import TestSupport
import Testing

@testable import PackBuild

#if canImport(Glibc)
  import Glibc
#endif

@Suite("The same tree gives the same pack", .bounded)
struct DeterminismTests {
  private let project: SampleProject
  private let tree: SampleTree

  init() throws {
    var random = SeededGenerator(seed: 5)
    tree = SampleTree.awkward(&random)
    project = try SampleProject()
    try tree.write(to: "tree", in: project.directory)
  }

  private func packed(_ change: (inout PackJob) -> Void = { _ in }) async throws -> [UInt8] {
    try await project.pack(change)
    return project.packed
  }

  private func isSame(_ change: (inout PackJob) -> Void) async throws -> Bool {
    let first = try await packed()
    return try await packed(change) == first
  }

  @Test("whatever the number of threads", arguments: [1, 2, 8])
  func threads(_ jobs: Int) async throws {
    #expect(try await isSame { $0.jobs = jobs })
  }

  @Test("in another directory, made in another order, at other times, with other permission bits that are not stored")
  func place() async throws {
    let first = try await packed()
    var other = project
    other.source = "somewhere/else"
    other.output = "other.pack"
    for path in tree.emptyDirectories.sorted(by: >) { try project.directory.makeDirectory("somewhere/else/\(path)") }
    for (path, file) in tree.files.sorted(by: { $0.key > $1.key }) {
      try other.add(path, file.bytes, mode: file.isExecutable ? 0o700 : 0o600)
      let date = Date(timeIntervalSince1970: Double(file.bytes.count))
      try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: project.directory("somewhere/else/\(path)"))
    }
    try await other.pack()
    let isSame = other.packed == first
    #expect(isSame)
  }

  @Test("when the file system lists names in another order")
  func listing() async throws {
    #expect(try await isSame { $0.files = ReversedFiles() })
  }

  @Test("when reads come in pieces and are interrupted")
  func stuttering() async throws {
    #expect(try await isSame { $0.files = FaultyFiles.stuttering() })
  }

  @Test("with either back end", arguments: CryptoBackends.all.indices)
  func backEnds(_ number: Int) async throws {
    #expect(try await isSame { $0.backend = CryptoBackends.all[number] })
  }

  @Test("but not with a random salt, or with another name, version or setting")
  func differences() async throws {
    var packs: [[UInt8]] = [try await packed()]
    packs.append(try await packed { $0.settings.usesRandomSalt = true })
    packs.append(try await packed { $0.settings.usesRandomSalt = true })
    packs.append(try await packed { $0.packVersion = 2 })
    let name = try PackName("another")
    packs.append(try await packed { $0.name = name })
    packs.append(try await packed { $0.settings.segmentSize = 8192 })
    packs.append(try await packed { $0.settings.frameSize = 100_000 })
    packs.append(try await packed { $0.settings.level = .number(9) })
    #expect(Set(packs).count == packs.count)
    // No two packs have the same segment keys.
    #expect(Set(packs.map { Array($0[64..<96]) }).count == packs.count)
  }

  @Test("the random salt is random and the pack still opens")
  func randomSalt() async throws {
    try await project.pack { $0.settings.usesRandomSalt = true }
    #expect(try !project.open().header.hasDeterministicSalt)
    let isSame = try await project.unpacked() == tree
    #expect(isSame)
  }

  @Test("a pack's content root depends only on the tree")
  func contentRoot() async throws {
    let root = try await project.pack().contentRoot
    let other = try await project.pack {
      $0.settings.level = .number(19)
      $0.settings.frameSize = 1 << 20
      $0.packVersion = 9
    }
    #expect(other.contentRoot == root)
    try project.add("one-more")
    #expect(try await project.pack().contentRoot != root)
  }

  /// A file system that lists every directory in reverse order.
  private struct ReversedFiles: FileSystem {
    private let base = FaultyFiles()

    func names(in directory: OpenFile) throws(FileFailure) -> [DirectoryName] {
      try base.names(in: directory).sorted { $0.text > $1.text }
    }

    func open(_ name: String, _ access: FileAccess, in directory: OpenFile?) throws(FileFailure) -> OpenFile {
      try base.open(name, access, in: directory)
    }
    func read(_ file: OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int {
      try base.read(file, at: offset, into: buffer)
    }
    func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int {
      try base.read(file, into: buffer)
    }
    func write(_ file: OpenFile, at offset: UInt64, _ buffer: UnsafeRawBufferPointer) throws(FileFailure) -> Int {
      try base.write(file, at: offset, buffer)
    }
    func write(_ file: OpenFile, _ buffer: UnsafeRawBufferPointer) throws(FileFailure) -> Int { try base.write(file, buffer) }
    func status(of file: OpenFile) throws(FileFailure) -> FileStatus { try base.status(of: file) }
    func status(of name: String, in directory: OpenFile?, following links: LinkPolicy) throws(FileFailure) -> FileStatus {
      try base.status(of: name, in: directory, following: links)
    }
    func makeDirectory(_ name: String, mode: UInt32, in directory: OpenFile?) throws(FileFailure) {
      try base.makeDirectory(name, mode: mode, in: directory)
    }
    func remove(_ name: String, _ kind: FileStatus.Kind, in directory: OpenFile?) throws(FileFailure) {
      try base.remove(name, kind, in: directory)
    }
    func rename(_ name: String, to newName: String, in directory: OpenFile?) throws(FileFailure) {
      try base.rename(name, to: newName, in: directory)
    }
    func link(_ file: OpenFile, as name: String, in directory: OpenFile?) throws(FileFailure) {
      try base.link(file, as: name, in: directory)
    }
    func link(
      _ name: String, in directory: OpenFile?, as newName: String, in newDirectory: OpenFile?
    ) throws(FileFailure) {
      try base.link(name, in: directory, as: newName, in: newDirectory)
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
}
