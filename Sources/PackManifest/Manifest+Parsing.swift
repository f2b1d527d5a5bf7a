public import PackFormat

extension Manifest {
  /// Reads the `signed` part of a document. The caller must have checked its signature.
  ///
  /// Unknown keys are ignored. Everything else must follow FORMAT.md §9.1 and §9.3.
  ///
  /// - Throws: ``PackError/Code/damagedManifest``, or ``PackError/Code/unsupported`` for another schema than ``schema``.
  public init(parsingSigned bytes: Span<UInt8>) throws(PackError) {
    try Self.check(bytes.count)
    try self.init(parsing: bytes, 0..<bytes.count)
  }

  /// Reads the same from a range of a document, so that errors name the place in the document.
  package init(parsing bytes: Span<UInt8>, _ range: Range<Int>) throws(PackError) {
    // The form of the whole part first: a document that is not in canonical form is always refused, and the schema decides how the rest is read.
    try Self.checkForm(of: bytes, range)
    self = try ManifestReader(bytes, range).manifest
  }

  /// Throws if a document is too large.
  static func check(_ size: Int) throws(PackError) {
    guard size <= largestSize else {
      throw PackError(.damagedManifest, "manifest is \(size) bytes, more than \(largestSize)")
    }
  }

  /// Checks that every byte is in the canonical form of FORMAT.md §9.1, and checks the schema.
  private static func checkForm(of bytes: Span<UInt8>, _ range: Range<Int>) throws(PackError) {
    var cursor = CanonicalCursor(at: range.lowerBound, end: range.upperBound)
    var object = try cursor.beginObject("a signed part", depth: 2, in: bytes)
    var schema: String?
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      if key == "schema" {
        schema = try cursor.text("a schema", in: bytes)
      } else {
        try cursor.skip(depth: 3, in: bytes)
      }
    }
    guard cursor.isAtEnd else { throw cursor.fault("continues after its signed part") }
    guard let schema else { throw PackError(.damagedManifest, "manifest names no schema") }
    guard schema == Self.schema else {
      throw PackError(
        .unsupported, "manifest has the schema '\(schema)', but this build reads '\(Self.schema)'",
        advice: .updateApp)
    }
  }
}

/// Reads the values of a manifest whose form has been checked.
private struct ManifestReader {
  let manifest: Manifest

