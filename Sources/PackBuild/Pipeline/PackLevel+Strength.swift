import PackArchive
import PackFormat
import PackProject

extension PackLevel {
  /// The parameters for zstd. Its default tables for large inputs are larger than a frame needs, and do not fit in a core's cache.
  var strength: CompressionStrength {
    switch self {
    case .balanced: CompressionStrength(level: 3, hashLog: 16, chainLog: 13)
    // One seventh faster with a third of the memory, but text gets half a percent larger.
    case .number(16...): CompressionStrength(level: zstdLevel, hashLog: 19, chainLog: 20)
    case .fast: CompressionStrength(level: -1)
    case .smallest, .number: CompressionStrength(level: zstdLevel)
    }
  }

  /// The parameters for frames that compress well, most of which are text. There, larger tables find more, and compressing literals pays off.
  var textStrength: CompressionStrength {
    switch self {
    case .balanced: CompressionStrength(level: 3, hashLog: 17, chainLog: 14)
    case .fast: CompressionStrength(level: 1)
    case .smallest, .number: strength
    }
  }

  /// The parameters for joined frames: matches at any distance, and tables that remember as much.
  var joinedStrength: CompressionStrength {
    switch self {
    case .balanced: CompressionStrength(level: 3, hashLog: 18, chainLog: 14, windowLog: Self.joinedWindow)
    case .fast: CompressionStrength(level: 1, hashLog: 17, windowLog: Self.joinedWindow)
    case .number(...4): CompressionStrength(level: zstdLevel, hashLog: 18, windowLog: Self.joinedWindow)
    case .smallest, .number: CompressionStrength(level: zstdLevel, windowLog: Self.joinedWindow)
    }
  }

  /// The base-2 logarithm of the largest frame.
  private static let joinedWindow = Limits.frameSize.trailingZeroBitCount
}
