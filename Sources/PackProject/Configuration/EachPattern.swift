import PackFiles
import PackFormat

/// The pattern of `each`: a path in which one component has a `*` or `?`.
struct EachPattern {
  /// A directory that matches.
  struct Match: Hashable {
    /// From the directory of the configuration.
    var path: String
    /// What the component with the wildcard is called.
    var name: String
  }

  /// What may or may not match: who passed it over would ship without it.
  struct Doubt: Hashable {
    /// From the directory of the configuration.
    var path: String
    /// Behind "which".
    var problem: String
  }

  /// `.` where there is nothing in front of the wildcard.
  private let front: String
  private let component: String
  /// Empty, or with a slash in front.
  private let back: String

  init(_ pattern: String) {
    let parts = ConfigurationReader.normalized(pattern).unicodeScalars.split(separator: "/").map { String(String.UnicodeScalarView($0)) }
    let index = parts.firstIndex { $0.contains("*") || $0.contains("?") } ?? parts.count - 1
    front = index == 0 ? "." : parts[..<index].joined(separator: "/")
    component = parts[index]
    back = parts[(index + 1)...].map { "/" + $0 }.joined()
  }

  /// The directories that match, in the byte order of their names. Hidden ones and what never belongs in a release are passed over, unless
  /// the pattern names them with a dot in front.
  func directories(in directory: String, files: any FileSystem) throws(PackError) -> (matches: [Match], doubts: [Doubt]) {
    let place = directory == "." ? front : "\(directory)/\(front)"
    let all: [DirectoryName]
    do throws(FileFailure) {
      all = try files.names(in: try files.open(place, .directory, in: nil))
    } catch {
      if error.isMissing { return ([], []) }
      throw error.reading(place)
    }
    func path(_ name: String) -> String { (front == "." ? "" : front + "/") + name + back }
    var doubts = all.filter { !$0.isUTF8 }.map { Doubt(path: path(printable($0.text.utf8)), problem: "has a name that is not UTF-8") }
    let names = all.filter(\.isUTF8).map(\.text)
    let glob = Glob(component)
    let matching = names.filter { name in
      glob.matches(name, isDirectory: true) && SourceRules.junk(name) == nil && (!name.hasPrefix(".") || component.hasPrefix("."))
    }
    var matches: [Match] = []
    for name in matching.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      do throws(FileFailure) {
        let status = try files.status(of: "\(place)/\(name)\(back)", in: nil, following: .followed)
        if status.kind == .directory { matches.append(Match(path: path(name), name: name)) }
      } catch {
        // A file, or a directory without what follows, is none that matches.
        if error == .notADirectory { continue }
        if error.isMissing, !back.isEmpty, (try? files.status(of: "\(place)/\(name)", in: nil, following: .followed)) != nil { continue }
        doubts.append(
          Doubt(path: path(name), problem: error.isMissing ? "is a link to nothing" : "cannot be read: \(error.text)"))
      }
    }
    return (matches, doubts)
  }
}
