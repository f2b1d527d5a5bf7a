/// Reads the entries of packs whose form has been checked (FORMAT.md §9.3).
struct ManifestEntryReader {
  private let defaults: ManifestDefaults
  /// Whether the entries are those of a shard, which are on-demand packs without saying so.
  private let isInShard: Bool
  /// The depth of the array.
  private let depth: Int

  init(_ defaults: ManifestDefaults, isInShard: Bool = false, depth: Int) {
    self.defaults = defaults
    self.isInShard = isInShard
    self.depth = depth
  }

  /// Reads an array of entries.
  func packs(_ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) -> [ManifestPack] {
    var packs: [ManifestPack] = []
    try forEach(&cursor, bytes) { pack, _ in packs.append(pack) }
    return packs
  }

  /// Reads an array of entries, and gives each away with its place.
  func forEach(_ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>, _ body: (ManifestPack, Int) -> Void) throws(PackError) {
    var array = try cursor.beginArray("packs", depth: depth, in: bytes)
    var number = 0
    var languages: [String] = []
    while try cursor.hasNext(in: &array, in: bytes) {
      let place = cursor.offset
      var pack = try pack(number: number, &cursor, bytes)
      // Packs of a group are neighbours, so they share the memory of their list.
      if pack.languages == languages { pack.languages = languages } else { languages = pack.languages }
      body(pack, place)
      number += 1
    }
  }

  /// The values of an entry, as far as they have been read.
  private struct Values {
    var integers: [(key: String, value: UInt64)] = []
    var (id, url, keyID): (String?, String?, String?)
    var (sha256, contentRoot): ([UInt8]?, [UInt8]?)
    var delivery: DeliveryClass?
    var install: InstallMode?
    var (name, description): (String?, String?)
    var (tags, platforms): ([String]?, [String]?)
    var language: String?
    var languages: [String]?
    var fallbackLanguage: String?
    var basePack: String?
    var deltas: [ManifestDelta]?
    var stream: ManifestStream?
    var opener: ManifestOpener?
    var candidate: ManifestCandidate?
    var created: ManifestTime?
  }

  /// Reads the entry at the cursor.
  func pack(number: Int, _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) -> ManifestPack {
    let values = try values(&cursor, bytes)
    let owner = values.id.map { "\(cursor.subject)'s pack '\($0)'" } ?? "\(cursor.subject)'s pack number \(number + 1)"
    func integer(_ key: String) throws(PackError) -> UInt64 {
      try required(values.integers.first { $0.key == key }?.value, key, of: owner)
    }
    let id = try required(values.id, "id", of: owner)
    let sha256 = try required(values.sha256, "sha256", of: owner)
    if let repeated = repetition(in: values, id, sha256) {
      throw PackError(.damagedManifest, "\(owner) has a '\(repeated)' that says nothing new")
    }
    var pack = ManifestPack(
      id: id, version: try integer("version"), url: try required(values.url ?? defaults.url(id, sha256), "url", of: owner),
      size: try integer("size"), sha256: sha256, contentRoot: try required(values.contentRoot, "contentRoot", of: owner),
      contentSize: try integer("contentSize"), installSize: try integer("installSize"), files: try integer("files"),
      maxFrame: try integer("maxFrame"), keyID: try required(values.keyID ?? defaults.keyID, "keyId", of: owner),
      delivery: try required(isInShard ? .onDemand : values.delivery, "delivery", of: owner),
      install: try required(values.install, "install", of: owner),
      tags: values.tags ?? [], name: values.name ?? "", description: values.description ?? "", created: values.created,
      platforms: values.platforms ?? [], language: values.language, basePack: values.basePack)
    pack.languages = values.languages ?? []
    pack.fallbackLanguage = values.fallbackLanguage
    pack.deltas = values.deltas ?? []
    pack.stream = values.stream
    pack.opener = values.opener
    pack.candidate = values.candidate
    return pack
  }

