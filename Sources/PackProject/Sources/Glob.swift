/// A pattern of paths, as in ignore files: `*` and `?` stay inside one component, `**` crosses them.
///
/// A pattern without a slash (other than a trailing one) matches a name at any depth; one with a slash matches from the root. A trailing slash
/// restricts the pattern to directories. A leading `./`, as shells complete paths, is read as `/`. Everything below a matching directory is excluded
/// with it. All other characters stand for themselves.
package struct Glob: Sendable {
  // Unicode scalars, because a slash and a combining mark after it are a single character.
  private let components: [[Unicode.Scalar]]
  private let isDirectoryOnly: Bool

  init(_ pattern: String) {
    var text = Array(pattern.unicodeScalars)[...]
    if text.starts(with: "./".unicodeScalars) { text.removeFirst() }
    isDirectoryOnly = text.last == "/"
    while text.last == "/" { text.removeLast() }
    let isAnchored = text.contains("/")
    let parts = text.split(separator: "/").map { Array($0) }
    components = isAnchored ? parts : [["*", "*"]] + parts
  }

  /// Returns why a person cannot have meant a pattern as it would be read, after its name and "is"; nil if they can.
  ///
  /// - Parameter pattern: the pattern; `${name}` in it stands for the name of a directory.
  static func problem(of pattern: String) -> String? {
    let shown = "'\(printable(pattern.utf8))'"
    let names = pattern.unicodeScalars.split(separator: "/").drop { $0.elementsEqual(".".unicodeScalars) }
    if names.isEmpty { return "empty; expected a path pattern such as 'levels/**' or '*.png'" }
    if pattern.hasPrefix("!") { return "\(shown), but patterns that start with '!' are not supported" }
    if let character = pattern.replacing("${name}", with: "").unicodeScalars.first(where: isReserved) {
      return "\(shown), but '\(character)' has no meaning in a pattern: write ? for one character, and a pattern for each alternative"
    }
    if names.contains(where: { $0.elementsEqual("..".unicodeScalars) || $0.elementsEqual(".".unicodeScalars) }) {
      return "\(shown), but patterns name paths inside the directory, without '.' and '..'"
    }
    let isSpaced = pattern.first?.isWhitespace ?? false || pattern.last?.isWhitespace ?? false
    return isSpaced ? "\(shown), but a pattern starts and ends without a space" : nil
  }

  /// What to know if a pattern matches nothing.
  package static let hint =
    "a pattern with a slash begins at the root of the pack, '*' stays inside a name, and upper and lower case differ"

  /// Throws for a pattern with a ``problem(of:)``.
  package static func check(_ patterns: [String]) throws(PackError) {
    for problem in patterns.compactMap(problem) { throw PackError(.usage, "a pattern is \(problem)") }
  }

  /// Whether a character means something in other tools' patterns, and is refused in those of packer.
  static func isReserved(_ character: Unicode.Scalar) -> Bool { "[]{}\\".unicodeScalars.contains(character) }

  /// Returns a pattern in which `?` stands for characters that are refused.
  package static func writable(_ pattern: String) -> String {
    String(String.UnicodeScalarView(pattern.unicodeScalars.map { isReserved($0) ? "?" : $0 }))
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
