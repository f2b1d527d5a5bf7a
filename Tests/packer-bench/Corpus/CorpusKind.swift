import ArgumentParser

/// The kinds of trees that the benchmark makes.
enum CorpusKind: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// A small HTML5 game: about a hundred scripts and three hundred images and sounds.
  case game
  /// A site with many examples: texts, images, sounds, copies of files, and one library in several versions.
  case site
  /// Large media files, most of which do not compress.
  case media
  /// Small text files.
  case texts

  /// The default size of the content in bytes.
  var usualSize: Int {
    switch self {
    case .game: 5_000_000
    case .site: 150_000_000
    case .media: 1_100_000_000
    case .texts: 90_000_000
    }
  }

  /// The default number of files.
  var usualCount: Int {
    switch self {
    case .game: 400
    case .site: 3_000
    case .media: 4_000
    case .texts: 20_000
    }
  }
}
