public import PackFormat
public import PackManifest

extension Pack {
  /// Checks that the pack is the one that a manifest names: everything that needs no reading of its body (FORMAT.md §9.4).
  ///
  /// The digest of the file is not among it; ``checkDigest(against:)`` reads the whole file for that.
  ///
  /// - Throws: ``PackError/Code/wrongPack``, with every difference in its details.
  public func check(against entry: ManifestPack) throws(PackError) {
    throw PackError(.internalError, "unfinished")
  }

  /// Checks that the file is, byte for byte, the one that a manifest names.
  ///
  /// - Throws: ``PackError/Code/digestMismatch``, or ``PackError/Code/wrongPack`` where the size differs already.
  public func checkDigest(against entry: ManifestPack) throws(PackError) {
    throw PackError(.internalError, "unfinished")
  }
}
