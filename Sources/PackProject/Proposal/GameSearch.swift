/// A search for the folders that become packs. The result for a folder is the same wherever the search starts.
struct GameSearch {
  /// A folder, or a folder of folders.
  struct Folder {
    enum Kind: Hashable {
      /// A folder with an index.html.
      case page
      /// A folder that an app may need, next to games.
      case content
      /// The files of a folder, without its subfolders.
      case files
      /// Each folder in it is a pack, or the folder `back` in each of them.
      case collection(back: String, prefix: String)
    }

    var path: String
    var kind: Kind
    /// What the id is made of.
    var name: String
    /// What the id starts with.
    var prefix: String?
  }

  /// The names of folders whose subfolders are packs, and the prefix for the ids of those packs.
  private static let collections = [
    "games": "game", "minigames": "minigame", "levels": "level", "chapters": "chapter", "episodes": "episode", "worlds": "world",
    "stages": "stage", "voices": "voice", "languages": "language",
  ]
  /// The folders among these that may be in the folder of a page without being part of its game.
  private static let nested: Set = ["games", "minigames"]
  /// The names of folders that say nothing about the game in them.
  private static let plainNames: Set = [
    "dist", "build", "builds", "www", "public", "web", "html", "html5", "webgl", "out", "output", "export", "release", "site", "browser",
    "bin", "src",
    "docs", "client", "server",
  ]
  /// The names of folders that no player needs.
  private static let otherNames: Set = [
    "test", "tests", "spec", "specs", "docs", "doc", "documentation", "scripts", "tools", "coverage", "android", "ios", "platforms",
    "plugins",
    "electron", "src-tauri", "cordova", "bower_components", "vendor", "examples", "example", "templates", "webgltemplates", "library",
  ]
  /// The names of files that only the folder of a project has, not one with content.
  private static let projectFiles: Set = [
    "package.json", "bower.json", "makefile", "cmakelists.txt", "cargo.toml", "gruntfile.js", "gulpfile.js", ".gitignore", ".gitattributes",
    "readme.md", "readme", "readme.txt", "license", "license.md", "license.txt",
  ]
  /// The number of levels below the directory in which games are searched.
  static let deepest = 5

  let children: [String: [String]]
  /// The names that a pattern finds in a directory. They include directories without any packed file.
  let matches: [String: [String]]
  /// The directories with a file at any depth.
  let occupied: Set<String>
  /// The directories with an index.html.
  let pages: Set<String>
  /// The names of the files in each directory.
  let files: [String: Set<String>]
  /// The same, without files that go into no pack.
  let packedFiles: [String: Set<String>]
  let read: (String) -> String?
  /// The components of the canonical path of the directory.
  let place: [String]
  /// Whether the configuration will be in the directory.
  let isProject: Bool

  private(set) var folders: [Folder] = []
  /// The projects that have to be built first: why, for a person.
  private(set) var unbuilt: [ConfigurationProposal.Unbuilt] = []
  /// The folders of games that the page of the folder around them refers to, so that they are in its pack.
  private(set) var hubs: [String] = []
  /// The page of a game without an index.html.
  private(set) var unnamedPage: String?
  /// The directories with a game at any depth below them.
  private var aboveGames: Set<String> = []
  private var considersAll = false
  /// The ids of patterns in lower case.
  private var taken: Set<String> = []

  init(
    children: [String: [String]], matches: [String: [String]], occupied: Set<String>, pages: Set<String>, files: [String: Set<String>],
    packedFiles: [String: Set<String>], place: [String], isProject: Bool, read: @escaping (String) -> String?
  ) {
    (self.children, self.matches, self.occupied, self.pages, self.files) = (children, matches, occupied, pages, files)
    (self.packedFiles, self.place, self.isProject, self.read) = (packedFiles, place, isProject, read)
  }

  /// Searches everywhere except in folders for tests, documentation and the like; then, if nothing was found, also there.
  mutating func run() {
    for all in [false, true] {
      considersAll = all
      let starts = pages.union(children.keys.filter { isCollection($0) }).union(
        files.keys.filter { isEngineProject($0) || isWebProject($0) })
      aboveGames = []
      for start in starts where all || !ProposalRule.components(of: start).contains(where: isOther) {
        ProposalLayout.climb(from: start) { parent, _, _ in aboveGames.insert(parent).inserted }
      }
      visit("", depth: 0)
      if !folders.isEmpty || !unbuilt.isEmpty { return }
    }
    addFolders()
  }

  // MARK: Names

  /// Returns the name of a directory, also of that which is scanned.
  private func name(of directory: String) -> String { (place + ProposalRule.components(of: directory)).last ?? "" }

  /// Returns the name that says most about the game in a directory.
  private func title(of directory: String) -> String {
    let names = place + ProposalRule.components(of: directory)
    return names.last { !Self.plainNames.contains($0.lowercased()) } ?? names.last ?? ""
  }

