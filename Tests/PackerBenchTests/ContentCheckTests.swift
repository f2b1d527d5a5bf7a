import TestSupport
import Testing

@testable import packer_bench

@Suite("Outputs that differ are not compared")
struct ContentCheckTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    for tree in ["original", "copy"] {
      try directory.write([1, 2, 3], to: "\(tree)/a/one.bin")
      try directory.write([4], to: "\(tree)/two.sh", mode: 0o755)
      try directory.write([], to: "\(tree)/empty")
    }
  }

  private func difference() -> PackError? {
    do throws(PackError) {
      try ContentCheck.requireSameTree(directory("copy"), as: directory("original"), name: "copy")
      return nil
    } catch {
      return error
    }
  }

  @Test("equal trees pass")
  func equal() {
    #expect(difference() == nil)
  }

  @Test("another byte is a difference")
  func bytes() throws {
    try directory.write([1, 2, 4], to: "copy/a/one.bin")

    #expect(difference()?.code == .contentDiffers)
    #expect(difference()?.message == "copy: 'a/one.bin' has different content; outputs that differ are not compared")
  }

  @Test("another length, a missing file and an extra file are differences", arguments: ["length", "missing", "last", "more"])
  func files(_ change: String) throws {
    switch change {
    case "length": try directory.write([1, 2], to: "copy/a/one.bin")
    case "missing": try Disk().removeAll(directory("copy/a/one.bin"))
    case "last": try Disk().removeAll(directory("copy/two.sh"))
    default: try directory.write([5], to: "copy/zzz")
    }

    #expect(difference()?.code == .contentDiffers)
  }

  @Test("a lost executable bit is a difference")
  func mode() throws {
    try directory.write([4], to: "copy/two.sh", mode: 0o644)

    #expect(difference()?.code == .contentDiffers)
  }

  @Test(
    "a listing must name exactly the files",
    arguments: [
      ("./\n./a/\n./a/one.bin\n./empty\n./two.sh\n", true), ("a/one.bin\nempty\ntwo.sh\n", true), ("a/one.bin\ntwo.sh\n", false),
      ("a/one.bin\nempty\ntwo.sh\nthree\n", false), ("", false),
    ])
  func names(_ listing: String, _ isSame: Bool) throws {
    try directory.write(listing.utf8, to: "listing")
    let items = try Disk().tree(directory("original"))

    var code: PackError.Code?
    do throws(PackError) {
      try ContentCheck.requireSameNames(directory("listing"), as: items, name: "listing")
    } catch {
      code = error.code
    }

    #expect(code == (isSame ? nil : .contentDiffers))
  }

  @Test("a contest ends at the first output that differs")
  func contest() throws {
    let contest = Contest(stopwatch: Stopwatch(scratch: directory.path), rounds: 3)
    let copy = directory("copy/two.sh")
    let original = directory("original/two.sh")
    let entrant = Contest.Entrant(
      name: "spoiler", script: "echo spoiled >\(copy)",
      check: { () throws(PackError) in try ContentCheck.requireSameFile(copy, as: original, name: "spoiler") })

    #expect(throws: PackError.self) { try contest.run([entrant]) }
  }
}
