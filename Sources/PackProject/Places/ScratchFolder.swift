/// A directory in `TMPDIR` or `/tmp` that only this user can read, and that is removed with its last owner.
///
/// It is locked meanwhile. What a killed process left, perhaps the contents of packs, is removed when the next one is made.
package final class ScratchFolder: Sendable {
  package let path: String
  private let staging: StagedName
  private let directory: OpenFile

  /// - Throws: ``PackError/Code/cannotWrite`` or ``PackError/Code/noSpace``.
  package init(files: any FileSystem = SystemFiles()) throws(PackError) {
    staging = try StagedName(for: "\(ProcessEnvironment.text(of: "TMPDIR") ?? "/tmp")/packer", files: files)
    directory = try staging.make(.directory) { (name, parent) throws(FileFailure) in
      try files.makeDirectory(name, mode: 0o700, in: parent)
      return try files.open(name, .directoryUnlinked, in: parent)
    }
    path = staging.temporaryPath ?? ""
  }

  /// Lends the path of a file in a folder of its own.
  package static func withFile<Result>(
    _ name: String = "file", holding bytes: [UInt8]? = nil, _ body: (String) throws(PackError) -> Result
  ) throws(PackError) -> Result {
    let folder = try ScratchFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = "\(folder.path)/\(name)"
    if let bytes { try OutputFile.write(bytes, to: path, files: SystemFiles()) }
    return try body(path)
  }
}
