/// A new directory among the temporary files, which its owner removes.
enum ScratchFolder {
  /// Makes one that only this user can read, and returns its path.
  ///
  /// - Parameter name: what it is for.
  /// - Throws: ``PackError/Code/cannotWrite`` or ``PackError/Code/noSpace``.
  static func make(_ name: String) throws(PackError) -> String {
    let path = TemporaryName.path(name)
    do throws(FileFailure) {
      try SystemFiles().makeDirectory(path, mode: 0o700, in: nil)
    } catch {
      throw error.writing(path)
    }
    return path
  }
}
