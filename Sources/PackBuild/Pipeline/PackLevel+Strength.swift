import PackArchive
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
}
