/// Opens a delta over its bases: steps 1 to 5 of FORMAT.md §13.7, and the content root.
///
/// The first time, all windows are decompressed, to compute the digests of the new contents. So an open delta has been verified but for what it takes
/// from its bases. If the digests were kept, only the head and the list are decompressed: the content root shows that the digests are the same. In
/// both cases every whole file that is read is compared with its digest, as in a full pack.
struct DeltaOpening {
  private let source: PackSource
  private let segments: SegmentReader
  private let bases: [any DeltaBase]
  private let head: DeltaHead
  private let records: BaseRecords
  private let keeper: (any DigestKeeper)?
  private let newFiles: NewFiles?
  private let checkpoint: () throws(PackError) -> Void
  private var tree: DerivedTree

  /// What was opened.
  private struct Result {
    let layer: DeltaLayer
    let table: SeekTable
    let index: DerivedIndex
  }

  /// Opens a delta whose header was opened.
  ///
  /// - Parameters:
  ///   - newFiles: Gets the new contents.
  ///   - checkpoint: Called between windows. If it throws, the work ends.
  static func open(
    _ source: PackSource, over bases: [any DeltaBase], contentLimit: UInt64 = Limits.contentSizeWithoutManifest,
    keeper: (any DigestKeeper)? = nil, newFiles: NewFiles? = nil, checkpoint: @escaping () throws(PackError) -> Void = {}
  ) throws(PackError) -> Pack {
    let segments = try SegmentReader(source)
    let opened: Result
    do throws(PackError) {
      try segments.openLastSegment()
      var opening = try Self(source, segments, over: bases, keeper: keeper, newFiles: newFiles, checkpoint: checkpoint)
      opened = try opening.open(contentLimit: contentLimit)
    } catch {
      throw error.about(source)
    }
    return try Pack(source, segments, table: opened.table, index: opened.index, layer: opened.layer)
  }

  private init(
    _ source: PackSource, _ segments: SegmentReader, over bases: [any DeltaBase], keeper: (any DigestKeeper)?, newFiles: NewFiles?,
    checkpoint: @escaping () throws(PackError) -> Void
  ) throws(PackError) {
    self.source = source
    self.keeper = keeper
    self.newFiles = newFiles
    self.checkpoint = checkpoint
    self.segments = segments
    self.bases = bases
    head = try Self.readHead(source, segments)
    try Self.compare(head, bases)
    records = try BaseRecords(bases, backend: source.backend)
    tree = DerivedTree()
  }

  // MARK: Head

  /// Reads the head of a delta, after its last segment.
  static func head(_ source: PackSource) throws(PackError) -> DeltaHead {
    do throws(PackError) {
      let segments = try SegmentReader(source)
      try segments.openLastSegment()
      return try readHead(source, segments)
    } catch {
      throw error.about(source)
    }
  }

  private static func readHead(_ source: PackSource, _ segments: SegmentReader) throws(PackError) -> DeltaHead {
    let payloadSize = source.layout.payloadSize
    let trailerSize = min(UInt64(DeltaHead.trailerSize), payloadSize)
    let trailer = try bytes(payloadSize - trailerSize..<payloadSize, segments)
    let size = try DeltaHead.headSize(trailer: trailer.byteSpan, payloadSize: payloadSize)
    let start = payloadSize - trailerSize - UInt64(size)
    guard size <= Limits.compressBound(Limits.deltaHeadSize) else { throw tooLarge("more than \(Limits.deltaHeadSize)") }
    let frame = try bytes(start..<payloadSize - trailerSize, segments)
    let header = try FrameHeader.parse(frame.byteSpan, name: "the head of the delta")
    guard header.contentSize <= Limits.deltaHeadSize else { throw tooLarge("\(header.contentSize)") }
    var content = [UInt8](repeating: 0, count: Int(header.contentSize))
    var target = content.mutableByteSpan
    try DecompressionContext().decompress(frame.byteSpan, into: &target, name: "the head of the delta")
    return try DeltaHead(parsing: content.byteSpan, minor: source.header.minor, windowBytes: start)
  }

