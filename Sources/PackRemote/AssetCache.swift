/// The file that keeps the content of one asset between starts of the app:
///
///     "packer-asset/1\n"                        15 bytes
///     length of the head                        4 bytes, little-endian like all
///     head: name, app version, tag, modified    each with its length in 4 bytes; an empty text means none
///           SHA-256 of the source's name        32 bytes
///           size and SHA-256 of the content     8 and 32 bytes
///     SHA-256 of everything before              32 bytes
///     content                                   to the end
///
/// The file is replaced as a whole, by a rename. A file that does not have exactly this form is ignored.
package struct AssetCache: Sendable {
  let directory: String
  let name: PackName
  let appVersion: String
  /// The SHA-256 of the source's name.
  let source: [UInt8]
  let sizeLimit: Int
  let files: any FileSystem
  let backend: any CryptoBackend

  package init(
    directory: String, name: PackName, appVersion: String, source: [UInt8], sizeLimit: Int, files: any FileSystem,
    backend: any CryptoBackend
  ) {
    self.directory = directory
    self.name = name
    self.appVersion = appVersion
    self.source = source
    self.sizeLimit = sizeLimit
    self.files = files
    self.backend = backend
  }

  /// The kept content.
  package struct Kept: Hashable, Sendable {
    package let content: [UInt8]
    package let sha256: [UInt8]
    package let version: ContentVersion?

    package init(content: [UInt8], sha256: [UInt8], version: ContentVersion?) {
      self.content = content
      self.sha256 = sha256
      self.version = version
    }
  }

  package static let marker = Array("packer-asset/1\n".utf8)
  /// The maximum length of an app version, in bytes.
  static let longestVersion = 256
  /// The maximum length of the head, in bytes: four texts with their lengths, two digests and a size.
  static let longestHead = 4 * 4 + Limits.nameLength + longestVersion + 2 * ContentVersion.longestText + 32 + 8 + 32

  var path: String { "\(directory)/\(name.fileName).asset" }

  // MARK: Reading

  /// Returns the content kept for this name, app version and source. Returns nil if there is none, or if it is damaged or belongs to another one.
  func load() -> Kept? {
    guard let bytes = try? files.contents(of: path, limit: Self.marker.count + 4 + Self.longestHead + 32 + sizeLimit) else { return nil }
    return try? parse(bytes)
  }

  /// Parses the whole file.
  package func parse(_ bytes: [UInt8]) throws(PackError) -> Kept {
    let span = bytes.byteSpan
    var cursor = FieldCursor(failure: .invalidContent)
    let marker = try cursor.bytes("marker", count: Self.marker.count, in: span)
    let headSize = try cursor.uint32("length of the head", in: span)
    guard marker == Self.marker, headSize <= UInt32(Self.longestHead) else { throw Self.damage }
    let head = try cursor.range("head", count: Int(headSize), in: span)
    let headDigest = try backend.digest(of: span.extracting(0..<head.upperBound))
    guard try cursor.bytes("digest of the head", count: 32, in: span) == headDigest else { throw Self.damage }

    var field = FieldCursor(at: head.lowerBound, failure: .invalidContent)
    func text() throws(PackError) -> String {
      let count = try field.uint32("length of a text", in: span)
      guard count <= headSize else { throw Self.damage }
      return String(decoding: try field.bytes("text", count: Int(count), in: span), as: UTF8.self)
    }
    let (name, appVersion, tag, modified) = (try text(), try text(), try text(), try text())
    let source = try field.bytes("source", count: 32, in: span)
    let size = try field.uint64("size", in: span)
    let sha256 = try field.bytes("digest of the content", count: 32, in: span)
    let content = Array(bytes[cursor.offset...])
    guard field.offset == head.upperBound, name == self.name.text, appVersion == self.appVersion, source == self.source,
      size == UInt64(content.count), content.count <= sizeLimit, try backend.digest(of: content.byteSpan) == sha256
    else { throw Self.damage }
    let version = ContentVersion(tag: tag, modified: modified)
    let kept = Kept(content: content, sha256: sha256, version: version == ContentVersion() ? nil : version)
    // `ContentVersion` drops texts that are not allowed. Then the head would not be the same if it were written again.
    guard try front(of: kept).elementsEqual(bytes[..<cursor.offset]) else { throw Self.damage }
    return kept
  }

  private static let damage = PackError(.invalidContent, "not a kept asset of this app version")

  // MARK: Writing

  /// Returns the bytes that precede the content.
  package func front(of kept: Kept) throws(PackError) -> [UInt8] {
    var head: [UInt8] = []
    for text in [name.text, appVersion, kept.version?.tag ?? "", kept.version?.modified ?? ""] {
      head.append(littleEndian: UInt32(text.utf8.count))
      head += text.utf8
    }
    head += source
    head.append(littleEndian: UInt64(kept.content.count))
    head += kept.sha256
    var bytes = Self.marker
    bytes.append(littleEndian: UInt32(head.count))
    bytes += head
    bytes += try backend.digest(of: bytes.byteSpan)
    return bytes
  }

  /// Replaces the kept content. Creates the directory if it does not exist. Its parent must exist.
  func save(_ kept: Kept) throws(PackError) {
    let bytes = try front(of: kept)
    try writing(directory, unlessExisting(files.makeDirectory(directory, mode: 0o700, in: nil)))
    // Synced each time: an earlier process may have ended before its sync. If the parent cannot be opened, the directory was not created here.
    if let above = PathParts(directory)?.directory, let parent = try? files.open(above, .directory, in: nil) {
      try writing(directory, files.sync(parent))
    }
    let output = try OutputFile(path, files: files)
    let size = UInt64(bytes.count + kept.content.count)
    try output.write(bytes.byteSpan, at: 0, of: size)
    try output.write(kept.content.byteSpan, at: UInt64(bytes.count), of: size)
    try output.commit()
  }

  /// Removes the kept content.
  func remove() throws(PackError) {
    guard try writing(path, ifPresent(files.remove(path, .file, in: nil))) != nil else { return }
    if let above = try? files.open(directory, .directory, in: nil) { try writing(path, files.sync(above)) }
  }
}
