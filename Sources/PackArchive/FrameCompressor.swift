package import PackFormat

/// What is done before a frame is compressed as hard as was asked for.
enum CompressionTrial: Hashable {
  case none
  /// Samples of the frame tell whether it is worth it.
  case samples
  /// The whole frame is compressed at ``FrameCompressor/trial``.
  case frame

  /// The more a level costs, the more may be spent to find out whether it gains anything.
  init(before level: Int) {
    switch level {
    // At the level below all others samples tell what is text, and worth more.
    case ..<0: self = .samples
    case ...2: self = .none
    case ...9: self = .samples
    default: self = .frame
    }
  }
}

/// Compresses frames, and spends little on those that do not shrink: most images, sounds and videos. One worker's own.
///
/// What it does with a frame depends on the frame's content alone. File extensions are not trusted: real trees of images and sounds still
/// shrink by up to a fifth.
package final class FrameCompressor {
  private let context: CompressionContext
  private let strength: CompressionStrength
  private let textStrength: CompressionStrength
  private let trial: CompressionTrial

  /// For a whole frame. Of one that it shrinks by less than a fiftieth, higher levels take half a percent more, for ten times the time.
  private static let trialStrength = CompressionStrength(level: 6)
  /// For samples, and for frames whose samples do not shrink.
  private static let sampleStrength = CompressionStrength(level: 1)

  /// The bytes of one sample, and how many there are. Frames with less than four times as many bytes are not sampled.
  private static let sampleSize = 32 << 10
  private static let samples = 3

  /// - Parameter textStrength: for frames that shrink a lot, where samples are taken; the same as for others where it is nil.
  package init(_ strength: CompressionStrength, forText textStrength: CompressionStrength? = nil) throws(PackError) {
    self.strength = strength
    self.textStrength = textStrength ?? strength
    trial = CompressionTrial(before: strength.level)
    context = try CompressionContext(strength)
  }

  /// Compresses `content` to one frame at the start of `frame`, which must hold ``PackFormat/Limits/compressBound(_:)`` bytes, and returns
  /// its length.
  package func compress(_ content: Span<UInt8>, into frame: inout MutableSpan<UInt8>) throws(PackError) -> Int {
    var chosen = strength
    switch trial {
    case .none:
      break
    case .samples:
      try context.use(Self.sampleStrength)
      switch try shrinkage(content, scratch: &frame) {
      case .some(.large):
        chosen = textStrength
      case .some(.small), nil:
        break
      case .some(.none) where strength.level < Self.sampleStrength.level:
        break
      case .some(.none):
        let size = try context.compress(content, into: &frame)
        // The samples were wrong where the rest shrinks after all.
        if size > content.count / 100 * 98 { return size }
      }
    case .frame:
      try context.use(Self.trialStrength)
      let size = try context.compress(content, into: &frame)
      if size > content.count / 100 * 98 { return size }
    }
    try context.use(chosen)
    return try context.compress(content, into: &frame)
  }

  /// What samples of a frame lose.
  private enum Shrinkage {
    /// No more than a hundredth.
    case none
    case small
    /// More than half of the first sample: most texts.
    case large
  }

  /// What samples from the beginning, the middle and the end lose, or nil where the frame is too small for them.
  private func shrinkage(_ content: Span<UInt8>, scratch: inout MutableSpan<UInt8>) throws(PackError) -> Shrinkage? {
    guard content.count >= 4 * Self.samples * Self.sampleSize else { return nil }
    var saved = 0
    for number in 0..<Self.samples {
      let start = (content.count - Self.sampleSize) / (Self.samples - 1) * number
      saved += Self.sampleSize - (try context.compress(content.extracting(start..<start + Self.sampleSize), into: &scratch))
      if number == 0, saved > Self.sampleSize / 2 { return .large }
      // Most of what shrinks does so in its first sample.
      if saved > Self.samples * Self.sampleSize / 100 { return .small }
    }
    return Shrinkage.none
  }
}
