import PackFormat
import PackManifest

/// The division of a tree into packs.
struct ProposalLayout: Sendable {
  /// A part of the tree that becomes an entry of the configuration.
  private enum Part: Sendable {
    /// A pack of each directory in this one, named after that directory with a prefix.
    case collection(String, prefix: String)
    /// A pack of one directory.
    case folder(String)
    /// A pack of everything that is in no other part.
    case rest
  }

  /// The parts in the byte order of their directories. The rest, if any, is the first.
  private let parts: [Part]
  /// The number of the part of each directory.
  private let places: [String: Int]
  /// The names that a pattern finds in a directory, in byte order. They include directories without any packed file.
  private let matches: [String: [String]]

  /// The names of folders whose subfolders are packs, and the prefix for the ids of those packs.
  private static let collections = [
    "games": "game", "minigames": "minigame", "levels": "level", "chapters": "chapter", "episodes": "episode", "worlds": "world",
    "stages": "stage", "voices": "voice", "languages": "language",
  ]
  /// The folders among these whose subfolders may be named after languages.
  private static let languageCollections: Set = ["voices", "languages"]
  /// The names of folders that an app probably needs from the start.
  private static let essentialNames: Set = [
    "app", "base", "boot", "common", "core", "engine", "launcher", "main", "runtime", "shell", "ui",
  ]
  /// The number of levels below the directory in which games are searched.
  fileprivate static let deepest = 4

  /// Returns the prefix for the ids of packs in a folder of this name; nil if it is not a collection.
  fileprivate static func prefix(ofCollection name: String) -> String? { collections[name.lowercased()] }

