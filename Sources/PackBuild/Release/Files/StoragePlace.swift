/// A place with files, such as a folder or a bucket: releases are published there, or machines share there what they made.
package protocol StoragePlace: Sendable {
  /// The place, as the caller named it.
  var title: String { get }

  /// Copies files from the place into a directory, over files of the same names. Those that are not there are no error.
  ///
  /// - Parameter files: names, each with the largest size in bytes that it may have, so that a place that is not trusted does not fill the disk. If one
  ///   is larger, others may be missing.
  func bring(_ files: [(name: String, limit: UInt64)], to directory: String) throws(PackError) -> Brought

  /// Copies files of a directory to the place, over files of the same names. Caches may keep them for ever.
  ///
  /// - Throws: if any of them was not copied. The others may be there.
  func add(_ names: [String], from directory: String) throws(PackError)
}

/// What a place noticed about the files that it was to bring.
package struct Brought: Sendable {
  /// Names of files that were not copied because they are larger. Others may have been copied all the same.
  package var larger: [String] = []
  /// The errors of single files that cannot be read.
  package var failures: [PackError] = []

  package init() {}
}
