import PackFiles
import PackFormat
import PackRuntime

/// One file or empty directory that goes into a pack.
struct SourceEntry: Sendable {
  /// The path inside the pack.
  var path: String
  var kind: IndexRecord.Kind
  /// The length in bytes.
  var size: UInt64
  /// Device and inode, time stamps: what must not change until the file has been read.
  var stamp: SourceStamp
}

/// What tells that a file is still the one that was scanned.
struct SourceStamp: Hashable, Sendable {
  var device: UInt64
  var inode: UInt64
  var size: UInt64
  var modified: Int64
  var changed: Int64

  init(_ status: FileStatus) {
    device = status.device
    inode = status.inode
    size = status.size
    modified = status.modified
    changed = status.changed
  }
}

/// A path that was left out of a pack.
public struct LeftOut: Hashable, Sendable {
  /// The path inside the source directory.
  public let path: String
  /// Why it was left out.
  public let reason: String
}

/// Looks through a source directory and decides about each path.
struct DirectoryScan {
  struct Options: Sendable {
    var excludes: [String] = []
    var followsSymlinks = false
    var allowsSecrets = false
    var allowsUnportablePaths = false
  }

  private(set) var entries: [SourceEntry] = []
  private(set) var leftOut: [LeftOut] = []
  private(set) var contentSize: UInt64 = 0

  private let source: String
  private let options: Options
  private let excludes: [Glob]
  private let files: any FileSystem
  private let offences: Offences
  private let canonicalRoot: String
  private let crew: Crew
  /// The directories above the current one, so that a link cannot lead round in a circle.
  private var ancestors: [SourceStamp] = []

  /// Scans all of `source`. What cannot be packed goes to `offences`.
  init(
    _ source: String, options: Options, files: any FileSystem, offences: Offences, crew: Crew
  ) throws(PackError) {
    self.options = options
    excludes = options.excludes.map(Glob.init)
    self.files = files
    self.offences = offences
    self.crew = crew
    let root: OpenFile
    let status: FileStatus
    do throws(FileFailure) {
      status = try files.status(of: source, in: nil, following: .followed)
      guard status.kind == .directory else { throw FileFailure.notADirectory }
      canonicalRoot = try files.canonicalPath(of: source)
      root = try files.open(source, .directory, in: nil)
    } catch {
      throw error.reading(source)
    }
    self.source = source
    _ = try visit(root, status: status, path: "")
  }

  /// Visits a directory and says whether anything in it goes into the pack.
  private mutating func visit(_ directory: OpenFile, status: FileStatus, path: String) throws(PackError) -> Bool {
    try crew.checkpoint()
    let stamp = SourceStamp(status)
    guard !ancestors.contains(where: { $0.device == stamp.device && $0.inode == stamp.inode }) else {
      offences.add(path, .unsuitableSource, "is a symbolic link to a directory above it")
      return true
    }
    ancestors.append(stamp)
    defer { ancestors.removeLast() }
    let names: [DirectoryName]
    do {
      // In order, so that of two names that collide the same one is blamed on every machine.
      names = try files.names(in: directory).sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
    } catch {
      offences.add(path, .cannotRead, "cannot be listed: \(error.text)")
      return true
    }
    var hasContent = false
    var siblings: [String: String] = [:]
    for name in names {
      let inside = path.isEmpty ? name.text : "\(path)/\(name.text)"
      if try visit(name, path: inside, in: directory, siblings: &siblings) { hasContent = true }
      // At once: links to directories that hold links double with every level.
      guard entries.count <= Limits.records else {
        throw PackError(.unsuitableSource, "\(source) holds more than \(Limits.records) entries")
      }
    }
    return hasContent
  }

