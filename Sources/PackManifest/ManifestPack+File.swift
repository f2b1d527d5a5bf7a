extension ManifestPack {
  /// The last component of the URL, without query and fragment.
  package var fileName: String {
    let path = url.prefix { $0 != "?" && $0 != "#" }
    return path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? String(path)
  }
}
