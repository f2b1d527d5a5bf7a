/// The name of a directory, taken from its path.
enum DirectoryTitle {
  /// Returns the last component of the path as given. If that is not a name, as in `.`, returns the last component of the canonical path.
  static func of(_ path: String) throws(PackError) -> String {
    if let parts = PathParts(path) { return parts.name }
    let canonical = try reading(path, SystemFiles().canonicalPath(of: path))
    guard let parts = PathParts(canonical) else {
      throw PackError(.usage, of: path, "does not end in a name", hint: "give one with --name")
    }
    return parts.name
  }
}
