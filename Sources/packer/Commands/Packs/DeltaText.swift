/// What commands show of a delta that is not applied.
extension DeltaPack {
  private var windowSize: UInt64 { head.windows.reduce(0) { $0 + UInt64($1.compressedSize) } }

  var json: JSON {
    [
      "bases": .texts(head.bases.map(\.hex)), "contentRoot": .text(head.target.hex), "windows": .number(head.windows.count),
      "windowSize": .number(windowSize), "contentSize": .number(head.contentSize), "literalSize": .number(head.contentLiterals),
      "copies": .number(head.copies.list.count + head.copies.contents.count), "newContents": .number(head.new.count),
      "movedFiles": .number(head.moved.count),
    ]
  }

  var fields: [(String, String)] {
    head.bases.map { ("over content", $0.hex) } + [
      ("makes content", head.target.hex),
      ("new contents", "\(head.new.count), \(head.contentSize) bytes, and \(head.moved.count) moved"),
      ("windows", "\(head.windows.count), \(windowSize) bytes for \(head.contentLiterals) that are not copied"),
    ]
  }

  /// Returns the delta at a path; nil if it is a full pack.
  static func ifPresent(_ path: String, key: borrowing PackKey) throws(PackError) -> DeltaPack? {
    try PackStart(path, files: SystemFiles()).header.kind == .delta ? .open(path, key: key) : nil
  }
}
