/// A tar reader that knows nothing about packs, like an ordinary program.
package struct TarReader: ~Copyable {
  private let handle: ReadHandle

  /// - Parameter next: returns the next bytes of the tar, or none at its end. It blocks the thread that reads.
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

  /// Makes a reader for a tar without the contents of its files. It skips them, and throws ``PackError/Code/damagedArchive`` if the tar's headers
  /// require reading one.
  ///
  /// - Parameter nextPiece: returns the next piece of the tar, or nil at its end. It blocks the thread that reads.
  package static func ofHeaders(_ nextPiece: @escaping () throws(PackError) -> TarPiece?) throws(PackError) -> TarReader {
    TarReader(try ReadHandle(nextPiece))
  }

  /// Returns the next entry, or nil at the end of the tar.
  package func next() throws(PackError) -> TarEntry? {
    try handle.next()
  }
}
