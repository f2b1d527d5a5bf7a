/// The division of a tree into packs.
struct ProposalLayout {
  /// The entries in the byte order of their directories.
  let folders: [GameSearch.Folder]
  /// The projects that have to be built before they can be packed: why, for a person.
  let unbuilt: [ConfigurationProposal.Unbuilt]
  /// The folders of games that are in the pack of the page around them, because it refers to them.
  let hubs: [String]
  /// The page of a game without an index.html.
  let unnamedPage: String?

  /// The number of the entry of each directory, and that of its loose files.
  private let places: [String: Int]
  private let loose: [String: Int]
  /// The numbers of components of those directories, the largest first.
  private let depths: [Int]
  private let pages: Set<String>
  private let matches: [String: [String]]
  /// The directories with a packed file at any depth, by entry.
  private var filled: Set<Place> = []

  private struct Place: Hashable {
    var entry: Int
    var directory: String
  }

  /// The names of folders whose subfolders may be named after languages.
  private static let languageCollections: Set = ["voices", "languages"]
  /// The names of folders that an app probably needs from the start.
  private static let essentialNames: Set = [
    "app", "base", "boot", "common", "core", "engine", "launcher", "main", "runtime", "shell", "ui",
  ]
  /// The size in bytes up to which a pack is proposed as essential.
  static let largestEssential: UInt64 = 30_000_000

  /// Returns the delivery that the name of a folder suggests, if any.
  static func delivery(ofFolder name: String) -> DeliveryClass? { essentialNames.contains(name.lowercased()) ? .essential : nil }

