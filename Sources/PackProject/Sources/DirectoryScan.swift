/// One file or empty directory that goes into a pack.
package struct SourceEntry: Sendable {
  /// The path inside the pack.
  package var path: String
  package var kind: IndexRecord.Kind
  /// The length in bytes.
  package var size: UInt64
  /// What must not change until the file has been read.
  var stamp: FileStamp

  /// The last component of the path.
  package var name: String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(Substring(path.utf8[path.utf8.index(after: slash)...]))
  }
}

/// A path of the source that is not in the pack.
package struct OmittedPath: Hashable, Sendable {
  /// The path inside the source directory.
  package let path: String
  /// Why packer skips it, for a person; nil if a pattern of the user excludes it.
  package let skippedBecause: String?
}

/// A scan of a source directory on several threads, which decides about each path.
package struct DirectoryScan: Sendable {

  /// The entries of the pack, in the byte order of their paths.
  package private(set) var entries: [SourceEntry] = []
  /// The paths that are not in the pack, in byte order.
  package private(set) var omitted: [OmittedPath] = []
  /// The patterns of the settings that match nothing: neither what would be packed otherwise nor what is always skipped.
  package private(set) var unmatched: [String] = []
  package private(set) var contentSize: UInt64 = 0

  /// Scans `source`. Paths that cannot be packed are added to `sourceProblems`.
  package static func run(
    _ source: String, _ settings: PackSettings, files: any FileSystem, sourceProblems: SourceProblems, jobs: Int
  ) async throws(PackError) -> DirectoryScan {
    let scanner = try DirectoryScanner(source, settings, files: files, sourceProblems: sourceProblems)
    // Most small trees have one directory, for which more threads take longer to start than the work.
    try await WorkerPool.run(1) { (pool, _) throws(PackError) in try scanner.work(pool, most: 1) }
    if scanner.hasMore { try await WorkerPool.run(jobs) { (pool, _) throws(PackError) in try scanner.work(pool) } }
    var scan = DirectoryScan()
    scan.entries.reserveCapacity(scanner.found)
    scan.collect(scanner.root)
    try scan.count(source)
    scan.omitted.sort { before($0.path, $1.path) }
    scan.unmatched = settings.excludes.indices.filter { !scanner.isMatched($0) }.map { settings.excludes[$0] }
    return scan
  }

  /// Collects the content of a directory and of those below it. The paths are in byte order, because names are sorted as if a directory's name ended
  /// in a slash.
  private mutating func collect(_ directory: ScannedDirectory) {
    if let entry = directory.ownEntry { entries.append(entry) }
    for child in directory.takeChildren() {
      switch child {
      case .entry(let entry):
        contentSize += entry.size
        entries.append(entry)
      case .directory(let inner):
        collect(inner)
      case .omitted(let path):
        omitted.append(path)
      case .problem:
        break
      }
    }
  }

  /// Counts the tree as readers do, so that no pack is made that they refuse.
  private func count(_ source: String) throws(PackError) {
    var count = TreeCount()
    for entry in entries {
      do throws(PackError) {
        try count.add(path: Array(entry.path.utf8).byteSpan, kind: entry.kind, size: entry.size)
      } catch {
        throw PackError(.unsuitableSource, of: source, "cannot be packed: \(error.message)", hint: "split it into several packs")
      }
    }
  }

  /// Whether patterns exclude a path of a source, or a directory above it.
  package static func doesExclude(_ path: String, isDirectory: Bool = true, by excludes: [String]) -> Bool {
    let globs = excludes.map(Glob.init)
    let names = path.utf8.split(separator: UInt8(ascii: "/"))
    return names.indices.contains { last in
      let path = names[...last].map { String(Substring($0)) }.joined(separator: "/")
      return globs.contains { $0.matches(path, isDirectory: isDirectory || last < names.index(before: names.endIndex)) }
    }
  }
}

/// A directory and its content. Only the thread that took it writes to it. All threads may read its constants.
private final class ScannedDirectory: @unchecked Sendable {
  enum Child {
    case entry(SourceEntry)
    case directory(ScannedDirectory)
    case omitted(OmittedPath)
    case problem
  }

  let path: String
  let name: String
  let parent: ScannedDirectory?
  private let stamp: FileStamp
  private(set) var children: [Child] = []
  private var isListed = false
  /// The directory's file, which stays open until all its subdirectories have been opened, and the number of those that have not.
  private let opened = Monitor<(file: OpenFile?, pending: Int)>((nil, 0))

