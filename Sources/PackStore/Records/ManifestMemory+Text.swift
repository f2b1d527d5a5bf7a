extension ManifestMemory.Accepted {
  private static let schema = "packer-store-memory/1"
  /// The maximum size of the text, in bytes. The packs of the manifest all fit into a manifest, and so do the others.
  package static let largestSize = 2 * Manifest.largestSize

  package var text: [UInt8] {
    var writer = CanonicalWriter()
    func write(_ versions: [String: UInt64], to writer: inout CanonicalWriter) {
      writer.object { writer in
        for (id, version) in versions.sorted(by: { $0.key.precedes($1.key) }) {
          writer.integer(id, version)
        }
      }
    }
    writer.object { writer in
      if !installed.isEmpty {
        writer.array("installed", installed) { writer, group in
          writer.object { writer in
            writer.array("signers", group.signers) { $0.string($1) }
            writer.key("versions")
            write(group.versions, to: &writer)
          }
        }
      }
      writer.key("packs")
      write(packVersions, to: &writer)
      writer.string("schema", Self.schema)
      writer.string("signedDigest", signedDigest.hex)
      writer.array("signers", signers) { $0.string($1) }
      writer.integer("version", version)
    }
    return writer.bytes
  }

  /// Parses the text that ``text`` returns.
  ///
  /// - Throws: ``PackError/Code/damagedStore``
  package init(parsing text: [UInt8]) throws(PackError) {
    let bytes = text.byteSpan
    var cursor = CanonicalCursor(at: 0, end: bytes.count, subject: "memory of manifests", code: .damagedStore)
    var object = try cursor.beginObject("a memory", depth: 1, in: bytes)
    var packVersions: [String: UInt64]?
    var installed: [ManifestMemory.Installed]?
    var signers: [String]?
    var schema: String?
    var signedDigest: [UInt8]?
    var version: UInt64?
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "installed": installed = try Self.installed(&cursor, bytes)
      case "packs": packVersions = try Self.versions(depth: 2, &cursor, bytes)
      case "schema": schema = try cursor.text("a schema", in: bytes)
      case "signedDigest": signedDigest = try cursor.hex("a digest", count: 32, in: bytes)
      case "signers": signers = try cursor.texts("signer", depth: 2, in: bytes)
      case "version": version = try cursor.integer("a version", in: bytes)
      default: throw cursor.fault("has the unknown key '\(key)'")
      }
    }
    guard cursor.isAtEnd, schema == Self.schema, let packVersions, let signers, let signedDigest, let version else {
      throw cursor.fault("is not complete")
    }
    self.init(
      version: version, signedDigest: signedDigest, signers: signers, packVersions: packVersions, installed: installed ?? [])
    guard installed?.isEmpty != true, self.text == text else { throw cursor.fault("was not written by a store") }
  }

  private static func installed(_ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) -> [ManifestMemory.Installed] {
    var array = try cursor.beginArray("groups", depth: 2, in: bytes)
    var groups: [ManifestMemory.Installed] = []
    while try cursor.hasNext(in: &array, in: bytes) {
      var object = try cursor.beginObject("a group", depth: 3, in: bytes)
      var group = ManifestMemory.Installed(signers: [], versions: [:])
      while let key = try cursor.nextKey(of: &object, in: bytes) {
        switch key {
        case "signers": group.signers = try cursor.texts("signer", depth: 4, in: bytes)
        case "versions": group.versions = try versions(depth: 4, &cursor, bytes)
        default: throw cursor.fault("has the unknown key '\(key)'")
        }
      }
      groups.append(group)
    }
    return groups
  }

  private static func versions(depth: Int, _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) -> [String: UInt64] {
    var object = try cursor.beginObject("versions", depth: depth, in: bytes)
    var versions: [String: UInt64] = [:]
    while let id = try cursor.nextKey(of: &object, in: bytes) { versions[id] = try cursor.integer("a version", in: bytes) }
    return versions
  }
}
