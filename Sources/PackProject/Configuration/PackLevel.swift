import PackFormat

/// How hard a pack is compressed: a point on the curve of size against time.
///
/// The named ones are measured in BENCHMARKS.md, together with what each costs a client.
package enum PackLevel: Hashable, Sendable {
  /// For builds that are made all day: zstd level 1 for what shrinks a lot, and level -1, which does not compress literals, for all else. Some
  /// eighth less CPU time than ``balanced``, a quarter less for media, and 3 % (games) to 7 % (texts) larger.
  case fast
  /// For releases: zstd level 3 with tables that fit a core's cache, larger ones for what shrinks a lot: some percent less time than level 3, and
  /// hardly larger. Faster than a solid archive at level 3, and hardly ever larger.
  case balanced
  /// For releases that many people fetch: zstd level 19 in frames of 8 MiB. A client needs up to 9 MiB for each thread, where it needs up
  /// to 3 MiB otherwise, and decompresses up to four times as much for a single small file.
  case smallest
  /// A zstd level from 1 to 19, in frames of the usual size.
  case number(Int)

  /// The names, from the fastest to the smallest.
  package static let names = ["fast", "balanced", "smallest"]

  /// - Parameter text: a name or a number.
  /// - Returns: nil for anything else, and for numbers that are no level.
  package init?(_ text: String) {
    switch text {
    case "fast": self = .fast
    case "balanced": self = .balanced
    case "smallest": self = .smallest
    default:
      guard let number = Int(text), PackSettings.levels.contains(number) else { return nil }
      self = .number(number)
    }
  }

  /// The zstd level; of ``fast`` that for texts.
  package var zstdLevel: Int {
    switch self {
    case .fast: 1
    case .balanced: 3
    case .smallest: 19
    case .number(let number): number
    }
  }

  /// The most bytes of tar in one frame, unless the caller wants another number.
  package var frameSize: Int {
    switch self {
    case .fast, .balanced, .number: Limits.defaultFrameSize
    case .smallest: Limits.frameSize
    }
  }
}