  private func isOther(_ name: String) -> Bool { !considersAll && Self.otherNames.contains(name.lowercased()) }

  private func isCollection(_ directory: String) -> Bool {
    guard Self.collections[name(of: directory).lowercased()] != nil else { return false }
    let inner = (children[directory] ?? []).filter { occupied.contains(Self.join(directory, $0)) }
    // A repository may have the name of the only folder in it.
    if inner.count == 1, Self.collections[inner[0].lowercased()] != nil { return false }
    return !inner.isEmpty
  }

  private func isProjectFolder(_ directory: String) -> Bool {
    isEngineProject(directory)
      || (files[directory] ?? []).contains { name in Self.projectFiles.contains(name.lowercased()) || name.contains(".config.") }
  }

  static func join(_ directory: String, _ name: String) -> String { directory.isEmpty ? name : "\(directory)/\(name)" }

  // MARK: Folders

  private func project(_ directory: String) -> WebProject? {
    WebProject(directory, names: files[directory] ?? [], pages: pages, read: read)
  }

  /// Whether a folder is the source of a Godot or Unity project.
  private func isEngineProject(_ directory: String) -> Bool {
    if files[directory]?.contains("project.godot") == true { return true }
    let inner = children[directory] ?? []
    return ["Assets", "ProjectSettings"].allSatisfy(inner.contains)
  }

  private func isWebProject(_ directory: String) -> Bool {
    (files[directory] ?? []).contains { $0.hasPrefix("capacitor.config.") || WebProject.isSettings($0) }
  }

  private func inner(_ directory: String) -> [String] {
    // A folder that no entry can name is in no pack of its own.
    (children[directory] ?? []).filter { occupied.contains(Self.join(directory, $0)) && ProposalRule.isPlain($0) }
  }

  private mutating func visit(_ directory: String, depth: Int) {
    switch project(directory) {
    case .built(let place)?: return addPage(place, titled: title(of: directory))
    case .unbuilt(let reason)?:
      return unbuilt.append(
        ConfigurationProposal.Unbuilt(reason: reason, remedy: WebProject.remedy))
    case nil: break
    }
    if isEngineProject(directory), !aboveGames.contains(directory), !pages.contains(directory) {
      let path = directory.isEmpty ? "the folder" : directory
      return unbuilt.append(
        ConfigurationProposal.Unbuilt(
          reason: "\(path) is a Godot or Unity project without an export", remedy: "export it for the web first"))
    }
    if pages.contains(directory) { return addPage(directory, titled: title(of: directory)) }
    if isCollection(directory), let prefix = Self.collections[name(of: directory).lowercased()] {
      return addCollection(directory, prefix: prefix)
    }
    guard depth < Self.deepest, aboveGames.contains(directory) else { return }
    let inner = inner(directory).filter { !isOther($0) }
    if inner.count > 1, !isProjectFolder(directory), inner.allSatisfy({ base(of: Self.join(directory, $0)) != nil }) {
      return addCollection(directory, prefix: ProposalName.title(title(of: directory)) ?? "game")
    }
    let before = folders.count
    var others: [String] = []
    for name in inner {
      let path = Self.join(directory, name)
      if aboveGames.contains(path) || pages.contains(path) || isCollection(path) || isEngineProject(path) || isWebProject(path) {
        visit(path, depth: depth + 1)
      } else {
        others.append(name)
      }
    }
    guard folders.count > before else { return }
    addContent(of: directory, others)
  }

  /// Adds what is next to games, which belongs to the app unless it looks like a project with its documents and tools.
  private mutating func addContent(of directory: String, _ names: [String]) {
    guard !isProjectFolder(directory) else { return }
    for name in names where !isProjectFolder(Self.join(directory, name)) {
      folders.append(Folder(path: Self.join(directory, name), kind: .content, name: name))
    }
    if !(packedFiles[directory] ?? []).isEmpty { folders.append(Folder(path: directory, kind: .files, name: "core")) }
  }

  /// Makes each folder a pack, in a tree without any game.
  private mutating func addFolders() {
    var directory = ""
    while (packedFiles[directory] ?? []).isEmpty, inner(directory).count == 1, let only = inner(directory).first {
      guard ProposalLayout.delivery(ofFolder: only) == nil else { break }
      directory = Self.join(directory, only)
    }
    // The folders beside a page that runs a script are probably its own.
    unnamedPage = file(in: directory, ending: [".html", ".htm"], with: "<script")
    let all = unnamedPage == nil ? inner(directory) : []
    let names =
      all.contains { !Self.otherNames.contains($0.lowercased()) } ? all.filter { !Self.otherNames.contains($0.lowercased()) } : all
    guard !names.isEmpty else {
      return folders.append(Folder(path: directory, kind: .content, name: title(of: directory)))
    }
    for name in names { folders.append(Folder(path: Self.join(directory, name), kind: .content, name: name)) }
    if !(packedFiles[directory] ?? []).isEmpty { folders.append(Folder(path: directory, kind: .files, name: "core")) }
  }

