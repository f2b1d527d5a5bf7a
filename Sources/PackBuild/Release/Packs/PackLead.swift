/// The lead file of a pack, as it follows from the pack (FORMAT.md §9.9).
package struct PackLead {
  private let path: String
  private let layout: SegmentLayout
  private let files: any FileSystem
  private let backend: any CryptoBackend
  /// The bytes of the pack that it has from the start on, and from where to the end.
  private let launch, tail: UInt64

  private var leavesSize: UInt64 { layout.segmentCount * 32 }
  private var size: UInt64 { leavesSize + launch + layout.packSize - tail }

  /// The largest part of the pack that is worth a lead, in hundredths.
  private static let largestShare: UInt64 = 80

  /// Chooses what a lead has.
  ///
  /// - Parameter order: the order of the pack, whose launch is in front.
  /// - Returns: nil if nothing is loaded at the launch, if most of the pack is, or if it has more segments than a manifest takes.
  static func of(
    _ pack: Pack, by order: LoadOrder, files: any FileSystem, backend: any CryptoBackend
  ) throws(PackError) -> PackLead? {
    var end: UInt64 = 0
    for path in order.launch {
      guard let entry = try pack.find(path), entry.size > 0 else { continue }
      end = max(end, entry.offset.adding(entry.size))
    }
    let layout = pack.layout
    guard end > 0, end <= pack.table.tarSize, layout.segmentCount <= ManifestStream.mostSegments else { return nil }
    let frame = pack.table[pack.table.frame(holding: end - 1)]
    let first = layout.segment(holding: frame.offset + UInt64(frame.compressedSize) - 1)
    let last = layout.segment(holding: pack.table.indexBlocks.offset)
    let lead = PackLead(
      path: pack.source.path, layout: layout, files: files, backend: backend, launch: layout.packRange(ofSegment: first).upperBound,
      tail: layout.packRange(ofSegment: last).lowerBound)
    guard last > 0, lead.launch <= lead.tail, lead.size <= layout.packSize / 100 * largestShare else { return nil }
    return lead
  }

  /// Takes what a manifest says of the lead of a pack, which need not be opened.
  ///
  /// - Returns: nil if the pack cannot have such a lead.
  package static func of(
    _ start: PackStart, at path: String, as stream: ManifestStream, files: any FileSystem, backend: any CryptoBackend
  ) -> PackLead? {
    let layout = start.layout
    let (first, end) = (layout.packRange(ofSegment: 0).upperBound, layout.packSize)
    let step = UInt64(layout.segmentSize)
    guard stream.launch >= first, stream.launch <= stream.tail, stream.tail < end, (stream.launch - first) % step == 0,
      (stream.tail - first) % step == 0
    else { return nil }
    let lead = PackLead(path: path, layout: layout, files: files, backend: backend, launch: stream.launch, tail: stream.tail)
    return lead.size == stream.size ? lead : nil
  }

  /// Writes the lead as a whole new file, and returns what an entry of a manifest says of it. Reads the pack once, and again what the lead has of it.
  func write(to place: String) throws(PackError) -> ManifestStream {
    let output = try OutputFile(place, files: files)
    var written: UInt64 = 0
    let stream = try stream { (piece) throws(PackError) in
      try output.write(piece, at: written, of: size)
      written += UInt64(piece.count)
    }
    try output.commit()
    return stream
  }

  /// Returns what an entry of a manifest says of the lead of this pack.
  ///
  /// - Parameter take: receives its bytes in pieces.
  package func stream(_ take: (Span<UInt8>) throws(PackError) -> Void = { _ in }) throws(PackError) -> ManifestStream {
    let digest = try backend.makeDigest()
    var leaves: [UInt8]?
    try forEachPiece { (piece) throws(PackError) in
      // The digests are the first one.
      if leaves == nil { leaves = try backend.digest(of: piece) }
      try digest.update(piece)
      try take(piece)
    }
    return ManifestStream(launch: launch, tail: tail, leaves: leaves ?? [], size: size, sha256: try digest.finish())
  }

  private func forEachPiece(_ body: (Span<UInt8>) throws(PackError) -> Void) throws(PackError) {
    let (file, status) = try files.openFile(path)
    guard status.size == layout.packSize else { throw PackError(.sourceChanged, of: path, "changed while it was read") }
    let leaves = try leaves(of: file)
    try body(leaves.byteSpan)
    for part in [tail..<layout.packSize, 0..<launch] {
      try files.forEachPiece(of: file, part, name: path, checkpoint: Task.checkpoint) { (piece, _) throws(PackError) in try body(piece) }
    }
  }

  /// Returns the SHA-256 of each segment, one after the other. The header belongs to the first one.
  private func leaves(of file: OpenFile) throws(PackError) -> [UInt8] {
    let digest = try backend.makeDigest()
    var leaves: [UInt8] = []
    leaves.reserveCapacity(Int(leavesSize))
    var end = layout.packRange(ofSegment: 0).upperBound
    try files.forEachPiece(of: file, 0..<layout.packSize, name: path, checkpoint: Task.checkpoint) { (piece, offset) throws(PackError) in
      var taken = 0
      while taken < piece.count {
        let count = Int(min(UInt64(piece.count - taken), end - offset - UInt64(taken)))
        try digest.update(piece.extracting(taken..<taken + count))
        taken += count
        guard offset + UInt64(taken) == end else { continue }
        leaves += try digest.finish()
        end = min(end + UInt64(layout.segmentSize), layout.packSize)
      }
    }
    return leaves
  }
}