  init(path: String, name: String, stamp: FileStamp, parent: ScannedDirectory?) {
    self.path = path
    self.name = name
    self.stamp = stamp
    self.parent = parent
  }

  var file: OpenFile? { opened.withLock { $0.file } }

  func childWasOpened() {
    opened.withLock { opened in
      opened.pending -= 1
      if opened.pending == 0 { opened.file = nil }
    }
  }

  func finish(_ children: [Child], file: OpenFile, directories: Int) {
    self.children = children
    isListed = true
    guard directories > 0 else { return }
    self.children.sort { left, right in
      switch (left, right) {
      case (.entry(let left), .entry(let right)): before(left.path, right.path)
      case (.directory(let left), .directory(let right)): before("\(left.path)/", "\(right.path)/")
      case (.entry(let left), .directory(let right)): before(left.path, "\(right.path)/")
      case (.directory(let left), .entry(let right)): before("\(left.path)/", right.path)
      // These are not ordered, and come last.
      case (.omitted, _), (.problem, _): false
      case (_, .omitted), (_, .problem): true
      }
    }
    opened.withLock { $0 = (file, directories) }
  }

  func takeChildren() -> [Child] {
    var taken: [Child] = []
    swap(&taken, &children)
    return taken
  }

  /// The entry of the directory itself, if it is empty or all its content is omitted; nil otherwise, and for the root.
  var ownEntry: SourceEntry? {
    guard parent != nil, isListed else { return nil }
    for child in children {
      if case .omitted = child { continue }
      return nil
    }
    return SourceEntry(path: path, kind: .directory, size: 0, stamp: stamp)
  }

  /// The number of its entries, without those of its subdirectories.
  var entryCount: Int {
    children.count { child in
      if case .entry = child { true } else { false }
    } + (ownEntry == nil ? 0 : 1)
  }

  /// Whether it is the same directory as one above it.
  var leadsRound: Bool {
    var above = parent
    while let directory = above {
      if directory.stamp.device == stamp.device, directory.stamp.inode == stamp.inode { return true }
      above = directory.parent
    }
    return false
  }
}

private func before(_ left: String, _ right: String) -> Bool {
  left.withBytes { left in right.withBytes { precedes(left, $0) } }
}

/// A scanner of a tree, which visits several directories at a time.
private final class DirectoryScanner: @unchecked Sendable {
  // Mutable state is in monitors, except in directories. Each directory belongs to the thread that took it.
  private struct State {
    /// The directories to visit, the last one first, so that few of them are open.
    var waiting: [ScannedDirectory] = []
    /// The number of directories that are waiting or being visited.
    var unfinished = 0
    var found = 0
    /// The numbers of the patterns that matched something.
    var matched: Set<Int> = []
  }

  let root: ScannedDirectory
  private let rootFile: OpenFile
  private let source: String
  private let settings: PackSettings
  private let excludes: [Glob]
  private let files: any FileSystem
  private let sourceProblems: SourceProblems
  private let state = Monitor(State())

  var found: Int { state.withLock { $0.found } }
  var hasMore: Bool { state.withLock { $0.unfinished > 0 } }

  init(
    _ source: String, _ settings: PackSettings, files: any FileSystem, sourceProblems: SourceProblems
  ) throws(PackError) {
    self.source = source
    self.settings = settings
    excludes = settings.excludes.map(Glob.init)
    self.files = files
    self.sourceProblems = sourceProblems
    let status = try files.status(of: source)
    guard status.kind == .directory else { throw FileFailure.notADirectory.reading(source) }
    rootFile = try files.open(source, .directory)
    root = ScannedDirectory(path: "", name: "", stamp: FileStamp(status), parent: nil)
    state.withLock { $0 = State(waiting: [root], unfinished: 1, found: 0) }
  }

  /// Visits directories until none is left, or a number of them.
  func work(_ pool: WorkerPool, most: Int = .max) throws(PackError) {
    pool.onStop { [state] in state.wake() }
    var count = 0
    while count < most, let directory = take(pool) {
      count += 1
      try pool.checkpoint()
      let inner = visit(directory)
      let found = directory.entryCount
      // Checked after each directory, because links to directories with links double the number with every level.
      try state.update { (state) throws(PackError) in
        state.waiting += inner
        state.unfinished += inner.count - 1
        state.found += found
        guard state.found <= Limits.records else {
          throw PackError(.unsuitableSource, of: source, "holds more than \(Limits.records) entries")
        }
      }
    }
    try pool.checkpoint()
  }

