import PackFormat

/// The values that the settings of a ``PackJob`` may have.
package enum PackSettings {
  /// zstd levels that a writer may ask for.
  package static let levels = 1...19
  /// Frame sizes in bytes.
  package static let frameSizes = Limits.smallestFrameSize...Limits.frameSize
}
