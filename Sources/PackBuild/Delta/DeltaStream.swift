/// The stream of a delta: the list of the new tree, then its new contents (FORMAT.md §13.6), and how it is cut into windows.
struct DeltaStream: Sendable {
  /// A new content and its place in the stream.
  struct Content: Sendable {
    var entry: Entry
    var range: Range<UInt64>
  }

  let pack: Pack
  let list: [UInt8]
  /// Ascending by place.
  let contents: [Content]
  /// The ranges of the windows, in order. They touch.
  let windows: [Range<UInt64>]

  /// - Parameters:
  ///   - new: the numbers of the records that bring contents, in the order of the stream.
  ///   - homes: their frames, if windows are to need few of them.
  init(of tree: DeltaTree, new: [UInt32], homes: FrameHomes?) throws(PackError) {
    pack = tree.pack
    list = tree.list
    var contents: [Content] = []
    contents.reserveCapacity(new.count)
    var position = UInt64(list.count)
    for number in new {
      let entry = tree.entries[Int(number)]
      let (end, overflow) = position.addingReportingOverflow(entry.size)
      guard !overflow, end <= Varint.largest else {
        throw PackError(.unsuitableSource, "the new contents take more than 2^53 bytes")
      }
      contents.append(Content(entry: entry, range: position..<end))
      position = end
    }
    self.contents = contents
    windows = Self.windows(listSize: UInt64(list.count), contents, homes)
    guard windows.count <= Limits.deltaWindows else {
      throw PackError(
        .unsuitableSource, "the new contents take \(position) bytes, which need \(windows.count) windows, more than \(Limits.deltaWindows)",
        hint: "publish the full pack")
    }
  }

  /// The bytes of new contents.
  var contentSize: UInt64 { (contents.last?.range.upperBound ?? UInt64(list.count)) - UInt64(list.count) }

  /// Whether a window holds a part of the list.
  func isOfList(_ window: Range<UInt64>) -> Bool { window.lowerBound < UInt64(list.count) }

  /// Cuts the stream where the list ends, and behind that where a window is full. A window that is at least half full ends where the next content
  /// begins if that fits whole into a window of its own, and any window does so whose contents would have too many different frames.
  private static func windows(listSize: UInt64, _ contents: [Content], _ homes: FrameHomes?) -> [Range<UInt64>] {
    let most = homes?.windowSize ?? UInt64(Limits.deltaWindowSize)
    let mostOfList = UInt64(Limits.deltaWindowSize)
    var windows = stride(from: 0, to: listSize, by: Int(mostOfList)).map { $0..<min($0 + mostOfList, listSize) }
    var start = listSize
    var end = listSize
    // The frames of the contents in the window.
    var frames: Set<Int> = []
    for (number, content) in contents.enumerated() {
      let size = content.range.upperBound - content.range.lowerBound
      let frame = homes?.frames[number]
      let isFull = end - start >= most / 2 && size <= most && content.range.upperBound - start > most
      if end > start, isFull || frame.map({ !frames.contains($0) && frames.count == FrameHomes.mostInWindow }) ?? false {
        windows.append(start..<end)
        start = end
      }
      if end == start { frames = [] }
      if let frame { frames.insert(frame) }
      end = content.range.upperBound
      while end - start >= most {
        windows.append(start..<start + most)
        start += most
        frames = frame.map { [$0] } ?? []
      }
    }
    if end > start { windows.append(start..<end) }
    return windows
  }

  /// Calls `body` with each content that has bytes in a window, in order, and with the place of those bytes in the stream.
  func forEachContent(
    in window: Range<UInt64>, _ body: (Content, Range<UInt64>) throws(PackError) -> Void
  ) throws(PackError) {
    var low = 0
    var high = contents.count
    while low < high {
      let middle = (low + high) / 2
      if contents[middle].range.upperBound <= window.lowerBound { low = middle + 1 } else { high = middle }
    }
    while low < contents.count, contents[low].range.lowerBound < window.upperBound {
      try body(contents[low], contents[low].range.clamped(to: window))
      low += 1
    }
  }

  /// Reads the bytes of a window to the beginning of `target`.
  func read(_ window: Range<UInt64>, into target: inout [UInt8]) throws(PackError) {
    if isOfList(window) {
      var bytes = target.mutableByteSpan
      copy(list.byteSpan.extracting(Int(window.lowerBound)..<Int(window.upperBound)), to: &bytes)
      return
    }
    try forEachContent(in: window) { (content, part) throws(PackError) in
      var place = Int(part.lowerBound - window.lowerBound)
      let start = content.range.lowerBound
      try pack.read(content.entry, range: part.lowerBound - start..<part.upperBound - start) { piece in
        var bytes = target.mutableByteSpan
        copy(piece, to: &bytes, at: place)
        place += piece.count
      }
    }
  }
}
