/// The contents of `build.json` in a `dist`: what the next build may reuse, and what `packer release record` records.
///
/// It holds no secrets and depends only on the build's inputs.
package struct BuildRecord: Hashable, Sendable {
  /// The manifest of the release.
  package var manifest: Manifest
  /// The packs, in ascending order of their ids.
  package var packs: [Pack]
  /// The deltas that were made to the packs, also those that were not worth it.
  package var deltas: [Delta] = []
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

    /// Describes a document.
    package init(of document: SignedManifest, _ manifest: PackManifest.Manifest) throws(PackError) {
      let backend = CryptoBackends.standard
      let content = try manifest.contentBytes()
      self.init(
        version: manifest.version, size: UInt64(document.bytes.count),
        signedDigest: try backend.digest(of: document.bytes.byteSpan.extracting(document.signedBytes)),
        contentDigest: try backend.digest(of: content.byteSpan), issued: manifest.issued ?? manifest.expires, expires: manifest.expires)
    }

    package init(
      version: UInt64, size: UInt64, signedDigest: [UInt8], contentDigest: [UInt8], issued: ManifestTime, expires: ManifestTime
    ) {
      (self.version, self.size, self.signedDigest) = (version, size, signedDigest)
      (self.contentDigest, self.issued, self.expires) = (contentDigest, issued, expires)
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
  }

  /// A delta to a pack of a release.
  package struct Delta: Hashable, Sendable {
    /// The name of the pack.
    package var id: String
    /// The version of the pack.
    package var version: UInt64
    /// The name of its file. Nil if it does not save enough, or devices would not install it, and it is not in the release.
    package var file: String?
    /// The size of the file in bytes.
    package var size: UInt64
    /// SHA-256 of the file, 32 bytes.
    package var sha256: [UInt8]
    /// The content root of the pack that it is made from, 32 bytes.
    package var base: [UInt8]
    /// The content root of the pack that it makes, 32 bytes.
    package var target: [UInt8]
    /// The id of the key that opens it, 16 hexadecimal digits.
    package var keyID: String
    /// The settings that its bytes depend on besides both contents, name, version and key, as one line of text.
    package var settings: String
    /// The size in bytes of the pack that devices would make of it; nil if that is not too large.
    package var madeSize: UInt64?
  }
}

extension BuildRecord {
  /// The name of the file.
  package static let fileName = "build.json"

  /// The version of the file that this build writes: the second one knows deltas.
  private var fileVersion: UInt64 { deltas.isEmpty ? 1 : 2 }
  /// The latest version of the file that this build reads.
  private static let latestVersion: UInt64 = 2

  /// Reads the record of the release in a directory.
  ///
  /// - Throws: ``PackError/Code/missingInput`` if there is none, ``PackError/Code/invalidRecord`` if this packer cannot read it.
  package static func read(in directory: String, files: any FileSystem = SystemFiles()) throws(PackError) -> BuildRecord {
    try RecordFile.read("\(directory)/\(fileName)", files: files, as: BuildRecord.init)
  }

  /// The bytes of the file.
  package var document: [UInt8] {
    JSON.sorted([
      "deltas": deltas.isEmpty ? nil : .list(deltas.map(\.record)),
      "files": .texts(files),
      "manifest": manifest.record,
      "packs": .list(packs.map(\.record)),
      "rootKeyID": .text(rootKeyID),
      "signers": .texts(signers),
      "version": .number(fileVersion),
    ]).document
  }

