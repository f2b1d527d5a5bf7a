/// Reads the new contents of a delta one after the other, and computes their digests. Used by one worker at a time.
///
/// Memory: what ``StreamReader`` takes, and ``CopyStream/readSize``; over packs more, as long as all of it and a frame are at most 14 MiB.
final class NewContents {
  private let contents: [DeltaTarget.New]
  private let application: DeltaApplication
  private let visit: BaseStringReader.FrameVisitor?
  private var reader: StreamReader
  private let digest: any DigestContext
  private var buffer: [UInt8]
  /// What was not read yet of ``buffer``.
  private var rest = 0..<0
  /// What is left of the current content, in bytes.
  private var left: UInt64
  /// The number of the current content.
  private(set) var number = 0
  /// The SHA-256 of each content that was read to its end.
  private(set) var digests: [UInt8] = []

  /// - Parameter visit: Called with each frame of a base that is decompressed.
  init(_ application: DeltaApplication, visit: BaseStringReader.FrameVisitor? = nil) throws(PackError) {
    contents = application.target.new
    self.application = application
    self.visit = visit
    reader = try Self.reader(application, visit)
    digest = try application.delta.source.backend.makeDigest()
    buffer = [UInt8](repeating: 0, count: Int(min(Self.readSize(application), application.stream.size)))
    left = contents.first?.size ?? 0
  }

  deinit {
    wipe(&buffer)
  }

  /// Calls `body` with the next bytes of the current content: at least one and at most `most`. There must be some.
  func withNext<Result>(_ most: Int, _ body: (Span<UInt8>) throws(PackError) -> Result) throws(PackError) -> Result {
    if rest.isEmpty { try load() }
    let piece = rest.prefix(Int(min(left, UInt64(min(most, rest.count)))))
    let bytes = buffer
    let result = try body(bytes.byteSpan.extracting(piece))
    try digest.update(bytes.byteSpan.extracting(piece))
    rest = piece.upperBound..<rest.upperBound
    left -= UInt64(piece.count)
    if left == 0 {
      let finished = try digest.finish()
      if digests.count == 32 * number { digests += finished }
      number += 1
      left = number < contents.count ? contents[number].size : 0
    }
    return result
  }

  /// Goes to the beginning of a content, unless it is the current one. If that is before the current one, all are read anew.
  func skip(to content: Int, checkpoint: () throws(PackError) -> Void) throws(PackError) {
    if content < number {
      reader = try Self.reader(application, visit)
      (rest, number) = (0..<0, 0)
      left = contents[0].size
    }
    while number < content {
      try checkpoint()
      try withNext(.max) { _ in }
    }
  }

  /// Returns how many bytes are read at once. Copies that are read together are read in the order of the bases, so that frames are decompressed seldom.
  private static func readSize(_ application: DeltaApplication) -> UInt64 {
    guard let frame = application.bases.compactMap({ ($0 as? Pack)?.largestFrame }).max() else { return CopyStream.readSize }
    var (place, before, most): (UInt64, UInt64, UInt64) = (0, 0, 0)
    for window in application.windows {
      let literals = place..<place + UInt64(window.size)
      let ranges = window.ranges(for: literals, of: application.stream, in: application.records.string)
      most = max(most, ranges.total + before + UInt64(literals.count))
      (place, before) = (literals.upperBound, UInt64(literals.count))
    }
    return max(CopyStream.readSize, memory - min(memory, most + UInt64(frame)))
  }

  private static let memory: UInt64 = 14 << 20

  private func load() throws(PackError) {
    var own: [UInt8] = []
    swap(&own, &buffer)
    defer { swap(&own, &buffer) }
    let count = try reader.read(into: &own)
    precondition(count > 0, "the stream has the bytes of all contents")
    rest = 0..<count
  }

  private static func reader(
    _ application: DeltaApplication, _ visit: BaseStringReader.FrameVisitor?
  ) throws(PackError) -> StreamReader {
    try StreamReader(
      application.stream, application.windows, application.delta, application.records.string, application.bases, visit: visit)
  }
}