  /// Divides a tree.
  ///
  /// - Parameter omitted: the paths of files that go into no pack.
  init(_ entries: [SourceEntry], omitted: [String]) {
    var found: [String: Set<String>] = [:]
    var indexes: Set<String> = []
    // The directories with a file at any depth.
    var occupied: Set<String> = []
    for entry in entries {
      guard entry.kind != .directory else {
        Self.climb(from: entry.path) { parent, name, _ in found[parent, default: []].insert(name).inserted }
        continue
      }
      let (directory, name) = ProposalRule.split(entry.path)
      if name == "index.html" || name == "index.htm" { indexes.insert(directory) }
      Self.climb(from: directory) { parent, name, path in
        found[parent, default: []].insert(name)
        return occupied.insert(path).inserted
      }
    }
    var matched = found
    var visited: Set<String> = []
    for path in omitted {
      Self.climb(from: ProposalRule.split(path).directory) { parent, name, path in
        if !name.hasPrefix(".") { matched[parent, default: []].insert(name) }
        return visited.insert(path).inserted
      }
    }
    func sorted(_ names: [String: Set<String>]) -> [String: [String]] {
      names.mapValues { $0.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
    }
    matches = sorted(matched)
    let children = sorted(found)
    // The directories with a game at any depth.
    var aboveGames: Set<String> = []
    for directory in indexes {
      Self.climb(from: directory) { parent, _, _ in aboveGames.insert(parent).inserted }
    }
    var search = GameSearch(children: children, occupied: occupied, indexes: indexes, aboveGames: aboveGames)
    search.visit("", depth: 0)
    var taken: Set<String> = []
    var parts: [Part] = search.folders.flatMap { folder -> [Part] in
      guard folder.isCollection else { return [.folder(folder.path)] }
      let names = matched[folder.path].map { Array($0) } ?? []
      for prefix in [folder.prefix, Self.slug(folder.path.replacing("/", with: "-")) ?? "pack"] {
        guard !folder.path.contains(where: { "*?".contains($0) }), let ids = Self.ids(of: names, prefix: prefix),
          taken.isDisjoint(with: ids)
        else { continue }
        taken.formUnion(ids)
        return [.collection(folder.path, prefix: prefix)]
      }
      // A single pattern cannot match them all.
      return names.map { "\(folder.path)/\($0)" }.filter { occupied.contains($0) && ProposalRule.isPlain($0) }
        .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { .folder($0) }
    }
    var places = Self.places(parts)
    if entries.contains(where: { $0.kind != .directory && Self.front(of: $0.path, isDirectory: false, places, parts) == nil }) {
      parts.insert(.rest, at: 0)
      places = Self.places(parts)
    }
    self.parts = parts
    self.places = places
  }

  /// Goes up from a directory as long as `note` returns true, which means that the directory is new. The directories above a known one are known too,
  /// so the cost for a tree is proportional to its number of directories, regardless of their depth.
  private static func climb(from directory: String, note: (_ parent: String, _ name: String, _ path: String) -> Bool) {
    var path = directory
    while !path.isEmpty {
      let (parent, name) = ProposalRule.split(path)
      guard note(parent, name, path) else { return }
      path = parent
    }
  }

  /// Returns the ids of directories in lower case; nil if one of them is not legal or two are the same.
  private static func ids(of names: [String], prefix: String) -> Set<String>? {
    guard names.allSatisfy({ !$0.hasPrefix(".") }) else { return nil }
    let ids = names.compactMap { try? PackName("\(prefix)-\($0)").text.lowercased() }
    return ids.count == names.count && Set(ids).count == ids.count ? Set(ids) : nil
  }

  // MARK: Owners of paths

  private static func places(_ parts: [Part]) -> [String: Int] {
    var places: [String: Int] = [:]
    for (number, part) in parts.enumerated() {
      switch part {
      case .rest: break
      case .folder(let directory), .collection(let directory, _): places[directory] = number
      }
    }
    return places
  }

  /// Returns the entry that contains a path, and the directory of its pack with a slash at the end; empty for the whole directory.
  func owner(of path: String, isDirectory: Bool = false) -> (entry: Int, front: String)? {
    if let found = Self.front(of: path, isDirectory: isDirectory, places, parts) { return found }
    if case .rest? = parts.first { return (0, "") }
    return nil
  }

  private static func front(
    of path: String, isDirectory: Bool, _ places: [String: Int], _ parts: [Part]
  ) -> (entry: Int, front: String)? {
    // No part is deeper than the search for games. Two names after that show whether the path is a file in it.
    let names = ProposalRule.components(of: path, first: deepest + 3)
    for depth in names.indices.prefix(deepest + 2) {
      let directory = names[...depth].joined(separator: "/")
      guard let number = places[directory] else { continue }
      if case .collection = parts[number] {
        // A file next to the directories belongs to none of them.
        guard depth + (isDirectory ? 1 : 2) < names.count else { return nil }
        return (number, names[...(depth + 1)].joined(separator: "/") + "/")
      }
      return (number, directory + "/")
    }
    return nil
  }

  // MARK: Entries

  func packs(in place: ProjectPlace) -> [ConfigurationProposal.Pack] {
    var taken: Set<String> = []
    func free(_ wanted: [String]) -> String {
      let candidates = wanted + (2...parts.count + 2).map { "\(wanted[0])-\($0)" }
      let id = candidates.first { !taken.contains($0.lowercased()) } ?? wanted[0]
      taken.insert(id.lowercased())
      return id
    }
    // Ids of patterns come first, because they cannot be changed. The id of the rest comes last, because it has no name of its own.
    for case .collection(let directory, let prefix) in parts {
      for name in matches[directory] ?? [] { taken.insert("\(prefix)-\(name)".lowercased()) }
    }
    var packs = parts.map { part in
      switch part {
      case .rest:
        return ConfigurationProposal.Pack(
          id: "", root: place.path(""), isEach: false, delivery: .essential,
          excludes: place.ownExcludes + parts.compactMap { Self.exclude(of: $0) })
      case .folder(let directory):
        let name = ProposalRule.components(of: directory).last ?? directory
        let isEssential = parts.count == 1 || Self.essentialNames.contains(name.lowercased())
        return ConfigurationProposal.Pack(
          id: free([Self.slug(name) ?? "pack"]), root: place.path(directory), isEach: false,
          delivery: isEssential ? .essential : .prefetch)
      case .collection(let directory, let prefix):
        let isByLanguage =
          Self.languageCollections.contains(ProposalRule.components(of: directory).last?.lowercased() ?? "")
          && (matches[directory] ?? []).allSatisfy { $0.wholeMatch(of: /[a-z]{2,3}(-[A-Za-z0-9]{2,8})*/) != nil }
        return ConfigurationProposal.Pack(
          id: "\(prefix)-${name}", root: place.path(directory) + "/*", isEach: true,
          delivery: isByLanguage ? .onDemand : .prefetch, isByLanguage: isByLanguage)
      }
    }
    if case .rest? = parts.first { packs[0].id = free(["core", "base", "main"]) }
    return packs
  }

  private static func exclude(of part: Part) -> String? {
    switch part {
    case .rest: nil
    case .folder(let directory): "/\(directory)/"
    case .collection(let directory, _): "/\(directory)/*/"
    }
  }

  /// Returns a name in characters that are valid in ids; nil if none remain.
  static func slug(_ name: String) -> String? {
    var result = ""
    for scalar in name.lowercased().unicodeScalars {
      let isPlain = ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) || scalar == "_" || scalar == "."
      if isPlain {
        result.unicodeScalars.append(scalar)
      } else if !result.isEmpty, !result.hasSuffix("-") {
        result += "-"
      }
    }
    result = String(result.drop { !$0.isLetter && !$0.isNumber }.prefix(48))
    while let last = result.last, !last.isLetter, !last.isNumber { result.removeLast() }
    return result.isEmpty ? nil : result
  }
}

