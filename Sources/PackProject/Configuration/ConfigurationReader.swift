/// A reader that turns a checked document into a configuration: it fills in the defaults, finds the directories, and checks the entries against each
/// other. Mistakes in single values have been reported before; such a value counts as missing here.
struct ConfigurationReader {
  private(set) var mistakes: [ConfigurationMistake] = []

  /// Whether every entry has produced packs. Only then is an unknown pack id reported.
  private var hasAllPacks = true
  /// Whether `each` of an entry found no directory, and may do so.
  private var lacksPacks = false
  /// The names of packs that may be there without their directories.
  private var released = ReleasedNames()

  private let path: String
  private let directory: String
  private let allowed: AllowedRoots
  private let sources: PackerConfiguration.Sources
  private let files: any FileSystem

  /// Reads a file and returns the configuration, or its mistakes in file order.
  static func run(
    _ path: String, sources: PackerConfiguration.Sources = .required, files: any FileSystem
  ) throws(PackError) -> (PackerConfiguration?, [ConfigurationMistake]) {
    guard let parts = PathParts(path) else {
      throw PackError(
        .usage, "'\(path)' is not the path of a file", hint: "name the configuration, as in -c \(PackerConfiguration.defaultPath)")
    }
    let bytes = try ConfigurationText.bytes(of: path, files: files)
    if let conflict = MergeConflict(bytes) {
      let message = "a merge left conflict markers: \(conflict.names.ours) and \(conflict.names.theirs)"
      return (
        nil,
        [
          ConfigurationMistake(
            SourcePosition(line: conflict.line, column: 1), message, hint: "keep what is right of both sides, without the markers")
        ]
      )
    }
    let text = ConfigurationText(bytes)
    guard let root = text.root else { return (nil, text.mistakes) }
    var reader = ConfigurationReader(path: path, directory: parts.directory, sources: sources, files: files)
    reader.mistakes = text.mistakes + ConfigurationCheck.run(root)
    let configuration = try reader.configuration(root)
    guard reader.mistakes.isEmpty else {
      return (
        nil, reader.mistakes.enumerated().sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }.map(\.element)
      )
    }
    return (configuration, [])
  }

  private init(path: String, directory: String, sources: PackerConfiguration.Sources, files: any FileSystem) {
    self.path = path
    self.directory = directory
    allowed = AllowedRoots(around: directory, files: files)
    self.sources = sources
    self.files = files
  }

  private mutating func add(_ position: SourcePosition, _ message: String, hint: String? = nil) {
    mistakes.append(ConfigurationMistake(position, message, hint: hint))
  }

  private mutating func configuration(_ root: ConfigurationNode) throws(PackError) -> PackerConfiguration {
    let app = root["app"]
    let packs = try packs(root)
    var configuration = PackerConfiguration(
      path: path, directory: directory,
      app: PackerConfiguration.App(bundleID: app?.text("bundleID", .bundleID), group: app?.text("group", .appGroup)),
      serve: serve(root["serve"]),
      key: root.text("key", .keyReference).map(reference),
      perPackKeys: root["perPackKeys"]?.isTrue ?? false,
      signKeys: root.texts("signKey", .keyReference).map(reference),
      trustedKeys: root.texts("trust", .publicKey),
      keysFile: root.text("keysFile", .directory).map(inDirectory),
      packs: packs,
      fallbackLanguage: root.text("fallbackLanguage", .language),
      totals: totals(root["totals"]),
      headroom: root.text("headroom", .headroom).flatMap(ScalarFormat.headroom) ?? PackerConfiguration.defaultHeadroom,
      validitySeconds: root.text("validity", .duration).flatMap(ScalarFormat.seconds) ?? PackerConfiguration.defaultValiditySeconds,
      manifestCeiling: root.size("manifestCeiling") ?? PackerConfiguration.defaultManifestCeiling,
      hosting: root.choice("hosting") ?? .unmanaged,
      lock: root.choice("lock") ?? .optional,
      ignored: ignored(root["ignore"], packs: packs))
    configuration.lacksPacks = lacksPacks
    configuration.isForBrowsers = root["web"]?.isTrue ?? false
    configuration.updates = updates(root["updates"], configuration.hosting)
    configuration.publish = publish(root["publish"])
    configuration.cache = root.text("cache", .text(longest: 2000)).map(place)
    checkBases(root, configuration)
    checkVersionKeys(configuration)
    return configuration
  }

  /// Returns which deltas are made. Packs that the system manages have none, because it downloads whole packs.
  private mutating func updates(_ node: ConfigurationNode?, _ hosting: PackerConfiguration.Hosting) -> PackerConfiguration.Updates? {
    if let node, node.scalarText(.choice(["none"], "word")) != nil { return nil }
    guard hosting == .unmanaged else {
      if let node { add(node.position, "'updates' is set, but with 'hosting: \(hosting.rawValue)' the system downloads whole packs") }
      return nil
    }
    var updates = PackerConfiguration.Updates(
      packs: inDirectory(Self.normalized(node?.text("packs", .directory) ?? ReleaseFile.released)))
    updates.from = node?.text("from", .number(0...UInt64.max)).flatMap { UInt64($0) }
    if let worth = node?.text("worth", .percent).flatMap(ScalarFormat.basisPoints) { updates.worth = worth }
    updates.largest = node?.size("largestUpdate")
    return updates
  }

  /// Returns a place as the process can open it.
  private func place(_ text: String) -> String {
    PackerConfiguration.isDirectory(text) && !text.hasPrefix("/") ? inDirectory(Self.normalized(text)) : text
  }

  private func publish(_ node: ConfigurationNode?) -> PackerConfiguration.Publish {
    var publish = PackerConfiguration.Publish()
    publish.place = node?.text("to", .text(longest: 2000)).map(place)
    if let keep = node?.text("keep", .number(1...UInt64.max)).flatMap({ UInt64($0) }) { publish.keep = keep }
    return publish
  }

  /// Checks the packs over which others are published as deltas.
  private mutating func checkBases(_ root: ConfigurationNode, _ configuration: PackerConfiguration) {
    let known = Dictionary(configuration.packs.map { ($0.id.text, $0) }) { first, _ in first }
    for entry in root["packs"]?.items ?? [] {
      guard let id = entry.text("base", .packID), let place = entry["base"]?.position else { continue }
      guard let base = known[id] else {
        guard hasAllPacks else { continue }
        let suggestion =
          SpellingSuggestion.nearest(to: id, among: configuration.packs.map(\.id.text)).map { " (did you mean '\($0)'?)" } ?? ""
        add(place, "'base' is '\(id)', but no pack has that id\(suggestion)")
        continue
      }
      let packs = configuration.packs.filter { $0.position == entry.position }
      if let problem = packs.lazy.compactMap({ Self.problem(of: base, below: $0) }).first {
        add(place, "'base' is '\(id)', \(problem)")
      } else if configuration.updates == nil {
        add(place, "'base' is '\(id)', but no deltas are made with 'updates: none' or if the system manages the packs")
      }
    }
  }

  /// Checks the packs whose versions have keys of their own.
  private mutating func checkVersionKeys(_ configuration: PackerConfiguration) {
    let bases = Set(configuration.packs.compactMap(\.base))
    var seen: Set<SourcePosition> = []
    for pack in configuration.packs where pack.hasVersionKeys && seen.insert(pack.position).inserted {
      let key = pack.opens == nil ? "perVersionKeys" : "opens"
      if !configuration.perPackKeys {
        add(
          pack.position, "'\(key)' is set for pack '\(pack.id)', but apps have the key from which that of each version would follow",
          hint: "set 'perPackKeys: true', and give apps the keys of their packs: packer key derive")
      }
      if pack.install == .unpacked {
        add(pack.position, "'\(key)' is set for pack '\(pack.id)', which is unpacked: only one with 'install: packed' is opened later")
      }
      if configuration.hosting != .unmanaged {
        add(
          pack.position,
          "'\(key)' is set for pack '\(pack.id)', but with 'hosting: \(configuration.hosting.rawValue)' the system has only the pack")
      }
      if configuration.isForBrowsers {
        add(pack.position, "'\(key)' is set for pack '\(pack.id)', which browsers cannot open, and 'web' is set")
      }
      if let base = pack.base {
        add(pack.position, "'\(key)' is set for pack '\(pack.id)', which has the base '\(base)': there are no deltas to it")
      }
      if bases.contains(pack.id.text) {
        add(pack.position, "'\(key)' is set for pack '\(pack.id)', which is the base of others: they would wait until it opens")
      }
    }
  }

  /// Returns why a pack cannot be the base of another one, or nil.
  private static func problem(of base: PackerConfiguration.Pack, below pack: PackerConfiguration.Pack) -> String? {
    if base.id == pack.id { return "the pack itself" }
    if let other = base.base { return "which itself has the base '\(other)'" }
    if let language = base.language, language != pack.language { return "which only devices with the language '\(language)' have" }
    let missing = (pack.platforms.isEmpty ? ConfigurationKey.platforms : pack.platforms).first { !base.platforms.contains($0) }
    if !base.platforms.isEmpty, let missing { return "which is not for \(missing), as pack '\(pack.id)' is" }
    return nil
  }

  // MARK: The app and its server

  private func serve(_ node: ConfigurationNode?) -> PackerConfiguration.Serve {
    var base = node?.text("baseURL", .baseURL).map(url) ?? ""
    if !base.hasSuffix("/") { base += "/" }
    let hosts = Self.once((node?.texts("hosts", .host) ?? []).map { $0.lowercased() })
    return PackerConfiguration.Serve(
      baseURL: base, manifestURL: node?.text("manifestURL", .manifestURL).map(url) ?? base + ReleaseFile.manifest, hosts: hosts)
  }

  /// Returns a URL with its scheme in lower case, as manifests require.
  private func url(_ text: String) -> String { "https" + text.dropFirst("https".count) }

  /// Returns a key reference that this process can use: its path is resolved from the directory of the configuration.
  private func reference(_ text: String) -> String {
    let reference = try? KeyReference(parsing: text)
    guard case .file(let file)? = reference?.place else { return text }
    return "file:" + (file.hasPrefix("/") ? file : inDirectory(file))
  }

  private func inDirectory(_ path: String) -> String {
    if path == "." { return directory }
    return directory == "." ? path : directory == "/" ? "/" + path : directory + "/" + path
  }

  private func totals(_ node: ConfigurationNode?) -> PackerConfiguration.Totals {
    PackerConfiguration.Totals(
      essentialDownload: node?["essential"]?.size("download"), essentialInstalled: node?["essential"]?.size("installed"),
      otherDownload: node?["other"]?.size("download"), otherInstalled: node?["other"]?.size("installed"),
      message: node?.text("message", .text(longest: 2000)))
  }

  private mutating func ignored(
    _ node: ConfigurationNode?, packs: [PackerConfiguration.Pack]
  ) -> [PackerConfiguration.IgnoredRule] {
    var rules: [PackerConfiguration.IgnoredRule] = []
    for item in node?.items ?? [] {
      let pack = item.text("pack", .packID)
      if let pack, let place = item["pack"]?.position, hasAllPacks, !packs.contains(where: { $0.id.text == pack }) {
        let suggestion = SpellingSuggestion.nearest(to: pack, among: packs.map(\.id.text)).map { " (did you mean '\($0)'?)" } ?? ""
        add(place, "'pack' is '\(pack)', but no pack has that id\(suggestion)")
      }
      guard let rule = item.text("rule", .rule), let reason = item.text("reason", .text(longest: 2000)) else { continue }
      rules.append(
        PackerConfiguration.IgnoredRule(
          rule: rule, pack: pack, app: item.text("app", .text(longest: 64)),
          until: item.text("until", .date).flatMap(ScalarFormat.endOfDay), reason: reason, position: item.position))
    }
    return rules
  }

  // MARK: Packs

  private mutating func packs(_ root: ConfigurationNode) throws(PackError) -> [PackerConfiguration.Pack] {
    let defaults = root["defaults"]
    var packs: [PackerConfiguration.Pack] = []
    // By lower-case id: a file system may ignore case.
    var places: [String: (id: String, line: Int)] = [:]
    if case .released(let ids) = sources {
      released = ReleasedNames(ids, entries: root["packs"]?.items.compactMap { $0.text("id", .packID) } ?? [])
    }
    for entry in root["packs"]?.items ?? [] {
      let found = try self.packs(entry, defaults)
      if found.isEmpty { hasAllPacks = false }
      checkReach(of: found, entry)
      for pack in found {
        let position = entry["id"]?.position ?? entry.position
        if let first = places[pack.id.text.lowercased()] {
          let place = first.line == position.line ? "another directory of the same entry" : "the pack in line \(first.line)"
          add(
            position,
            first.id == pack.id.text
              ? "the id '\(pack.id)' is already used by \(place)"
              : "the id '\(pack.id)' differs only in case from '\(first.id)', the id of \(place)")
        } else {
          places[pack.id.text.lowercased()] = (pack.id.text, position.line)
        }
        packs.append(pack)
      }
    }
    return packs
  }

  /// Returns the packs of an entry: one, or one for every matching directory.
  private mutating func packs(
    _ entry: ConfigurationNode, _ defaults: ConfigurationNode?
  ) throws(PackError) -> [PackerConfiguration.Pack] {
    checkPlaceholders(entry)
    guard let id = entry.text("id", .packID), let idPosition = entry["id"]?.position else { return [] }
    if let pattern = entry.text("each", .directoryPattern), let position = entry["each"]?.position {
      guard id.contains("${name}") else {
        add(idPosition, "'id' is '\(id)' for every directory of 'each': add ${name} to it")
        return []
      }
      let each = EachPattern(pattern)
      var (found, doubts) = try each.directories(in: directory, files: files)
      for doubt in doubts {
        add(position, "'each' is '\(pattern)', but \(doubt.path), which may match, \(doubt.problem)")
        hasAllPacks = false
      }
      if found.isEmpty, doubts.isEmpty, mayBeMissing(inDirectory(each.front)) {
        found = released.names(of: id).compactMap { each.match(named: $0) }
        if sources == .optional { lacksPacks = true }
      } else if found.isEmpty, doubts.isEmpty {
        add(position, "'each' is '\(pattern)', but no directory matches")
      }
      var packs: [PackerConfiguration.Pack] = []
      for match in found {
        let text = id.replacing("${name}", with: match.name)
        guard let name = try? PackName(text) else {
          add(
            idPosition,
            "'\(text)', for the directory \(match.path), is not a pack name: rename the directory, or give it a separate entry and narrow 'each'"
          )
          hasAllPacks = false
          continue
        }
        checkFilled(entry, match)
        packs.append(pack(name, root: match.path, entry, defaults, placeholder: match.name))
      }
      return packs
    }
    guard let root = entry.text("root", .directory), let position = entry["root"]?.position else { return [] }
    try checkDirectory(root, position)
    guard let name = try? PackName(id) else { return [] }
    return [pack(name, root: Self.normalized(root), entry, defaults, placeholder: nil)]
  }

  /// Refuses roots that lead elsewhere, over `..` or a symbolic link: the file may be somebody else's, and what is packed is published.
  private mutating func checkReach(of packs: [PackerConfiguration.Pack], _ entry: ConfigurationNode) {
    for pack in packs {
      guard let place = try? files.canonicalPath(of: pack.root), !allowed.contains(place) else { continue }
      add(
        (entry["root"] ?? entry["each"] ?? entry).position,
        "the root '\(pack.rootInProject)' of pack '\(pack.id)' leads out of the directory of the configuration, and of its git repository",
        hint: "to allow that directory: export \(AllowedRoots.variable)=$(realpath \(ShellWord.path(pack.root)))")
    }
  }

  private mutating func checkDirectory(_ root: String, _ position: SourcePosition) throws(PackError) {
    let place = inDirectory(Self.normalized(root))
    do throws(FileFailure) {
      if try files.status(of: place, in: nil, following: .followed).kind != .directory {
        add(position, "'root' is '\(root)', which is a file")
      }
    } catch {
      if error.isMissing, mayBeMissing(place) { return }
      add(position, "'root' is '\(root)', which \(error.isMissing ? "does not exist" : "cannot be read: \(error.text)")")
    }
  }

  /// Whether a directory that does not exist is no mistake. It is one if a broken link leads there: then the directory is meant to exist.
  private func mayBeMissing(_ place: String) -> Bool {
    guard sources != .required else { return false }
    var path = place
    while let parts = PathParts(path), parts.directory != path {
      let isLink = (try? files.status(of: path, in: nil, following: .asThemselves))?.kind == .symbolicLink
      if isLink, (try? files.status(of: path, in: nil, following: .followed)) == nil { return false }
      path = parts.directory
    }
    return true
  }

  /// Refuses unknown or misplaced `${…}`.
  private mutating func checkPlaceholders(_ entry: ConfigurationNode) {
    let hasName = entry["each"] != nil
    var texts: [(key: String, node: ConfigurationNode)] = []
    for key in ["id", "language", "name", "description", "layout"] {
      if let node = entry[key] { texts.append((key, node)) }
    }
    for key in ["tags", "exclude"] {
      for node in entry[key]?.items ?? [] { texts.append((key, node)) }
    }
    if let node = entry["budget"]?["message"] { texts.append(("message", node)) }
    for (key, node) in texts {
      guard case .scalar(let scalar) = node.content, scalar.text.contains("${") else { continue }
      if key != "id", let problem = ScalarFormat.placeholderProblem(scalar.text) {
        add(
          node.position,
          "\(key == "tags" || key == "exclude" ? "'\(key)' contains" : "'\(key)' is") \(ScalarFormat.shown(scalar.text)), but \(problem)")
      } else if !hasName, scalar.text.contains("${name}") {
        add(node.position, "${name} can be used only with 'each'")
      }
    }
  }

  /// Checks texts again with the name of a directory in place of `${name}`.
  private mutating func checkFilled(_ entry: ConfigurationNode, _ match: EachPattern.Match) {
    var texts: [(key: String, node: ConfigurationNode, format: ScalarFormat)] = []
    let formats: [(String, ScalarFormat)] = [
      ("language", .language), ("name", .text(longest: 200)), ("description", .text(longest: 2000)),
    ]
    for (key, format) in formats {
      if let node = entry[key] { texts.append((key, node, format)) }
    }
    for node in entry["tags"]?.items ?? [] { texts.append(("tags", node, .text(longest: 64))) }
    for (key, node, format) in texts {
      guard case .scalar(var scalar) = node.content, scalar.text.contains("${name}") else { continue }
      // Mistakes in the text as written are reported once, not for each directory.
      guard format.problem(of: scalar) == nil else { continue }
      scalar.text = scalar.text.replacing("${name}", with: match.name)
      if let problem = format.problem(of: scalar) {
        add(node.position, "for the directory \(match.path), \(key == "tags" ? "one of 'tags'" : "'\(key)'") is \(problem)")
      }
    }
  }

  /// Returns one pack. Settings that the entry does not have come from the defaults; exclude patterns add up.
  private mutating func pack(
    _ id: PackName, root: String, _ entry: ConfigurationNode, _ defaults: ConfigurationNode?, placeholder: String?
  ) -> PackerConfiguration.Pack {
    func filled(_ text: String) -> String { placeholder.map { text.replacing("${name}", with: $0) } ?? text }
    func setting(_ key: String) -> ConfigurationNode? { entry[key] ?? defaults?[key] }
    var settings = PackSettings()
    settings.excludes = Self.once((defaults?.texts("exclude", .glob) ?? []) + entry.texts("exclude", .glob).map(filled))
    settings.level = setting("level")?.scalarText(.level).flatMap(PackLevel.init) ?? .balanced
    settings.followsSymlinks = setting("followSymlinks")?.isTrue ?? false
    settings.allowsSecrets = setting("allowSecrets")?.isTrue ?? false
    settings.allowedSecrets = setting("allowSecrets")?.items.compactMap(Self.allowedSecret) ?? []
    settings.allowsUnportablePaths = setting("allowUnportablePaths")?.isTrue ?? false
    let layout = order(of: entry, filled, &settings)
    let opens = entry.text("opens", .time).flatMap(ManifestTime.init)
    let platforms = setting("platforms")?.items.compactMap { $0.scalarText(.text(longest: 100)) } ?? []
    return PackerConfiguration.Pack(
      id: id, root: inDirectory(root), rootInProject: root,
      delivery: setting("delivery")?.scalarText(.text(longest: 100)).flatMap { DeliveryClass(rawValue: $0) } ?? .prefetch,
      install: setting("install")?.scalarText(.text(longest: 100)).flatMap { InstallMode(rawValue: $0) } ?? .unpacked,
      tags: entry.texts("tags", .text(longest: 64)).map(filled),
      language: entry.text("language", .language).map(filled),
      platforms: ConfigurationKey.platforms.filter { platforms.contains($0) },
      name: entry.text("name", .text(longest: 200)).map(filled) ?? id.text,
      description: entry.text("description", .text(longest: 2000)).map(filled) ?? "",
      settings: settings, layout: layout, base: entry.text("base", .packID),
      hasVersionKeys: opens != nil || setting("perVersionKeys")?.isTrue ?? false, opens: opens, budget: budget(entry["budget"], filled),
      position: entry.position)
  }

  /// Reads the order file of a pack into its settings, and returns its path.
  private mutating func order(
    of entry: ConfigurationNode, _ filled: (String) -> String, _ settings: inout PackSettings
  ) -> String? {
    guard let text = entry.text("layout", .text(longest: 1000)), let node = entry["layout"], case .scalar(var scalar) = node.content else {
      return nil
    }
    scalar.text = filled(text)
    // What is left of placeholders is a mistake that was reported.
    if scalar.text.contains("${") { return nil }
    if let problem = ScalarFormat.directory.problem(of: scalar) {
      add(node.position, "'layout' is \(problem)")
      return nil
    }
    let layout = inDirectory(Self.normalized(scalar.text))
    do throws(PackError) { settings.order = try LoadOrder.read(layout, files: files) } catch {
      add(node.position, "'layout': \(error.message)", hint: error.advice?.description)
    }
    return layout
  }

  private static func allowedSecret(_ node: ConfigurationNode) -> AllowedSecret? {
    guard let path = node.text("path", .glob), let reason = node.text("reason", .text(longest: 2000)) else { return nil }
    return AllowedSecret(path: path, rule: node.text("rule", .text(longest: 100)), reason: reason)
  }

  private func budget(_ node: ConfigurationNode?, _ filled: (String) -> String) -> PackerConfiguration.PackBudget? {
    node.map { node in
      PackerConfiguration.PackBudget(
        download: node.size("download"), installed: node.size("installed"),
        launch: node.text("launch", .launch).flatMap(ScalarFormat.launchSize),
        message: node.text("message", .text(longest: 2000)).map(filled), position: node.position)
    }
  }

  /// Returns the texts without duplicates, in order of first appearance. A file has room for a hundred thousand.
  private static func once(_ texts: [String]) -> [String] {
    var seen: Set<String> = []
    return texts.filter { seen.insert($0).inserted }
  }

  /// Returns a relative path without empty and `.` components.
  static func normalized(_ path: String) -> String {
    // Unicode scalars, because a slash and a combining mark after it are a single character.
    let parts = path.unicodeScalars.split(separator: "/").map { String(String.UnicodeScalarView($0)) }.filter { $0 != "." }
    return parts.isEmpty ? "." : parts.joined(separator: "/")
  }
}

