extension FuzzTarget {
  /// A tar as libarchive reads it, through the code that passes it on piece by piece.
  static let tar = FuzzTarget(
    "tar", largestInput: 8192,
    files: ["Sources/PackBuild/Archive/TarReader.swift", "Sources/PackBuild/Archive/LibArchive/ReadHandle.swift"],
    seeds: {
      func seed(_ name: String, _ headers: [TarHeader]) throws -> FuzzSeed {
        var tar: [UInt8] = []
        for header in headers {
          header.append(to: &tar)
          tar += [UInt8](repeating: 0x61, count: (Int(header.size) + 511) / 512 * 512)
        }
        return FuzzSeed(name, [7] + tar + [UInt8](repeating: 0, count: 1024))
      }
      return [
        try seed("empty", []), try seed("file", [TarHeader(path: "a/b.txt", kind: .file, size: 600, linkTarget: nil)]),
        try seed(
          "link",
          [
            TarHeader(path: "a", kind: .executable, size: 3, linkTarget: nil),
            TarHeader(path: "b", kind: .executable, size: 0, linkTarget: "a"),
            TarHeader(path: "d", kind: .directory, size: 0, linkTarget: nil),
          ]),
        try seed("pax", [TarHeader(path: String(repeating: "long/", count: 60) + "ö", kind: .file, size: 9, linkTarget: nil)]),
      ]
    },
    run: { (input) throws(BrokenPromise) in
      var feed = ByteFeed(input)
      let step = 1 + Int(feed.byte()) * 7
      let tar = feed.rest()
      let whole = try entries(tar, piece: 1 << 20)
      // The result does not depend on the size of the pieces.
      try hold(try entries(tar, piece: step) == whole, "a tar is read differently in pieces of \(step) bytes")
      var end: UInt64 = 0
      for entry in whole.entries {
        try hold(entry.start >= end || entry.start == 0, "entries are out of order")
        end = entry.start
      }
    })

  /// The entries of a tar, and whether it is valid to its end.
  private struct Listing: Equatable {
    var entries: [TarEntry] = []
    var isSound = false
  }

  private static func entries(_ tar: [UInt8], piece: Int) throws(BrokenPromise) -> Listing {
    var listing = Listing()
    var rest = tar[...]
    listing.isSound =
      try isAccepted { () throws(PackError) in
        let reader = try TarReader { () throws(PackError) in
          defer { rest = rest.dropFirst(piece) }
          return Array(rest.prefix(piece))
        }
        while let entry = try reader.next() {
          listing.entries.append(entry)
          // Every entry of a tar takes at least one block.
          guard listing.entries.count <= tar.count / 512 + 1 else {
            throw PackError(.fuzzing, "more entries than blocks")
          }
        }
      }
    return listing
  }
}
