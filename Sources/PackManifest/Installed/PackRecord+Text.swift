// A record is written as the canonical JSON of manifests (FORMAT.md §9.1): keys ascending, no white space, integers only.
extension PackRecord {
  static let schema = "packer-store-state/1"
  /// The maximum size of a record, in bytes: about twelve times what the limits on its parts allow.
  package static let largestSize = 256 << 10

  package var text: [UInt8] {
    var writer = CanonicalWriter()
    writer.object { writer in
      writer.string("confirmed", confirmed?.hex)
      writer.array("contents", contents) { writer, content in content.write(to: &writer) }
      if let current {
        writer.key("current")
        writer.object { current.write(to: &$0) }
      }
      writer.string("delivery", delivery?.rawValue)
      writer.array("failures", failures) { writer, failure in
        writer.object { writer in
          writer.string("reason", failure.reason)
          failure.bytes.write(to: &writer)
        }
      }
      writer.string("id", id)
      writer.integer("lastUse", lastUse)
      writer.integer("preservation", preservation)
      if let purged {
        writer.key("purged")
        writer.object { purged.write(to: &$0) }
      }
      writer.string("schema", Self.schema)
      if let trial {
        writer.key("trial")
        writer.object { writer in
          writer.string("nonce", trial.nonce.hex)
          writer.string("session", trial.session)
          writer.string("sha256", trial.bytes.sha256.hex)
          writer.integer("starts", trial.starts)
          writer.integer("version", trial.bytes.version)
        }
      }
    }
    return writer.bytes
  }

  /// Parses a record. Throws if a store could not have written it.
  ///
  /// - Throws: ``PackError/Code/damagedStore``
  package init(parsing bytes: [UInt8], id: String) throws(PackError) {
    var reader = RecordReader(bytes.byteSpan.count, "record of '\(id)'")
    self.init(id: id)
    let bytes = bytes.byteSpan
    var schema: String?
    var name: String?
    var object = try reader.cursor.beginObject("a record", depth: 1, in: bytes)
    while let key = try reader.cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "confirmed": confirmed = try reader.cursor.hex("a nonce", count: 16, in: bytes)
      case "contents":
        var array = try reader.cursor.beginArray("contents", depth: 2, in: bytes)
        while try reader.cursor.hasNext(in: &array, in: bytes) { contents.append(try reader.content(in: bytes)) }
      case "current": current = try reader.fields(depth: 2, in: bytes).bytes()
      case "delivery": delivery = try reader.choice(DeliveryClass.self, in: bytes)
      case "failures":
        var array = try reader.cursor.beginArray("failures", depth: 2, in: bytes)
        while try reader.cursor.hasNext(in: &array, in: bytes) {
          let fields = try reader.fields(depth: 3, in: bytes)
          failures.append(Failure(bytes: try fields.bytes(), reason: try fields.text("reason")))
        }
      case "id": name = try reader.cursor.text("an id", in: bytes)
      case "lastUse": lastUse = try reader.cursor.integer("a time", in: bytes)
      case "preservation": preservation = try reader.cursor.integer("a preservation", in: bytes)
      case "purged": purged = try reader.fields(depth: 2, in: bytes).bytes()
      case "schema": schema = try reader.cursor.text("a schema", in: bytes)
      case "trial":
        let fields = try reader.fields(depth: 2, in: bytes)
        trial = Trial(
          bytes: try fields.bytes(), nonce: try fields.hex("nonce", count: 16), session: try fields.text("session"),
          starts: try fields.integer("starts"))
      default: throw reader.cursor.fault("has the unknown key '\(key)'")
      }
    }
    guard reader.cursor.isAtEnd else { throw reader.cursor.fault("has data after its end") }
    guard schema == Self.schema else { throw reader.cursor.fault("does not have the schema '\(Self.schema)'") }
    guard name == id else { throw reader.cursor.fault("belongs to another pack") }
    if let fault = fault { throw reader.cursor.fault(fault) }
  }

  /// The inconsistency in a record that was parsed. Nil if there is none.
  private var fault: String? {
    if contents.count > Self.contentLimit || failures.count > Self.failureLimit { return "lists too many versions or failures" }
    if Set(contents.map(\.bytes)).count != contents.count || itemNames.count != contents.count {
      return "lists a version twice"
    }
    if let current, content(current) == nil { return "has a current version that it does not list" }
    if let trial {
      if content(trial.bytes) == nil { return "has a version on trial that it does not list" }
      if trial.bytes == current { return "has its current version on trial" }
      if hasFailed(trial.bytes) { return "has a version on trial that failed" }
    }
    for content in contents
    where content.contentRoot == nil && (content.mode == .unpacked || content.rewritten != nil) {
      return "lacks the content root of a version that was unpacked or made by a delta"
    }
    if contents.contains(where: { $0.rewritten != nil && $0.mode == .unpacked }) {
      return "has a file that was made for an unpacked version"
    }
    for content in contents where content.sealedBy != nil && (content.mode == .unpacked || content.rewritten != nil) {
      return "has an opener of a version that was unpacked or made by a delta"
    }
    if contents.contains(where: {
      $0.opener.map { $0.isEmpty || $0.count > ManifestOpener.largestSize } ?? false || $0.sealedBy == nil && $0.opener != nil
    }) {
      return "has an opener that no version has"
    }
    guard contents.allSatisfy({ content in content.links.allSatisfy { $0.bytes != content.bytes && self.content($0.bytes) != nil } }) else {
      return "has a version with files of one that it does not list"
    }
    if let preservation, preservation > 1_000_000 { return "has a preservation above 1000000" }
    return nil
  }
}

