/// A new directory among the temporary files, which its owner removes.
enum ScratchFolder {
  /// Makes one that only this user can read, and returns its path.
  ///
  /// - Parameter name: what it is for.
  /// - Throws: ``PackError/Code/cannotWrite`` or ``PackError/Code/noSpace``.
  static func make(_ name: String) throws(PackError) -> String {
    let path = TemporaryName.path(name)
    try writing(path, SystemFiles().makeDirectory(path, mode: 0o700, in: nil))
    return path
  }
}
