/// What is at the path of a file that a manifest names.
struct PublishedFile {
  /// Its size in bytes; nil if there is no such file.
  let size: UInt64?
  /// The reason why there is no such file, which continues a sentence about its path.
  let absence: String

  /// The reason if there is nothing at the path.
  static let missing = "does not exist"

  /// Looks at a path, through symbolic links.
  init(_ path: String, files: any FileSystem) {
    do throws(PackError) {
      let status = try files.status(of: path)
      size = status.kind == .file ? status.size : nil
      absence =
        switch status.kind {
        case .file: Self.missing
        case .directory: "is a directory, not a file"
        case .symbolicLink, .other: "is a pipe, a socket or a device, not a file"
        }
    } catch {
      size = nil
      absence = error.fault
    }
  }
}
