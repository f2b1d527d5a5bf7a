import PackBuild
package import PackFormat

/// A place from which devices fetch a release.
package protocol PublishingPlace: Sendable {
  /// The place, as the caller named it.
  var title: String { get }

  /// Returns the names and sizes in bytes of the files there, without those in folders. A place that does not exist yet has none.
  func sizes() throws(PackError) -> [String: UInt64]

  /// Returns the bytes of a file; nil if it does not exist.
  func contents(of name: String, limit: Int) throws(PackError) -> [UInt8]?

  /// Copies files to the place, over files of the same names. Caches may keep them for ever.
  ///
  /// - Throws: if any of them was not copied. The others may be there.
  func add(_ names: [String], from directory: String) throws(PackError)

  /// Whether it computes digests of its files, so that comparing them needs no download.
  func hasDigests() throws(PackError) -> Bool

  /// Compares files there with those in a directory, by digests that the place computes, or by their bytes.
  ///
  /// - Returns: the names of those that are others, or that are not there.
  func different(_ names: [String], from directory: String) throws(PackError) -> [String]

  /// Replaces the manifest, which caches may keep for a minute.
  ///
  /// - Parameters:
  ///   - path: the new one.
  ///   - known: the bytes of the one that was there; nil if there was none.
  /// - Throws: ``PackError/Code/releaseConflict`` if it is another one now.
  func replaceManifest(with path: String, known: [UInt8]?) throws(PackError)
}

extension PublishingPlace {
  func conflict(_ what: String) -> PackError {
    PackError(
      .releaseConflict, of: title, what, hint: "see that one pipeline publishes at a time, then: packer publish --dry-run")
  }
}
