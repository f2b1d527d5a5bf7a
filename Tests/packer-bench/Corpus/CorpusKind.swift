/// The kinds of trees that the benchmark makes.
enum CorpusKind: CaseIterable, Sendable {
  /// Media files, most of which do not compress.
  case media
  /// Small text files.
  case texts
}
