/// A pattern of paths, as in ignore files: `*` and `?` stay inside one component, `**` crosses them.
///
/// A pattern without a slash (other than a trailing one) matches a name at any depth; one with a slash matches from the root. A trailing slash
/// restricts the pattern to directories. Everything below a matching directory is excluded with it.
package struct Glob: Sendable {
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
    matches(Self.components(of: path)[...], isDirectory: isDirectory)
  }

  /// Returns the components of a path.
  static func components(of path: String) -> [[Unicode.Scalar]] { path.unicodeScalars.split(separator: "/").map { Array($0) } }

  /// Returns whether a path matches whose components are known.
  ///
  /// Only the last `**` is ever retried, so the time is at most proportional to pattern × path.
  func matches(_ path: ArraySlice<[Unicode.Scalar]>, isDirectory: Bool) -> Bool {
    guard isDirectory || !isDirectoryOnly else { return false }
    var (number, place) = (0, path.startIndex)
    var star: (number: Int, place: Int)?
    while place < path.endIndex {
      if number < components.count, components[number] == ["*", "*"] {
        // A trailing ** matches everything below a directory, but not the directory itself.
        if number == components.count - 1 { return true }
        number += 1
        star = (number, place)
      } else if number < components.count, Self.matches(components[number][...], path[place][...]) {
        number += 1
        place += 1
      } else if let last = star {
        star = (last.number, last.place + 1)
        (number, place) = (last.number, last.place + 1)
      } else {
        return false
      }
    }
    return number == components.count
  }

  /// Returns whether a name matches a pattern. A slash is an ordinary character here.
  package static func matches(_ pattern: String, name: String) -> Bool {
    matches(Array(pattern.unicodeScalars)[...], Array(name.unicodeScalars)[...])
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
