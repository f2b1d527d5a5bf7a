package import PackFormat

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
