/// The name a pack is published under: 1–64 of `A–Z a–z 0–9 . _ -`, the first a letter or digit (FORMAT.md §1).
///
/// The pack does not contain the name itself, only its digest, the pack id.
public struct PackName: Hashable, Sendable, CustomStringConvertible {
  /// The name.
  public let text: String

  /// Makes a name from a text.
  ///
  /// - Throws: ``PackError/Code/usage`` if the text is not a legal name.
  public init(_ text: String) throws(PackError) {
    let bytes = Array(text.utf8)
    func isAlphanumeric(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"):
        true
      default:
        false
      }
    }
    func isPunctuation(_ byte: UInt8) -> Bool {
      byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }
    guard let first = bytes.first, isAlphanumeric(first), bytes.count <= Limits.nameLength,
      bytes.allSatisfy({ isAlphanumeric($0) || isPunctuation($0) })
    else {
      throw PackError(
        .usage, "'\(text)' is not a pack name",
        advice: .developer("use 1 to \(Limits.nameLength) of A-Z a-z 0-9 . _ -, the first a letter or digit"))
    }
    self.text = text
  }

  /// The name.
  public var description: String { text }
}
