extension SignedManifest {
  /// Reads a manifest from a file. It reads no more than the maximum size of a manifest.
  ///
  /// - Throws: ``PackError/Code/damagedManifest``, ``PackError/Code/missingInput`` or ``PackError/Code/cannotRead``.
  public static func read(_ path: String) throws(PackError) -> SignedManifest {
    let bytes = try SystemFiles().contents(of: path, limit: Manifest.largestSize, code: .damagedManifest)
    do throws(PackError) {
      return try SignedManifest(bytes)
    } catch {
      throw error.about(path)
    }
  }
}
