/// The result of a ``DeltaJob``.
package struct DeltaReport: Sendable {
  /// The path of the delta.
  package let output: String
  /// The size of the delta in bytes, as served.
  package let deltaSize: UInt64
  /// The size of the new pack in bytes, as served.
  package let packSize: UInt64
  /// The bytes of the contents that the delta brings, before compression. Equal contents count once.
  package let newContentSize: UInt64
  /// The number of entries that stay as they are.
  package let unchanged: Int
  /// The number of files whose content is in the old pack at another path.
  package let moved: Int
  /// The number of files whose content is new.
  package let new: Int
  /// The number of further files with one of the new contents.
  package let repeated: Int
  /// The number of windows.
  package let windows: Int
  /// The number of copies from the old pack.
  package let copies: Int
  /// The bytes of new contents that are not copied.
  package let literalSize: UInt64
  /// The bytes of all windows, compressed.
  package let windowSize: UInt64
  /// The bytes of the head, compressed.
  package let headSize: Int
  /// The id of the key that opens the delta.
  package let keyID: KeyID
  /// The digest of the pack's name, 32 bytes.
  package let packID: [UInt8]
  /// The version of the new pack.
  package let packVersion: UInt64
  /// The content root of the old pack, 32 bytes: what the delta is applied to.
  package let baseRoot: [UInt8]
  /// The content root of the new pack, 32 bytes.
  package let contentRoot: [UInt8]

  init(
    output: String, header: PackHeader, keyID: KeyID, head: DeltaHead, places: DeltaPlaces, sizes: (delta: UInt64, pack: UInt64),
    headSize: Int
  ) {
    self.output = output
    (deltaSize, packSize) = sizes
    newContentSize = head.contentSize
    unchanged = places.unchanged
    moved = places.moved.count
    new = places.new.count
    repeated = places.repeated.count
    windows = head.windows.count
    copies = head.copies.list.count + head.copies.contents.count
    literalSize = head.contentLiterals
    windowSize = head.windows.reduce(0) { $0 + UInt64($1.compressedSize) }
    self.headSize = headSize
    self.keyID = keyID
    packID = header.packID
    packVersion = header.packVersion
    baseRoot = head.bases[0]
    contentRoot = head.target
  }
}

extension DeltaReport {
  /// What the delta takes of the pack. A pack has at most 2^40 bytes, and at least those of its header.
  package var permille: UInt64 { deltaSize * 1000 / packSize }

  /// Sizes are in bytes.
  package func json(_ duration: Duration) -> JSON {
    [
      "type": "delta", "output": .text(output), "deltaSize": .number(deltaSize), "packSize": .number(packSize),
      "permille": .number(permille), "unchangedEntries": .number(unchanged), "movedFiles": .number(moved), "newContents": .number(new),
      "newContentSize": .number(newContentSize), "repeatedFiles": .number(repeated), "windows": .number(windows),
      "copies": .number(copies), "literalSize": .number(literalSize), "windowSize": .number(windowSize), "headSize": .number(headSize),
      "milliseconds": .number(duration.microseconds / 1000), "keyID": .text("\(keyID)"), "packID": .text(packID.hex),
      "packVersion": .number(packVersion), "baseRoot": .text(baseRoot.hex), "contentRoot": .text(contentRoot.hex),
    ]
  }
}
