import PackFormat

/// The values that the settings of a ``PackJob`` may have.
package enum PackSettings {
  /// zstd levels.
  package static let levels = Limits.compressionLevels
  /// Frame sizes in bytes.
  package static let frameSizes = Limits.smallestFrameSize...Limits.frameSize
}
