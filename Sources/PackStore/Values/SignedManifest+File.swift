extension SignedManifest {
  /// Reads a manifest from a file. It reads no more than the maximum size of a manifest.
  ///
  /// - Throws: ``PackError/Code/damagedManifest``, ``PackError/Code/missingInput`` or ``PackError/Code/cannotRead``.
  public static func read(_ path: String) throws(PackError) -> SignedManifest {
    let bytes = try SystemFiles().contents(of: path, limit: Manifest.largestSize, code: .damagedManifest)
    return try attributing(to: path) { () throws(PackError) in try SignedManifest(bytes) }
  }
}
