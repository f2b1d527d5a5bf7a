/// A set of ASCII characters.
struct ByteSet: Sendable {
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  init(_ characters: String) {
    for byte in characters.utf8 { insert(byte) }
  }

  private init(_ ranges: ClosedRange<UInt8>..., and others: String = "") {
    for range in ranges {
      for byte in range { insert(byte) }
    }
    for byte in others.utf8 { insert(byte) }
  }

  private mutating func insert(_ byte: UInt8) {
    precondition(byte < 128, "only ASCII characters can be in a set")
    if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
  }

  func union(_ characters: String) -> ByteSet {
    var set = self
    for byte in characters.utf8 { set.insert(byte) }
    return set
  }

  func contains(_ byte: UInt8) -> Bool {
    guard byte < 128 else { return false }
    return (byte < 64 ? low >> UInt64(byte) : high >> UInt64(byte - 64)) & 1 == 1
  }

  private static let digit = UInt8(ascii: "0")...UInt8(ascii: "9")
  private static let upper = UInt8(ascii: "A")...UInt8(ascii: "Z")
  private static let lower = UInt8(ascii: "a")...UInt8(ascii: "z")

  static let digits = ByteSet(digit)
  static let hex = ByteSet(digit, UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"))
  static let upperAndDigits = ByteSet(upper, digit)
  static let letters = ByteSet(upper, lower)
  static let alphanumeric = ByteSet(digit, upper, lower)
  static let word = ByteSet(digit, upper, lower, and: "_")
  static let base64 = ByteSet(digit, upper, lower, and: "+/")
  static let base64URL = ByteSet(digit, upper, lower, and: "-_")
  static let dotted = ByteSet(digit, upper, lower, and: "-_.")
  static let dashed = ByteSet(digit, upper, lower, and: "-")
  static let slashed = ByteSet(digit, upper, lower, and: "+/-_")
}
