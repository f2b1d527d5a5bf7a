import Testing

@testable import PackCrypto

/// A back end as a test argument, printed by name.
struct Backend: Sendable, CustomTestStringConvertible {
  let value: any CryptoBackend
  var testDescription: String { value.name }

  static let all = CryptoBackends.all.map { Backend(value: $0) }
}

/// Reads hexadecimal digits; white space is ignored.
func hex(_ text: String) -> [UInt8] {
  let digits = text.filter { !$0.isWhitespace }.map { UInt8($0.hexDigitValue!) }
  return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

func bytes(_ range: ClosedRange<UInt8>) -> [UInt8] { Array(range) }

/// Returns the error that `body` throws, or nil.
func failure(_ body: () throws(PackError) -> Void) -> PackError? {
  do {
    try body()
    return nil
  } catch {
    return error
  }
}

func secret(_ bytes: [UInt8]) -> SecretBytes { SecretBytes(copying: bytes.byteSpan) }

extension SecretBytes {
  var hex: String { withSpan { [UInt8](copying: $0) }.hex }
}

extension CryptoBackend {
  func derived(_ ikm: [UInt8], salt: [UInt8], info: [UInt8], count: Int) throws(PackError) -> [UInt8] {
    let output = try derive(from: secret(ikm), salt: salt.byteSpan, info: info.byteSpan, count: count)
    return output.withSpan { [UInt8](copying: $0) }
  }

  /// Returns the shared secret in hex, or nil if there is none that may be used.
  func agreed(_ scalar: [UInt8], _ publicKey: [UInt8]) throws(PackError) -> String? {
    switch try sharedSecret(of: secret(scalar), with: publicKey.byteSpan) {
    case .some(let shared): shared.hex
    case .none: nil
    }
  }

  func sha256(_ message: [UInt8]) throws -> String { try digest(of: message.byteSpan).hex }
}

extension CipherContext {
  func sealed(_ plaintext: [UInt8], nonce: [UInt8]) throws(PackError) -> [UInt8] {
    var output = [UInt8](repeating: 0xAA, count: plaintext.count + 16)
    var span = output.mutableByteSpan
    try seal(plaintext.byteSpan, nonce: nonce.byteSpan, into: &span)
    return output
  }

  /// Returns the buffer after opening, and the error.
  func opened(_ ciphertext: [UInt8], nonce: [UInt8]) -> ([UInt8], PackError?) {
    var output = [UInt8](repeating: 0xAA, count: ciphertext.count - 16)
    var span = output.mutableByteSpan
    let error = failure { () throws(PackError) in try open(ciphertext.byteSpan, nonce: nonce.byteSpan, into: &span) }
    return (output, error)
  }
}

/// The inputs of the known answers (FORMAT.md, known answers), and whole packs made from the parts.
enum KnownAnswer {
  static let keyBytes = bytes(0...0x1F)
  static let salt = bytes(0x20...0x3F)
  static let payload = Array("The plaintext of the known-answer test.".utf8)
  static let largePayload = pattern(10_000)

  static func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8($0 % 251) } }

  static func key(_ backend: any CryptoBackend, _ bytes: [UInt8] = keyBytes) throws(PackError) -> PackKey {
    try PackKey(secret: secret(bytes), backend: backend)
  }

  static func header(
    segmentSize: UInt32 = 4096, flags: UInt16 = 0, salt: [UInt8] = salt, version: UInt64 = 7
  ) throws(PackError) -> PackHeader {
    PackHeader(
      segmentSize: segmentSize, flags: flags, packVersion: version,
      packID: try PackID.bytes(for: PackName("kat")), salt: salt)
  }

  static func pack(
    _ payload: [UInt8], _ header: PackHeader, _ backend: any CryptoBackend
  ) throws(PackError) -> [UInt8] {
    let key = try key(backend)
    var file = try HeaderAuthentication.seal(header, key: key, backend: backend)
    let layout = try SegmentLayout(
      payloadSize: UInt64(payload.count), headerSize: file.count - 40, segmentSize: header.segmentSize)
    let schedule = try KeySchedule(key: key, core: file.byteSpan.extracting(0..<96), backend: backend)
    let cipher = try SegmentCipher(schedule: schedule, layout: layout, backend: backend)
    for segment in 0..<layout.segmentCount {
      let range = layout.payloadRange(ofSegment: segment)
      var ciphertext = [UInt8](repeating: 0, count: range.count + 16)
      var span = ciphertext.mutableByteSpan
      let part = payload.byteSpan.extracting(Int(range.lowerBound)..<Int(range.upperBound))
      try cipher.seal(segment: segment, part, into: &span)
      file += ciphertext
    }
    return file
  }

  /// Returns the payload, or the first error and the buffer of the segment that failed.
  static func open(
    _ file: [UInt8], _ backend: any CryptoBackend, key keyBytes: [UInt8] = keyBytes
  ) -> (payload: [UInt8], rejected: [UInt8], error: PackError?) {
    var payload: [UInt8] = []
    var rejected: [UInt8] = []
    let error = failure { () throws(PackError) in
      let key = try key(backend, keyBytes)
      let opened = try HeaderAuthentication.open(file.byteSpan, key: key, backend: backend)
      let layout = try SegmentLayout(
        packSize: UInt64(file.count), headerSize: 144, segmentSize: opened.header.segmentSize)
      let cipher = try SegmentCipher(schedule: opened.schedule, layout: layout, backend: backend)
      for segment in 0..<layout.segmentCount {
        let range = layout.packRange(ofSegment: segment)
        rejected = [UInt8](repeating: 0xAA, count: range.count - 16)
        var span = rejected.mutableByteSpan
        let part = file.byteSpan.extracting(Int(range.lowerBound)..<Int(range.upperBound))
        try cipher.open(segment: segment, part, into: &span)
        payload += rejected
      }
    }
    return (payload, rejected, error)
  }

  static func salt(
    _ payload: [UInt8], _ header: PackHeader, random: [UInt8]? = nil, _ backend: any CryptoBackend
  ) throws(PackError) -> [UInt8] {
    var derivation = try SaltDerivation(key: key(backend), header: header, backend: backend)
    // In parts of different sizes: the salt must not depend on them.
    let sizes = [1, 4096, 65_521, 17, 1 << 20, 333_333]
    var start = 0
    var part = 0
    while start < payload.count {
      let end = min(start + sizes[part % sizes.count], payload.count)
      try derivation.update(payload.byteSpan.extracting(start..<end))
      start = end
      part += 1
    }
    return try derivation.salt(random: random)
  }
}
