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
    var packs: [ManifestPack] = []
    self = try Self.read(bytes, range) { pack, _ in packs.append(pack) }
    self.packs = packs
  }

  /// Reads a manifest and gives its packs away, each with the place of its entry.
  static func read(_ bytes: Span<UInt8>, _ range: Range<Int>, each: (ManifestPack, Int) -> Void) throws(PackError) -> Manifest {
    // The form of the whole part first: a document that is not in canonical form is always refused, and the schema decides how the rest is read.
    try checkForm(of: bytes, range)
    return try ManifestReader(bytes, range, each: each).head
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
  /// The manifest without its packs.
  let head: Manifest

  init(_ bytes: Span<UInt8>, _ range: Range<Int>, each: (ManifestPack, Int) -> Void) throws(PackError) {
    var cursor = CanonicalCursor(at: range.lowerBound, end: range.upperBound)
    var object = try cursor.beginObject("a signed part", depth: 2, in: bytes)
    var version: UInt64?
    var issued: ManifestTime?
    var expires: ManifestTime?
    var budget: InstallBudget?
    var defaults = ManifestDefaults()
    var packs: [ManifestPack]?
    var fault: String?
    var catalogue: [Shard] = []
    var rollouts: [Rollout] = []
    // Those that entries name, which come before the list.
    var named: Set<String> = []
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "base": defaults.baseURL = try cursor.text("a base", in: bytes)
      case "budget": budget = try Self.budget(&cursor, bytes)
      case "catalogue": catalogue = try Shard.list(&cursor, bytes)
      case "expires": expires = try cursor.time("an expiry", in: bytes)
      case "issued": issued = try cursor.time("a time of issue", in: bytes)
      case "keyId": defaults.keyID = try cursor.text("a key id", in: bytes)
      // Keys ascend, so the defaults are complete.
      case "packs":
        packs = []
        var rules = ManifestRules.Entries(defaults)
        try ManifestEntryReader(defaults, depth: 3).forEach(&cursor, bytes) { pack, place in
          fault = fault ?? rules.faults(of: pack).first
          if let candidate = pack.candidate { named.insert(candidate.rollout) }
          if fault == nil { each(pack, place) }
        }
      case "rollouts": rollouts = try Rollout.list(&cursor, bytes)
      case "version": version = try cursor.integer("a version", in: bytes)
      default: try cursor.skip(depth: 3, in: bytes)
      }
    }
    var head = Manifest(
      version: try required(version, "version", of: "manifest"), issued: issued,
      expires: try required(expires, "expires", of: "manifest"), budget: budget, defaults: defaults,
      packs: try required(packs, "packs", of: "manifest"))
    (head.catalogue, head.rollouts) = (catalogue, rollouts)
    named.subtract(rollouts.map { $0.id })
    self.head = head
    if let fault = ManifestRules.faults(of: head).first ?? fault ?? named.min().map({ "there is no rollout '\($0)'" }) {
      throw PackError(.damagedManifest, "manifest breaks its rules: \(fault)")
    }
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
}
