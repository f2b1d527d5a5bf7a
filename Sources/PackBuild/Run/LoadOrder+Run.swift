extension LoadOrder {
  /// The time after the first request that counts as the launch of a game that does not say when it can be played, in milliseconds.
  package static let assumedLaunch: UInt64 = 5000

  /// Makes the order of a recorded run. Sound and film that is read in parts is played while it arrives, so it counts as loaded later.
  package init(_ run: LoadRun.Pack) {
    let requests = run.requests.filter { $0.status < 300 && $0.size > 0 }
    let end = run.playable ?? (requests.map(\.milliseconds).min() ?? 0).adding(Self.assumedLaunch)
    self.init(
      launch: requests.filter { $0.milliseconds <= end && $0.range == nil }.map(\.path), later: requests.map(\.path))
  }

  /// Returns how many bytes of a pack the launch reads: the compressed frames of its files. Files that the pack does not have count nothing.
  package func launchSize(in pack: Pack) throws(PackError) -> UInt64 {
    var frames: Set<Int> = []
    for path in launch {
      guard let entry = try pack.find(path), entry.size > 0 else { continue }
      let (first, last) = (pack.table.frame(holding: entry.offset), pack.table.frame(holding: entry.offset + entry.size - 1))
      frames.formUnion(first...last)
    }
    return frames.reduce(0) { $0 + UInt64(pack.table[$1].compressedSize) }
  }

  /// Returns the files of the launch that a pack does not have.
  package func missing(in pack: Pack) throws(PackError) -> [String] {
    var missing: [String] = []
    for path in launch { if try pack.find(path) == nil { missing.append(path) } }
    return missing
  }
}
