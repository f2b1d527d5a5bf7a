import Foundation
import TestSupport
import Testing

@Suite("A folder of pages", .bounded)
struct PageFolderTests {
  private static let sample = Result { try PageSample(300) }

  private let directory: TemporaryDirectory
  private let sample: PageSample
  private let page: PageReference
  private let bytes: [UInt8]

  init() throws {
    directory = try TemporaryDirectory()
    sample = try Self.sample.get()
    page = try #require(sample.assembly.references.first)
    bytes = try #require(sample.pages[page])
  }

  private var folder: PageFolder { PageFolder(directory("pages")) }
  private var name: String { "pages/\(page.fileName)" }

  // MARK: Refusals

  @Test("bytes that are not the page are refused and leave no file", arguments: 0..<5)
  func wrongBytes(_ fault: Int) throws {
    var other = bytes
    switch fault {
    case 0: other = []
    case 1: other.removeLast()
    case 2: other.append(0)
    case 3: other[other.count / 2] ^= 1
    default: other = try #require(sample.pages[sample.assembly.references[1]])
    }
    let error = failure { () throws(PackError) in try folder.keep(other, as: page) }
    #expect(error?.code == .wrongPage && error?.advice == .fetchAgain)
    #expect(directory.names().isEmpty)
  }

  @Test(
    "a file that was cut or extended is refused before it is read, counts as missing for a device, and is replaced",
    arguments: [-1, 1, 1 << 30])
  func wrongSize(_ difference: Int) throws {
    try folder.keep(bytes, as: page)
    let file = try #require(FileHandle(forWritingAtPath: directory(name)))
    try file.truncate(atOffset: UInt64(bytes.count + difference))
    let files = FaultyFiles()
    let error = failure { () throws(PackError) in _ = try PageFolder(directory("pages"), files: files).read(page) }
    #expect(error?.code == .wrongPage && error?.advice == .fetchAgain)
    #expect(files.bytesRead == 0)
    #expect(try folder.intact(page) == nil)
    try folder.keep(bytes, as: page)
    #expect(try folder.read(page) == bytes)
  }

  @Test("a file with a changed byte counts as missing for a device, and is replaced")
  func changed() throws {
    var other = bytes
    other[7] ^= 1
    try directory.write(other, to: name)
    #expect(try folder.read(page) == other)
    #expect(try folder.intact(page) == nil)
    try folder.keep(bytes, as: page)
    #expect(try folder.intact(page) == bytes)
  }

  @Test("a directory under the name of a page is refused and stays")
  func directoryInPlace() throws {
    try directory.write([1], to: "\(name)/file")
    #expect(failure { () throws(PackError) in _ = try folder.read(page) }?.code == .wrongPage)
    #expect(try folder.intact(page) == nil)
    #expect(failure { () throws(PackError) in try folder.keep(bytes, as: page) }?.code == .outputExists)
    try folder.free(except: [])
    #expect(try directory.tree("pages") == [page.fileName, "\(page.fileName)/file"])
  }

  @Test("a symbolic link under the name of a page is not followed, and is replaced", arguments: [true, false])
  func linkInPlace(leadsToPage: Bool) throws {
    try directory.write(leadsToPage ? bytes : [1], to: "elsewhere")
    try directory.makeDirectory("pages")
    try FileManager.default.createSymbolicLink(atPath: directory(name), withDestinationPath: directory("elsewhere"))
    #expect(failure { () throws(PackError) in _ = try folder.read(page) }?.code == .wrongPage)
    #expect(try folder.intact(page) == nil)
    try folder.keep(bytes, as: page)
    #expect(try folder.read(page) == bytes)
    #expect(directory.bytes(of: "elsewhere") == (leadsToPage ? bytes : [1]))
    #expect(try FileManager.default.attributesOfItem(atPath: directory(name))[.type] as? FileAttributeType == .typeRegular)
  }

