/// A list of keys documents in a file of its own: the publisher's, or a device's record of those that it followed (FORMAT.md §9.6).
public enum KeysChain {
  /// The largest number of documents in a list.
  public static let countLimit = 1024
  /// The largest list, in bytes (4 MiB).
  public static let largestSize = 4 << 20

  /// Returns the text of a list: a JSON array, exactly as a manifest contains it.
  public static func text(of documents: [[UInt8]]) -> [UInt8] {
    var writer = CanonicalWriter()
    writer.array(documents) { $0.raw($1) }
    return writer.bytes
  }

  /// Splits a list into its documents. Only the outer form is checked.
  ///
  /// - Throws: ``PackError/Code/damagedKeys``
  public static func documents(in text: [UInt8]) throws(PackError) -> [[UInt8]] {
    guard text.count <= largestSize else {
      throw PackError(.damagedKeys, "list of keys documents is \(text.count) bytes, more than \(largestSize)")
    }
    let bytes = text.byteSpan
    var cursor = CanonicalCursor(at: 0, end: bytes.count, subject: "list of keys documents", code: .damagedKeys)
    var array = try cursor.beginArray("documents", depth: 2, in: bytes)
    var documents: [[UInt8]] = []
    while try cursor.hasNext(in: &array, in: bytes) {
      guard documents.count < countLimit else { throw cursor.fault("has more than \(countLimit) documents") }
      let start = cursor.offset
      try cursor.skip(depth: 3, in: bytes)
      documents.append([UInt8](copying: bytes.extracting(start..<cursor.offset)))
    }
    guard cursor.isAtEnd else { throw cursor.fault("continues after its end") }
    return documents
  }
}
