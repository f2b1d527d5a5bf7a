import TestSupport
import Testing

@testable import PackRemote

@Suite("The saved content of a remote asset", .bounded)
struct AssetCacheTests {
  @Test("a file that is truncated or changed at any byte is ignored and removed")
  func damaged() async throws {
    let place = AssetPlace()
    place.source.answer(.text("remote", tag: "\"a\""))
    await (try place.open()).refresh()
    let whole = try #require(place.disk.bytes(of: AssetPlace.path))
    #expect(whole.starts(with: Array("packer-asset/1\n".utf8)))
    #expect(try place.open().value == "remote")
    func check(_ bytes: [UInt8], _ comment: Comment) throws {
      place.disk.write(bytes, to: AssetPlace.path)
      let asset = try place.open()
      #expect(asset.value == "bundled", comment)
      #expect(asset.status.version == nil, comment)
      #expect(place.disk.bytes(of: AssetPlace.path) == nil, comment)
    }
    for index in whole.indices {
      for bit in [0x01, 0x80] as [UInt8] {
        var bytes = whole
        bytes[index] ^= bit
        try check(bytes, "bit \(bit) of byte \(index) changed")
      }
      try check(Array(whole[..<index]), "cut at byte \(index)")
    }
    try check(whole + [0], "one byte more")
    try check([], "empty")
    var random = SeededGenerator()
    for _ in 0..<200 {
      var bytes = random.bytes(Int.random(in: 0...2000, using: &random))
      if Bool.random(using: &random) { bytes = AssetCache.marker + bytes }
      try check(bytes, "random")
    }
  }

  @Test("a file that belongs to another name is not used")
  func otherName() async throws {
    let place = AssetPlace()
    await (try place.open()).refresh()
    let bytes = try #require(place.disk.bytes(of: AssetPlace.path))
    place.disk.write(bytes, to: "/cache/+other.asset")
    let other = try RemoteAsset(
      "Other", bundled: .text("bundled"), as: .text, from: place.source.provider, cache: "/cache", appVersion: "1.0 (1)",
      files: MemoryFiles(place.disk), clock: place.clock)
    #expect(other.value == "bundled")
    #expect(try place.open().value == "remote")
  }

  @Test(
    "after any crash, the next start has either the old content or the new content complete",
    arguments: [MemoryDisk.Kind.linux, .apple])
  func crashes(_ kind: MemoryDisk.Kind) async throws {
    var random = SeededGenerator()
    var number = 0
    var isReached = true
    var seen: Set<String> = []
    while isReached {
      var place = AssetPlace()
      place.disk = MemoryDisk(kind)
      await (try place.open()).refresh()
      #expect(try place.open().value == "remote")
      let files = MemoryFiles(place.disk, .stopBeforeChange(number))
      let asset = try place.open(files: files)
      place.source.answer(.text("newer and longer"))
      let isKept = await asset.refresh().isKept
      isReached = files.struck != nil
      files.end()
      for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent, .emptiedContent, .luck(seed: random.next())] {
        let comment: Comment = "after \(crash) before change \(number)"
        var left = place
        left.disk = place.disk.after(crash)
        let value = try left.open().value
        #expect(isKept ? value == "newer and longer" : ["remote", "newer and longer"].contains(value), comment)
        seen.insert(value)
        // Later content can be saved again, and leftovers of the crash are removed.
        left.source.answer(.text("last"))
        #expect(await (try left.open()).refresh().isKept, comment)
        #expect(try left.open().value == "last", comment)
        #expect(left.disk.tree(below: "/cache").keys.sorted() == ["config.asset"], comment)
      }
      number += 1
    }
    #expect(number > 3)
    #expect(seen.count == 2)
  }

  @Test("if any single file operation fails, the value is still correct")
  func everyFailure() async throws {
    var number = 0
    var isReached = true
    while isReached {
      let place = AssetPlace()
      await (try place.open()).refresh()
      let files = MemoryFiles(place.disk, .fail(number, .inputOutput))
      let asset = try place.open(files: files)
      #expect(["bundled", "remote"].contains(asset.value))
      place.source.answer(.text("newer"))
      #expect(await asset.refresh().isReplaced, "operation \(number)")
      #expect(asset.value == "newer")
      #expect(["bundled", "remote", "newer"].contains(try place.open().value))
      isReached = files.struck != nil
      number += 1
    }
    #expect(number > 8)
  }
}