  @Test("a failure of the file system is reported, and no page is lost", arguments: FileFailure.samples)
  func failures(_ fault: FileFailure) throws {
    let other = sample.assembly.references[1]
    for number in 0... {
      let files = FaultyFiles.failing(at: number, with: fault)
      let folder = PageFolder(directory("pages-\(number)"), files: files)
      let whole = PageFolder(directory("pages-\(number)"))
      try whole.keep(try #require(sample.pages[other]), as: other)
      let error = failure { () throws(PackError) in
        try folder.keep(bytes, as: page)
        _ = try folder.intact(page)
        try folder.free(except: [page.fileName, other.fileName])
      }
      guard files.calls.count > number else { break }
      if let error { #expect([.cannotRead, .cannotWrite, .noSpace].contains(error.code), "\(number): \(error)") }
      #expect(try whole.intact(other) != nil)
      try whole.keep(bytes, as: page)
      #expect(try whole.intact(page) == bytes)
    }
  }

  // MARK: What it does

  @Test("pages are kept under the names of their digests, found again, and those of other manifests are freed")
  func kept() throws {
    let references = sample.assembly.references
    #expect(try folder.read(page) == nil)
    try folder.free(except: [])
    for reference in references { try folder.keep(try #require(sample.pages[reference]), as: reference) }
    #expect(directory.names(in: "pages") == references.map(\.fileName).sorted())
    let files = FaultyFiles()
    try PageFolder(directory("pages"), files: files).keep(bytes, as: page)
    #expect(!files.calls.contains { $0.operation == .write })
    for source in [folder.read, folder.intact] as [PageSearch.Source] {
      guard case .found(let packs) = try PageSearch(sample.manifest).packs([PageSample.id(3)], in: source) else {
        Issue.record("pages are missing")
        continue
      }
      #expect(packs == [sample.packs[3]])
    }

    try directory.write([1], to: "pages/manifest.json")
    try directory.write([1], to: "pages/.\(page.fileName).packer-0123456789abcdef")
    try directory.write([1], to: "pages/.other.packer-0123456789abcdef")
    try folder.free(except: [page.fileName])
    #expect(Set(directory.names(in: "pages")) == [page.fileName, "manifest.json", ".other.packer-0123456789abcdef"])
  }

  @Test("only names of pages are names of pages")
  func names() {
    #expect(sample.assembly.files.allSatisfy { PageReference.isFileName($0.reference.fileName) })
    for name in [
      "", ".page", "packs-.page", "packs-0123456789abcdef.pack", "packs-0123456789ABCDEF.page", "Packs-0123456789abcdef.page",
      "packs-0123456789abcde.page", "-0123456789abcdef.page", "a-b-0123456789abcdef.page", "../packs-0123456789abcdef.page",
    ] {
      #expect(!PageReference.isFileName(name), "\(name)")
    }
  }

  // MARK: Crashes, and two processes

  @Test(
    "a page is whole or missing after a crash at any operation, and its name is free again", arguments: [MemoryDisk.Kind.linux, .apple])
  func crashes(_ kind: MemoryDisk.Kind) throws {
    var points = 0
    while true {
      let disk = MemoryDisk(kind)
      disk.write([0], to: "/place/other")
      let files = MemoryFiles(disk, .stop(before: points))
      let error = failure { () throws(PackError) in try PageFolder("/place/pages", files: files).keep(bytes, as: page) }
      for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent, .emptiedContent] {
        let left = disk.after(crash)
        let folder = PageFolder("/place/pages", files: MemoryFiles(left))
        let found = try folder.intact(page)
        if error == nil, files.struck == nil { #expect(found != nil, "\(crash)") }
        if found == nil {
          try folder.keep(bytes, as: page)
          #expect(try folder.intact(page) == bytes, "stopped at \(points), \(crash)")
        }
        try folder.free(except: [page.fileName])
        #expect(Set(left.tree(below: "/place/pages").keys) == [page.fileName], "stopped at \(points), \(crash)")
      }
      if files.struck == nil { break }
      points += 1
    }
    #expect(points > 8)
  }

  @Test(
    "two processes that keep and free pages never see half a page, and the one that is kept stays",
    arguments: [MemoryDisk.Kind.linux, .apple])
  func race(_ kind: MemoryDisk.Kind) async throws {
    let other = sample.assembly.references[1]
    let otherBytes = try #require(sample.pages[other])
    var point = 0
    while true {
      var isReached = false
      for back in [nil, 4, 9] as [Int?] {
        let disk = MemoryDisk(kind)
        try PageFolder("/pages", files: MemoryFiles(disk)).keep(otherBytes, as: other)
        let switches = Interleaving(first: point, second: back)
        let failures = await withTaskGroup(of: String?.self) { group in
          for process in [0, 1] {
            group.addTask { [page, bytes] in
              let folder = PageFolder("/pages", files: MemoryFiles(disk, before: { switches.step(process) }))
              let error = await WorkerPool.settled { () -> PackError? in
                failure { () throws(PackError) in
                  try folder.keep(bytes, as: page)
                  if process == 1 { try folder.free(except: [page.fileName]) }
                  guard try folder.intact(page) == bytes else { throw PackError(.internalError, "the page is not there") }
                }
              }
              switches.end(process)
              return error?.description
            }
          }
          return await group.reduce(into: [String?]()) { $0.append($1) }
        }
        isReached = isReached || switches.counts[0] > point
        #expect(failures == [nil, nil], "the first until operation \(point), the second until \(back.map(String.init) ?? "its end")")
        let isKept = disk.after(.powerCut).bytes(of: "/pages/\(page.fileName)") == bytes
        #expect(isKept)
        #expect(Set(disk.tree(below: "/pages").keys) == [page.fileName])
      }
      guard isReached else { break }
      point += 1
    }
    #expect(point > 10)
  }
}