  /// Whether a pattern matched something.
  func isMatched(_ pattern: Int) -> Bool { state.withLock { $0.matched.contains(pattern) } }

  /// Returns whether a pattern excludes a path.
  private func isExcluded(_ path: String, isDirectory: Bool) -> Bool {
    guard excludes.contains(where: { $0.matches(path, isDirectory: isDirectory) }) else { return false }
    let matching = excludes.indices.filter { excludes[$0].matches(path, isDirectory: isDirectory) }
    state.withLock { $0.matched.formUnion(matching) }
    return true
  }

  private func take(_ pool: WorkerPool) -> ScannedDirectory? {
    state.wait { state -> ScannedDirectory?? in
      if state.unfinished == 0 || pool.isStopped { return .some(nil) }
      return state.waiting.popLast().map { .some($0) }
    }
  }

  /// Visits the content of a directory and returns its subdirectories.
  private func visit(_ directory: ScannedDirectory) -> [ScannedDirectory] {
    guard !directory.leadsRound else {
      sourceProblems.add(directory.path, .unsuitableSource, "is a symbolic link to a directory above it")
      return []
    }
    let file: OpenFile
    let names: [DirectoryName]
    do throws(FileFailure) {
      file = try open(directory)
      // Sorted, so that every machine reports the same one of two names that collide.
      names = try files.names(in: file).sorted { before($0.text, $1.text) }
    } catch {
      sourceProblems.add(directory.path, .cannotRead, "cannot be listed: \(error.text)")
      return []
    }
    var siblings = Siblings(names, areChecked: !settings.allowsUnportablePaths)
    var children: [ScannedDirectory.Child] = []
    children.reserveCapacity(names.count)
    var inner: [ScannedDirectory] = []
    for name in names {
      let path = directory.path.isEmpty ? name.text : "\(directory.path)/\(name.text)"
      let child = visit(name, path: path, in: directory, file, siblings: &siblings)
      if case .directory(let directory) = child { inner.append(directory) }
      children.append(child)
    }
    directory.finish(children, file: file, directories: inner.count)
    // The last one in the list is taken first.
    return inner.reversed()
  }

  private func open(_ directory: ScannedDirectory) throws(FileFailure) -> OpenFile {
    guard let parent = directory.parent else { return rootFile }
    defer { parent.childWasOpened() }
    guard let file = parent.file else { preconditionFailure("a directory is open while others in it are not") }
    return try files.open(directory.name, settings.followsSymlinks ? .directory : .directoryUnlinked, in: file)
  }

  /// Visits one name.
  private func visit(
    _ name: DirectoryName, path: String, in directory: ScannedDirectory, _ file: OpenFile, siblings: inout Siblings
  ) -> ScannedDirectory.Child {
    guard name.isUTF8 else {
      sourceProblems.add(path, .unsuitableSource, "has a name that is not UTF-8", hint: "rename it")
      return .problem
    }
    if let reason = SourceRules.junk(name.text) {
      _ = isExcluded(path, isDirectory: true)
      return .omitted(OmittedPath(path: path, skippedBecause: reason))
    }
    do throws(FileFailure) {
      var status = try files.status(of: name.text, in: file, following: .asThemselves)
      if isExcluded(path, isDirectory: status.kind == .directory) {
        return .omitted(OmittedPath(path: path, skippedBecause: nil))
      }
      if status.kind == .symbolicLink {
        guard try checkLink(path) else { return .problem }
        status = try files.status(of: name.text, in: file, following: .followed)
      }
      switch status.kind {
      case .file:
        return entry(name.text, path: path, status, siblings: &siblings)
      case .directory:
        guard check(path, name.text, siblings: &siblings) else { return .problem }
        return .directory(
          ScannedDirectory(path: path, name: name.text, stamp: FileStamp(status), parent: directory))
      case .symbolicLink, .other:
        sourceProblems.add(
          path, .unsuitableSource, "is neither a file nor a directory", hint: "exclude it with \(sourceProblems.words.exclude)")
        return .problem
      }
    } catch {
      sourceProblems.add(path, .cannotRead, "cannot be read: \(error.text)")
      return .problem
    }
  }

