import TestSupport

/// Makes packs with valid tags, whatever their content.
enum Sealing {
  static let name = "fuzz"

  /// Returns a header with these fields.
  static func header(segmentSize: UInt32 = 4096, minor: UInt8 = 0) throws(PackError) -> PackHeader {
    var header = PackHeader(
      segmentSize: segmentSize, flags: 0, packVersion: 7, packID: try PackID.bytes(for: PackName(name)),
      salt: (0..<32).map { 0xA0 ^ UInt8($0) })
    header.minor = minor
    return header
  }

  /// Returns a pack with `payload`.
  static func pack(_ payload: [UInt8], header: PackHeader) throws(PackError) -> [UInt8] {
    let key = try knownKey()
    var bytes = try HeaderAuthentication.seal(header, key: key)
    let opened = try HeaderAuthentication.open(bytes.byteSpan, key: key)
    let layout = try SegmentLayout(
      payloadSize: UInt64(payload.count), headerSize: bytes.count - SegmentLayout.tinkHeaderSize, segmentSize: header.segmentSize)
    let cipher = try SegmentCipher(schedule: opened.schedule, layout: layout)
    for segment in 0..<layout.segmentCount {
      let range = layout.payloadRange(ofSegment: segment)
      var ciphertext = [UInt8](repeating: 0, count: range.count + SegmentLayout.tagSize)
      var target = ciphertext.mutableByteSpan
      try cipher.seal(segment: segment, payload.byteSpan.extracting(Int(range.lowerBound)..<Int(range.upperBound)), into: &target)
      bytes += ciphertext
    }
    return bytes
  }

  /// Returns the header and the payload of a pack, or nil if it does not open.
  static func payload(of pack: [UInt8], key keyBytes: [UInt8]) -> (header: PackHeader, bytes: [UInt8])? {
    do throws(PackError) {
      let key = try PackKey(bytes: keyBytes.byteSpan)
      let opened = try HeaderAuthentication.open(pack.byteSpan, key: key)
      let sealed = try HeaderAuthentication.seal(opened.header, key: key)
      let layout = try SegmentLayout(
        packSize: UInt64(pack.count), headerSize: sealed.count - SegmentLayout.tinkHeaderSize, segmentSize: opened.header.segmentSize)
      try layout.checkLastSegment()
      let cipher = try SegmentCipher(schedule: opened.schedule, layout: layout)
      var payload: [UInt8] = []
      for segment in 0..<layout.segmentCount {
        let range = layout.packRange(ofSegment: segment)
        var plaintext = [UInt8](repeating: 0, count: range.count - SegmentLayout.tagSize)
        var target = plaintext.mutableByteSpan
        try cipher.open(segment: segment, pack.byteSpan.extracting(Int(range.lowerBound)..<Int(range.upperBound)), into: &target)
        payload += plaintext
      }
      return (opened.header, payload)
    } catch {
      return nil
    }
  }

  /// Returns one zstd frame.
  static func frame(_ content: [UInt8]) throws(PackError) -> [UInt8] {
    let context = try CompressionContext(level: 1)
    var frame = [UInt8](repeating: 0, count: Limits.compressBound(content.count) + 64)
    var target = frame.mutableByteSpan
    let count = try context.compress(content.byteSpan, into: &target)
    frame.removeLast(frame.count - count)
    return frame
  }

  /// Returns a skippable frame of the index.
  static func skippable(_ content: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: IndexHead.frameMagic)
    bytes.append(littleEndian: UInt32(content.count))
    return bytes + content
  }

  static func digest(_ bytes: [UInt8]) throws(PackError) -> [UInt8] {
    try CryptoBackends.standard.digest(of: bytes.byteSpan)
  }
}
