/// The directories in which the roots of packs may be: that of the configuration, or the git repository around it, and those in the environment.
struct AllowedRoots {
  /// The variable with more of them, separated by colons.
  static let variable = "PACKER_ROOTS"

  /// Their canonical paths.
  private let directories: [String]

  init(around directory: String, files: any FileSystem) {
    var directories = [try? files.canonicalPath(of: directory)]
    var above = directories[0]
    while let place = above {
      // A worktree has a file of that name.
      if (try? files.status(of: place == "/" ? "/.git" : "\(place)/.git", in: nil, following: .asThemselves)) != nil {
        directories[0] = place
        break
      }
      above = PathParts(place)?.directory
    }
    for path in (ProcessEnvironment.text(of: Self.variable) ?? "").split(separator: ":") {
      directories.append(try? files.canonicalPath(of: String(path)))
    }
    self.directories = directories.compactMap(\.self)
  }

  /// Whether a canonical path is that of one of the directories, or of something below.
  func contains(_ path: String) -> Bool {
    directories.contains { path == $0 || path.hasPrefix($0 == "/" ? "/" : $0 + "/") }
  }
}
