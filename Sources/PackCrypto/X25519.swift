/// X25519 as key stanzas use it (FORMAT.md §2.6): public keys of one form only, and no shared secret that anyone knows.
enum X25519 {
  static let keySize = 32

  /// Returns what is wrong with a public key, or nil.
  static func problem(ofPublicKey bytes: Span<UInt8>) -> String? {
    precondition(bytes.count == keySize)
    let u = [UInt8](copying: bytes)
    // A set highest bit is not less than p, too.
    guard Ed25519.isLess(u, Ed25519.prime) else { return "is not in canonical form" }
    guard !smallOrders.contains(u) else { return "is of small order" }
    return nil
  }

  /// Returns the shared secret.
  ///
  /// - Parameter code: the code of the error if the shared secret is zero.
  static func sharedSecret(
    of secret: borrowing SecretBytes, with publicKey: Span<UInt8>, failing code: PackError.Code, backend: any CryptoBackend
  ) throws(PackError) -> SecretBytes {
    guard let shared = try backend.sharedSecret(of: secret, with: publicKey) else {
      throw PackError(code, "the public key in a key exchange is of small order, so that anyone knows the result")
    }
    return shared
  }

  /// Whether a shared secret is zero, in a time that does not depend on its bytes.
  static func isZero(_ secret: borrowing SecretBytes) -> Bool {
    let zeros = [UInt8](repeating: 0, count: secret.count)
    return secret.withSpan { equalInConstantTime($0, zeros.byteSpan) }
  }

  /// The u coordinates of the points whose order divides 8, on the curve and on its twist: 0, 1, p − 1, and the two of order 8.
  private static let smallOrders: [[UInt8]] = [
    [UInt8](repeating: 0, count: 32),
    [1] + [UInt8](repeating: 0, count: 31),
    [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F],
    [
      0xE0, 0xEB, 0x7A, 0x7C, 0x3B, 0x41, 0xB8, 0xAE, 0x16, 0x56, 0xE3, 0xFA, 0xF1, 0x9F, 0xC4, 0x6A,
      0xDA, 0x09, 0x8D, 0xEB, 0x9C, 0x32, 0xB1, 0xFD, 0x86, 0x62, 0x05, 0x16, 0x5F, 0x49, 0xB8, 0x00,
    ],
    [
      0x5F, 0x9C, 0x95, 0xBC, 0xA3, 0x50, 0x8C, 0x24, 0xB1, 0xD0, 0xB1, 0x55, 0x9C, 0x83, 0xEF, 0x5B,
      0x04, 0x44, 0x5C, 0xC4, 0x58, 0x1C, 0x8E, 0x86, 0xD8, 0x22, 0x4E, 0xDD, 0xD0, 0x9F, 0x11, 0x57,
    ],
  ]
}
