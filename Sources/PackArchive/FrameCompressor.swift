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
  private let trial: CompressionTrial

  /// For a whole frame. Of one that it shrinks by less than a fiftieth, higher levels take half a percent more, for ten times the time.
  private static let trialStrength = CompressionStrength(level: 6)
  /// For samples, and for frames whose samples do not shrink.
  private static let sampleStrength = CompressionStrength(level: 1)

  /// The bytes of one sample, and how many there are. Frames with less than four times as many bytes are not sampled.
  private static let sampleSize = 32 << 10
  private static let samples = 3

  package init(_ strength: CompressionStrength) throws(PackError) {
    self.strength = strength
    trial = CompressionTrial(before: strength.level)
    context = try CompressionContext(strength)
  }

  /// Compresses `content` to one frame at the start of `frame`, which must hold ``PackFormat/Limits/compressBound(_:)`` bytes, and returns
  /// its length.
  package func compress(_ content: Span<UInt8>, into frame: inout MutableSpan<UInt8>) throws(PackError) -> Int {
    switch trial {
    case .none:
      break
    case .samples:
      try context.use(Self.sampleStrength)
      guard try samplesShrink(content, scratch: &frame) else {
        let size = try context.compress(content, into: &frame)
        // The samples were wrong where the rest shrinks after all.
        if size > content.count / 100 * 98 { return size }
        break
      }
    case .frame:
      try context.use(Self.trialStrength)
      let size = try context.compress(content, into: &frame)
      if size > content.count / 100 * 98 { return size }
    }
    try context.use(strength)
    return try context.compress(content, into: &frame)
  }

  /// Whether samples from the beginning, the middle and the end lose more than a hundredth.
  private func samplesShrink(_ content: Span<UInt8>, scratch: inout MutableSpan<UInt8>) throws(PackError) -> Bool {
    guard content.count >= 4 * Self.samples * Self.sampleSize else { return true }
    var saved = 0
    for number in 0..<Self.samples {
      let start = (content.count - Self.sampleSize) / (Self.samples - 1) * number
      saved += Self.sampleSize - (try context.compress(content.extracting(start..<start + Self.sampleSize), into: &scratch))
      // Most of what shrinks does so in its first sample.
      if saved > Self.samples * Self.sampleSize / 100 { return true }
    }
    return false
  }
}