/// A search for folders that become packs.
private struct GameSearch {
  struct Folder {
    var path: String
    var isCollection: Bool
    /// The prefix of the ids of a collection.
    var prefix = ""
  }

  let children: [String: [String]]
  /// The directories with a file at any depth.
  let occupied: Set<String>
  /// The directories with an index.html.
  let indexes: Set<String>
  /// The directories with one of those at any depth below them.
  let aboveGames: Set<String>
  private(set) var folders: [Folder] = []

  init(children: [String: [String]], occupied: Set<String>, indexes: Set<String>, aboveGames: Set<String>) {
    self.aboveGames = aboveGames
    self.children = children
    self.occupied = occupied
    self.indexes = indexes
  }

  mutating func visit(_ directory: String, depth: Int) {
    for name in children[directory] ?? [] {
      let path = directory.isEmpty ? name : "\(directory)/\(name)"
      // A folder that no entry can name stays with the rest.
      guard occupied.contains(path), ProposalRule.isPlain(name) else { continue }
      if let prefix = ProposalLayout.prefix(ofCollection: name), children[path] != nil {
        folders.append(Folder(path: path, isCollection: true, prefix: prefix))
      } else if indexes.contains(directory) {
        // The folder belongs to the game in `directory`.
        continue
      } else if indexes.contains(path) {
        folders.append(Folder(path: path, isCollection: false))
      } else if depth < ProposalLayout.deepest, holdsGame(path) {
        let inner = children[path] ?? []
        if inner.count > 1, inner.allSatisfy({ indexes.contains("\(path)/\($0)") }) {
          folders.append(Folder(path: path, isCollection: true, prefix: ProposalLayout.slug(name) ?? "pack"))
        } else {
          visit(path, depth: depth + 1)
        }
      } else if depth == 0 {
        folders.append(Folder(path: path, isCollection: false))
      }
    }
  }

  /// Whether there are packs in a directory that is not a pack itself.
  private func holdsGame(_ directory: String) -> Bool {
    aboveGames.contains(directory)
      || (children[directory] ?? []).contains {
        ProposalLayout.prefix(ofCollection: $0) != nil && children["\(directory)/\($0)"] != nil
      }
  }
}
