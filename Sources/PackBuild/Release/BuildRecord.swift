package import PackFiles
package import PackFormat
package import PackManifest

/// The contents of `build.json` in a `dist`: what the next build may reuse, and what `packer release record` records.
///
/// It holds no secrets and depends only on the build's inputs.
package struct BuildRecord: Hashable, Sendable {
  /// The manifest of the release.
  package var manifest: Manifest
  /// The packs, in ascending order of their ids.
  package var packs: [Pack]
  /// The id of the root key from which the key of each pack is derived, 16 hexadecimal digits. Nil if one key opens all packs.
  package var rootKeyID: String?
  /// The public signing keys (`pkp1-…`) that the manifest is signed with.
  package var signers: [String]
  /// The names of all files of the release except `build.json`, ascending.
  package var files: [String]

  /// The manifest of a release, without its packs.
  package struct Manifest: Hashable, Sendable {
    /// The version of the manifest.
    package var version: UInt64
    /// The size of the document in bytes.
    package var size: UInt64
    /// SHA-256 of its signed bytes, 32 bytes.
    package var signedDigest: [UInt8]
    /// SHA-256 of the signed bytes as they would be without `version`, `issued` and `expires`, 32 bytes.
    package var contentDigest: [UInt8]
    /// The time at which it was made.
    package var issued: ManifestTime
    /// The time from which nothing new may be installed from it.
    package var expires: ManifestTime

    /// Makes a record from its parts.
    package init(
      version: UInt64, size: UInt64, signedDigest: [UInt8], contentDigest: [UInt8], issued: ManifestTime, expires: ManifestTime
    ) {
      self.version = version
      self.size = size
      self.signedDigest = signedDigest
      self.contentDigest = contentDigest
      self.issued = issued
      self.expires = expires
    }
  }

  /// A pack of a release.
  package struct Pack: Hashable, Sendable {
    /// The name it is published under.
    package var id: String
    /// The pack version.
    package var version: UInt64
    /// The name of its file.
    package var file: String
    /// The size of the file in bytes.
    package var size: UInt64
    /// SHA-256 of the file, 32 bytes.
    package var sha256: [UInt8]
    /// The digest that names the tree, 32 bytes.
    package var contentRoot: [UInt8]
    /// The id of the key that opens it, 16 hexadecimal digits.
    package var keyID: String
    /// The settings that its bytes depend on besides content, name and key, as one line of text.
    package var settings: String
    /// The time at which these bytes were first made.
    package var created: ManifestTime
    /// SHA-256 of the released file that this one should equal but does not, because another zstd made it. Nil if there is no such difference.
    package var differsFrom: [UInt8]?

    /// Makes a record from its parts.
    package init(
      id: String, version: UInt64, file: String, size: UInt64, sha256: [UInt8], contentRoot: [UInt8], keyID: String,
      settings: String, created: ManifestTime, differsFrom: [UInt8]? = nil
    ) {
      self.id = id
      self.version = version
      self.file = file
      self.size = size
      self.sha256 = sha256
      self.contentRoot = contentRoot
      self.keyID = keyID
      self.settings = settings
      self.created = created
      self.differsFrom = differsFrom
    }
  }

  /// Makes a record from its parts.
  package init(manifest: Manifest, packs: [Pack], rootKeyID: String? = nil, signers: [String], files: [String]) {
    self.manifest = manifest
    self.packs = packs
    self.rootKeyID = rootKeyID
    self.signers = signers
    self.files = files
  }

  /// The name of the file.
  package static let fileName = "build.json"

  /// The only version of the file that this build reads and writes.
  private static let fileVersion: UInt64 = 1

  /// Reads the record of the release in a directory.
  ///
  /// - Throws: ``PackError/Code/missingInput`` if there is none, ``PackError/Code/invalidRecord`` if this packer cannot read it.
  package static func read(in directory: String) throws(PackError) -> BuildRecord {
    try read(in: directory, files: SystemFiles())
  }

  package static func read(in directory: String, files: any FileSystem) throws(PackError) -> BuildRecord {
    let path = "\(directory)/\(fileName)"
    let value = try RecordFile.read(path, files: files)
    do throws(PackError) {
      return try BuildRecord(value)
    } catch {
      throw error.about(path)
    }
  }

  /// The bytes of the file.
  package var document: [UInt8] {
    RecordValue.sorted([
      "files": .texts(files),
      "manifest": manifest.record,
      "packs": .list(packs.map(\.record)),
      "rootKeyID": rootKeyID.map(RecordValue.text),
      "signers": .texts(signers),
      "version": .number(Self.fileVersion),
    ]).document
  }

  package init(_ value: RecordValue) throws(PackError) {
    var fields = try RecordFields(value, "the record")
    let version = try fields.number("version")
    guard version == Self.fileVersion else {
      throw PackError(
        .invalidRecord, "the record has version \(version), but this packer reads version \(Self.fileVersion)",
        hint: "use the packer that wrote it, or build into another directory")
    }
    self.init(
      manifest: try Manifest(try fields.object("manifest")), packs: [], signers: try fields.texts("signers"),
      files: try fields.texts("files"))
    for item in try fields.list("packs") { packs.append(try Pack(item)) }
    if fields.has("rootKeyID") { rootKeyID = try fields.keyID("rootKeyID") }
    try fields.finish()
    var ids: Set<String> = []
    for pack in packs where !ids.insert(pack.id).inserted {
      throw PackError(.invalidRecord, "pack '\(pack.id)' is listed twice")
    }
  }
}

