import TestSupport

extension FuzzTarget {
  /// The code signature of an executable.
  static let executable = FuzzTarget(
    "executable", files: ["Sources/PackBuild/BuiltApp/ExecutableReading.swift"],
    seeds: {
      let signed = SampleExecutable().bytes
      return [
        FuzzSeed("signed", [7] + signed), FuzzSeed("unsigned", [1] + SampleExecutable(isSigned: false).bytes),
        FuzzSeed("by-the-linker", [2] + SampleExecutable(groups: nil, isCertified: false).bytes),
        FuzzSeed("fat", [63] + SampleExecutable.fat([signed, SampleExecutable(groups: ["group.b"]).bytes])),
        FuzzSeed("fat-64", [9] + SampleExecutable.fat([signed, signed], is64: true)),
        FuzzSeed("class-file", [0, 0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61]),
      ]
    },
    run: { (input) throws(BrokenPromise) in
      var feed = ByteFeed(input)
      let step = 1 + Int(feed.byte())
      let bytes = feed.rest()
      let whole = groups(bytes, piece: max(1, bytes.count))
      // The result does not depend on the size of the pieces.
      try hold(groups(bytes, piece: step) == whole, "an executable is read differently in pieces of \(step) bytes")
    })

  private static func groups(_ bytes: [UInt8], piece: Int) -> BuiltApp.Groups {
    var reading = ExecutableReading(size: UInt64(bytes.count))
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + piece)
      reading.add(bytes[start..<end].byteSpan)
      start = end
    }
    return reading.groups(place: "Game")
  }

  /// A zip archive as libarchive reads it, with all its contents.
  static let zip = FuzzTarget(
    "zip", largestInput: 8192, rounds: 1000,
    files: ["Sources/PackBuild/Archive/LibArchive/ZipReader.swift"],
    seeds: {
      var stored = SampleZip([("Payload/a.app/Info.plist", Array("<plist/>".utf8)), ("ö", [1, 2, 3])])
      stored.links = [("link", "../a")]
      var compressed = stored
      compressed.options = "zip:compression=deflate"
      stored.options = "zip:compression=store"
      var large = stored
      large.options = "zip:zip64"
      var locked = stored
      locked.options = nil
      locked.password = "secret"
      return [
        FuzzSeed("empty", SampleZip().bytes), FuzzSeed("stored", stored.bytes), FuzzSeed("compressed", compressed.bytes),
        FuzzSeed("zip64", large.bytes), FuzzSeed("encrypted", locked.bytes),
      ]
    },
    run: { (zip) throws(BrokenPromise) in
      _ = try isAccepted { () throws(PackError) in
        let reader = try ZipReader(size: UInt64(zip.count)) { (offset, buffer) in
          let start = min(zip.count, Int(clamping: offset))
          let count = min(buffer.count, zip.count - start)
          copy(zip[start..<start + count].byteSpan, to: &buffer)
          return count
        }
        var buffer = [UInt8](repeating: 0, count: 1000)
        var left = 1 << 20
        var entries = 0
        while try reader.next() != nil {
          entries += 1
          // Every entry of the directory takes 46 bytes.
          guard entries <= zip.count / 46 + 1 else { throw PackError(.fuzzing, "more entries than records") }
          while left > 0 {
            var span = buffer.mutableByteSpan
            let count = try reader.read(into: &span)
            guard count > 0 else { break }
            left -= count
          }
        }
      }
    })
}
