/// An open pack whose segments the host fetches and opens, with those that it has brought.
package final class PackSource: @unchecked Sendable {
  let path: String
  let layout: SegmentLayout
  let backend: any CryptoBackend
  let segments: SegmentStore
  private let opened: OpenedHeader

  var header: PackHeader { opened.header }
  var stanzas: KeyStanzas { opened.stanzas }
  /// The host's number of the key that segments are sealed with.
  var segmentKey: Int? { opened.schedule.segmentKey.key }

  // An initializer that throws before it has called another one leaks no memory.
  convenience init(_ start: PackStart, path: String, key: borrowing PackKey, backend: any CryptoBackend) throws(PackError) {
    do throws(PackError) {
      let opened = try HeaderAuthentication.open(start.bytes.byteSpan, key: key, backend: backend)
      try start.layout.checkLastSegment()
      self.init(opened, start.layout, path: path, backend: backend)
    } catch {
      throw error.about(path)
    }
  }

  private init(_ opened: consuming OpenedHeader, _ layout: SegmentLayout, path: String, backend: any CryptoBackend) {
    segments = SegmentStore(layout, noncePrefix: Array(opened.schedule.streamHeader[KeySchedule.streamSaltSize...]))
    (self.path, self.backend, self.layout) = (path, backend, layout)
    self.opened = opened
  }
}

/// The segments of a pack that the host has opened, up to a limit, and those that it has to bring.
final class SegmentStore {
  private let layout: SegmentLayout
  private let noncePrefix: [UInt8]
  private var opened: [UInt64: Opened] = [:]
  private var size = 0
  private var turn: UInt64 = 0
  /// What a reader needed and did not find, ascending.
  private(set) var wanted: [UInt64] = []
  private var failure: PackError?

  private struct Opened {
    var bytes: [UInt8]
    var lastUse: UInt64
  }

  /// How many bytes are kept: twice what the largest frame needs, which must be there as a whole.
  static let capacity = 16 << 20

  init(_ layout: SegmentLayout, noncePrefix: [UInt8]) {
    self.layout = layout
    self.noncePrefix = noncePrefix
  }

  deinit { removeAll() }

  /// Makes sure that a range of the payload is there.
  ///
  /// - Throws: ``PackFormat/PackError/unread`` after it has noted what is missing.
  func need(_ range: Range<UInt64>) throws(PackError) {
    if let failure { throw failure }
    guard !range.isEmpty else { return }
    turn += 1
    wanted = []
    for number in layout.segment(holding: range.lowerBound)...layout.segment(holding: range.upperBound - 1) {
      if opened[number] == nil { wanted.append(number) } else { opened[number]?.lastUse = turn }
    }
    guard wanted.isEmpty else { throw .unread }
  }

  /// Which segments of a range are not there.
  func missing(in range: Range<UInt64>) -> [UInt64] {
    guard !range.isEmpty else { return [] }
    return (layout.segment(holding: range.lowerBound)...layout.segment(holding: range.upperBound - 1)).filter { opened[$0] == nil }
  }

  /// Takes the plaintext of a segment.
  func take(_ number: UInt64, _ bytes: [UInt8]) {
    turn += 1
    size += bytes.count - (opened[number]?.bytes.count ?? 0)
    opened[number] = Opened(bytes: bytes, lastUse: turn)
    while size > Self.capacity, let oldest = opened.min(by: { $0.value.lastUse < $1.value.lastUse })?.key, oldest != number {
      remove(oldest)
    }
  }

  /// Notes that a segment does not open, so nothing of the pack is read any more.
  ///
  /// - Parameter wasMiddle: whether it opens as one that others follow, although it is the last.
  func fail(_ number: UInt64, wasMiddle: Bool) {
    guard number == layout.segmentCount - 1 else {
      failure = PackError(
        .authenticationFailed, "segment \(number) of \(layout.segmentCount) fails authentication: it was damaged or changed",
        advice: .fetchAgain)
      return
    }
    failure =
      wasMiddle
      ? PackError(.truncated, "pack ends after segment \(number), at byte \(layout.packSize), but more must follow", advice: .fetchAgain)
      : PackError(
        .authenticationFailed,
        "segment \(number) of \(layout.segmentCount) fails authentication: it was damaged or changed; it is the last one, so the pack was changed or truncated",
        advice: .fetchAgain)
  }

  /// The nonce of a segment (FORMAT.md §3).
  ///
  /// - Parameter isLast: whether it is taken for the last one.
  func nonce(of number: UInt64, isLast: Bool) -> [UInt8] {
    noncePrefix + (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt64(24 - 8 * $0)) } + [isLast ? 1 : 0]
  }

  /// Copies bytes of the payload, all of which are there.
  fileprivate func copyBytes(at offset: UInt64, into buffer: inout MutableSpan<UInt8>) {
    let wanted = offset..<offset + UInt64(buffer.count)
    for number in layout.segment(holding: wanted.lowerBound)...layout.segment(holding: wanted.upperBound - 1) {
      guard let segment = opened[number] else { continue }
      let payload = layout.payloadRange(ofSegment: number)
      let shared = payload.clamped(to: wanted)
      let from = Int(shared.lowerBound - payload.lowerBound)
      copy(segment.bytes.byteSpan.extracting(from..<from + shared.count), to: &buffer, at: Int(shared.lowerBound - wanted.lowerBound))
    }
  }

  /// Wipes all of them.
  func removeAll() { for number in Array(opened.keys) { remove(number) } }

  private func remove(_ number: UInt64) {
    guard var segment = opened.removeValue(forKey: number) else { return }
    size -= segment.bytes.count
    wipe(&segment.bytes)
  }
}

/// Reads the payload of a pack from the segments that are there.
package final class SegmentReader: ByteSource {
  private let source: PackSource
  /// The number of bytes that were read.
  private(set) var decryptedBytes: UInt64 = 0

  init(_ source: PackSource) throws(PackError) {
    self.source = source
  }

  package func read(at offset: UInt64, into buffer: inout MutableSpan<UInt8>) throws(PackError) {
    guard !buffer.isEmpty else { return }
    let end = offset + UInt64(buffer.count)
    guard end <= source.layout.payloadSize else {
      throw PackError(.damagedPayload, "payload is \(source.layout.payloadSize) bytes, but bytes up to \(end) were requested")
    }
    try source.segments.need(offset..<end)
    source.segments.copyBytes(at: offset, into: &buffer)
    decryptedBytes += UInt64(buffer.count)
  }

  /// Makes sure that the last segment is there, which authenticates the length of the pack (FORMAT.md §3.4).
  func openLastSegment() throws(PackError) {
    let payload = source.layout.payloadRange(ofSegment: source.layout.segmentCount - 1)
    guard payload.isEmpty else { return try source.segments.need(payload) }
    try source.segments.needEmptyLast()
  }
}

extension SegmentStore {
  /// Makes sure that a last segment without payload is there.
  fileprivate func needEmptyLast() throws(PackError) {
    if let failure { throw failure }
    let last = layout.segmentCount - 1
    wanted = opened[last] == nil ? [last] : []
    guard wanted.isEmpty else { throw .unread }
  }
}