  /// Returns the first key whose value is what holds without it, or nil.
  private func repetition(in values: Values, _ id: String, _ sha256: [UInt8]) -> String? {
    if isInShard, values.delivery != nil { return "delivery" }
    if values.deltas == [] { return "deltas" }
    if values.description == "" { return "description" }
    if values.keyID != nil, values.keyID == defaults.keyID { return "keyId" }
    if values.languages.map({ $0.count < 2 }) ?? false { return "languages" }
    if values.name == "" || values.name == id { return "name" }
    if values.platforms == [] { return "platforms" }
    if values.tags == [] { return "tags" }
    if let url = values.url, url == defaults.url(id, sha256) { return "url" }
    return nil
  }

  private func values(_ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) -> Values {
    var object = try cursor.beginObject("a pack", depth: depth + 1, in: bytes)
    var values = Values()
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "basePack": values.basePack = try cursor.text("a base", in: bytes)
      case "candidate": values.candidate = try ManifestCandidate(depth: depth + 2, &cursor, bytes)
      case "contentRoot": values.contentRoot = try cursor.hex("a content root", count: 32, in: bytes)
      case "contentSize", "files", "installSize", "maxFrame", "size", "version":
        values.integers.append((key, try cursor.integer("a \(key)", in: bytes)))
      case "created": values.created = try cursor.time("a time of creation", in: bytes)
      case "delivery": values.delivery = try cursor.choice(DeliveryClass.self, "the delivery", in: bytes)
      case "deltas": values.deltas = try ManifestDelta.list(depth: depth + 2, &cursor, bytes)
      case "description": values.description = try cursor.text("a description", in: bytes)
      case "fallback": values.fallbackLanguage = try cursor.text("a fallback", in: bytes)
      case "id": values.id = try cursor.text("an id", in: bytes)
      case "install": values.install = try cursor.choice(InstallMode.self, "the install mode", in: bytes)
      case "keyId": values.keyID = try cursor.text("a key id", in: bytes)
      case "language": values.language = try cursor.text("a language", in: bytes)
      case "languages": values.languages = try cursor.texts("language", depth: depth + 2, in: bytes)
      case "name": values.name = try cursor.text("a name", in: bytes)
      case "opener": values.opener = try ManifestOpener(depth: depth + 2, &cursor, bytes)
      case "platforms": values.platforms = try cursor.texts("platform", depth: depth + 2, in: bytes)
      case "sha256": values.sha256 = try cursor.hex("a SHA-256", count: 32, in: bytes)
      case "stream": values.stream = try ManifestStream(depth: depth + 2, &cursor, bytes)
      case "tags": values.tags = try cursor.texts("tag", depth: depth + 2, in: bytes)
      case "url": values.url = try cursor.text("a URL", in: bytes)
      default: try cursor.skip(depth: depth + 2, in: bytes)
      }
    }
    return values
  }
}

/// Throws if a value is missing.
func required<Value>(_ value: Value?, _ name: String, of owner: String) throws(PackError) -> Value {
  guard let value else { throw PackError(.damagedManifest, "\(owner) has no '\(name)'") }
  return value
}

extension CanonicalCursor {
  /// Reads one of a few words.
  mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ type: Choice.Type, _ what: String, in bytes: Span<UInt8>
  ) throws(PackError) -> Choice {
    let start = offset
    let text = try text(what, in: bytes)
    guard let choice = Choice(rawValue: text) else {
      let known = type.allCases.map { $0.rawValue }.joined(separator: ", ")
      throw fault("has \(what) '\(text)', which is not one of \(known)", at: start)
    }
    return choice
  }

  /// Reads a time.
  mutating func time(_ what: String, in bytes: Span<UInt8>) throws(PackError) -> ManifestTime {
    let start = offset
    guard let time = ManifestTime(try text(what, in: bytes)) else {
      throw fault("has \(what) that is not a time like 2027-01-01T00:00:00Z", at: start)
    }
    return time
  }

  /// Reads an array of texts.
  package mutating func texts(_ what: String, depth: Int, in bytes: Span<UInt8>) throws(PackError) -> [String] {
    var array = try beginArray("\(what)s", depth: depth, in: bytes)
    var texts: [String] = []
    while try hasNext(in: &array, in: bytes) { texts.append(try text("a \(what)", in: bytes)) }
    return texts
  }
}
