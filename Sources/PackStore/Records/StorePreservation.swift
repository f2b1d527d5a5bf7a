/// The preservation priorities that an app set for tags. They have their own file, because a later manifest may give a tag to other packs.
package struct StorePreservation {
  private let directory: StoreDirectory

  private static let name = "preservation"
  private static let schema = "packer-store-preservation/1"
  /// The maximum size of the text, in bytes: a tag takes at most twice as much space here as in a manifest, which has room for many.
  private static let largestSize = 2 * Manifest.largestSize

  init(_ directory: StoreDirectory) {
    self.directory = directory
  }

  /// Returns the priorities by tag, in millionths. A damaged file counts as empty: priorities are preferences, not required data.
  func priorities() throws(PackError) -> [String: UInt64] {
    (try unless(.damagedStore, directory.contents(of: Self.name, limit: Self.largestSize).map(Self.parse)) ?? nil) ?? [:]
  }

  /// Sets the priority of tags, under the store's lock. Drops the priorities of tags that the manifest no longer has.
  ///
  /// - Parameter isGone: Whether the manifest and its catalogue have no such tag.
  func set(_ priority: UInt64, of tags: Set<String>, isGone: (String) -> Bool) throws(PackError) {
    let before = try priorities()
    var after: [String: UInt64] = [:]
    for (tag, value) in before where !isGone(tag) { after[tag] = value }
    for tag in tags { after[tag] = priority }
    guard after != before else { return }
    let text = Self.text(after)
    guard text.count <= Self.largestSize else {
      throw PackError(.limitExceeded, "the priorities of \(after.count) tags take \(text.count) bytes, more than \(Self.largestSize)")
    }
    try directory.replace(Self.name, with: text)
  }

  /// Returns the content of the file for priorities in millionths.
  package static func text(_ priorities: [String: UInt64]) -> [UInt8] {
    var writer = CanonicalWriter()
    writer.object { writer in
      writer.string("schema", schema)
      writer.array("tags", priorities.sorted { $0.key < $1.key }) { writer, item in
        writer.object { writer in
          writer.integer("priority", item.value)
          writer.string("tag", item.key)
        }
      }
    }
    return writer.bytes
  }

  /// Parses the text that ``text(_:)`` returns.
  ///
  /// - Throws: ``PackError/Code/damagedStore``
  package static func parse(_ text: [UInt8]) throws(PackError) -> [String: UInt64] {
    let bytes = text.byteSpan
    var cursor = CanonicalCursor(at: 0, end: bytes.count, subject: "preservation by tags", code: .damagedStore)
    var object = try cursor.beginObject("a text", depth: 1, in: bytes)
    var schema: String?
    var priorities: [String: UInt64] = [:]
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "schema": schema = try cursor.text("a schema", in: bytes)
      case "tags":
        var array = try cursor.beginArray("tags", depth: 2, in: bytes)
        while try cursor.hasNext(in: &array, in: bytes) {
          let (tag, priority) = try item(&cursor, bytes)
          priorities[tag] = priority
        }
      default: throw cursor.fault("has the unknown key '\(key)'")
      }
    }
    // The text must be identical to what a store writes: each tag once, in ascending order.
    guard cursor.isAtEnd, schema == Self.schema, self.text(priorities) == text else { throw cursor.fault("was not written by a store") }
    return priorities
  }

  private static func item(_ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) -> (String, UInt64) {
    var object = try cursor.beginObject("a tag", depth: 3, in: bytes)
    var priority: UInt64?
    var tag: String?
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "priority": priority = try cursor.integer("a priority", in: bytes)
      case "tag": tag = try cursor.text("a tag", in: bytes)
      default: throw cursor.fault("has the unknown key '\(key)'")
      }
    }
    guard let tag, let priority, priority <= 1_000_000 else { throw cursor.fault("has a tag without a priority up to 1000000") }
    return (tag, priority)
  }
}
