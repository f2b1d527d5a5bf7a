/// What looks like a secret key in a text, also if the key is spelled wrongly: with spaces, quotes or separators in it, in upper case, behind another
/// word, or cut off.
///
/// Every text that a person gives as a key reference is searched before it is used, and before a message repeats it.
package struct KeyShape: Hashable, Sendable {
  /// The kind of key whose prefix the text contains (`pkk1-`, `pks1-`, `pkt1-`, `pkx1-`); nil if it contains none.
  package private(set) var prefixed: KeyKind?
  /// Whether the text contains the prefix of a public key, with digits behind it.
  package private(set) var isPublic = false
  /// The largest number of hexadecimal digits in a row. Digits of a public key and of a directory in a path do not count.
  package private(set) var digitCount = 0

  /// The number of digits of a key.
  private static let keyDigits = 64
  /// The number of digits that may be a part of a key. Names of packs contain 16, and a key with two wrong characters has 21 in a row.
  private static let partDigits = 20
  /// The number of digits after a prefix that is a part of another word, as in `apks1-`.
  private static let prefixDigits = 8
  /// The number of digits of a public key, with its checksum.
  private static let publicDigits = 72

  /// Whether the text contains a key: its prefix, or as many digits as a key has.
  package var isKey: Bool { prefixed != nil || digitCount >= Self.keyDigits }

  /// Whether a message may repeat the text: it contains neither a key nor a part of one.
  package var isHarmless: Bool { prefixed == nil && digitCount < Self.partDigits }

  package init(in text: String) {
    var text = text
    self = text.withUTF8 { unsafe KeyShape(in: Span(_unsafeElements: $0)) }
  }

  /// Searches bytes in place, without a copy of them.
  package init(in text: Span<UInt8>) {
    var end = text.count
    while end > 0, !Self.isWord(text[end - 1]) { end -= 1 }
    // The last four letters or digits, and for each whether a word starts with it.
    var recent: UInt32 = 0
    var starts: UInt8 = 0
    var isWordStart = true
    var previous: UInt8 = 0
    // The digits in a row, and the prefix before them.
    var run = 0
    var prefix: Prefix?

    for index in 0..<end {
      let byte = text[index]
      defer { previous = byte }
      guard Self.isWord(byte) else {
        if byte == UInt8(ascii: "-"), previous == UInt8(ascii: "1"), starts & 0b1000 != 0, case .secret(let kind)? = Prefix(recent) {
          prefixed = prefixed ?? kind
        }
        // What is before a slash names a directory.
        if byte == UInt8(ascii: "/") { (run, prefix) = (0, nil) }
        isWordStart = true
        continue
      }
      let letter = byte | (byte >= 0x41 ? 0x20 : 0)
      // As in 0x12 and \\x12.
      if letter == UInt8(ascii: "x"), previous == UInt8(ascii: "0") || previous == UInt8(ascii: "\\") { continue }
      starts = starts << 1 | (isWordStart ? 1 : 0)
      isWordStart = false
      recent = recent << 8 | UInt32(letter)
      guard Self.isDigit(letter) else {
        add(run, prefix)
        (run, prefix) = (0, nil)
        continue
      }
      run += 1
      if let found = Prefix(recent) {
        (run, prefix) = (0, found)
      } else if prefix == .public, run > Self.publicDigits {
        // What follows a public key is none.
        isPublic = true
        (run, prefix) = (1, nil)
      }
    }
    add(run, prefix)
  }

  /// Adds digits in a row, with the prefix before them.
  private mutating func add(_ run: Int, _ prefix: Prefix?) {
    if prefix == .public {
      if run >= Self.prefixDigits { isPublic = true }
      return
    }
    digitCount = max(digitCount, run)
    if case .secret(let kind)? = prefix, run >= Self.prefixDigits { prefixed = prefixed ?? kind }
  }

  /// Returns a text for a message: without a change if it is harmless, otherwise a sign that stands for it.
  package static func shown(_ text: String) -> String {
    KeyShape(in: text).isHarmless ? text : withheld
  }

  /// The sign for a text that a message must not repeat.
  package static let withheld = "'…' (not shown, may be a key)"

  private static func isWord(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  private static func isDigit(_ letter: UInt8) -> Bool {
    (0x30...0x39).contains(letter) || (0x61...0x66).contains(letter)
  }

  /// The prefix of a key text, without its hyphen.
  private enum Prefix: Equatable {
    case secret(KeyKind)
    case `public`

    /// - Parameter letters: four letters or digits, in lower case.
    init?(_ letters: UInt32) {
      switch letters {
      case 0x706B_6B31: self = .secret(.content)  // pkk1
      case 0x706B_7331: self = .secret(.signing)  // pks1
      case 0x706B_7431: self = .secret(.root)  // pkt1
      case 0x706B_7831: self = .secret(.recipient)  // pkx1
      case 0x706B_7031, 0x706B_7131, 0x706B_7731: self = .public  // pkp1, pkq1, pkw1
      default: return nil
      }
    }
  }
}