  /// Visits one name and says whether anything of it goes into the pack.
  private mutating func visit(
    _ name: DirectoryName, path: String, in directory: OpenFile, siblings: inout [String: String]
  ) throws(PackError) -> Bool {
    guard name.isUTF8 else {
      offences.add(path, .unsuitableSource, "has a name that is not UTF-8", hint: "rename it")
      return true
    }
    if let reason = SourceRules.junk(name.text) {
      leftOut.append(LeftOut(path: path, reason: reason))
      return false
    }
    do {
      var status = try files.status(of: name.text, in: directory, following: .asThemselves)
      if excludes.contains(where: { $0.matches(path, isDirectory: status.kind == .directory) }) {
        leftOut.append(LeftOut(path: path, reason: "excluded"))
        return false
      }
      if status.kind == .symbolicLink {
        guard try checkLink(name.text, path: path, in: directory) else { return true }
        status = try files.status(of: name.text, in: directory, following: .followed)
      }
      switch status.kind {
      case .file:
        add(name.text, path: path, status, siblings: &siblings)
        return true
      case .directory:
        let access: FileAccess = options.followsSymlinks ? .directory : .directoryUnlinked
        let inner = try files.open(name.text, access, in: directory)
        guard check(path, name.text, siblings: &siblings) else { return true }
        if try !visit(inner, status: status, path: path) {
          entries.append(SourceEntry(path: path, kind: .directory, size: 0, stamp: SourceStamp(status)))
        }
        return true
      case .symbolicLink, .other:
        offences.add(path, .unsuitableSource, "is neither a file nor a directory", hint: "exclude it with --exclude")
        return true
      }
    } catch let error as FileFailure {
      offences.add(path, .cannotRead, "cannot be read: \(error.text)")
      return true
    } catch let error as PackError {
      throw error
    } catch {
      preconditionFailure("no other error is thrown above")
    }
  }

  private mutating func add(
    _ name: String, path: String, _ status: FileStatus, siblings: inout [String: String]
  ) {
    guard check(path, name, siblings: &siblings) else { return }
    if !options.allowsSecrets, let reason = SourceRules.secret(name) {
      offences.add(path, .unsuitableSource, reason, hint: Self.secretHint)
      return
    }
    // Before sizes are added up: files with holes may claim exabytes.
    guard status.size <= Limits.packSize else {
      offences.add(path, .unsuitableSource, "is \(status.size) bytes, more than the \(Limits.packSize) of a whole pack")
      return
    }
    contentSize += status.size
    entries.append(
      SourceEntry(
        path: path, kind: status.isExecutable ? .executable : .file, size: status.size, stamp: SourceStamp(status)))
  }

  static let secretHint = "exclude it with --exclude, or allow it with --allow-secrets"

  /// Whether a symbolic link may be followed: only where that was asked for, and only inside the tree.
  private mutating func checkLink(_ name: String, path: String, in directory: OpenFile) throws(FileFailure) -> Bool {
    guard options.followsSymlinks else {
      offences.add(
        path, .unsuitableSource, "is a symbolic link",
        hint: "pack what it points to with --follow-symlinks, or exclude it with --exclude")
      return false
    }
    let target: String
    do throws(FileFailure) {
      target = try files.canonicalPath(of: "\(canonicalRoot)/\(path)")
    } catch {
      offences.add(path, .unsuitableSource, "is a symbolic link that leads nowhere")
      return false
    }
    // By their bytes: names that differ only in normalization are two, and strings take them for one.
    guard target.utf8.elementsEqual(canonicalRoot.utf8) || target.utf8.starts(with: (canonicalRoot + "/").utf8) else {
      offences.add(path, .unsuitableSource, "is a symbolic link that leaves the directory")
      return false
    }
    return true
  }

  /// Whether a path may stand in a pack.
  ///
  /// - Parameter siblings: what file systems that ignore case would take for one in this directory, with the first path of each. Directories
  ///   are siblings too, so paths that only collide further up are found there.
  private func check(_ path: String, _ name: String, siblings: inout [String: String]) -> Bool {
    let bytes = Array(path.utf8)
    if let problem = EntryPath.securityProblem(of: bytes.span) {
      let isDecomposed = !EntryPath.isNormalized(path)
      offences.add(
        path, .unsuitableSource, problem,
        hint: isDecomposed ? "rename it: 'convmv -f utf8 -t utf8 --nfc --notest -r DIR' does so for a whole tree" : "rename it")
      return false
    }
    guard !options.allowsUnportablePaths else { return true }
    if let problem = EntryPath.portabilityProblem(of: path) {
      offences.add(path, .unsuitableSource, problem, hint: Self.portabilityHint)
      return false
    }
    let key = EntryPath.caseFolded(name)
    if let other = siblings[key] {
      offences.add(
        path, .unsuitableSource, "and '\(other)' are one file where case does not count", hint: Self.portabilityHint)
      return false
    }
    siblings[key] = path
    return true
  }

  private static let portabilityHint = "rename it, or allow it with --allow-unportable-paths"
}
