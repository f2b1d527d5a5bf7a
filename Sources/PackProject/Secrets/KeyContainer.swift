/// Files in DER, without names or texts, that hold private keys.
enum KeyContainer {
  /// The first byte of such a file.
  static let sequence: UInt8 = 0x30

  /// Returns why a whole file is a private key or a key store; nil if it is neither.
  ///
  /// The outer length must be that of the file, so that no other file is taken for one by chance.
  static func reason(_ file: Span<UInt8>) -> String? {
    guard let body = contents(of: file) else { return nil }
    let start = Array(copying: file.extracting(body..<min(file.count, body + 64)))
    // PKCS #12: version 3, then a sequence.
    if start.starts(with: [2, 1, 3, 0x30]) { return "contains a key store" }
    // PKCS #8: version 0 or 1, then the algorithm, which is a sequence with an object identifier.
    if start.starts(with: [2, 1, 0, 0x30]) || start.starts(with: [2, 1, 1, 0x30]), start.count > 5, start[5] == 6 {
      return "contains a private key"
    }
    // PKCS #1: version 0, then a modulus of 512 bits or more.
    if start.starts(with: [2, 1, 0, 2]), start.count > 4, start[4] >= 0x40 { return "contains a private key" }
    // SEC 1: version 1, then a key of 32 to 66 bytes.
    if start.starts(with: [2, 1, 1, 4]), start.count > 4, (32...66).contains(start[4]) { return "contains a private key" }
    // PKCS #8 with a password: the algorithm is password-based encryption (PKCS #5).
    let encryption: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5]
    if start.first == sequence, start.dropFirst(2).starts(with: encryption) { return "contains a private key" }
    return nil
  }

  /// Returns where the contents of a sequence start that fills the file; nil if there is none.
  private static func contents(of file: Span<UInt8>) -> Int? {
    guard file.count > 32, file[0] == sequence else { return nil }
    if file[1] < 0x80 { return Int(file[1]) + 2 == file.count ? 2 : nil }
    let bytes = Int(file[1] & 0x7F)
    guard (1...3).contains(bytes) else { return nil }
    let length = (0..<bytes).reduce(0) { $0 << 8 | Int(file[2 + $1]) }
    return length + 2 + bytes == file.count ? 2 + bytes : nil
  }
}
