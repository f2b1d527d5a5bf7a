/// The pattern of `each`: a path in which one component has a `*` or `?`.
struct EachPattern {
  /// A directory that matches.
  struct Match: Hashable {
    /// The path relative to the directory of the configuration.
    var path: String
    /// The name of the component with the wildcard.
    var name: String
  }

  /// A path that may match but cannot be checked. Skipping it could leave its pack out of a release.
  struct Doubt: Hashable {
    /// The path relative to the directory of the configuration.
    var path: String
    /// The problem, as a predicate of the path.
    var problem: String
  }

  /// The path before the component with the wildcard; `.` if there is none.
  let front: String
  private let component: String
  /// The path after that component, with a leading slash; empty if there is none.
  private let back: String

  init(_ pattern: String) {
    let parts = ConfigurationReader.normalized(pattern).unicodeScalars.split(separator: "/").map { String(String.UnicodeScalarView($0)) }
    let index = parts.firstIndex { $0.contains("*") || $0.contains("?") } ?? parts.count - 1
    front = index == 0 ? "." : parts[..<index].joined(separator: "/")
    component = parts[index]
    back = parts[(index + 1)...].map { "/" + $0 }.joined()
  }

  /// Returns the directories that match, in the byte order of their names. Junk files and directories are skipped, and so are hidden directories
  /// unless the component with the wildcard starts with a dot.
  func directories(in directory: String, files: any FileSystem) throws(PackError) -> (matches: [Match], doubts: [Doubt]) {
    let place = directory == "." ? front : "\(directory)/\(front)"
    guard let all = try reading(place, ifPresent(files.names(in: files.open(place, .directory, in: nil)))) else { return ([], []) }
    var doubts = all.filter { !$0.isUTF8 }.map { Doubt(path: path(printable($0.text.utf8)), problem: "has a name that is not UTF-8") }
    let names = all.filter(\.isUTF8).map(\.text)
    let matching = matching(names)
    var matches: [Match] = []
    for name in matching.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      do throws(FileFailure) {
        let status = try files.status(of: "\(place)/\(name)\(back)", in: nil, following: .followed)
        if status.kind == .directory { matches.append(Match(path: path(name), name: name)) }
      } catch {
        // A file does not match, and neither does a directory without the rest of the path.
        if error == .notADirectory { continue }
        if error.isMissing, !back.isEmpty, (try? files.status(of: "\(place)/\(name)", in: nil, following: .followed)) != nil { continue }
        doubts.append(
          Doubt(path: path(name), problem: error.isMissing ? "is a broken symbolic link" : "cannot be read: \(error.text)"))
      }
    }
    return (matches, doubts)
  }

  /// Returns the directory with this name, whether it exists or not; nil if it does not match.
  func match(named name: String) -> Match? {
    matching([name]).first.map { Match(path: path($0), name: $0) }
  }

  private func path(_ name: String) -> String { (front == "." ? "" : front + "/") + name + back }

  private func matching(_ names: [String]) -> [String] {
    let glob = Glob(component)
    return names.filter { name in
      glob.matches(name, isDirectory: true) && SourceRules.junk(name) == nil && (!name.hasPrefix(".") || component.hasPrefix("."))
    }
  }
}
