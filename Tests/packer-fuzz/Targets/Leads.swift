import TestSupport

extension FuzzTarget {
  /// The numbers that a manifest says of a lead, and the segments that a device finds by them.
  static let lead = FuzzTarget(
    "lead", largestInput: 64, rounds: 2000, files: ["Sources/PackManifest/ManifestStream.swift"],
    seeds: {
      try LeadVector.all.map { name in
        let vector = try LeadVector(named: name)
        let numbers = [vector.stream.launch, vector.stream.tail, vector.stream.size, UInt64(vector.pack.count)]
        return FuzzSeed(name, numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) } })
      }
    },
    run: { (bytes) throws(BrokenPromise) in
      var feed = ByteFeed(bytes)
      let (launch, tail) = (feed.number(width: 8), feed.number(width: 8))
      let (size, packSize) = (feed.number(width: 8), feed.number(width: 8))
      let stream = ManifestStream(launch: launch, tail: tail, leaves: [], size: size, sha256: [])
      guard let layout = try accepted({ () throws(PackError) in try stream.layout(packSize: packSize) }) else { return }
      try hold(
        layout.packSize == packSize && stream.leavesSize(packSize: packSize) == 32 * layout.segmentCount, "segments have other sizes")
      let (first, step) = (layout.packRange(ofSegment: 0).upperBound, UInt64(layout.segmentSize))
      try hold(launch >= first && (launch - first) % step == 0, "a launch ends within a segment")
      try hold(tail >= first && (tail - first) % step == 0 && tail < packSize, "a tail begins within a segment")
    })
}
