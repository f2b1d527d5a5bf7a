import Foundation
import TestSupport
import Testing

@Suite("A directory that replaces another")
struct ReplacementTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func reset(_ content: UInt8 = 1) throws {
    for name in directory.names() { try FileManager.default.removeItem(atPath: directory(name)) }
    try directory.write([content], to: "out/old/file")
  }

  private func replace(_ files: any FileSystem) throws(PackError) {
    let output = try OutputDirectory(directory("out"), place: .replaceable, files: files)
    do throws(FileFailure) {
      try files.writeAll(try files.open("new", .create(mode: 0o644), in: output.root), at: 0, [2].byteSpan)
    } catch {
      throw error.writing(output.path)
    }
    try output.commit()
  }

  private var state: String {
    switch (directory.bytes(of: "out/old/file"), directory.bytes(of: "out/new")) {
    case ([1], nil): "old"
    case (nil, [2]): "new"
    case (nil, nil) where !directory.names().contains("out"): "nothing"
    default: "mixed"
    }
  }

  @Test("gets the name, and the earlier one is removed", arguments: [true, false])
  func replaced(canExchange: Bool) throws {
    try reset()
    try replace(canExchange ? FaultyFiles() : FaultyFiles.failing(.exchange, with: .unsupported))
    #expect(state == "new")
    #expect(directory.names() == ["out"])
    #expect(try directory.mode(of: "out") == 0o755)
  }

  @Test("needs no earlier one")
  func first() throws {
    try replace(FaultyFiles())
    #expect(directory.names() == ["out"] && state == "new")
  }

  @Test("replaces directories and nothing else")
  func others() throws {
    try directory.write([1], to: "out")
    #expect(failure { () throws(PackError) in try replace(FaultyFiles()) }?.code == .outputExists)
    try FileManager.default.removeItem(atPath: directory("out"))
    try directory.write([1], to: "elsewhere/file")
    try FileManager.default.createSymbolicLink(atPath: directory("out"), withDestinationPath: "elsewhere")
    try replace(FaultyFiles())
    #expect(directory.names(in: "elsewhere") == ["new"] && directory.names() == ["elsewhere", "out"])
    try FileManager.default.removeItem(atPath: directory("elsewhere"))
    #expect(failure { () throws(PackError) in try replace(FaultyFiles()) }?.code == .outputExists)
  }

  @Test("is filled itself if it cannot be renamed: the manifest comes last, and only then what was there goes")
  func immovable() throws {
    try reset()
    try directory.write([1], to: "out/manifest.json")
    try directory.makeDirectory("out/lost+found")
    let files = FaultyFiles { $0.operation == .exchange ? .failure(.acrossVolumes) : nil }
    let output = try OutputDirectory(directory("out"), place: .replaceable, files: files)
    for name in ["manifest.json", "z"] { try output.write([2], to: name) }
    try output.commit()
    #expect(directory.names(in: "out") == ["lost+found", "manifest.json", "z"] && directory.names() == ["out"])
    #expect(directory.bytes(of: "out/manifest.json") == [2])
    let calls = files.calls.filter { [.rename, .remove].contains($0.operation) }
    let last = try #require(calls.firstIndex { $0.operation == .rename && $0.name.hasSuffix("manifest.json") })
    #expect(last == calls.lastIndex { $0.operation == .rename })
    #expect(calls[..<last].allSatisfy { $0.operation == .rename })
  }

  @Test("leaves the earlier one as it was, whatever operation fails", arguments: [true, false])
  func everyFailure(canExchange: Bool) throws {
    for number in 0..<1000 {
      try reset()
      let files = FaultyFiles { call in
        if call.number == number { return .failure(.inputOutput) }
        return call.operation == .exchange && !canExchange ? .failure(.unsupported) : nil
      }
      let error = failure { () throws(PackError) in try replace(files) }
      guard files.reached(number) else { return #expect(number > 10) }
      let call = files.calls[number]
      // If only the last sync fails, the new directory has the name.
      let isNew = error == nil || call.operation == .sync && files.calls[..<number].contains { $0.operation == .exchange }
      #expect(state == (isNew ? "new" : "old"), "after a failed \(call)")
      try replace(FaultyFiles())
      #expect(directory.names() == ["out"], "after a failed \(call)")
    }
    Issue.record("it never finished")
  }

  @Test(
    "wherever a run stops, either it or the earlier one exists whole; only if directories cannot be exchanged may there be none",
    arguments: [true, false])
  func everyStop(canExchange: Bool) throws {
    for number in 0..<1000 {
      try reset()
      let files = FaultyFiles { call in
        if call.number >= number { return .failure(.inputOutput) }
        return call.operation == .exchange && !canExchange ? .failure(.unsupported) : nil
      }
      let error = failure { () throws(PackError) in try replace(files) }
      #expect(["old", "new"].contains(state) || !canExchange && state == "nothing", "after a stop at operation \(number): \(state)")
      if state == "nothing" { #expect(directory.names().count == 2) }
      try replace(FaultyFiles())
      #expect(directory.names() == ["out"] && state == "new", "after a stop at operation \(number)")
      if error == nil { return #expect(number > 10) }
    }
    Issue.record("it never finished")
  }

  @Test("a second name is the same file, and a taken name is refused")
  func secondName() throws {
    let files = FaultyFiles()
    try directory.write([1, 2], to: "a/file")
    try directory.makeDirectory("b")
    let from = try files.open(directory("a"), .directory, in: nil)
    let to = try files.open(directory("b"), .directory, in: nil)
    try files.link("file", in: from, as: "other", in: to)
    #expect(directory.bytes(of: "b/other") == [1, 2])
    #expect(try files.status(of: "other", in: to, following: .asThemselves).linkCount == 2)
    #expect(fileFailure { () throws(FileFailure) in try files.link("file", in: from, as: "other", in: to) }?.isExisting == true)
    #expect(fileFailure { () throws(FileFailure) in try files.link("none", in: from, as: "third", in: to) }?.isMissing == true)
  }

  @Test("a whole file is read up to a limit")
  func wholeFile() throws {
    let files = FaultyFiles.stuttering()
    let path = try directory.write((0..<1000).map { UInt8($0 % 251) }, to: "file")
    let bytes = try files.contents(of: path, limit: 1000)
    #expect(bytes == (0..<1000).map { UInt8($0 % 251) })
    #expect(failure { () throws(PackError) in _ = try files.contents(of: path, limit: 999) }?.code == .limitExceeded)
    #expect(failure { () throws(PackError) in _ = try files.contents(of: directory("none"), limit: 9) }?.code == .missingInput)
    #expect(failure { () throws(PackError) in _ = try files.contents(of: directory.path, limit: 9) }?.code == .cannotRead)
  }
}
