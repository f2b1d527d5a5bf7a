/// The ids of a release, and the entries of a configuration from which they may come.
///
/// An entry with `each` gives every directory an id in which `${name}` is the directory's name. Without the directories, their names follow from the ids.
struct ReleasedNames {
  private var ids: [String] = []
  private var entries: [String] = []

  init() {}

  /// - Parameters:
  ///   - ids: The ids of the release.
  ///   - entries: The ids of all entries of the configuration, with `${name}` as it is written.
  init(_ ids: [String], entries: [String]) {
    self.ids = ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    self.entries = entries
  }

  /// Returns the names that an entry would have given its ids. An id that several entries could have made is of the one that leaves the least to the name.
  func names(of entry: String) -> [String] {
    ids.compactMap { id in
      guard let name = Self.name(in: id, of: entry) else { return nil }
      let isOfAnother = entries.contains { other in
        other != entry && Self.name(in: id, of: other).map { $0.utf8.count < name.utf8.count } ?? (other == id)
      }
      return isOfAnother ? nil : name
    }
  }

  /// Returns the name that makes an id from an entry's; nil if none does.
  private static func name(in id: String, of entry: String) -> String? {
    let parts = entry.split(separator: "${name}", omittingEmptySubsequences: false)
    let length = id.utf8.count - parts.reduce(0) { $0 + $1.utf8.count }
    guard parts.count > 1, length > 0, length.isMultiple(of: parts.count - 1), let front = parts.first, id.hasPrefix(front) else {
      return nil
    }
    let name = id.utf8.dropFirst(front.utf8.count).prefix(length / (parts.count - 1))
    guard let text = String(name), entry.replacing("${name}", with: text) == id else { return nil }
    return text
  }
}