  private static func tooLarge(_ size: String) -> PackError {
    PackError(.limitExceeded, "the head of the delta expands to \(size) bytes; the limit is \(Limits.deltaHeadSize)")
  }

  private static func bytes(_ range: Range<UInt64>, _ segments: SegmentReader) throws(PackError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(range.upperBound - range.lowerBound))
    var target = bytes.mutableByteSpan
    try segments.read(at: range.lowerBound, into: &target)
    return bytes
  }

  private static func compare(_ head: DeltaHead, _ bases: [any DeltaBase]) throws(PackError) {
    guard bases.count == head.bases.count else {
      throw PackError(
        .wrongBase, "pack is a delta over \(head.bases.count) \(head.bases.count == 1 ? "pack" : "packs"), but \(bases.count) were given",
        advice: .chooseBase)
    }
    for (base, root) in zip(bases, head.bases) where base.contentRoot != root {
      throw PackError(
        .wrongBase,
        "pack is a delta over content \(root.prefix(8).hex), but \(printable(base.basePath)) has content \(base.contentRoot.prefix(8).hex)",
        advice: .chooseBase)
    }
    guard bases.allSatisfy({ $0.deltaDepth < Pack.mostDeltas }) else {
      throw PackError(
        .limitExceeded, "pack is a delta over \(Pack.mostDeltas) deltas, more than can be read",
        advice: .developer("open it over a full pack with the content of its base"))
    }
  }

  // MARK: Tree

  /// Reads the list and the windows.
  ///
  /// - Parameter contentLimit: the largest size of the target's content in bytes. It bounds the work, too.
  private mutating func open(contentLimit: UInt64) throws(PackError) -> Result {
    let places = places()
    try tree.add(list: try list(places))
    guard tree.contentSize <= contentLimit else {
      throw PackError(.limitExceeded, "pack holds \(tree.contentSize) bytes of content, more than the limit of \(contentLimit)")
    }
    let layout = try TreeLayout(head, tree, records, bases)
    tree.set(layout, records)
    let content = try layer(head.listWindows..<head.windows.count, places, layout)
    if try !takeDigests(layout) { try computeDigests(layout, content) }
    let sizes = content.windows.map { UInt32($0.size) } + layout.pieceSizes
    let table = SeekTable(pieces: sizes)
    return Result(layer: content, table: table, index: tree.index(table, root: head.target))
  }

  /// Where the frame of each window starts in the payload.
  private func places() -> [UInt64] {
    var offset: UInt64 = 0
    return head.windows.map { window in
      defer { offset += UInt64(window.compressedSize) }
      return offset
    }
  }

  private func list(_ places: [UInt64]) throws(PackError) -> [UInt8] {
    let layer = try layer(0..<head.listWindows, places, nil)
    let reader = try DeltaReader(layer, segments: segments)
    var list: [UInt8] = []
    list.reserveCapacity(head.listSize)
    var buffer = [UInt8](repeating: 0, count: layer.windows.map(\.size).max() ?? 0)
    for (number, window) in layer.windows.enumerated() {
      try checkpoint()
      try reader.read(number, into: &buffer)
      list += buffer[..<window.size]
    }
    return list
  }

  /// Makes the layer of some windows. Their ranges are held against the contents of the bases.
  private func layer(_ wanted: Range<Int>, _ places: [UInt64], _ layout: TreeLayout?) throws(PackError) -> DeltaLayer {
    var windows: [DeltaLayer.Window] = []
    var ranges: [DeltaLayer.Source] = []
    var needsList = false
    for number in wanted {
      let window = head.windows[number]
      var target = 0
      let first = ranges.count
      for piece in head.pieces[window.pieces] {
        ranges.append(try place(of: piece, target))
        target += Int(piece.length)
      }
      // In the order of the bases, so that each frame is decompressed once.
      ranges[first...].sort { ($0.base, $0.offset) < ($1.base, $1.offset) }
      needsList = needsList || ranges.last.map { ranges.count > first && $0.base == DeltaLayer.listNumber } ?? false
      windows.append(
        DeltaLayer.Window(
          offset: places[number], compressedSize: window.compressedSize, size: window.size, ranges: first..<ranges.count,
          prefixSize: target))
    }
    return DeltaLayer(
      bases: bases, baseList: needsList ? records.list : [], windows: windows, ranges: ranges, parts: layout?.parts ?? [],
      pieces: layout?.pieces ?? [])
  }

  private func place(of piece: DeltaHead.Piece, _ target: Int) throws(PackError) -> DeltaLayer.Source {
    let content = Int(piece.content)
    let size = content < records.count ? records.sizes[content] : content == records.count ? UInt64(records.list.count) : 0
    guard content <= records.count, piece.offset + UInt64(piece.length) <= size else {
      throw PackError(
        .damagedPayload, "a window of the delta needs \(piece.length) bytes at \(piece.offset) of content \(content), which has \(size)")
    }
    guard content < records.count else {
      return DeltaLayer.Source(base: DeltaLayer.listNumber, length: piece.length, offset: piece.offset, target: target)
    }
    return DeltaLayer.Source(
      base: UInt32(records.base(of: content)), length: piece.length, offset: records.offsets[content] + piece.offset, target: target)
  }

  // MARK: Digests

  /// Sets the digests of the new contents from those that were kept.
  ///
  /// - Returns: Whether the tree has the content root that the head names.
  private mutating func takeDigests(_ layout: TreeLayout) throws(PackError) -> Bool {
    guard let keeper, newFiles == nil, !layout.new.isEmpty,
      let sealed = keeper.kept(byteCount: PackSource.sealedSize(ofDigests: layout.new.count)),
      let digests = try source.open(digests: sealed)
    else { return false }
    for (number, content) in layout.new.enumerated() {
      let digest = digests.byteSpan.extracting(32 * number..<32 * number + 32)
      for record in content.records { tree.setDigest(digest, of: record) }
    }
    return try tree.contentRoot(source.backend) == head.target
  }

  /// Computes the digests of the new contents, compares the content root, and keeps the digests.
  private mutating func computeDigests(_ layout: TreeLayout, _ layer: DeltaLayer) throws(PackError) {
    let digests = try hash(layout, layer)
    guard try tree.contentRoot(source.backend) == head.target else {
      throw PackError(.damagedPayload, "the content of the delta does not have the content root that its head names")
    }
    guard let keeper, !digests.isEmpty else { return }
    keeper.keep(try source.seal(digests: digests))
  }

  /// Decompresses all windows, sets and returns the digests of the new contents, and writes the contents if that is wanted.
  private mutating func hash(_ layout: TreeLayout, _ layer: DeltaLayer) throws(PackError) -> [UInt8] {
    var digests: [UInt8] = []
    digests.reserveCapacity(32 * layout.new.count)
    let reader = try DeltaReader(layer, segments: segments)
    let digest = try source.backend.makeDigest()
    let files = try newFiles.map { (newFiles) throws(PackError) in try newFiles.begin(try tree.measured(), files: source.files) }
    var buffer = [UInt8](repeating: 0, count: layer.windows.map(\.size).max() ?? 0)
    var rest = layout.new[...]
    var left = rest.first?.size ?? 0
    for (number, window) in layer.windows.enumerated() {
      try checkpoint()
      try reader.read(number, into: &buffer)
      var position = 0
      while position < window.size, let current = rest.first {
        let count = Int(min(left, UInt64(window.size - position)))
        let piece = buffer.byteSpan.extracting(position..<position + count)
        try digest.update(piece)
        if let files, let record = current.records.first {
          try tree.withPath(of: record) { (path) throws(PackError) in
            try files.add(piece, at: current.size - left, of: current.size, to: path, tree.kind(of: record), record: record)
          }
        }
        position += count
        left -= UInt64(count)
        guard left == 0 else { continue }
        let bytes = try digest.finish()
        digests += bytes
        for record in current.records { tree.setDigest(bytes.byteSpan, of: record) }
        rest = rest.dropFirst()
        left = rest.first?.size ?? 0
      }
    }
    wipe(&buffer)
    if let files { newFiles?.end(files) }
    return digests
  }
}
