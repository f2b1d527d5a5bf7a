import CLibArchiveLoader
import PackFiles
package import PackFormat

/// The library as a whole, which is loaded when it is first needed.
package enum LibArchive {
  /// Loads the library where that has not been done, and gives back what the program had touched of its code until then.
  ///
  /// - Throws: ``PackError/Code/internalError`` where the system has none that can be used.
  package static func require() throws(PackError) {
    guard let failure else { return }
    throw PackError(.internalError, "libarchive cannot be loaded: \(failure)", hint: "install libarchive13")
  }

  /// Why it cannot be used.
  private static let failure: String? = {
    guard let reason = unsafe packer_libarchive_failure() else {
      // Loading it and a dozen others touched three megabytes that are not needed again.
      SystemMemory.returnCode()
      return nil
    }
    return unsafe String(cString: reason)
  }()
}
