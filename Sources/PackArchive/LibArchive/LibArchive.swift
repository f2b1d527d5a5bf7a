import CLibArchiveLoader
package import PackFormat

/// The library as a whole, which is loaded when it is first needed.
package enum LibArchive {
  /// Loads the library where that has not been done.
  ///
  /// - Throws: ``PackError/Code/internalError`` where the system has none that can be used.
  package static func require() throws(PackError) {
    guard let reason = unsafe packer_libarchive_failure() else { return }
    throw PackError(
      .internalError, "libarchive cannot be loaded: \(unsafe String(cString: reason))", hint: "install libarchive13")
  }
}
