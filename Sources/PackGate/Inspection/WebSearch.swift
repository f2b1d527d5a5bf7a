/// Reads the references of the pages, style sheets and scripts of a pack while it is verified.
///
/// The workers that check the digests read the files in the frames that they have opened. Files that span frames are read again at the end.
/// Memory: that of the references, at most ``WebReferences/most`` for each of the files, whose sizes add up to at most ``largestSum``.
final class WebSearch: Sendable {
  /// Larger files are not read, in bytes.
  static let largestFile: UInt64 = 8 << 20
  /// The sum of the sizes of the files that are read, in bytes. Those after the first ones in byte order are left out.
  static let largestSum: UInt64 = 256 << 20

  /// The files to read, in byte order.
  let paths: [String]
  /// Whether there are pages. Without them, only style sheets are read.
  let hasPages: Bool
  /// Their paths by the start of their contents, which copies share.
  private let places: [UInt64: [String]]
  private let found = Monitor([String: WebReferences]())

  /// Chooses the files to read.
  init(_ pack: Pack) throws(PackError) {
    var places: [UInt64: [String]] = [:]
    var files: [(path: String, offset: UInt64, kind: WebFileKind)] = []
    var sum: UInt64 = 0
    var hasPages = false
    try pack.forEachEntry { (entry) throws(PackError) in
      guard entry.kind == .file, let kind = WebFileKind(path: entry.path) else { return }
      if kind == .page { hasPages = true }
      guard entry.size > 0, entry.size <= Self.largestFile, sum.adding(entry.size) <= Self.largestSum else { return }
      sum += entry.size
      files.append((entry.path, entry.offset, kind))
    }
    if !hasPages { files.removeAll { $0.kind != .style } }
    for file in files { places[file.offset, default: []].append(file.path) }
    (paths, self.places, self.hasPages) = (files.map(\.path), places, hasPages)
  }

  /// Makes the observer of one worker.
  ///
  /// - Parameter other: an observer that sees each frame after it.
  func makeObserver(before other: any FrameObserver) -> any FrameObserver { Observer(self, other) }

  /// Returns the references of all files, by their paths.
  func finish(_ pack: Pack) throws(PackError) -> [String: WebReferences] {
    var found = found.withLock { $0 }
    for path in paths where found[path] == nil { found[path] = WebReferences(in: try pack.read(path), path) }
    return found
  }

  private final class Observer: FrameObserver {
    private let search: WebSearch
    private let other: any FrameObserver

    init(_ search: WebSearch, _ other: any FrameObserver) {
      self.search = search
      self.other = other
    }

    func observe(
      _ frame: SeekTable.Frame, _ content: Span<UInt8>, _ table: ContentTable, _ records: RecordBatch, reader: PackReader
    ) throws(PackError) {
      if !search.places.isEmpty {
        var last: UInt64?
        for item in table.items(in: frame.tarRange) where item.offset != last {
          last = item.offset
          guard let paths = search.places[item.offset], item.range.clamped(to: frame.tarRange) == item.range else { continue }
          let start = Int(item.offset - frame.tarRange.lowerBound)
          let bytes = [UInt8](copying: content.extracting(start..<start + Int(item.size)))
          for path in paths {
            let references = WebReferences(in: bytes, path)
            search.found.withLock { $0[path] = references }
          }
        }
      }
      try other.observe(frame, content, table, records, reader: reader)
    }
  }
}