  private mutating func addPage(_ directory: String, titled title: String) {
    folders.append(Folder(path: directory, kind: .page, name: title))
    for name in inner(directory) where Self.nested.contains(name.lowercased()) {
      let path = Self.join(directory, name)
      guard isCollection(path), let prefix = Self.collections[name.lowercased()] else { continue }
      if refers(directory, to: name) { hubs.append(path) } else { addCollection(path, prefix: prefix) }
    }
  }

  /// Whether texts in the folder of a page, or in a folder in it, name the folder `name`, as the page of a games site does that shows and links its
  /// games. A pack is an origin of its own, so it would get nothing from other packs.
  private func refers(_ directory: String, to name: String) -> Bool {
    let places = [directory] + inner(directory).filter { !Self.nested.contains($0.lowercased()) }.map { Self.join(directory, $0) }
    return places.contains { file(in: $0, ending: [".html", ".htm", ".js", ".json"], with: "\(name)/") != nil }
  }

  /// Returns the path of the first file in a directory whose name has one of these endings and whose text has a part.
  private func file(in directory: String, ending endings: [String], with part: String) -> String? {
    (packedFiles[directory] ?? []).filter { name in endings.contains { name.lowercased().hasSuffix($0) } }.sorted()
      .map { Self.join(directory, $0) }.first { read($0)?.utf8.firstRange(of: part.utf8) != nil }
  }

  /// Returns the topmost folder with a page below a directory; nil if there is none, or another one beside it.
  private func onlyPage(below directory: String) -> String? {
    let below = pages.filter { $0.utf8.starts(with: "\(directory)/".utf8) }
    guard let top = below.min(by: { $0.utf8.count < $1.utf8.count }) else { return nil }
    return below.allSatisfy { $0 == top || $0.utf8.starts(with: "\(top)/".utf8) } ? top : nil
  }

  /// Whether there are pages below a directory, of any name.
  private func hasPages(below directory: String) -> Bool {
    packedFiles.contains { place, names in
      (place == directory || place.utf8.starts(with: "\(directory)/".utf8))
        && names.contains { $0.hasSuffix(".html") || $0.hasSuffix(".htm") }
    }
  }

  /// Returns the folder with the page of a game; nil if it has none, or has to be built first.
  private func base(of directory: String) -> String? {
    switch project(directory) {
    case .built(let place)?: place
    case .unbuilt?: nil
    case nil: pages.contains(directory) ? directory : nil
    }
  }

  private mutating func addCollection(_ directory: String, prefix: String) {
    var bases: [(name: String, path: String, isPage: Bool)] = []
    var isWhole = !directory.isEmpty || !isProject
    for name in inner(directory) {
      let path = Self.join(directory, name)
      if case .unbuilt(let reason)? = project(path) {
        unbuilt.append(
          ConfigurationProposal.Unbuilt(reason: reason, remedy: WebProject.remedy))
        isWhole = false
      } else {
        let base = base(of: path) ?? onlyPage(below: path)
        if base == nil, Self.nested.contains(self.name(of: directory).lowercased()), hasPages(below: path) {
          let reason = "\(path) has pages, but no index.html"
          unbuilt.append(ConfigurationProposal.Unbuilt(reason: reason, remedy: "name the first page of the game index.html"))
          isWhole = false
        } else {
          bases.append((name, base ?? path, base != nil))
        }
      }
    }
    let backs = Set(bases.map { $0.path.utf8.dropFirst(Self.join(directory, $0.name).utf8.count).map { $0 } })
    let canMatch = !directory.contains { "*?".contains($0) } && ProposalRule.isPlain(directory)
    if isWhole, canMatch, backs.count == 1, let back = backs.first {
      let longer = "\(name(of: ProposalRule.split(directory).directory))-\(name(of: directory))"
      for prefix in [prefix, ProposalName.title(longer) ?? prefix] {
        guard let ids = Self.ids(of: matches[directory] ?? [], prefix: prefix), taken.isDisjoint(with: ids) else { continue }
        taken.formUnion(ids)
        let kind = Folder.Kind.collection(back: String(decoding: back, as: UTF8.self), prefix: prefix)
        folders.append(Folder(path: directory, kind: kind, name: name(of: directory)))
        return
      }
    }
    // A single pattern cannot match them all.
    for base in bases {
      folders.append(Folder(path: base.path, kind: base.isPage ? .page : .content, name: base.name, prefix: prefix))
    }
  }

  /// Returns the ids of directories in lower case; nil if one of them is not legal or two are the same.
  private static func ids(of names: [String], prefix: String) -> Set<String>? {
    guard names.allSatisfy({ !$0.hasPrefix(".") }) else { return nil }
    let ids = names.compactMap { try? PackName("\(prefix)-\($0)").text.lowercased() }
    return ids.count == names.count && Set(ids).count == ids.count ? Set(ids) : nil
  }
}
