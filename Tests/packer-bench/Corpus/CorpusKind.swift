import ArgumentParser

/// The shapes of trees that the benchmark makes.
enum CorpusKind: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// A small HTML5 game: a few dozen scripts and some hundred images and sounds.
  case game
  /// A site with many examples: texts, images, sounds, copies of files, and one library in several versions.
  case site
  /// Large media, of which most do not compress.
  case media
  /// Small text files.
  case texts

  /// The bytes of content where none are named.
  var usualSize: Int {
    switch self {
    case .game: 5_000_000
    case .site: 150_000_000
    case .media: 1_100_000_000
    case .texts: 90_000_000
    }
  }

  /// The number of files where none is named.
  var usualCount: Int {
    switch self {
    case .game: 400
    case .site: 3_000
    case .media: 4_000
    case .texts: 20_000
    }
  }
}
