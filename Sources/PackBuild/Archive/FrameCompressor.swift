/// A trial before a frame is compressed at the requested level.
enum CompressionTrial: Hashable {
  case none
  /// Samples of the frame show whether that is worthwhile.
  case samples
  /// The whole frame is compressed with `FrameCompressor.trialStrength` first.
  case frame

  /// Up to this level, a frame that does not shrink takes little longer than at the level of samples, which misses what shrinks in few of its parts.
  static let quickLevel = 3

  /// The more expensive a level is, the more a trial may cost.
  init(before strengths: FrameStrengths) {
    switch strengths.usual.level {
    // Samples only find the text.
    case ...Self.quickLevel: self = strengths.text == strengths.usual ? .none : .samples
    case ...9: self = .samples
    default: self = .frame
    }
  }
}

/// What is known of a frame before it is compressed.
package enum FrameKind: Hashable, Sendable {
  case usual
  /// Its content was found to repeat at large distances, so that a trial would be misleading.
  case joined
  /// A game waits for it.
  case launch
}

/// The compression settings for the frames of a pack.
package struct FrameStrengths: Hashable, Sendable {
  /// For frames of no other kind.
  package var usual: CompressionStrength
  /// For frames whose samples shrink a lot, which most texts do.
  package var text: CompressionStrength
  /// For joined frames: matches at any distance, and tables that remember as much.
  package var joined: CompressionStrength

  /// For frames that a game waits for.
  package var launch: CompressionStrength

  /// For the index.
  package var index: CompressionStrength

  /// At the launch a player waits, and it is a small part of most games.
  private static let launchLevel = 15

  /// Makes the settings. Those that are not given are the same as for usual frames.
  package init(
    usual: CompressionStrength, text: CompressionStrength? = nil, joined: CompressionStrength? = nil, index: CompressionStrength? = nil
  ) {
    self.usual = usual
    launch = CompressionStrength(level: max(usual.level, Self.launchLevel))
    self.index = index ?? usual
    self.text = text ?? usual
    self.joined = joined ?? usual
  }
}

/// A compressor of frames that spends little time on those that do not shrink: most images, sounds and videos. Each worker needs its own.
///
/// The result depends only on the content of a frame. File extensions are not used: real trees of images and sounds still shrink by up to a fifth.
package final class FrameCompressor {
  private let context: CompressionContext
  private let strengths: FrameStrengths
  private let trial: CompressionTrial

  /// For a whole frame. If it shrinks a frame by less than a fiftieth, higher levels save only half a percent more, in ten times the time.
  private static let trialStrength = CompressionStrength(level: 6)
  /// For samples, and for frames whose samples do not shrink.
  private static let sampleStrength = CompressionStrength(level: 1)

  /// The size of one sample in bytes, and the number of samples. Frames with less than four times their total size are not sampled.
  private static let sampleSize = 32 << 10
  private static let samples = 3

  package init(_ strengths: FrameStrengths) throws(PackError) {
    self.strengths = strengths
    trial = CompressionTrial(before: strengths)
    context = try CompressionContext(strengths.usual)
  }

  /// Compresses `content` to one frame at the start of `frame`, and returns its length. `frame` must have room for
  /// ``PackFormat/Limits/compressBound(_:)`` bytes.
  ///
  package func compress(
    _ content: Span<UInt8>, _ kind: FrameKind = .usual, into frame: inout MutableSpan<UInt8>
  ) throws(PackError) -> Int {
    if kind == .joined {
      try context.use(strengths.joined)
      return try context.compress(content, into: &frame)
    }
    var chosen = kind == .launch ? strengths.launch : strengths.usual
    switch kind == .launch ? .frame : trial {
    case .none:
      break
    case .samples:
      try context.use(Self.sampleStrength)
      switch try shrinkage(content, scratch: &frame) {
      case .some(.large):
        chosen = strengths.text
      case .some(.small), nil:
        break
      case .some(.none) where strengths.usual.level <= CompressionTrial.quickLevel:
        break
      case .some(.none):
        let size = try context.compress(content, into: &frame)
        // If `size` is smaller, the samples were wrong: the rest does shrink.
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

  /// How much samples of a frame shrink.
  private enum Shrinkage {
    /// By no more than a hundredth.
    case none
    case small
    /// The first sample shrinks by more than half, as most texts do.
    case large
  }

  /// Returns how much samples from the beginning, the middle and the end shrink, or nil if the frame is too small for them.
  private func shrinkage(_ content: Span<UInt8>, scratch: inout MutableSpan<UInt8>) throws(PackError) -> Shrinkage? {
    guard content.count >= 4 * Self.samples * Self.sampleSize else { return nil }
    var saved = 0
    for number in 0..<Self.samples {
      let start = (content.count - Self.sampleSize) / (Self.samples - 1) * number
      saved += Self.sampleSize - (try context.compress(content.extracting(start..<start + Self.sampleSize), into: &scratch))
      if number == 0, saved > Self.sampleSize / 2 { return .large }
      // Most frames that shrink do so in the first sample.
      if saved > Self.samples * Self.sampleSize / 100 { return .small }
    }
    return Shrinkage.none
  }
}