extension PackRecord.Bytes {
  /// Writes the two keys that come last in an object.
  fileprivate func write(to writer: inout CanonicalWriter) {
    writer.string("sha256", sha256.hex)
    writer.integer("version", version)
  }
}

extension PackRecord.Content {
  fileprivate func write(to writer: inout CanonicalWriter) {
    writer.object { writer in
      writer.integer("candidate", isCandidate ? 1 : nil)
      writer.string("contentRoot", contentRoot?.hex)
      if !links.isEmpty {
        writer.array("links", links) { writer, link in
          writer.object { writer in
            writer.string("sha256", link.bytes.sha256.hex)
            writer.integer("size", link.size)
            writer.integer("version", link.bytes.version)
          }
        }
      }
      writer.string("mode", mode.rawValue)
      writer.string("opener", opener?.hex)
      writer.integer("proven", isProven ? 1 : 0)
      writer.string("rewritten", rewritten?.hex)
      writer.string("sealedBy", sealedBy?.hex)
      writer.string("sha256", bytes.sha256.hex)
      writer.integer("size", size)
      writer.integer("sizeOnDevice", sizeOnDevice)
      writer.integer("version", bytes.version)
    }
  }
}

/// Parses the parts of a record.
private struct RecordReader {
  var cursor: CanonicalCursor

  init(_ count: Int, _ subject: String) {
    cursor = CanonicalCursor(at: 0, end: count, subject: subject, code: .damagedStore)
  }

  /// The values of a flat object: integers and texts by key.
  struct Fields {
    var texts: [String: String] = [:]
    var integers: [String: UInt64] = [:]
    /// The objects in the array `links`.
    var links: [Fields] = []
    let fault: PackError

    func text(_ key: String) throws(PackError) -> String {
      guard let text = texts[key] else { throw fault }
      return text
    }

    func integer(_ key: String) throws(PackError) -> UInt64 {
      guard let value = integers[key] else { throw fault }
      return value
    }

    func hex(_ key: String, count: Int) throws(PackError) -> [UInt8] {
      guard let bytes = [UInt8](hex: try text(key), count: count) else { throw fault }
      return bytes
    }

    func bytes() throws(PackError) -> PackRecord.Bytes {
      PackRecord.Bytes(version: try integer("version"), sha256: try hex("sha256", count: 32))
    }
  }

  private static let integerKeys: Set<String> = ["candidate", "proven", "size", "sizeOnDevice", "starts", "version"]

  mutating func fields(depth: Int, in bytes: Span<UInt8>) throws(PackError) -> Fields {
    var fields = Fields(fault: cursor.fault("has an object with a missing or invalid value"))
    var object = try cursor.beginObject("an object", depth: depth, in: bytes)
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      if Self.integerKeys.contains(key) {
        fields.integers[key] = try cursor.integer("a \(key)", in: bytes)
      } else if key == "links" {
        var array = try cursor.beginArray(key, depth: depth + 1, in: bytes)
        while try cursor.hasNext(in: &array, in: bytes) { fields.links.append(try self.fields(depth: depth + 2, in: bytes)) }
      } else {
        fields.texts[key] = try cursor.text("a \(key)", in: bytes)
      }
    }
    return fields
  }

  mutating func content(in bytes: Span<UInt8>) throws(PackError) -> PackRecord.Content {
    let fields = try self.fields(depth: 3, in: bytes)
    guard let mode = InstallMode(rawValue: try fields.text("mode")), try fields.integer("proven") <= 1 else { throw fields.fault }
    var content = PackRecord.Content(
      bytes: try fields.bytes(), mode: mode, size: try fields.integer("size"), sizeOnDevice: try fields.integer("sizeOnDevice"),
      contentRoot: fields.texts["contentRoot"] == nil ? nil : try fields.hex("contentRoot", count: 32),
      isProven: try fields.integer("proven") == 1)
    if fields.texts["rewritten"] != nil { content.rewritten = try fields.hex("rewritten", count: 32) }
    if fields.texts["sealedBy"] != nil { content.sealedBy = try fields.hex("sealedBy", count: 32) }
    if let opener = fields.texts["opener"] { content.opener = try fields.hex("opener", count: opener.utf8.count / 2) }
    if let candidate = fields.integers["candidate"] {
      guard candidate == 1 else { throw fields.fault }
      content.isCandidate = true
    }
    for link in fields.links {
      content.links.append(PackRecord.Link(bytes: try link.bytes(), size: try link.integer("size")))
    }
    return content
  }

  mutating func choice<Choice: RawRepresentable<String>>(_ type: Choice.Type, in bytes: Span<UInt8>) throws(PackError) -> Choice {
    guard let choice = Choice(rawValue: try cursor.text("a choice", in: bytes)) else { throw cursor.fault("has an unknown choice") }
    return choice
  }
}
