package import PackFormat

/// What an outsider finds at one place of the tar.
package struct TarEntry: Hashable, Sendable {
  /// The path as it stands, with the final `/` of a directory; nil where it is not UTF-8.
  package let path: String?
  /// What the entry is a hard link to.
  package let linkTarget: String?
  package let isFile: Bool
  package let isDirectory: Bool
  /// The permission bits.
  package let permissions: UInt32
  /// The length of the content in bytes.
  package let size: UInt64
  /// Where the entry's first header starts in the tar.
  package let start: UInt64
  /// Where its content starts in the tar.
  package let dataOffset: UInt64
}

/// Some bytes of a tar, and where they start in it.
package struct TarPiece: Hashable, Sendable {
  package let start: UInt64
  package let bytes: ArraySlice<UInt8>

  package init(start: UInt64, bytes: ArraySlice<UInt8>) {
    self.start = start
    self.bytes = bytes
  }
}

/// Reads the tar as a program does that has never heard of packs.
package struct TarReader: ~Copyable {
  private let handle: ReadHandle

  /// - Parameter next: gives the next bytes of the tar, empty at its end. Blocks the thread that reads.
  package init(_ next: @escaping () throws(PackError) -> [UInt8]) throws(PackError) {
    var position: UInt64 = 0
    handle = try ReadHandle { () throws(PackError) in
      let bytes = try next()
      guard !bytes.isEmpty else { return nil }
      defer { position += UInt64(bytes.count) }
      return TarPiece(start: position, bytes: bytes[...])
    }
  }

  private init(_ handle: consuming ReadHandle) {
    self.handle = handle
  }

  /// A reader of a tar whose contents are left out: it passes over them, and is refused with ``PackError/Code/damagedArchive`` where it wants to
  /// look into one.
  ///
  /// - Parameter nextPiece: gives the next piece of the tar, nil at its end. Blocks the thread that reads.
  package static func ofHeaders(_ nextPiece: @escaping () throws(PackError) -> TarPiece?) throws(PackError) -> TarReader {
    TarReader(try ReadHandle(nextPiece))
  }

  /// The next entry, or nil at the end of the tar.
  package func next() throws(PackError) -> TarEntry? {
    try handle.next()
  }
}
