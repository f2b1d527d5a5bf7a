import TestSupport

extension FuzzTarget {
  /// A page: as the file that a reference names, and as the JSON in it.
  static let page = FuzzTarget(
    "page", largestInput: 8192,
    files: [
      "Sources/PackManifest/PageContent.swift", "Sources/PackManifest/PageReference.swift",
      "Sources/PackManifest/ManifestEntryReader.swift", "Sources/PackPages/Page.swift",
    ],
    seeds: {
      var seeds: [FuzzSeed] = []
      for name in PageVector.all {
        let bytes = try PageVector(named: name).bytes
        guard bytes.count <= 6000 else { continue }
        seeds.append(FuzzSeed(name, bytes))
        if let json = content(of: bytes) { seeds.append(FuzzSeed("\(name)-json", json)) }
      }
      return seeds
    },
    run: { (bytes) throws(BrokenPromise) in
      // As a file, whatever it expands to.
      if let header = try? FrameHeader.parse(bytes.byteSpan, name: "page"), header.contentSize <= 1 << 20 {
        for kind in PageKind.known {
          _ = try open(bytes, kind, isIndex: false, contentSize: header.contentSize, first: "level-000000", count: 3)
        }
      }
      for (kind, isIndex) in [(PageKind.packs, false), (.tags, false), (.updates, false), (.packs, true), (.updates, true)] {
        let content = try accepted { () throws(PackError) in
          try PageContent(parsing: bytes.byteSpan, kind, isIndex: isIndex, defaults: defaults, name: "page")
        }
        guard let content else { continue }
        let keys = content.keys
        try hold(!keys.isEmpty && Swift.zip(keys, keys.dropFirst()).allSatisfy { $0.precedes($1) }, "keys do not ascend")
        let written = try required("writing a page") { () throws(PackError) in try content.bytes(kind, defaults: defaults) }
        let again = try required("reading what was written") { () throws(PackError) in
          try PageContent(parsing: written.byteSpan, kind, isIndex: isIndex, defaults: defaults, name: "page")
        }
        try hold(again == content, "a page differs after it was written and read")
        if written.count == bytes.count, memberNames(in: bytes).isSubset(of: memberNames(in: written)) {
          try hold(written == bytes, "a page has two forms of the same length")
        }
        let size = UInt64(bytes.count)
        let opened = try open(rawFrame(bytes), kind, isIndex: isIndex, contentSize: size, first: keys[0], count: UInt64(keys.count))
        try hold(opened == content, "a page is read differently from its file")
        let other = try open(rawFrame(bytes), kind, isIndex: isIndex, contentSize: size, first: keys[0], count: UInt64(keys.count) + 1)
        try hold(other == nil, "a page is read that does not have the number of entries of its reference")
      }
    })

  private static let defaults = ManifestDefaults(baseURL: "https://cdn.example.com/packs/", keyID: "e545120e613dd715")

  /// Opens a file with a reference that has its size and digest.
  private static func open(
    _ file: [UInt8], _ kind: PageKind, isIndex: Bool, contentSize: UInt64, first: String, count: UInt64
  ) throws(BrokenPromise) -> PageContent? {
    guard let expires = ManifestTime("2027-01-01T00:00:00Z") else { return nil }
    let manifest = Manifest(version: 1, issued: nil, expires: expires, budget: nil, defaults: defaults, packs: [])
    return try accepted { () throws(PackError) in
      let reference = PageReference(
        kind: kind, isIndex: isIndex, first: first, count: count, size: UInt64(file.count), contentSize: contentSize,
        sha256: try CryptoBackends.standard.digest(of: file.byteSpan))
      return try Page(file.byteSpan, as: reference, before: nil, in: manifest).content
    }
  }

  /// Returns a zstd frame with one raw block.
  private static func rawFrame(_ content: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0xA0]
    frame.append(littleEndian: UInt32(content.count))
    let block = UInt32(content.count) << 3 | 1
    return frame + [UInt8(truncatingIfNeeded: block), UInt8(truncatingIfNeeded: block >> 8), UInt8(truncatingIfNeeded: block >> 16)]
      + content
  }

  /// Returns what a page expands to, or nil.
  private static func content(of page: [UInt8]) -> [UInt8]? {
    guard let header = try? FrameHeader.parse(page.byteSpan, name: "page"), (1...6000).contains(header.contentSize) else { return nil }
    var content = [UInt8](repeating: 0, count: Int(header.contentSize))
    var span = content.mutableByteSpan
    do throws(PackError) {
      try DecompressionContext().decompress(page.byteSpan, into: &span, name: "page")
    } catch {
      return nil
    }
    return content
  }
}
