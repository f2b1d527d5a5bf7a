/// The relation between the scanned directory and the directory of the configuration.
struct ProjectPlace: Sendable {
  /// The scanned directory, relative to that of the configuration; `.` if they are the same.
  let root: String
  /// The name of the project, in characters that are valid in file names and identifiers.
  let title: String

  /// The components of the canonical path of the scanned directory.
  let components: [String]
  /// The files and folders of packer in the scanned directory.
  private let own: [String]

  init(_ directory: String, configuration path: String, files: any FileSystem) throws(PackError) {
    guard let parts = PathParts(path) else { throw PackError(.usage, "'\(path)' is not the path of a file") }
    guard let project = try writing(path, ifPresent(files.canonicalPath(of: parts.directory))) else {
      throw PackError(.cannotWrite, of: path, "cannot be written: the directory \(parts.directory) does not exist")
    }
    let scanned = try reading(directory, files.canonicalPath(of: directory))
    components = ProposalRule.components(of: scanned)
    // As written, if that means the same directory: a symbolic link is kept.
    let written = ConfigurationReader.normalized(directory)
    let isWrittenFromProject = parts.directory == "." && !directory.hasPrefix("/") && !written.split(separator: "/").contains("..")
    root = isWrittenFromProject ? written : RelativePath.text(to: scanned, from: project)
    title = ProposalName.title(PathParts(project)?.name ?? "") ?? "game"
    guard root == "." else {
      own = []
      return
    }
    func exists(_ name: String) -> Bool {
      (try? files.status(of: "\(directory)/\(name)", in: nil, following: .followed)) != nil
    }
    // Future outputs are excluded too, except for a folder of that name that packer did not make.
    let hasOtherFolder =
      exists(ReleaseFile.folder)
      && ![ReleaseFile.manifest, ReleaseFile.packages].allSatisfy { exists("\(ReleaseFile.folder)/\($0)") }
    own =
      [parts.name, ReleaseFile.lock, ReleaseFile.apps + "/", ReleaseFile.released + "/", "\(title).key", "\(title).sign.key"]
      + (exists(".gitignore") ? [] : [".gitignore"]) + (hasOtherFolder ? [] : [ReleaseFile.folder + "/"])
  }

  /// The additional patterns that a pack of the whole directory excludes.
  var ownExcludes: [String] { own.map { "/" + $0 } }

  func isOwn(_ path: String) -> Bool {
    own.contains { $0.hasSuffix("/") ? path.hasPrefix($0) : path == $0 }
  }

  /// Returns a path in the scanned directory, relative to the directory of the configuration.
  func path(_ inside: String) -> String {
    if inside.isEmpty { return root }
    return root == "." ? inside : "\(root)/\(inside)"
  }
}
