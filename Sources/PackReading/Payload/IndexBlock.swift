/// The records of one block of the index, at most 128, after they were checked: about 12 KB.
package final class IndexBlock: Sendable {
  package let number: Int
  private let columns: RecordColumns
  /// The digests of all records, end to end.
  private let digests: [UInt8]

  init(number: Int, _ columns: RecordColumns, _ digests: [UInt8]) {
    self.number = number
    self.columns = columns
    self.digests = digests
  }

  /// The number of records.
  package var count: Int { columns.count }
  /// The memory that the block uses, in bytes.
  package var memorySize: Int { columns.memorySize + digests.capacity + 128 }

  /// Returns the number in the index of record `row`.
  package func number(of row: Int) -> Int { number * Limits.recordsPerBlock + row }

  /// Calls `body` with the bytes of all records, then with their digests.
  package func withBytes<Failure: Error>(_ body: (Span<UInt8>) throws(Failure) -> Void) throws(Failure) {
    let (columns, digests) = (columns.bytes, digests)
    try body(columns.byteSpan)
    try body(digests.byteSpan)
  }

  /// Returns the kind of record `row`.
  package func kind(of row: Int) -> IndexRecord.Kind { IndexRecord.Kind(rawValue: columns.type(row)) ?? .file }
  /// Returns the length of the content of record `row` in bytes.
  package func size(of row: Int) -> UInt64 { columns.size(row) }
  /// Returns where the content of record `row` starts in the tar, in bytes; 0 if it has no content.
  package func offset(of row: Int) -> UInt64 { columns.offset(row) }

  /// Calls `body` with the path of record `row`.
  package func withPath<Result, Failure: Error>(
    of row: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // A span of a class's array property cannot be passed directly.
    let bytes = columns.bytes
    return try body(bytes.byteSpan.extracting(columns.path(row)))
  }

  /// Returns the path of record `row` as text.
  package func path(of row: Int) -> String { String(decoding: columns.bytes[columns.path(row)], as: UTF8.self) }

  /// Returns the paths of all records, each followed by a line feed. No path contains one.
  package func pathLines() -> [UInt8] {
    var lines = columns.bytes
    lines.removeSubrange((columns.path(count - 1).upperBound + 1)...)
    for row in 0..<count { lines[columns.path(row).upperBound] = UInt8(ascii: "\n") }
    return lines
  }

  /// Returns record `row`, with a copy of its path.
  package func record(_ row: Int) -> IndexRecord {
    IndexRecord(path: Array(columns.bytes[columns.path(row)]), kind: kind(of: row), size: size(of: row), offset: offset(of: row))
  }

  /// Calls `body` with the SHA-256 of the content of record `row`.
  package func withDigest<Result, Failure: Error>(
    of row: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let digests = digests
    return try body(digests.byteSpan.extracting(row * 32..<row * 32 + 32))
  }

  /// Returns the entry of record `row`.
  package func entry(_ row: Int) -> Entry {
    withDigest(of: row) { Entry(record(row), digest: $0) }
  }

  /// Returns the row of a path, by binary search.
  package func row(of path: Span<UInt8>) -> Int? {
    let bytes = columns.bytes
    let row = (0..<count).partitioningIndex { !precedes(bytes.byteSpan.extracting(columns.path($0)), path) }
    return row < count && equal(bytes.byteSpan.extracting(columns.path(row)), path) ? row : nil
  }
}
