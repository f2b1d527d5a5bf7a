import PackArchive
import PackProject

extension PackLevel {
  /// What zstd is told. Its own tables for large inputs are larger than a frame needs, and do not fit a core's cache.
  var strength: CompressionStrength {
    switch self {
    case .balanced: CompressionStrength(level: 3, hashLog: 16, chainLog: 13)
    // A seventh faster and a third of the memory, for half a percent of what is text.
    case .number(16...): CompressionStrength(level: zstdLevel, hashLog: 19, chainLog: 20)
    case .fast: CompressionStrength(level: -1)
    case .smallest, .number: CompressionStrength(level: zstdLevel)
    }
  }

  /// The same for frames that shrink a lot, most of them text. There, larger tables find more, and literals are worth compressing.
  var textStrength: CompressionStrength {
    switch self {
    case .balanced: CompressionStrength(level: 3, hashLog: 17, chainLog: 14)
    case .fast: CompressionStrength(level: 1)
    case .smallest, .number: strength
    }
  }
}
