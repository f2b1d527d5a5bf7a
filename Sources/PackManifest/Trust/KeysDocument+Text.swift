extension KeysDocument.Content {
  /// Returns the signed part of the document in canonical form.
  ///
  /// - Throws: ``PackError/Code/usage`` for values that a document may not have.
  func signedBytes() throws(PackError) -> [UInt8] {
    if let fault { throw PackError(.usage, "keys document \(version) \(fault)") }
    var writer = CanonicalWriter()
    writer.object { writer in
      writer.string("expires", expires.description)
      writer.string("issued", issued.description)
      writer.array("rootKeys", rootKeys) { $0.string($1.text) }
      writer.integer("rootThreshold", UInt64(rootThreshold))
      writer.string("schema", KeysDocument.schema)
      writer.array("signingKeys", signingKeys) { $0.string($1.text) }
      writer.integer("signingThreshold", UInt64(signingThreshold))
      writer.integer("version", version)
    }
    return writer.bytes
  }

  /// What is wrong with the values, as the end of a sentence; nil if nothing is.
  var fault: String? {
    guard (1...CanonicalCursor.largestInteger).contains(version) else { return "has a version that is not from 1 to 2^53 - 1" }
    if let fault = Self.fault(rootKeys, rootThreshold, "root keys") { return fault }
    if let fault = Self.fault(signingKeys, signingThreshold, "signing keys") { return fault }
    // A root signing key that also signs manifests would lie on a build machine.
    let roots = Set(rootKeys.map { $0.bytes })
    if let both = signingKeys.first(where: { roots.contains($0.bytes) }) { return "has signing key \(both.id) as a root key too" }
    return nil
  }

  private static func fault<Role: SignerRole>(_ keys: [PublicKey<Role>], _ threshold: Int, _ noun: String) -> String? {
    guard (1...KeysDocument.keyLimit).contains(keys.count) else {
      return "has \(keys.count) \(noun), but it must have from 1 to \(KeysDocument.keyLimit)"
    }
    for (left, right) in zip(keys, keys.dropFirst()) where !left.bytes.lexicographicallyPrecedes(right.bytes) {
      return left == right ? "has one of its \(noun) twice" : "has \(noun) that are not in ascending order"
    }
    guard Set(keys.map { $0.id }).count == keys.count else { return "has two \(noun) with one id" }
    guard (1...keys.count).contains(threshold) else { return "requires \(threshold) of \(keys.count) \(noun)" }
    return nil
  }
}

/// Reads what a keys document says.
enum KeysReader {
  /// The depth of the signed part, counted in a manifest, so that a document that can be read fits into one.
  private static let depth = 4

  static func content(of envelope: KeysEnvelope) throws(PackError) -> KeysDocument.Content {
    let bytes = envelope.bytes.byteSpan
    try checkForm(bytes, envelope.signedBytes)
    var cursor = KeysEnvelope.cursor(envelope.signedBytes.lowerBound, envelope.signedBytes.upperBound)
    var object = try cursor.beginObject("a signed part", depth: depth, in: bytes)
    var (version, rootThreshold, signingThreshold): (UInt64?, UInt64?, UInt64?)
    var (issued, expires): (ManifestTime?, ManifestTime?)
    var rootKeys: [RootSigningPublicKey]?
    var signingKeys: [SigningPublicKey]?
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "expires": expires = try time("an expiry", &cursor, bytes)
      case "issued": issued = try time("a time of issue", &cursor, bytes)
      case "rootKeys": rootKeys = try keys("root key", &cursor, bytes)
      case "rootThreshold": rootThreshold = try cursor.integer("a threshold", in: bytes)
      case "signingKeys": signingKeys = try keys("signing key", &cursor, bytes)
      case "signingThreshold": signingThreshold = try cursor.integer("a threshold", in: bytes)
      case "version": version = try cursor.integer("a version", in: bytes)
      default: try cursor.skip(depth: depth + 1, in: bytes)
      }
    }
    var content = KeysDocument.Content(
      version: try required(version, "version"), issued: try required(issued, "issued"), expires: try required(expires, "expires"),
      rootKeys: [], rootThreshold: Int(clamping: try required(rootThreshold, "rootThreshold")), signingKeys: [],
      signingThreshold: Int(clamping: try required(signingThreshold, "signingThreshold")))
    // In the order of the document, which the rules check.
    content.rootKeys = try required(rootKeys, "rootKeys")
    content.signingKeys = try required(signingKeys, "signingKeys")
    if let fault = content.fault { throw PackError(.damagedKeys, "keys document \(fault)") }
    return content
  }

  /// Checks that every byte is in canonical form, and checks the schema.
  private static func checkForm(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(PackError) {
    var cursor = KeysEnvelope.cursor(range.lowerBound, range.upperBound)
    var object = try cursor.beginObject("a signed part", depth: depth, in: bytes)
    var schema: String?
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      if key == "schema" {
        schema = try cursor.text("a schema", in: bytes)
      } else {
        try cursor.skip(depth: depth + 1, in: bytes)
      }
    }
    guard cursor.isAtEnd else { throw cursor.fault("continues after its signed part") }
    guard try required(schema, "schema") == KeysDocument.schema else {
      throw PackError(
        .unsupported, "keys document has the schema '\(schema ?? "")', but this build reads '\(KeysDocument.schema)'", advice: .updateApp)
    }
  }

  private static func required<Value>(_ value: Value?, _ name: String) throws(PackError) -> Value {
    guard let value else { throw PackError(.damagedKeys, "keys document has no '\(name)'") }
    return value
  }

  private static func time(_ what: String, _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) -> ManifestTime {
    let start = cursor.offset
    guard let time = ManifestTime(try cursor.text(what, in: bytes)) else {
      throw cursor.fault("has \(what) that is not a time like 2027-01-01T00:00:00Z", at: start)
    }
    return time
  }

  private static func keys<Role>(
    _ what: String, _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>
  ) throws(PackError) -> [PublicKey<Role>] {
    var array = try cursor.beginArray("\(what)s", depth: depth + 1, in: bytes)
    var keys: [PublicKey<Role>] = []
    while try cursor.hasNext(in: &array, in: bytes) {
      guard keys.count < KeysDocument.keyLimit else { throw cursor.fault("has more than \(KeysDocument.keyLimit) \(what)s") }
      let start = cursor.offset
      let text = try cursor.text("a \(what)", in: bytes)
      do throws(PackError) {
        // A text with white space around it would be a second form of the same key.
        guard text.utf8.count == 78 else { throw PackError(.malformedKey, "text of \(text.utf8.count) bytes is not a key") }
        keys.append(try PublicKey(text: text))
      } catch {
        throw cursor.fault("has a \(what) that is not valid (\(error.message))", at: start)
      }
    }
    return keys
  }
}
