/// What the entries of a page are found by (FORMAT.md §9.7). The set is open: readers pass over pages of other kinds.
package struct PageKind: RawRepresentable, Hashable, Sendable {
  package let rawValue: String

  package init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Entries of packs, by id.
  package static let packs = Self(rawValue: "packs")
  /// Pairs of a tag and the id of a pack, by tag.
  package static let tags = Self(rawValue: "tags")
  /// Deltas, by the id of their pack.
  package static let updates = Self(rawValue: "updates")
  /// The kind that a reference to an index page names.
  static let index = Self(rawValue: "index")

  /// The largest number of entries of a page.
  package var largestCount: UInt64 { self == .tags ? 4096 : 512 }

  /// The kinds that this build reads, in the order of their names.
  package static let known: [PageKind] = [.packs, .tags, .updates]

  /// Whether the text may be part of a file name.
  var isLegal: Bool { (1...16).contains(rawValue.utf8.count) && rawValue.utf8.allSatisfy { (97...122).contains($0) } }
}

/// A page as the manifest, or an index page, names it (FORMAT.md §9.7).
package struct PageReference: Hashable, Sendable {
  /// The kind of its entries. For an index page, the kind of the pages that it lists.
  package var kind: PageKind
  /// Whether it is an index page, whose entries are references.
  package var isIndex: Bool
  /// The key of its first entry: an id, or the key of a pair of tag and id.
  package var first: String
  /// The number of its entries.
  package var count: UInt64
  /// The exact size of the file in bytes, as served.
  package var size: UInt64
  /// The size of the JSON in bytes.
  package var contentSize: UInt64
  /// The SHA-256 of the file, 32 bytes.
  package var sha256: [UInt8]

  package init(
    kind: PageKind, isIndex: Bool = false, first: String, count: UInt64, size: UInt64, contentSize: UInt64, sha256: [UInt8]
  ) {
    self.kind = kind
    self.isIndex = isIndex
    self.first = first
    self.count = count
    self.size = size
    self.contentSize = contentSize
    self.sha256 = sha256
  }

  /// The largest number of references in a manifest. A thousand packs of three pages each fit, and 100 000 packs need ten index pages.
  package static let rootLimit = 64
  /// The largest page, decompressed, in bytes (1 MiB). A downloader extension, which has a few megabytes of memory, holds one.
  package static let largestContentSize: UInt64 = 1 << 20

  /// The end of the names of published pages.
  package static let fileExtension = ".page"

  /// The name of the published file.
  package var fileName: String { "\((isIndex ? PageKind.index : kind).rawValue)-\(sha256.prefix(8).hex)\(Self.fileExtension)" }

  /// Whether a file may be a page, by its name: letters, a dash, 16 hexadecimal digits, `.page`.
  package static func isFileName(_ name: String) -> Bool {
    guard name.hasSuffix(".page") else { return false }
    let parts = name.dropLast(5).split(separator: "-", omittingEmptySubsequences: false)
    return parts.count == 2 && PageKind(rawValue: String(parts[0])).isLegal && ManifestRules.isKeyID(String(parts[1]))
  }

  /// Returns all faults of one reference, as texts.
  var faults: [String] {
    var faults: [String] = []
    if !kind.isLegal || kind == .index { faults.append("the kind is not 1 to 16 lower-case letters, or is 'index'") }
    if sha256.count != 32 { faults.append("sha256 is \(sha256.count) bytes, not 32") }
    if !(1...(isIndex ? PageKind.index : kind).largestCount).contains(count) { faults.append("count is \(count)") }
    if !(1...Self.largestContentSize).contains(contentSize) {
      faults.append("contentSize is \(contentSize), more than \(Self.largestContentSize) or nothing")
    } else if !(1...UInt64(Limits.compressBound(Int(contentSize)))).contains(size) {
      faults.append("size is \(size) for \(contentSize) bytes")
    }
    return faults
  }

  /// Returns the faults of a list of references, as texts.
  static func faults(of references: [PageReference]) -> [String] {
    var faults = references.flatMap { reference in reference.faults.map { "page '\(reference.first)': \($0)" } }
    for (left, right) in zip(references, references.dropFirst())
    where !(left.kind.rawValue.precedes(right.kind.rawValue) || left.kind == right.kind && left.first.precedes(right.first)) {
      faults.append("page '\(right.first)' is listed after '\(left.first)', but kinds and keys must ascend")
    }
    return faults
  }
}

extension PageReference {
  /// Writes the reference.
  func write(to writer: inout CanonicalWriter) {
    writer.object { writer in
      writer.key("contentSize")
      writer.integer(contentSize)
      writer.key("count")
      writer.integer(count)
      writer.key("first")
      writer.string(first)
      writer.key("kind")
      writer.string((isIndex ? .index : kind).rawValue)
      if isIndex {
        writer.key("of")
        writer.string(kind.rawValue)
      }
      writer.key("sha256")
      writer.string(sha256.hex)
      writer.key("size")
      writer.integer(size)
    }
  }

  /// Reads an array of references, and checks each of them and their order.
  static func list(depth: Int, _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) -> [PageReference] {
    var array = try cursor.beginArray("pages", depth: depth, in: bytes)
    var references: [PageReference] = []
    while try cursor.hasNext(in: &array, in: bytes) {
      guard references.count < PageKind.index.largestCount else { throw cursor.fault("has too many pages") }
      references.append(try PageReference(depth: depth + 1, &cursor, bytes))
    }
    if let fault = faults(of: references).first { throw PackError(.damagedManifest, "\(cursor.subject) breaks its rules: \(fault)") }
    return references
  }

  private init(depth: Int, _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) {
    var object = try cursor.beginObject("a page", depth: depth, in: bytes)
    var integers: [(key: String, value: UInt64)] = []
    var (first, kind, listed): (String?, String?, String?)
    var sha256: [UInt8]?
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "contentSize", "count", "size": integers.append((key, try cursor.integer("a \(key)", in: bytes)))
      case "first": first = try cursor.text("a first key", in: bytes)
      case "kind": kind = try cursor.text("a kind", in: bytes)
      case "of": listed = try cursor.text("a kind of pages", in: bytes)
      case "sha256": sha256 = try cursor.hex("a SHA-256", count: 32, in: bytes)
      default: try cursor.skip(depth: depth + 1, in: bytes)
      }
    }
    let owner = "\(cursor.subject)'s page"
    func integer(_ key: String) throws(PackError) -> UInt64 {
      try required(integers.first { $0.key == key }?.value, key, of: owner)
    }
    let written = PageKind(rawValue: try required(kind, "kind", of: owner))
    guard (written == .index) == (listed != nil) else {
      throw PackError(.damagedManifest, "\(owner) of kind '\(written.rawValue)' has \(listed == nil ? "no" : "an") 'of'")
    }
    self.init(
      kind: listed.map(PageKind.init) ?? written, isIndex: listed != nil, first: try required(first, "first", of: owner),
      count: try integer("count"), size: try integer("size"), contentSize: try integer("contentSize"),
      sha256: try required(sha256, "sha256", of: owner))
  }
}

extension String {
  /// Whether the text comes before another in the order of their bytes, which is the order of a page.
  package func precedes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
