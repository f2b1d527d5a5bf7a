import PackFiles
import PackFormat

/// How the directory that is looked through lies to the one that the configuration goes into.
struct ProjectPlace: Sendable {
  /// The directory that is looked through, from that of the configuration; `.` where they are the same.
  let root: String
  /// What the project is called, in letters that suit file names and identifiers.
  let title: String

  /// Files and folders of packer's own in the directory that is looked through.
  private let own: [String]

  init(_ directory: String, configuration path: String, files: any FileSystem) throws(PackError) {
    guard let parts = PathParts(path) else { throw PackError(.usage, "'\(path)' names no file of its own") }
    let project: String
    let scanned: String
    do throws(FileFailure) {
      project = try files.canonicalPath(of: parts.directory)
    } catch {
      throw error.isMissing
        ? PackError(.cannotWrite, of: path, "cannot be written: the directory \(parts.directory) does not exist") : error.writing(path)
    }
    do throws(FileFailure) {
      scanned = try files.canonicalPath(of: directory)
    } catch {
      throw error.reading(directory)
    }
    // As it was written, where that means the same: a link stays a link.
    let written = ConfigurationReader.normalized(directory)
    let isWrittenFromProject = parts.directory == "." && !directory.hasPrefix("/") && !written.split(separator: "/").contains("..")
    root = isWrittenFromProject ? written : Self.relative(scanned, from: project)
    title = ProposalLayout.slug(PathParts(project)?.name ?? "") ?? "game"
    guard root == "." else {
      own = []
      return
    }
    func exists(_ name: String) -> Bool {
      (try? files.status(of: "\(directory)/\(name)", in: nil, following: .followed)) != nil
    }
    // What is to come is excluded too, but for a folder of that name that somebody else made.
    let hasOtherFolder =
      exists(ReleaseFile.folder)
      && ![ReleaseFile.manifest, ReleaseFile.packages].allSatisfy { exists("\(ReleaseFile.folder)/\($0)") }
    own =
      [parts.name, ReleaseFile.lock, "\(title).key", "\(title).sign.key"] + (hasOtherFolder ? [] : [ReleaseFile.folder + "/"])
  }

  /// What a pack of the whole directory excludes besides.
  var ownExcludes: [String] { own.map { "/" + $0 } }

  func isOwn(_ path: String) -> Bool {
    own.contains { $0.hasSuffix("/") ? path.hasPrefix($0) : path == $0 }
  }

  /// A path in the directory that is looked through, from that of the configuration.
  func path(_ inside: String) -> String {
    if inside.isEmpty { return root }
    return root == "." ? inside : "\(root)/\(inside)"
  }

  private static func relative(_ target: String, from base: String) -> String {
    let target = target.split(separator: "/")
    let base = base.split(separator: "/")
    let common = zip(target, base).prefix { $0 == $1 }.count
    let parts = Array(repeating: "..", count: base.count - common) + target[common...].map(String.init)
    return parts.isEmpty ? "." : parts.joined(separator: "/")
  }
}
