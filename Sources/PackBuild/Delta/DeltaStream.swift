/// The bytes of one of the streams of a delta: the list of the new tree, or its new contents end to end (FORMAT.md §13.5).
struct DeltaStream: Sendable {
  /// A new content and its place in the stream.
  private struct Content: Sendable {
    var entry: Entry
    var range: Range<UInt64>
  }

  private let pack: Pack
  private let list: [UInt8]
  /// Ascending by place. Empty for a list.
  private let contents: [Content]
  /// The length of the stream in bytes.
  let size: UInt64

  /// The list of a tree.
  init(listOf tree: DeltaTree) {
    pack = tree.pack
    list = tree.list
    contents = []
    size = UInt64(tree.list.count)
  }

  /// - Parameter new: The numbers of the records that bring contents, in the order of the stream.
  init(of tree: DeltaTree, new: [UInt32]) throws(PackError) {
    pack = tree.pack
    list = []
    var contents: [Content] = []
    contents.reserveCapacity(new.count)
    var position: UInt64 = 0
    for number in new {
      let entry = tree.entries[Int(number)]
      let (end, overflow) = position.addingReportingOverflow(entry.size)
      guard !overflow, end <= Limits.contentSize else {
        throw PackError(.unsuitableSource, "the new contents take more than \(Limits.contentSize) bytes")
      }
      contents.append(Content(entry: entry, range: position..<end))
      position = end
    }
    self.contents = contents
    size = position
  }

  /// The places of the contents.
  var ranges: [Range<UInt64>] { contents.map(\.range) }

  /// Reads bytes of the stream into a buffer.
  func read(_ range: Range<UInt64>, into target: inout [UInt8], at start: Int) throws(PackError) {
    guard !contents.isEmpty else {
      var bytes = target.mutableByteSpan
      return copy(list.byteSpan.extracting(Int(range.lowerBound)..<Int(range.upperBound)), to: &bytes, at: start)
    }
    var number = contents.partitioningIndex { $0.range.upperBound > range.lowerBound }
    while number < contents.count, contents[number].range.lowerBound < range.upperBound {
      let content = contents[number].range
      let part = content.clamped(to: range)
      var place = start + Int(part.lowerBound - range.lowerBound)
      try pack.read(contents[number].entry, range: part.lowerBound - content.lowerBound..<part.upperBound - content.lowerBound) { piece in
        var bytes = target.mutableByteSpan
        copy(piece, to: &bytes, at: place)
        place += piece.count
      }
      number += 1
    }
  }
}
