/// A proposed configuration for a directory without one: its packs, what to exclude, and the text of the file.
///
/// These rules find the packs (Documentation/CONFIGURATION.md): the built files of a web project are a pack, every topmost folder with an index.html
/// is one, and so is every folder in `games`, `levels` and similar folders. Without any of these, every folder at the top is a pack. The result does
/// not depend on the directory where the search starts.
package struct ConfigurationProposal: Sendable {
  /// The directory that was scanned, as the caller named it.
  package let directory: String
  /// The path of the configuration, as the caller named it.
  package let path: String
  /// The entries of the configuration, in its order.
  package internal(set) var packs: [Pack] = []
  /// The paths that go into no pack, in order.
  package internal(set) var omitted: [OmittedPath] = []
  /// Files that are the same in several packs; nil if there are none.
  package internal(set) var shared: Shared?
  /// What is in no pack because it does not look like a part of the app, the largest first.
  package internal(set) var unassigned: [Unassigned] = []
  /// The projects that have to be built before they can be packed: why, for a person.
  package internal(set) var unbuilt: [Unbuilt] = []
  /// The paths of files in packs that a build compressed and that a web view does not decompress, in order.
  package internal(set) var precompressed: [String] = []
  /// The folders of games that are in the pack of the page around them, because it refers to them.
  package internal(set) var hubs: [String] = []
  /// The pages that load from a folder of packages, although that is excluded.
  package internal(set) var loadsExcluded: [String] = []
  /// The page of a game without an index.html; nil if there is none.
  package internal(set) var unnamedPage: String?
  /// The canonical path of the directory, if a build takes no roots there unless the environment allows it.
  package internal(set) var outside: String?
  /// The paths that cannot be packed, in order.
  package internal(set) var problems: [TreeDifference] = []
  /// The text of the configuration.
  package internal(set) var text = ""
  /// The files beside the configuration that belong in no version control, as lines of `.gitignore`.
  package var ignoredFiles: [String] {
    // The last three are those of builds on many machines.
    ["/\(title).key", "/\(title).sign.key", "/\(ReleaseFile.folder)/", "/keys/"]
  }
  /// The name of the project for file names: `arcade` for `arcade.key`.
  package internal(set) var title = ""

  /// An entry of the configuration.
  package struct Pack: Hashable, Sendable {
    /// The id, with `${name}` in it if ``isEach``.
    package var id: String
    /// The directory or pattern, relative to the directory of the configuration.
    package var root: String
    /// Whether the entry makes one pack of each matching directory.
    package var isEach: Bool
    /// When it is downloaded.
    package var delivery: DeliveryClass
    /// The number of packs.
    package var count = 1
    /// The number of files.
    package var files = 0
    /// The sum of the sizes of all files in bytes.
    package var contentSize: UInt64 = 0
    /// Whether it has an index.html at its root, and so is a game for a web view.
    package var isPage = false
    /// The name of its folder, if the id differs from it.
    package var differingName: String?
    /// Whether it would be essential if it were smaller.
    var isLarge = false
    /// The languages of the packs, if they are the names of the directories.
    var languages: [String] = []
    /// The patterns of what other packs contain, or no pack.
    var excludes: [String] = []
  }

  /// A path that goes into no pack, although it is in the directory of one.
  package struct OmittedPath: Hashable, Sendable {
    /// The path in the directory that was scanned.
    package var path: String
    /// What it is, for a person, such as `source maps`.
    package var reason: String
    /// The length in bytes; nil if it was not determined.
    package var size: UInt64?
    /// Whether packer always skips it. The proposal excludes the others.
    package var isSkipped: Bool
    /// Whether it may be a secret, which packer would refuse.
    package var isSecret: Bool
    /// Whether only a pattern for this path excludes it.
    var isSingle = false
    /// The pattern that excludes it from every pack, if there is one.
    var pattern: String?
  }

  /// A project that has to be built before it can be packed.
  package struct Unbuilt: Hashable, Sendable {
    /// What shows that it is not built, for a person.
    package let reason: String
    /// What to do about it.
    package let remedy: String
  }

  /// A file or a folder that is in no pack.
  package struct Unassigned: Hashable, Sendable {
    /// The path in the directory that was scanned.
    package var path: String
    package var isDirectory: Bool
    /// The number of files.
    package var files: Int
    /// The sum of their sizes in bytes.
    package var contentSize: UInt64
  }

  /// Files that are in several packs. A pack is a directory, so only the app's developers can move the files into a separate one.
  package struct Shared: Hashable, Sendable {
    /// The number of distinct files.
    package var files: Int
    /// Their size in bytes, each counted once.
    package var contentSize: UInt64
    /// The size of the second and later copies, in bytes before compression.
    package var savedSize: UInt64
    /// The largest of them, each with the paths of its copies.
    package var largest: [[String]]
  }

  /// Scans a directory and makes a proposal for it.
  ///
  /// - Parameters:
  ///   - directory: the directory.
  ///   - path: the path of the configuration; paths in it are relative to its directory.
  ///   - isPrinted: whether the text is only printed, so that there may be a file.
  ///   - jobs: the number of threads; nil for one per processor that is online.
  /// - Throws: ``PackError/Code/outputExists`` if there is a file at `path` already, ``PackError/Code/unsuitableSource`` if there is nothing to pack,
  ///   ``PackError/Code/cannotRead`` if nothing could be read.
  package static func make(
    for directory: String, configuration path: String, isPrinted: Bool = false, jobs: Int? = nil, progress: ProgressHandler? = nil
  ) async throws(PackError) -> ConfigurationProposal {
    let files = SystemFiles()
    if !isPrinted { try refuseExisting(path, files: files) }
    let workers = try WorkerPool.size(for: jobs)
    progress?(PackProgress(phase: .scanning, done: 0, total: 0))
    var proposal = ConfigurationProposal(directory: directory, path: path)
    let place = try ProjectPlace(directory, configuration: path, files: files)
    proposal.title = place.title

    guard ProposalRule.isPlain(place.root) else {
      throw PackError(
        .unsuitableSource, "'\(place.root)' contains '${', which a configuration cannot express",
        hint: "packer init \(ShellWord.path(directory)) -o \(ShellWord.path("\(directory)/\(PackerConfiguration.defaultPath)"))")
    }
    let sourceProblems = SourceProblems()
    let scan = try await DirectoryScan.run(directory, PackSettings(), files: files, sourceProblems: sourceProblems, jobs: workers)
    var unread = sourceProblems.firstUnread
    var refused = sourceProblems.takeRefusals()
    let reader = try SourceReader(root: directory, PackSettings(), files: files, sourceProblems: sourceProblems)
    let entries = proposal.sort(scan, place) { path in
      guard let (file, _) = try? files.openFile("\(directory)/\(path)") else { return false }
      var start = [UInt8](repeating: 0, count: PackHeader.magic.count)
      var span = start.mutableByteSpan
      // A short file is no pack.
      guard (try? files.read(file, at: 0, filling: &span, name: path)) == span.count else { return false }
      return start == PackHeader.magic
    }
    try await WorkerPool.run(1) { (pool, _) throws(PackError) in
      for entry in entries where entry.kind != .directory && entry.size <= Self.largestSearched {
        try pool.checkpoint()
        reader.look(at: entry)
      }
    }
    unread = unread ?? sourceProblems.firstUnread
    refused += sourceProblems.takeRefusals()
    let kept = proposal.sort(refused, entries)
    guard kept.contains(where: { $0.kind != .directory }) else {
      if let unread { throw unread.about(directory) }
      throw PackError(
        .unsuitableSource, of: directory, "holds nothing to pack", hint: "pass the directory with the app's content: packer init DIR")
    }

    let packed = kept.filter { $0.kind != .directory }
    if packed.allSatisfy({ entry in Self.archives.contains { entry.name.lowercased().hasSuffix($0) } }), let first = packed.first {
      throw PackError(
        .unsuitableSource, of: directory, "holds only an archive, '\(first.path)', and a game is the files in it",
        hint: "unpack it into a new directory, then: packer init DIR")
    }
    func text(of path: String) -> String? {
      (try? files.contents(of: "\(directory)/\(path)", limit: Self.largestSettings)).map { String(decoding: $0, as: UTF8.self) }
    }
    let layout = ProposalLayout(
      kept, omitted: proposal.omitted.map(\.path), refused: proposal.problems.map(\.path), in: place, read: text)
    (proposal.unbuilt, proposal.hubs, proposal.unnamedPage) = (layout.unbuilt, layout.hubs, layout.unnamedPage)
    if let parts = PathParts(path), let scanned = try? files.canonicalPath(of: directory),
      !AllowedRoots(around: parts.directory, files: files).contains(scanned)
    {
      proposal.outside = scanned
    }
    if proposal.omitted.contains(where: { $0.pattern == "node_modules/" }) {
      proposal.loadsExcluded = kept.map(\.path).filter { path in
        guard path == "index.html" || path.hasSuffix("/index.html"), layout.owner(of: path) != nil else { return false }
        return text(of: path)?.replacing(/<!--.*?-->/.dotMatchesNewlines(), with: "").contains("node_modules/") ?? false
      }
    }
    guard !layout.folders.isEmpty else {
      throw PackError(
        .unsuitableSource, of: directory, "holds a game that is not built",
        details: layout.unbuilt.count > 1 ? layout.unbuilt.map(\.reason) : [],
        hint: layout.unbuilt.first.map { layout.unbuilt.count > 1 ? $0.remedy : "\($0.reason)\n\($0.remedy)" })
    }
    proposal.packs = layout.packs(kept, omitted: proposal.omitted, in: place)
    let owners = proposal.count(kept, layout)
    let paths = Set(kept.map(\.path))
    proposal.precompressed = kept.map(\.path).filter { path in
      SourceRules.needsDecoding(path) && layout.owner(of: path) != nil && !paths.contains(SourceRules.precompressed(path) ?? "")
    }
    proposal.setDelivery()
    proposal.findUnassigned(kept, owners)
    proposal.problems.removeAll { layout.owner(of: $0.path) == nil && !layout.isInCollection($0.path) }
    let duplicates = try await DuplicateSearch(
      kept, reader: reader, backend: CryptoBackends.standard, jobs: workers, progress: progress)
    proposal.shared = Shared(kept, originals: duplicates.originals, owners: owners)
    proposal.excludeSecrets(layout, place)
    proposal.text = ProposalText(proposal, place).text
    return proposal
  }

  private static let archives = [".zip", ".7z", ".rar", ".tar", ".tgz", ".tar.gz", ".tar.xz"]

  /// The largest size in bytes of a file with settings of a project.
  private static let largestSettings = 1 << 20

  /// Writes the configuration. An existing file is never replaced.
  package func write(files: any FileSystem = SystemFiles()) throws(PackError) {
    guard let parts = PathParts(path) else { throw Self.noName(path) }
    let made: Void? = try writing(path, unlessExisting(files.makeNew(parts.name, mode: 0o666, in: parts.directory, Array(text.utf8))))
    guard made != nil else { throw Self.exists(path) }
  }

  /// The size in bytes of the largest file that is searched for secrets. The build searches all of them.
  private static let largestSearched: UInt64 = 16 << 20

  /// Writes a `.gitignore` beside the configuration. An existing one is never changed.
  ///
  /// - Returns: The path, if it was written, and the lines that an existing one lacks.
  package func writeIgnoreFile() throws(PackError) -> (written: String?, missing: [String]) {
    let files = SystemFiles()
    guard let parts = PathParts(path) else { return (nil, []) }
    let place = parts.directory == "." ? ".gitignore" : "\(parts.directory)/.gitignore"
    let new = (["# Keys and releases of packer"] + ignoredFiles).map { $0 + "\n" }.joined()
    let made: Void? = try writing(place, unlessExisting(files.makeNew(".gitignore", mode: 0o666, in: parts.directory, Array(new.utf8))))
    guard made == nil else { return (place, []) }
    let bytes = (try? files.contents(of: place, limit: Self.largestSettings)) ?? []
    let lines = Set(
      String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map { line in
        String(line.drop { $0 == "/" }.prefix { $0 != " " && $0 != "\t" })
      })
    return (
      nil,
      ignoredFiles.filter { line in
        let name = String(line.dropFirst())
        let patterns = name.hasSuffix("/") ? [name, String(name.dropLast())] : [name, "*.key", "*.sign.key"]
        return lines.isDisjoint(with: name.hasSuffix(".sign.key") || name.hasSuffix("/") ? patterns : Array(patterns.prefix(2)))
      }
    )
  }

  private init(directory: String, path: String) {
    self.directory = directory
    self.path = path
  }

  private static func refuseExisting(_ path: String, files: any FileSystem) throws(PackError) {
    guard PathParts(path) != nil else { throw noName(path) }
    if (try? files.status(of: path, in: nil, following: .asThemselves)) != nil { throw exists(path) }
  }

  private static func noName(_ path: String) -> PackError {
    PackError(
      .usage, "'\(path)' is not the path of a file", hint: "give the configuration a name, as in -o \(PackerConfiguration.defaultPath)")
  }

  private static func exists(_ path: String) -> PackError {
    PackError(
      .outputExists, of: path, "exists already, and packer never overwrites a configuration",
      hint: "write the proposal to another file with -o, and copy what you need")
  }

  // MARK: Paths in no pack

  /// Returns the entries that may go into packs, and adds the other paths to `omitted`.
  private mutating func sort(_ scan: DirectoryScan, _ place: ProjectPlace, isPack: (String) -> Bool) -> [SourceEntry] {
    for path in scan.omitted {
      omitted.append(OmittedPath(path: path.path, reason: path.skippedBecause ?? "excluded", isSkipped: true, isSecret: false))
    }
    let releases = Self.releases(scan.entries)
    var search = ProposalRule.Search()
    return scan.entries.filter { entry in
      if let rule = search.first(for: entry.path, isDirectory: entry.kind == .directory) {
        omitted.append(
          OmittedPath(path: entry.path, reason: rule.reason, size: entry.size, isSkipped: false, isSecret: false, pattern: rule.pattern))
        return false
      }
      let isInRelease = releases.contains { entry.path.utf8.starts(with: $0.utf8) }
      let isFoundPack = entry.kind != .directory && entry.name.hasSuffix(".pack") && isPack(entry.path)
      guard isInRelease || isFoundPack || place.isOwn(entry.path) else { return true }
      omitted.append(
        OmittedPath(
          path: entry.path, reason: ProposalRule.own, size: entry.size, isSkipped: false, isSecret: false,
          isSingle: isFoundPack && !isInRelease && !place.isOwn(entry.path)))
      return false
    }
  }

  /// Returns the directories that a build has made, and those with certificates of `packer serve`, each with a slash at the end.
  private static func releases(_ entries: [SourceEntry]) -> [String] {
    let marks = [ReleaseFile.packages: ReleaseFile.manifest, "server.key": "server.crt"]
    let paths = Set(entries.filter { marks.values.contains($0.name) || marks.keys.contains($0.name) }.map(\.path))
    return paths.sorted().compactMap { path in
      let (directory, name) = ProposalRule.split(path)
      guard let other = marks[name], !directory.isEmpty, paths.contains("\(directory)/\(other)") else { return nil }
      return directory + "/"
    }
  }

  /// Returns the entries that were not refused, and adds the refused paths to `omitted` or `problems`.
  private mutating func sort(_ refused: [(finding: TreeDifference, isSecret: Bool)], _ entries: [SourceEntry]) -> [SourceEntry] {
    var paths: Set<String> = []
    var search = ProposalRule.Search()
    for (finding, isSecret) in refused where !paths.contains(finding.path) {
      paths.insert(finding.path)
      if let rule = search.first(for: finding.path) {
        omitted.append(
          OmittedPath(path: finding.path, reason: rule.reason, isSkipped: false, isSecret: false, pattern: rule.pattern))
      } else if isSecret, ProposalRule.canName(finding.path) {
        let size = entries.first { $0.path == finding.path }?.size
        omitted.append(OmittedPath(path: finding.path, reason: finding.message, size: size, isSkipped: false, isSecret: true))
      } else {
        let remark = isSecret ? ", and no pattern can exclude only this file" : ""
        problems.append(TreeDifference(kind: finding.kind, path: finding.path, message: finding.message + remark))
      }
    }
    omitted.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    problems.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    return entries.filter { !paths.contains($0.path) }
  }

  /// Proposes a single game as essential, and nothing that is large.
  private mutating func setDelivery() {
    if packs.count == 1, !packs[0].isEach, packs[0].isPage { packs[0].delivery = .essential }
    for index in packs.indices where packs[index].delivery == .essential && packs[index].contentSize > ProposalLayout.largestEssential {
      packs[index].delivery = .prefetch
      packs[index].isLarge = true
    }
  }

  /// Lists what no pack contains: the topmost directories in which nothing is packed, and files.
  private mutating func findUnassigned(_ entries: [SourceEntry], _ owners: [String?]) {
    var used: Set<String> = []
    for (entry, owner) in zip(entries, owners) where owner != nil {
      ProposalLayout.climb(from: ProposalRule.split(entry.path).directory) { _, _, path in used.insert(path).inserted }
    }
    var found: [String: Unassigned] = [:]
    for (entry, owner) in zip(entries, owners) where owner == nil && entry.kind != .directory {
      var (path, isDirectory) = (entry.path, false)
      ProposalLayout.climb(from: ProposalRule.split(entry.path).directory) { _, _, directory in
        guard !used.contains(directory) else { return false }
        (path, isDirectory) = (directory, true)
        return true
      }
      found[path, default: Unassigned(path: path, isDirectory: isDirectory, files: 0, contentSize: 0)].files += 1
      found[path]?.contentSize += entry.size
    }
    unassigned = found.values.sorted { ($1.contentSize, $0.path) < ($0.contentSize, $1.path) }
  }

  /// Excludes each secret from the pack that would contain it, and what no pack needs from packs that would contain it.
  private mutating func excludeSecrets(_ layout: ProposalLayout, _ place: ProjectPlace) {
    for secret in omitted where secret.isSecret || secret.isSingle {
      guard let owner = layout.owner(of: secret.path) else { continue }
      // A leading slash anchors the pattern at the root of the pack.
      packs[owner.entry].excludes.append("/" + String(decoding: secret.path.utf8.dropFirst(owner.front.utf8.count), as: UTF8.self))
    }
    // A pattern for what no pack would contain anyway would match nothing.
    let needed = Set(omitted.filter { layout.owner(of: $0.path) != nil }.compactMap(\.pattern))
    for index in omitted.indices where omitted[index].pattern.map({ !needed.contains($0) }) ?? false { omitted[index].pattern = nil }
    for index in packs.indices {
      packs[index].excludes = packs[index].excludes.map(Glob.writable).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
  }

  /// Counts the files and bytes of each entry, and returns the pack of each file.
  private mutating func count(_ entries: [SourceEntry], _ layout: ProposalLayout) -> [String?] {
    var counted: [Set<String>] = Array(repeating: [], count: packs.count)
    let owners = entries.map { entry -> String? in
      guard let owner = layout.owner(of: entry.path, isDirectory: entry.kind == .directory) else { return nil }
      counted[owner.entry].insert(owner.front)
      if entry.kind != .directory { packs[owner.entry].files += 1 }
      packs[owner.entry].contentSize += entry.size
      return "\(owner.entry) \(owner.front)"
    }
    for index in packs.indices { packs[index].count = max(1, counted[index].count) }
    return owners
  }
}

extension ConfigurationProposal.Shared {
  /// The maximum number of files in ``largest``.
  private static let mostNamed = 10

  fileprivate init?(_ entries: [SourceEntry], originals: [Int32], owners: [String?]) {
    var groups: [Int32: [Int]] = [:]
    for (number, original) in originals.enumerated() where original >= 0 {
      groups[original, default: [Int(original)]].append(number)
    }
    let shared = groups.values.filter { Set($0.compactMap { owners[$0] }).count > 1 }
    guard !shared.isEmpty else { return nil }
    files = shared.count
    contentSize = shared.reduce(0) { $0 + entries[$1[0]].size }
    savedSize = shared.reduce(0) { $0 + entries[$1[0]].size * UInt64(Set($1.compactMap { owners[$0] }).count - 1) }
    let ranked = shared.sorted {
      (entries[$1[0]].size, entries[$0[0]].path) < (entries[$0[0]].size, entries[$1[0]].path)
    }
    largest = ranked.prefix(Self.mostNamed).map { group in group.map { entries[$0].path } }
  }
}

// MARK: - Records

extension ConfigurationProposal {
  package var packCount: Int { packs.reduce(0) { $0 + $1.count } }

  /// The record of the whole proposal.
  package var json: JSON {
    [
      "type": "proposal", "directory": .text(directory), "output": .text(path), "packs": .number(packCount),
      "files": .number(packs.reduce(0) { $0 + $1.files }), "contentSize": .number(packs.reduce(0) { $0 + $1.contentSize }),
    ]
  }

  /// The records of what was found, in the order in which they are printed.
  package var details: [JSON] {
    var records = omitted.map(\.json)
    records += problems.map { ["type": "problem", "path": .text($0.path), "message": .text($0.message)] }
    records += packs.map(\.json)
    records += unassigned.map {
      ["type": "unassigned", "path": .text($0.path), "files": .number($0.files), "contentSize": .number($0.contentSize)]
    }
    guard let shared else { return records }
    return records + [
      [
        "type": "shared", "files": .number(shared.files), "contentSize": .number(shared.contentSize),
        "savedSize": .number(shared.savedSize), "largest": .list(shared.largest.map(JSON.texts)),
      ]
    ]
  }
}

extension ConfigurationProposal.OmittedPath {
  fileprivate var json: JSON {
    [
      "type": isSkipped ? "skipped" : "excluded", "path": .text(path), "reason": .text(reason), "size": .number(size),
    ]
  }
}

extension ConfigurationProposal.Pack {
  fileprivate var json: JSON {
    [
      "type": "proposed-pack", "id": .text(id), "root": isEach ? nil : .text(root), "each": isEach ? .text(root) : nil,
      "delivery": .text(delivery.rawValue), "packs": .number(count), "files": .number(files), "contentSize": .number(contentSize),
    ]
  }
}
