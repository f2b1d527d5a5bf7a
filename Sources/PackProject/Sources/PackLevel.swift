/// The compression level of a pack: a trade-off between size and time.
///
/// BENCHMARKS.md has measurements of the named levels, including their cost for a client.
package enum PackLevel: Hashable, Sendable {
  /// For frequent builds: zstd level 1 for frames that shrink a lot, and level -1, which does not compress literals, for all others. Takes about an
  /// eighth less CPU time than ``balanced``, a quarter less for media. Packs are 3 % (games) to 7 % (texts) larger.
  case fast
  /// For releases: zstd level 3 with tables that fit into a core's cache, and long matches where content repeats at a distance. Takes a few percent
  /// less time than plain level 3, and packs are hardly larger. Level 6 for trees up to 3 MiB, and for the text of trees of small files up to 16 MB,
  /// whose index weighs more. Faster than a solid archive at level 3, and hardly ever larger.
  case balanced
  /// For releases with many downloads: zstd level 19 in frames of 8 MiB. A client needs up to 9 MiB for each thread instead of up to 3 MiB, and
  /// decompresses up to four times as much for a single small file. At other levels that is so where content repeats at a distance.
  case smallest
  /// A zstd level from 1 to 19, in frames of the usual size.
  case number(Int)

  /// The names, from the fastest to the smallest.
  package static let names = ["fast", "balanced", smallestName]
  /// The name of ``smallest``.
  package static let smallestName = "smallest"

  /// - Parameter text: a name or a number.
  /// - Returns: nil for any other text, and for numbers outside ``PackSettings/levels``.
  package init?(_ text: String) {
    switch text {
    case "fast": self = .fast
    case "balanced": self = .balanced
    case Self.smallestName: self = .smallest
    default:
      guard let number = Int(text), PackSettings.levels.contains(number) else { return nil }
      self = .number(number)
    }
  }

  /// The zstd level; for ``fast``, the one for frames that shrink a lot.
  package var zstdLevel: Int {
    switch self {
    case .fast: 1
    case .balanced: 3
    case .smallest: 19
    case .number(let number): number
    }
  }

  /// The default maximum number of tar bytes in one frame.
  package var frameSize: Int {
    switch self {
    case .fast, .balanced, .number: Limits.defaultFrameSize
    case .smallest: Limits.frameSize
    }
  }

  /// Whether frames of the default size are joined, up to the largest size, where content repeats at a distance.
  package var joinsFrames: Bool { frameSize < Limits.frameSize }
}