  /// Divides a tree.
  ///
  /// - Parameters:
  ///   - entries: the files and directories that go into packs.
  ///   - omitted: the paths of files that go into no pack.
  ///   - refused: the paths of files and directories that cannot be packed. Patterns find them all the same.
  ///   - place: the directory.
  ///   - read: returns the text of a small file in the directory; nil if it cannot be read.
  init(_ entries: [SourceEntry], omitted: [String], refused: [String], in place: ProjectPlace, read: @escaping (String) -> String?) {
    var found: [String: Set<String>] = [:]
    var pages: Set<String> = []
    var occupied: Set<String> = []
    var files: [String: Set<String>] = [:]
    for entry in entries {
      guard entry.kind != .directory else {
        Self.climb(from: entry.path) { parent, name, _ in found[parent, default: []].insert(name).inserted }
        continue
      }
      let (directory, name) = ProposalRule.split(entry.path)
      files[directory, default: []].insert(name)
      if name == "index.html" || name == "index.htm", !Self.isRedirection(entry, read) { pages.insert(directory) }
      Self.climb(from: directory) { parent, name, path in
        found[parent, default: []].insert(name)
        return occupied.insert(path).inserted
      }
    }
    let packedFiles = files
    var matched = found
    var visited: Set<String> = []
    for path in omitted {
      let (directory, name) = ProposalRule.split(path)
      files[directory, default: []].insert(name)
      Self.climb(from: directory) { parent, name, path in
        if !name.hasPrefix(".") { matched[parent, default: []].insert(name) }
        return visited.insert(path).inserted
      }
    }
    for path in refused {
      Self.climb(from: path) { parent, name, _ in matched[parent, default: []].insert(name).inserted }
    }
    func sorted(_ names: [String: Set<String>]) -> [String: [String]] {
      names.mapValues { $0.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
    }
    matches = sorted(matched)
    var search = GameSearch(
      children: sorted(found), matches: matches, occupied: occupied, pages: pages, files: files, packedFiles: packedFiles,
      place: place.components, isProject: place.root == ".", read: read)
    search.run()
    var taken: Set<String> = []
    folders = search.folders.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
      .filter { taken.insert($0.kind == .files ? $0.path + "/" : $0.path).inserted }
    (unbuilt, hubs, unnamedPage) = (search.unbuilt, search.hubs, search.unnamedPage)
    self.pages = pages
    var places: [String: Int] = [:]
    var loose: [String: Int] = [:]
    for (number, folder) in folders.enumerated() {
      if folder.kind == .files { loose[folder.path] = number } else { places[folder.path] = number }
    }
    (self.places, self.loose) = (places, loose)
    depths = Set(places.keys.map { ProposalRule.components(of: $0).count }).sorted(by: >)
    for entry in entries where entry.kind != .directory {
      guard let owner = owner(of: entry.path) else { continue }
      Self.climb(from: ProposalRule.split(entry.path).directory) { _, _, path in
        filled.insert(Place(entry: owner.entry, directory: path)).inserted
      }
    }
  }

  /// Goes up from a directory as long as `note` returns true, which means that the directory is new. The directories above a known one are known too,
  /// so the cost for a tree is proportional to its number of directories, regardless of their depth.
  static func climb(from directory: String, note: (_ parent: String, _ name: String, _ path: String) -> Bool) {
    var path = directory
    while !path.isEmpty {
      let (parent, name) = ProposalRule.split(path)
      guard note(parent, name, path) else { return }
      path = parent
    }
  }

  /// Whether a page only leads to another.
  private static func isRedirection(_ entry: SourceEntry, _ read: (String) -> String?) -> Bool {
    guard entry.size < 1024, let text = read(entry.path)?.lowercased() else { return false }
    return text.contains("http-equiv=\"refresh\"") && !text.contains("<script")
  }

  // MARK: Owners of paths

  /// Returns the entry that contains a path, and the directory of its pack with a slash at the end; empty for the whole directory.
  func owner(of path: String, isDirectory: Bool = false) -> (entry: Int, front: String)? {
    if !isDirectory, let number = loose[ProposalRule.split(path).directory] {
      let directory = folders[number].path
      return (number, directory.isEmpty ? "" : directory + "/")
    }
    guard let deepest = depths.first else { return nil }
    let names = ProposalRule.components(of: path, first: deepest + Self.deepestBack)
    // A file is in a directory, not the directory itself.
    let last = isDirectory ? names.count : names.count - 1
    for depth in depths where depth <= last {
      let directory = names[..<depth].joined(separator: "/")
      guard let number = places[directory] else { continue }
      guard case .collection(let back, _) = folders[number].kind else { return (number, directory.isEmpty ? "" : directory + "/") }
      // A file next to the directories belongs to none of them.
      let inner = ProposalRule.components(of: back)
      let end = depth + 1 + inner.count
      guard end <= last, names[(depth + 1)..<end].elementsEqual(inner) else { continue }
      return (number, names[..<end].joined(separator: "/") + "/")
    }
    return nil
  }

  /// The number of components that may follow the directory of a collection, and one for the file.
  private static let deepestBack = 8

  /// Whether a path is a folder in a collection, or would be.
  func isInCollection(_ path: String) -> Bool {
    let directory = ProposalRule.split(path).directory
    return folders.contains { folder in
      if case .collection = folder.kind { return folder.path == directory }
      return folder.prefix != nil && ProposalRule.split(folder.path).directory == directory
    }
  }

  // MARK: Entries

  func packs(_ entries: [SourceEntry], omitted: [ConfigurationProposal.OmittedPath], in place: ProjectPlace) -> [ConfigurationProposal.Pack]
  {
    var taken: Set<String> = []
    func free(_ wanted: String) -> String {
      let wanted = Self.shortened(wanted)
      var id = wanted
      var number = 2
      while taken.contains(id.lowercased()) {
        id = "\(wanted)-\(number)"
        number += 1
      }
      taken.insert(id.lowercased())
      return id
    }
    /// Returns an id for a name that has nothing to make one of.
    func numbered(_ prefix: String) -> String {
      var number = 1
      while taken.contains("\(prefix)-\(number)".lowercased()) { number += 1 }
      let id = "\(prefix)-\(number)"
      taken.insert(id.lowercased())
      return id
    }
    // Ids of patterns come first, because they cannot be changed.
    for folder in folders {
      guard case .collection(_, let prefix) = folder.kind else { continue }
      for name in matches[folder.path] ?? [] { taken.insert("\(prefix)-\(name)".lowercased()) }
    }
    // Then the names that are valid as they are.
    let ranks = folders.map { (try? PackName($0.name)) != nil ? 0 : ProposalName.slug($0.name) != nil ? 1 : 2 }
    let order = folders.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
    var ids: [Int: String] = [:]
    for number in order {
      let folder = folders[number]
      if case .collection(_, let prefix) = folder.kind {
        ids[number] = "\(prefix)-${name}"
      } else if let slug = ProposalName.slug(folder.name) {
        ids[number] = free(folder.prefix.map { "\($0)-\(slug)" } ?? slug)
      } else {
        ids[number] = numbered(folder.prefix ?? (folder.kind == .page ? "game" : "pack"))
      }
    }
    let drained = drained(entries, omitted)
    return folders.indices.map { number in
      let folder = folders[number]
      var pack = ConfigurationProposal.Pack(
        id: ids[number] ?? "pack", root: place.path(folder.path), isEach: false, delivery: .prefetch)
      pack.excludes = folder.path.isEmpty ? place.ownExcludes : []
      switch folder.kind {
      case .page:
        pack.isPage = true
        if let delivery = Self.delivery(ofFolder: folder.name) { pack.delivery = delivery }
      case .content:
        if let delivery = Self.delivery(ofFolder: folder.name) { pack.delivery = delivery }
      case .files: pack.excludes.append("/*/")
      case .collection(let back, _):
        let names = matches[folder.path] ?? []
        let isOfLanguages =
          Self.languageCollections.contains(ProposalRule.components(of: folder.path).last?.lowercased() ?? "")
          && names.allSatisfy { $0.wholeMatch(of: /[a-z]{2,3}(-[A-Za-z0-9]{2,8})*/) != nil }
        pack.root = place.path(folder.path.isEmpty ? "*" : folder.path + "/*") + back
        pack.isEach = true
        pack.isPage = names.contains { pages.contains(GameSearch.join(folder.path, $0) + back) }
        pack.languages = isOfLanguages ? names : []
        pack.delivery = isOfLanguages ? .onDemand : .prefetch
      }
      if folder.kind != .files { pack.excludes += nested(in: number) + (drained[number] ?? []) }
      if folder.kind == .page || folder.kind == .content {
        let written = folder.prefix.map { "\($0)-\(folder.name)" } ?? folder.name
        pack.differingName = written == pack.id || folder.name == "core" ? nil : folder.name
      }
      return pack
    }
  }

  /// Returns an id that leaves room for a number.
  private static func shortened(_ id: String) -> String {
    var result = id.prefix(Limits.nameLength - 6)
    while let last = result.last, !last.isLetter, !last.isNumber { result.removeLast() }
    return String(result)
  }

  /// Returns the patterns that exclude the entries inside of an entry. A directory without anything else is excluded whole, so that it is not empty
  /// in the pack.
  private func nested(in number: Int) -> [String] {
    let outer = folders[number].path
    let front = outer.isEmpty ? "" : outer + "/"
    return folders.indices.compactMap { other in
      let folder = folders[other]
      guard other != number, folder.path.utf8.starts(with: front.utf8), folder.path != outer, folder.kind != .files else { return nil }
      let path = topmost(folder.path, in: number, front: front)
      guard case .collection(let back, _) = folder.kind, path == nil else { return Self.pattern(path ?? folder.path, front) }
      return "/" + Self.inside(folder.path, front) + "/*" + back + "/"
    }
  }

  /// Returns the topmost directory that contains a directory, or is it, and has no file of an entry.
  private func topmost(_ directory: String, in number: Int, front: String) -> String? {
    var result: String?
    var path = directory
    while path.utf8.count > front.utf8.count, !filled.contains(Place(entry: number, directory: path)) {
      result = path
      path = ProposalRule.split(path).directory
    }
    return result
  }

  private static func inside(_ path: String, _ front: String) -> String {
    String(decoding: path.utf8.dropFirst(front.utf8.count), as: UTF8.self)
  }

  private static func pattern(_ path: String, _ front: String) -> String { "/" + inside(path, front) + "/" }

  /// Returns the patterns, by entry, that exclude directories in which nothing is left to pack.
  private func drained(_ entries: [SourceEntry], _ omitted: [ConfigurationProposal.OmittedPath]) -> [Int: [String]] {
    var patterns: [Int: Set<String>] = [:]
    var fronts: [Int: Set<String>] = [:]
    for entry in entries where entry.kind != .directory {
      guard let owner = owner(of: entry.path) else { continue }
      fronts[owner.entry, default: []].insert(owner.front)
    }
    let directories =
      entries.filter { $0.kind == .directory }.map(\.path)
      + omitted.filter { !$0.isSkipped }.map { ProposalRule.remainder(of: $0.path, excludedBy: $0.pattern) }
    for directory in Set(directories) where !directory.isEmpty {
      guard let (number, front) = owner(of: directory, isDirectory: true), directory + "/" != front,
        let empty = topmost(directory, in: number, front: front), ProposalRule.canName(empty)
      else { continue }
      let inside = Self.inside(empty, front)
      // In a collection, the pattern applies to every pack.
      let isNeeded = (fronts[number] ?? []).contains { filled.contains(Place(entry: number, directory: $0 + inside)) }
      if !isNeeded { patterns[number, default: []].insert("/" + inside + "/") }
    }
    return patterns.mapValues { $0.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
  }
}
