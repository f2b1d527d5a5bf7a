/// Reads the list of a tree (FORMAT.md §13.4) record by record, and writes it.
package struct TreeListCursor {
  /// One record.
  struct Line {
    /// Where the path is in the list.
    var path: Range<Int>
    var kind: UInt8
    /// The length of the content in bytes. Nil if the list has no valid number there; it is the last record then.
    var size: UInt64?
  }

  private var offset = 0

  /// Returns the next record, or nil at the end.
  ///
  /// - Throws: ``PackError/Code/limitExceeded`` for a path that is too long, ``PackError/Code/damagedPayload``.
  mutating func next(in list: Span<UInt8>) throws(PackError) -> Line? {
    guard offset < list.count else { return nil }
    let start = offset
    while offset < list.count, list[offset] != 0 {
      offset += 1
      guard offset - start <= Limits.pathLength else {
        throw PackError(.limitExceeded, "the list of the delta has a path of more than \(Limits.pathLength) bytes")
      }
    }
    let path = start..<offset
    guard offset + 1 < list.count else { throw Self.cut }
    let kind = list[offset + 1]
    offset += 2
    let size = Varint.read(list, at: &offset)
    if size == nil { offset = list.count }
    return Line(path: path, kind: kind, size: size)
  }

  static var cut: PackError {
    PackError(.damagedPayload, "the list of the delta ends in a record, or has a number that is not valid")
  }

  /// Appends a record to a list.
  package static func append(path: Span<UInt8>, kind: IndexRecord.Kind, size: UInt64, to list: inout [UInt8]) {
    list.append(copying: path)
    list += [0, kind.rawValue]
    Varint.append(size, to: &list)
  }
}
