extension Pack {
  /// Checks that the pack is the one that a manifest names, without reading its body (FORMAT.md §9.4).
  ///
  /// It does not check the digest of the file: ``checkDigest(against:)`` reads the whole file for that.
  ///
  /// - Throws: ``PackError/Code/wrongPack``. If there are several differences, the details list all of them.
  public func check(against entry: ManifestPack) throws(PackError) { try check(against: entry, isRewritten: false) }

  /// - Parameter isRewritten: Whether the pack was made by a delta, and so has a size and frames of its own.
  func check(against entry: ManifestPack, isRewritten: Bool) throws(PackError) {
    var differences: [String] = []
    func compare<Value: Equatable>(_ what: String, _ mine: Value, _ theirs: Value, _ text: (Value) -> String) {
      guard mine != theirs else { return }
      differences.append("\(what) \(text(mine)), but the manifest says \(text(theirs))")
    }
    func compare(_ what: String, _ mine: UInt64, _ theirs: UInt64, _ unit: String = "") {
      compare(what, mine, theirs) { "\($0)\(unit)" }
    }
    if !isRewritten { compare("pack is", layout.packSize, entry.size, " bytes") }
    if try (try? PackName(entry.id)).map({ (name) throws(PackError) in
      try PackID.bytes(for: name, backend: source.backend)
    }) != header.packID {
      differences.append("pack was made under another name than '\(entry.id)'")
    }
    compare("pack has version", header.packVersion, entry.version)
    compare("pack opens with key", "\(keyID)", entry.keyID) { $0 }
    compare("pack has content root", contentRoot, entry.contentRoot) { $0.hex }
    compare("pack holds", contentSize, entry.contentSize, " bytes of content")
    compare("pack holds", UInt64(entryCount), entry.files, " records")
    if !isRewritten { compare("pack has frames of up to", UInt64(largestFrame), entry.maxFrame, " bytes") }
    try refuse(differences)
  }

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

  private func refuse(_ differences: [String]) throws(PackError) {
    guard let first = differences.first else { return }
    throw PackError(
      .wrongPack, first, details: differences.count == 1 ? [] : differences,
      advice: .fetchAgain
    ).about(source)
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