extension BuildRecord.Manifest {
  fileprivate init(_ value: RecordValue) throws(PackError) {
    var fields = try RecordFields(value, "'manifest'")
    self.init(
      version: try fields.number("version"), size: try fields.number("size"), signedDigest: try fields.bytes("signedDigest", count: 32),
      contentDigest: try fields.bytes("contentDigest", count: 32), issued: try fields.time("issued"), expires: try fields.time("expires"))
    try fields.finish()
  }

  fileprivate var record: RecordValue {
    .sorted([
      "contentDigest": .text(contentDigest.hex), "expires": .text(expires.description), "issued": .text(issued.description),
      "signedDigest": .text(signedDigest.hex), "size": .number(size), "version": .number(version),
    ])
  }
}

extension BuildRecord.Pack {
  fileprivate init(_ value: RecordValue) throws(PackError) {
    var fields = try RecordFields(value, "a pack")
    self.init(
      id: try fields.packName("id"), version: try fields.number("version"), file: try fields.text("file"), size: try fields.number("size"),
      sha256: try fields.bytes("sha256", count: 32), contentRoot: try fields.bytes("contentRoot", count: 32),
      keyID: try fields.keyID("keyID"), settings: try fields.text("settings"), created: try fields.time("created"))
    if fields.has("differsFrom") { differsFrom = try fields.bytes("differsFrom", count: 32) }
    try fields.finish()
    // The file is opened inside the directory, so its name must not lead out of it.
    guard !file.isEmpty, !file.utf8.contains(UInt8(ascii: "/")), file != ".", file != ".." else {
      throw PackError(.invalidRecord, "the file of pack '\(id)' is '\(file)', which is not a file name in this directory")
    }
  }

  fileprivate var record: RecordValue {
    .object(
      [
        RecordValue.Member(key: "id", value: .text(id)),
        RecordValue.Member(key: "version", value: .number(version)),
        RecordValue.Member(key: "contentRoot", value: .text(contentRoot.hex)),
        RecordValue.Member(key: "created", value: .text(created.description)),
        RecordValue.Member(key: "file", value: .text(file)),
        RecordValue.Member(key: "keyID", value: .text(keyID)),
        RecordValue.Member(key: "settings", value: .text(settings)),
        RecordValue.Member(key: "sha256", value: .text(sha256.hex)),
        RecordValue.Member(key: "size", value: .number(size)),
      ] + (differsFrom.map { [RecordValue.Member(key: "differsFrom", value: .text($0.hex))] } ?? []))
  }
}
