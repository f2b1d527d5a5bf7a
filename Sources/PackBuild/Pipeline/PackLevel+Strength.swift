extension FrameStrengths {
  /// Returns the strengths of a level for a tree.
  init(_ level: PackLevel, for layout: TarLayout) {
    self.init(level)
    // An empty tree has no index to make up for.
    guard level == .balanced, !layout.items.isEmpty else { return }
    if layout.tarSize <= Self.smallTar {
      usual = Self.smallTree
      text = Self.smallTree
      joined = Self.smallTreeJoined
    } else if layout.tarSize <= Self.largeTar, layout.tarSize < Self.smallFile * UInt64(layout.items.count),
      layout.duplicateBytes < layout.tarSize / Self.fewIdentical
    {
      text = CompressionStrength(level: 6)
      joined = Self.smallTreeJoined
    }
  }

  /// Returns the strengths of a level for a large tree.
  private init(_ level: PackLevel) {
    let number = level.zstdLevel
    // Level 6 makes the records a tenth smaller than level 3, in less than a microsecond for each.
    let index = CompressionStrength(level: level == .fast ? number : max(number, 6))
    switch level {
    case .balanced:
      // zstd's default tables for large inputs are larger than a frame needs, and do not fit in a core's cache.
      self.init(
        usual: CompressionStrength(level: number, hashLog: 17, chainLog: 15),
        joined: CompressionStrength(level: number, hashLog: 18, chainLog: 15, windowLog: Self.joinedWindow, findsLongMatches: true),
        index: index)
    case .fast:
      // Compressing literals pays off only for text.
      self.init(
        usual: CompressionStrength(level: -1), text: CompressionStrength(level: number),
        joined: CompressionStrength(level: number, hashLog: 17, windowLog: Self.joinedWindow),
        index: index)
    case .number(16...):
      // One seventh faster with a third of the memory, but text gets half a percent larger.
      let strength = CompressionStrength(level: number, hashLog: 19, chainLog: 20)
      self.init(usual: strength, joined: CompressionStrength(level: number, windowLog: Self.joinedWindow), index: index)
    case .smallest, .number:
      let strength = CompressionStrength(level: number)
      self.init(
        usual: strength,
        joined: CompressionStrength(level: number, hashLog: number <= 4 ? 18 : 0, windowLog: Self.joinedWindow),
        index: index)
    }
  }

  /// The base-2 logarithm of the largest frame.
  private static let joinedWindow = Limits.frameSize.trailingZeroBitCount

  // At the default level, small trees are compressed more, so that packs of many small files are not larger than tar and zstd make them. That takes
  // a few milliseconds.

  /// The size of a tar in bytes up to which a tree is small.
  private static let smallTar: UInt64 = 3 << 20
  /// Up to this size, frames of text are compressed more if files are small on average and few are identical.
  private static let largeTar: UInt64 = 16_000_000
  private static let smallFile: UInt64 = 16 << 10
  /// Identical files of one byte in this many make up for the index.
  private static let fewIdentical: UInt64 = 16

  private static let smallTree = CompressionStrength(level: 6, hashLog: 17, splitsBlocks: true)
  private static let smallTreeJoined = CompressionStrength(level: 6, hashLog: 18, windowLog: joinedWindow, findsLongMatches: true)
}

extension PackLevel {
  /// Returns the time that one core needs to pack files, in milliseconds, estimated from BENCHMARKS.md.
  ///
  /// - Parameter size: the sum of their sizes in bytes.
  func cost(_ size: UInt64) -> UInt64 {
    // Nanoseconds for each byte.
    let rate: UInt64 =
      switch zstdLevel {
      case ...3: 5
      case ...6: 12
      case ...9: 20
      case ...12: 40
      case ...15: 100
      default: 220
      }
    // A pack takes a while even if it is empty.
    return 10 + size / 1_000_000 * rate + size % 1_000_000 * rate / 1_000_000
  }
}
