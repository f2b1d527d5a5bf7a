/// A pattern of paths, as in ignore files: `*` and `?` stay inside one component, `**` crosses them.
///
/// A pattern without a slash (other than a trailing one) matches a name at any depth; one with a slash matches from the root. A trailing slash
/// restricts the pattern to directories. Everything below a matching directory is excluded with it.
struct Glob: Sendable {
  // Unicode scalars, because a slash and a combining mark after it are a single character.
  private let components: [[Unicode.Scalar]]
  private let isDirectoryOnly: Bool

  init(_ pattern: String) {
    var text = Array(pattern.unicodeScalars)[...]
    isDirectoryOnly = text.last == "/"
    while text.last == "/" { text.removeLast() }
    let isAnchored = text.contains("/")
    let parts = text.split(separator: "/").map { Array($0) }
    components = isAnchored ? parts : [["*", "*"]] + parts
  }

  func matches(_ path: String, isDirectory: Bool) -> Bool {
    guard isDirectory || !isDirectoryOnly else { return false }
    return Self.matches(components[...], path.unicodeScalars.split(separator: "/").map { Array($0) }[...])
  }

  private static func matches(_ pattern: ArraySlice<[Unicode.Scalar]>, _ path: ArraySlice<[Unicode.Scalar]>) -> Bool {
    guard let first = pattern.first else { return path.isEmpty }
    if first == ["*", "*"] {
      // A trailing ** matches everything below a directory, but not the directory itself.
      if pattern.count == 1 { return !path.isEmpty }
      return path.indices.contains { matches(pattern.dropFirst(), path[$0...]) }
        || matches(pattern.dropFirst(), path.suffix(0))
    }
    guard let name = path.first, matches(first[...], name[...]) else { return false }
    return matches(pattern.dropFirst(), path.dropFirst())
  }

  /// Matches one component. Only the last `*` is ever retried, so the time is at most proportional to pattern × name.
  private static func matches(_ pattern: ArraySlice<Unicode.Scalar>, _ name: ArraySlice<Unicode.Scalar>) -> Bool {
    var patternIndex = pattern.startIndex
    var nameIndex = name.startIndex
    var star: (pattern: Int, name: Int)?
    while nameIndex < name.endIndex {
      if patternIndex < pattern.endIndex, pattern[patternIndex] == "*" {
        star = (patternIndex, nameIndex)
        patternIndex += 1
      } else if patternIndex < pattern.endIndex,
        pattern[patternIndex] == "?" || pattern[patternIndex] == name[nameIndex]
      {
        patternIndex += 1
        nameIndex += 1
      } else if let last = star {
        star = (last.pattern, last.name + 1)
        patternIndex = last.pattern + 1
        nameIndex = last.name + 1
      } else {
        return false
      }
    }
    return pattern[patternIndex...].allSatisfy { $0 == "*" }
  }
}
