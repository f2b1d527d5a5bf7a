/// How a directory becomes a pack, besides the pack's name and key: what `packer pack` takes as options and `packer.yml` as keys.
package struct PackSettings: Hashable, Sendable {
  /// The compression level.
  package var level = PackLevel.balanced
  /// The maximum number of tar bytes in one frame, 64 KiB to 8 MiB. Larger frames compress better. With smaller frames, single files are read
  /// faster and with less memory. Nil means the default of the level, and that frames are joined where content repeats at a distance.
  package var frameSize: Int?
  /// The size of one ciphertext segment in bytes: a power of two from 4 KiB to 1 MiB. Nil means ``segmentSize(forContentOf:)``.
  package var segmentSize: UInt32?
  /// The order in which the game loads its files, by which they are laid out, in small frames. Nil means the order that compresses best.
  package var order: LoadOrder?
  /// Patterns of paths to leave out, as in ignore files.
  package var excludes: [String] = []
  /// Whether symbolic links are replaced by their targets, which must be inside the directory. Otherwise links are refused.
  package var followsSymlinks = false
  /// Whether equal packs get different bytes, for publishers who must hide that two packs are equal.
  package var usesRandomSalt = false
  /// Whether files that look like private keys or credentials are packed. Otherwise they are refused.
  package var allowsSecrets = false
  /// Which of these files are packed nevertheless.
  package var allowedSecrets: [AllowedSecret] = []
  /// Whether files are packed whose names some platforms do not support. Otherwise they are refused.
  package var allowsUnportablePaths = false

  /// The zstd levels.
  package static let levels = Limits.compressionLevels
  /// The frame sizes in bytes.
  package static let frameSizes = Limits.smallestFrameSize...Limits.frameSize

  /// Makes the default settings.
  package init() {}

  /// Makes settings for a tree that is only read: no file in it is refused.
  package init(reading excludes: [String], followsSymlinks: Bool) {
    (self.excludes, self.followsSymlinks) = (excludes, followsSymlinks)
    (allowsSecrets, allowsUnportablePaths) = (true, true)
  }

  /// The maximum number of tar bytes in one frame that is not joined.
  package var largestFrame: Int {
    frameSize ?? (order == nil ? level.frameSize : min(level.frameSize, LoadOrder.laterFrameSize))
  }

  /// The size of one ciphertext segment of a pack with content of this size, in bytes.
  ///
  /// With an order, a game starts with the digests of all segments, 32 bytes each, and with the segments in which its first files and the index begin
  /// and end. For content of C bytes and segments of S, which are half used there, both together are 32·C/S + S, least at S² = 32·C.
  package func segmentSize(forContentOf size: UInt64) -> UInt32 {
    if let segmentSize { return segmentSize }
    guard order != nil else { return Limits.defaultSegment }
    // The tags are 0.2 % of the smallest.
    var segment: UInt32 = 8192
    while segment < Limits.defaultSegment, UInt64(segment) * UInt64(segment) / 32 < size { segment *= 2 }
    return segment
  }

  /// Throws if a number is out of its range.
  package func check() throws(PackError) {
    guard Self.levels.contains(level.zstdLevel) else {
      throw PackError(.usage, "level \(level.zstdLevel) is not in the range 1 to 19")
    }
    let frameSize = largestFrame
    guard Self.frameSizes.contains(frameSize) else {
      throw PackError(
        .usage, "frame size \(frameSize) is not in the range \(Limits.smallestFrameSize) to \(Limits.frameSize) bytes")
    }
    if let segmentSize, !PackHeader.isLegal(segmentSize: segmentSize) {
      throw PackError(
        .usage,
        "segment size \(segmentSize) is not a power of two from \(Limits.smallestSegment) to \(Limits.largestSegment) bytes")
    }
  }
}
