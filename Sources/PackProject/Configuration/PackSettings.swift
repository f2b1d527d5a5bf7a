/// The allowed values of the settings of a ``PackJob``.
package enum PackSettings {
  /// The zstd levels.
  package static let levels = Limits.compressionLevels
  /// The frame sizes in bytes.
  package static let frameSizes = Limits.smallestFrameSize...Limits.frameSize
}
