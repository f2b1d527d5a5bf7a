import Testing

@Suite("Text from UTF-8")
struct ValidTextTests {
  @Test(
    "is refused if any byte is invalid",
    arguments: [
      [0x80], [0xFF], [0xC0, 0xAF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE4, 0xBD],
      [0x41, 0xE4, 0xBD, 0x41],
      // As long as the character that replaces it.
      [0xF0, 0x9F, 0x98],
    ] as [[UInt8]])
  func invalid(bytes: [UInt8]) {
    #expect(String(validUTF8: bytes) == nil)
    #expect(String(validUTF8: Array("0123456789".utf8) + bytes) == nil)
    #expect(String(validUTF8: bytes + Array("0123456789".utf8)) == nil)
    #expect(String(validUTF8: bytes.lazy.map { $0 }) == nil)
  }

  // The third is the character that replaces invalid bytes; two have the same letters, composed differently.
  @Test(
    "has exactly the bytes, whatever they mean",
    arguments: ["", "a\0b", "\u{FFFD}", "gr\u{F6}\u{DF}e", "gro\u{308}\u{DF}e", "\u{FEFF}\u{65E5}\u{672C}", "\u{1F9F6}\u{10FFFF}"])
  func valid(text: String) throws {
    let bytes = Array(text.utf8)
    let made = try #require(String(validUTF8: bytes))
    #expect(Array(made.utf8) == bytes)
    let fromSlice = try #require(String(validUTF8: ([0x80] + bytes + [0x80]).dropFirst().dropLast()))
    #expect(Array(fromSlice.utf8) == bytes)
    let fromScattered = try #require(String(validUTF8: bytes.lazy.map { $0 }))
    #expect(Array(fromScattered.utf8) == bytes)
  }
}
