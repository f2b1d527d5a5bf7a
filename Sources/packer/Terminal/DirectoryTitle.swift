import PackFiles
import PackFormat

/// The name a directory has of its own.
enum DirectoryTitle {
  /// The last component of a path as it was written; of what it stands for where that says nothing, as `.` does.
  static func of(_ path: String) throws(PackError) -> String {
    if let parts = PathParts(path) { return parts.name }
    let canonical: String
    do throws(FileFailure) {
      canonical = try SystemFiles().canonicalPath(of: path)
    } catch {
      throw error.reading(path)
    }
    guard let parts = PathParts(canonical) else {
      throw PackError(.usage, of: path, "has no name of its own", hint: "give one with --name")
    }
    return parts.name
  }
}