  private func entry(
    _ name: String, path: String, _ status: FileStatus, siblings: inout Siblings
  ) -> ScannedDirectory.Child {
    guard check(path, name, siblings: &siblings) else { return .problem }
    if !settings.allowsSecrets, let reason = SourceRules.secret(name), !settings.allowedSecrets.allow(path, rule: SecretRule.fileName) {
      sourceProblems.addSecret(path, "\(reason) (\(SecretRule.fileName))")
      return .problem
    }
    // Checked before sizes are added up, because sparse files may claim exabytes.
    guard status.size <= Limits.packSize else {
      sourceProblems.add(path, .unsuitableSource, "is \(status.size) bytes, but a whole pack has at most \(Limits.packSize)")
      return .problem
    }
    return .entry(
      SourceEntry(
        path: path, kind: status.isExecutable ? .executable : .file, size: status.size, stamp: FileStamp(status)))
  }

  /// Returns whether a symbolic link may be followed: only if the options allow it, and only inside the tree.
  private func checkLink(_ path: String) throws(FileFailure) -> Bool {
    let exclude = "exclude it with \(sourceProblems.words.exclude)"
    guard let root = try? files.canonicalPath(of: source), let target = try? files.canonicalPath(of: "\(root)/\(path)") else {
      sourceProblems.add(
        path, .unsuitableSource, "is a broken symbolic link", hint: "restore what it points to, remove it, or \(exclude)")
      return false
    }
    guard settings.followsSymlinks else {
      sourceProblems.add(
        path, .unsuitableSource, "is a symbolic link",
        hint: "pack what it points to with \(sourceProblems.words.followSymlinks), or \(exclude)")
      return false
    }
    // Compared as bytes: strings are equal if they differ only in normalization, but such names are different files.
    guard target.utf8.elementsEqual(root.utf8) || target.utf8.starts(with: (root + "/").utf8) else {
      sourceProblems.add(
        path, .unsuitableSource, "is a symbolic link that leaves the directory",
        hint: "copy what it points to into the directory, or \(exclude)")
      return false
    }
    return true
  }

  /// Returns whether a path may be in a pack. The directories above it have been checked already.
  private func check(_ path: String, _ name: String, siblings: inout Siblings) -> Bool {
    if let problem = path.withBytes({ EntryPath.securityProblem(of: $0) }) {
      let isDecomposed = !EntryPath.isNormalized(path)
      sourceProblems.add(
        path, .unsuitableSource, problem,
        hint: isDecomposed ? "bring a whole tree into form C: convmv -f utf8 -t utf8 --nfc --notest -r DIR" : "rename it")
      return false
    }
    guard !settings.allowsUnportablePaths else { return true }
    if let problem = EntryPath.portabilityProblem(of: name) {
      sourceProblems.add(path, .unsuitableSource, problem, hint: portabilityHint)
      return false
    }
    if let other = siblings.twin(of: name, path: path) {
      sourceProblems.add(
        path, .unsuitableSource, "differs only in case from '\(other)': on some file systems, both are one", hint: portabilityHint)
      return false
    }
    return true
  }

  private var portabilityHint: String {
    "rename what some platforms cannot store, or allow it with \(sourceProblems.words.allowUnportablePaths)"
  }
}

/// The names in one directory, to find those that are equal on file systems that ignore case. Directories are included, so a collision further up in
/// two paths is found there.
private struct Siblings {
  private var paths: [String: String] = [:]
  private let isNeeded: Bool

  /// - Parameter names: all names in the directory. If they are all lower-case ASCII, none can collide.
  init(_ names: [DirectoryName], areChecked: Bool) {
    isNeeded =
      areChecked
      && names.contains { name in name.text.utf8.contains { $0 >= 0x80 || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } }
  }

  /// Returns the path of an earlier name that collides with this one. If there is none, remembers this one and returns nil.
  mutating func twin(of name: String, path: String) -> String? {
    guard isNeeded else { return nil }
    let key = EntryPath.caseFolded(name)
    if let other = paths[key] { return other }
    paths[key] = path
    return nil
  }
}

extension OmittedPath {
  /// The line to print for the path.
  package var line: String { skippedBecause.map { "skipped \(path): \($0)" } ?? "excluded \(path)" }

  package func json(pack: String? = nil) -> JSON {
    [
      "type": skippedBecause == nil ? "excluded" : "skipped", "pack": .text(pack), "path": .text(path), "reason": .text(skippedBecause),
    ]
  }
}
