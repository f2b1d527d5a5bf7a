/// Ed25519 as manifests use it (FORMAT.md §9.2): pure, with the same result for every signature in all libraries.
package enum Ed25519 {
  package static let seedSize = 32
  package static let publicKeySize = 32
  package static let signatureSize = 64

  /// Whether a signature is valid.
  ///
  /// The rules of FORMAT.md §9.2 for encodings are checked here before the library is called, because libraries differ.
  package static func isValid(
    _ signature: Span<UInt8>, of message: Span<UInt8>, publicKey: Span<UInt8>,
    backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> Bool {
    guard signature.count == signatureSize, publicKey.count == publicKeySize,
      isBelowOrder(signature.extracting(32..<64)),
      problem(ofPoint: signature.extracting(0..<32)) == nil, problem(ofPoint: publicKey) == nil
    else { return false }
    return try backend.isAccepted(signature, of: message, publicKey: publicKey)
  }

  /// Returns what is wrong with the encoding of a point, or nil. Only what can be checked without curve arithmetic is checked.
  ///
  /// The library checks whether it is a point on the curve.
  static func problem(ofPoint bytes: Span<UInt8>) -> String? {
    precondition(bytes.count == publicKeySize)
    var y = [UInt8](copying: bytes)
    // The highest bit is the sign of x.
    y[31] &= 0x7F
    guard isLess(y, prime) else { return "is not in canonical form" }
    // The points of order 1, 2, 4 and 8. Two of them have x = 0, so the sign bit would give them a second form. All forms are refused.
    guard !smallOrders.contains(y) else { return "is of small order" }
    return nil
  }

  /// Whether a scalar is less than the order of the group, L.
  private static func isBelowOrder(_ scalar: Span<UInt8>) -> Bool {
    isLess([UInt8](copying: scalar), order)
  }

  /// Whether one number is less than another of the same length, both little-endian.
  static func isLess(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    for index in left.indices.reversed() where left[index] != right[index] { return left[index] < right[index] }
    return false
  }

  /// p = 2^255 − 19.
  static let prime: [UInt8] = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]

  /// L = 2^252 + 27742317777372353535851937790883648493.
  private static let order: [UInt8] = [
    0xED, 0xD3, 0xF5, 0x5C, 0x1A, 0x63, 0x12, 0x58, 0xD6, 0x9C, 0xF7, 0xA2, 0xDE, 0xF9, 0xDE, 0x14,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10,
  ]

  /// The y coordinates of the eight points whose order divides 8: 0, 1, p − 1, and the two of order 8.
  private static let smallOrders: [[UInt8]] = [
    [UInt8](repeating: 0, count: 32),
    [1] + [UInt8](repeating: 0, count: 31),
    [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F],
    [
      0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0,
      0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
    ],
    [
      0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F,
      0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
    ],
  ]
}
