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
  func directories(in directory: String, files: any FileSystem) throws(PackError) -> [Match] {
    let place = directory == "." ? front : "\(directory)/\(front)"
    let names: [String]
    do throws(FileFailure) {
      names = try files.names(in: try files.open(place, .directory, in: nil)).filter(\.isUTF8).map(\.text)
    } catch {
      if error.isMissing { return [] }
      throw error.reading(place)
    }
    let glob = Glob(component)
    let matching = names.filter { name in
      glob.matches(name, isDirectory: true) && SourceRules.junk(name) == nil && (!name.hasPrefix(".") || component.hasPrefix("."))
    }
    return matching.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.compactMap { name in
      guard let status = try? files.status(of: "\(place)/\(name)\(back)", in: nil, following: .followed), status.kind == .directory
      else { return nil }
      return Match(path: (front == "." ? "" : front + "/") + name + back, name: name)
    }
  }
}