extension ScalarFormat {
  fileprivate static let anySize = ScalarFormat.size(0...UInt64.max)
}

// MARK: - Looking into nodes

extension ConfigurationNode {
  /// The value of a key of a map; the first one if the key is duplicate.
  fileprivate subscript(key: String) -> ConfigurationNode? {
    guard case .map(let fields) = content else { return nil }
    return fields.first { $0.key == key }?.value
  }

  fileprivate var items: [ConfigurationNode] {
    guard case .list(let items) = content else { return [] }
    return items
  }

  /// Returns the text of a value; nil if the value does not match the format.
  fileprivate func scalarText(_ format: ScalarFormat) -> String? {
    guard case .scalar(let scalar) = content, format.problem(of: scalar) == nil else { return nil }
    return scalar.text
  }

  fileprivate func text(_ key: String, _ format: ScalarFormat) -> String? { self[key]?.scalarText(format) }

  /// Returns the texts of a list, or a single text that is written instead of a list.
  fileprivate func texts(_ key: String, _ format: ScalarFormat) -> [String] {
    guard let node = self[key] else { return [] }
    return node.scalarText(format).map { [$0] } ?? node.items.compactMap { $0.scalarText(format) }
  }

  fileprivate func size(_ key: String) -> UInt64? {
    self[key]?.scalarText(.anySize).flatMap { ByteCount(parsing: $0)?.bytes }
  }

  fileprivate func choice<Choice: RawRepresentable<String>>(_ key: String) -> Choice? {
    self[key]?.scalarText(.text(longest: 100)).flatMap { Choice(rawValue: $0) }
  }

  fileprivate var isTrue: Bool? {
    guard case .scalar(let scalar) = content, scalar.kind == .flag else { return nil }
    return scalar.isTrue
  }
}