  init(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(PackError) {
    var cursor = CanonicalCursor(at: range.lowerBound, end: range.upperBound)
    var object = try cursor.beginObject("a signed part", depth: 2, in: bytes)
    var version: UInt64?
    var issued: ManifestTime?
    var expires: ManifestTime?
    var budget: InstallBudget?
    var packs: [ManifestPack]?
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "budget": budget = try Self.budget(&cursor, bytes)
      case "expires": expires = try Self.time("an expiry", &cursor, bytes)
      case "issued": issued = try Self.time("a time of issue", &cursor, bytes)
      case "packs": packs = try Self.packs(&cursor, bytes)
      case "version": version = try cursor.integer("a version", in: bytes)
      default: try cursor.skip(depth: 3, in: bytes)
      }
    }
    manifest = Manifest(
      version: try Self.required(version, "version"), issued: issued, expires: try Self.required(expires, "expires"),
      budget: budget, packs: try Self.required(packs, "packs"))
    if let fault = ManifestRules.faults(of: manifest).first {
      throw PackError(.damagedManifest, "manifest breaks its rules: \(fault)")
    }
  }

  private static func required<Value>(_ value: Value?, _ name: String, of owner: String = "manifest") throws(PackError) -> Value {
    guard let value else { throw PackError(.damagedManifest, "\(owner) has no '\(name)'") }
    return value
  }

  private static func time(
    _ what: String, _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>
  ) throws(PackError) -> ManifestTime {
    let start = cursor.offset
    guard let time = ManifestTime(try cursor.text(what, in: bytes)) else {
      throw cursor.fault("has \(what) that is not a time like 2027-01-01T00:00:00Z", at: start)
    }
    return time
  }

  private static func budget(_ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) -> InstallBudget {
    var object = try cursor.beginObject("a budget", depth: 3, in: bytes)
    var numbers: [String: UInt64] = [:]
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "BADownloadAllowance", "BAEssentialDownloadAllowance", "BAEssentialMaxInstallSize", "BAMaxInstallSize":
        numbers[key] = try cursor.integer("a \(key)", in: bytes)
      default:
        try cursor.skip(depth: 4, in: bytes)
      }
    }
    func number(_ key: String) throws(PackError) -> UInt64 { try required(numbers[key], key, of: "manifest's budget") }
    return InstallBudget(
      essentialDownloadAllowance: try number("BAEssentialDownloadAllowance"),
      downloadAllowance: try number("BADownloadAllowance"),
      essentialMaxInstallSize: try number("BAEssentialMaxInstallSize"),
      maxInstallSize: try number("BAMaxInstallSize"))
  }

  private static func texts(
    _ what: String, _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>
  ) throws(PackError) -> [String] {
    var array = try cursor.beginArray("\(what)s", depth: 5, in: bytes)
    var texts: [String] = []
    while try cursor.hasNext(in: &array, in: bytes) { texts.append(try cursor.text("a \(what)", in: bytes)) }
    return texts
  }

  private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ type: Choice.Type, _ what: String, _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>
  ) throws(PackError) -> Choice {
    let start = cursor.offset
    let text = try cursor.text(what, in: bytes)
    guard let choice = Choice(rawValue: text) else {
      let known = type.allCases.map(\.rawValue).joined(separator: ", ")
      throw cursor.fault("has \(what) '\(text)', which is not one of \(known)", at: start)
    }
    return choice
  }

  private static func packs(_ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) -> [ManifestPack] {
    var array = try cursor.beginArray("packs", depth: 3, in: bytes)
    var packs: [ManifestPack] = []
    while try cursor.hasNext(in: &array, in: bytes) {
      packs.append(try pack(number: packs.count, &cursor, bytes))
    }
    return packs
  }

  private static func pack(
    number: Int, _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>
  ) throws(PackError) -> ManifestPack {
    var object = try cursor.beginObject("a pack", depth: 4, in: bytes)
    var integers: [(key: String, value: UInt64)] = []
    var (id, url, keyID): (String?, String?, String?)
    var (sha256, contentRoot): ([UInt8]?, [UInt8]?)
    var delivery: DeliveryClass?
    var install: InstallMode?
    var (name, description) = ("", "")
    var (tags, platforms): ([String], [String]) = ([], [])
    var language: String?
    var created: ManifestTime?
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "contentRoot": contentRoot = try cursor.hex("a content root", count: 32, in: bytes)
      case "contentSize", "files", "installSize", "maxFrame", "size", "version":
        integers.append((key, try cursor.integer("a \(key)", in: bytes)))
      case "created": created = try time("a time of creation", &cursor, bytes)
      case "delivery": delivery = try choice(DeliveryClass.self, "the delivery", &cursor, bytes)
      case "description": description = try cursor.text("a description", in: bytes)
      case "id": id = try cursor.text("an id", in: bytes)
      case "install": install = try choice(InstallMode.self, "the install mode", &cursor, bytes)
      case "keyId": keyID = try cursor.text("a key id", in: bytes)
      case "language": language = try cursor.text("a language", in: bytes)
      case "name": name = try cursor.text("a name", in: bytes)
      case "platforms": platforms = try texts("platform", &cursor, bytes)
      case "sha256": sha256 = try cursor.hex("a SHA-256", count: 32, in: bytes)
      case "tags": tags = try texts("tag", &cursor, bytes)
      case "url": url = try cursor.text("a URL", in: bytes)
      default: try cursor.skip(depth: 5, in: bytes)
      }
    }
    let owner = id.map { "manifest's pack '\($0)'" } ?? "manifest's pack number \(number + 1)"
    func integer(_ key: String) throws(PackError) -> UInt64 {
      try required(integers.first { $0.key == key }?.value, key, of: owner)
    }
    return ManifestPack(
      id: try required(id, "id", of: owner), version: try integer("version"), url: try required(url, "url", of: owner),
      size: try integer("size"), sha256: try required(sha256, "sha256", of: owner),
      contentRoot: try required(contentRoot, "contentRoot", of: owner), contentSize: try integer("contentSize"),
      installSize: try integer("installSize"), files: try integer("files"), maxFrame: try integer("maxFrame"),
      keyID: try required(keyID, "keyId", of: owner), delivery: try required(delivery, "delivery", of: owner),
      install: try required(install, "install", of: owner), tags: tags, name: name, description: description,
      created: created, platforms: platforms, language: language)
  }
}