  package init(_ value: JSON) throws(PackError) {
    var fields = try RecordFields(value, "the record")
    let version = try fields.number("version")
    guard (1...Self.latestVersion).contains(version) else {
      throw PackError(
        .invalidRecord, "the record has version \(version), but this packer reads versions 1 to \(Self.latestVersion)",
        hint: "use the packer that wrote it, or build into another directory")
    }
    self.init(
      manifest: try Manifest(try fields.object("manifest")), packs: [], signers: try fields.texts("signers"),
      files: try fields.texts("files"))
    for item in try fields.list("packs") { packs.append(try Pack(item)) }
    if version > 1 {
      for item in try fields.list("deltas") { deltas.append(try Delta(item)) }
    }
    if fields.has("rootKeyID") { rootKeyID = try fields.keyID("rootKeyID") }
    try fields.finish()
    var ids: Set<String> = []
    for pack in packs where !ids.insert(pack.id).inserted {
      throw PackError(.invalidRecord, "pack '\(pack.id)' is listed twice")
    }
  }
}

extension BuildRecord.Manifest {
  fileprivate init(_ value: JSON) throws(PackError) {
    var fields = try RecordFields(value, "'manifest'")
    self.init(
      version: try fields.number("version"), size: try fields.number("size"), signedDigest: try fields.bytes("signedDigest", count: 32),
      contentDigest: try fields.bytes("contentDigest", count: 32), issued: try fields.time("issued"), expires: try fields.time("expires"))
    try fields.finish()
  }

  fileprivate var record: JSON {
    .sorted([
      "contentDigest": .text(contentDigest.hex), "expires": .text(expires.description), "issued": .text(issued.description),
      "signedDigest": .text(signedDigest.hex), "size": .number(size), "version": .number(version),
    ])
  }
}

extension BuildRecord.Pack {
  fileprivate init(_ value: JSON) throws(PackError) {
    var fields = try RecordFields(value, "a pack")
    self.init(
      id: try fields.packName("id"), version: try fields.number("version"), file: try fields.text("file"), size: try fields.number("size"),
      sha256: try fields.bytes("sha256", count: 32), contentRoot: try fields.bytes("contentRoot", count: 32),
      keyID: try fields.keyID("keyID"), settings: try fields.text("settings"), created: try fields.time("created"))
    if fields.has("differsFrom") { differsFrom = try fields.bytes("differsFrom", count: 32) }
    try fields.finish()
    try BuildRecord.checkFile(file, of: "pack '\(id)'")
  }

  fileprivate var record: JSON {
    [
      "id": .text(id), "version": .number(version), "contentRoot": .text(contentRoot.hex), "created": .text(created.description),
      "file": .text(file), "keyID": .text(keyID), "settings": .text(settings), "sha256": .text(sha256.hex), "size": .number(size),
      "differsFrom": .text(differsFrom?.hex),
    ]
  }
}

extension BuildRecord.Delta {
  fileprivate init(_ value: JSON) throws(PackError) {
    var fields = try RecordFields(value, "a delta")
    self.init(
      id: try fields.packName("id"), version: try fields.number("version"), size: try fields.number("size"),
      sha256: try fields.bytes("sha256", count: 32), base: try fields.bytes("base", count: 32),
      target: try fields.bytes("target", count: 32), keyID: try fields.keyID("keyID"), settings: try fields.text("settings"))
    if fields.has("file") {
      let name = try fields.text("file")
      try BuildRecord.checkFile(name, of: "a delta to pack '\(id)'")
      file = name
    }
    if fields.has("madeSize") { madeSize = try fields.number("madeSize") }
    try fields.finish()
  }

  fileprivate var record: JSON {
    [
      "id": .text(id), "version": .number(version), "base": .text(base.hex), "file": .text(file), "keyID": .text(keyID),
      "settings": .text(settings), "sha256": .text(sha256.hex), "size": .number(size), "target": .text(target.hex),
      "madeSize": madeSize.map { .number($0) },
    ]
  }
}

extension BuildRecord {
  /// Throws if a name could lead out of the directory, in which the file is opened.
  fileprivate static func checkFile(_ name: String, of owner: String) throws(PackError) {
    guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), name != ".", name != ".." else {
      throw PackError(.invalidRecord, "the file of \(owner) is '\(name)', which is not a file name in this directory")
    }
  }
}
