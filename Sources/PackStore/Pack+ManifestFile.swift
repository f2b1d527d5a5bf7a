extension Pack {
  /// Counts what the pack makes on the device if it is unpacked, and compares it with what the manifest promises. Reads the whole index.
  ///
  /// - Throws: ``PackError/Code/limitExceeded`` if the tree takes more than the manifest says, or more than any pack may.
  func measureTree(against entry: ManifestPack) throws(PackError) -> TreeCount {
    let tree = try measureTree()
    try attributing(to: source.path) { () throws(PackError) in try tree.check(against: entry) }
    return tree
  }

  /// Checks that the file is, byte for byte, the one that a manifest names. Reads the whole file.
  ///
  /// - Throws: ``PackError/Code/digestMismatch``, or ``PackError/Code/wrongPack`` if the size differs.
  public func checkDigest(against entry: ManifestPack) throws(PackError) {
    try checkDigest(against: entry) { _ throws(PackError) in }
  }

  /// - Parameter each: Receives the number of bytes read so far. If it throws, the work ends.
  func checkDigest(against entry: ManifestPack, each: (UInt64) throws(PackError) -> Void) throws(PackError) {
    let size = layout.packSize
    if size != entry.size { try refuse(["pack is \(size) bytes, but the manifest says \(entry.size)"]) }
    let digest = try source.backend.makeDigest()
    try source.files.forEachPiece(of: source.file, 0..<size, atOnce: 256 << 10, name: source.path) {
      (piece, offset) throws(PackError) in
      try each(offset)
      try digest.update(piece)
    }
    let found = try digest.finish()
    guard found == entry.sha256 else { throw PackError.digestMismatch(found, entry).about(source) }
  }
}

extension PackError {
  /// Returns the error for a file that is not the one a manifest names.
  static func digestMismatch(_ found: [UInt8], _ entry: ManifestPack) -> PackError {
    PackError(.digestMismatch, "pack has SHA-256 \(found.hex), but the manifest says \(entry.sha256.hex)", advice: .fetchAgain)
  }
}

extension TreeCount {
  /// Checks that the tree takes no more space than a manifest says.
  func check(against entry: ManifestPack) throws(PackError) {
    guard installSize > entry.installSize else { return }
    throw PackError(
      .limitExceeded, "pack takes \(installSize) bytes unpacked, but the manifest says \(entry.installSize)", advice: .publishNewVersion)
  }
}
