import Testing

@Suite("Content that cannot be what the file's name says")
struct UnfitContentTests {
  @Test(
    "a web page, a text, zeros and nothing are recognised",
    arguments: [
      ("", UnfitContent.nothing), ("\0", .zeros), ("\0\0\0\0\0", .zeros), ("<!DOCTYPE html>", .page), ("\r\n <HTML lang=en>", .page),
      ("../shared/hero.png", .text), ("404: Not Found\n", .text), (String(repeating: "x", count: 1024), .text),
    ])
  func kinds(_ text: String, _ expected: UnfitContent) {
    #expect(UnfitContent(Array(text.utf8).byteSpan) == expected)
  }

  @Test(
    "other contents are nothing of that",
    arguments: ["\0\0\0\u{1}", "\u{89}PNG", "GIF89a\u{1}", "OggS\0", "wOF2\0", "\0asm\u{1}", String(repeating: "x", count: 1025), "é"])
  func others(_ text: String) {
    #expect(UnfitContent(Array(text.utf8).byteSpan) == nil)
  }

  @Test(
    "a name decides whether the content is wrong",
    arguments: [
      ("img/a.png", "zeros text page nothing"), ("A.PNG", "zeros text page nothing"), ("a.woff2", "zeros text page nothing"),
      ("js/a.js", "zeros page"), ("a.json", "zeros page"), ("index.html", "zeros"), ("a.txt", ""), ("a.bin", ""), ("png", ""),
      ("a.png/readme", ""), ("", ""), ("a.svg", ""),
    ])
  func names(_ path: String, _ expected: String) {
    let kinds: [(UnfitContent, String)] = [(.zeros, "zeros"), (.text, "text"), (.page, "page"), (.nothing, "nothing")]
    #expect(kinds.filter { $0.0.isUnfit(for: path) }.map(\.1).joined(separator: " ") == expected)
  }
}

@Suite("Keys without texts, and texts in UTF-16")
struct KeyContainerTests {
  private func sequence(_ body: [UInt8]) -> [UInt8] {
    let body = body + [UInt8](repeating: 0x5A, count: max(0, 200 - body.count))
    return [0x30, 0x81, UInt8(body.count)] + body
  }

  private func reason(_ bytes: [UInt8]) -> String? { SourceRules.secret(content: bytes.byteSpan) }

  @Test(
    "a private key or a key store in DER is recognised",
    arguments: [
      [2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70, 4, 0x22], [2, 1, 1, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70], [2, 1, 0, 2, 0x81, 0x81, 0],
      [2, 1, 1, 4, 32], [2, 1, 3, 0x30, 0x82], [0x30, 0x40, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5, 0x0D],
    ])
  func key(_ body: [UInt8]) {
    let file = sequence(body)
    #expect(reason(file) != nil)
    // The length must be that of the file.
    #expect(reason(file + [0]) == nil)
    #expect(reason(Array(file.dropLast())) == nil)
  }

  @Test(
    "a certificate, a public key and other data are not",
    arguments: [
      [0x30, 0x81, 0x90, 0xA0, 3, 2, 1, 2], [0x30, 0x0D, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1], [2, 1, 2, 0x30], [],
      [2, 1, 0],
    ])
  func noKey(_ body: [UInt8]) {
    #expect(reason(sequence(body)) == nil)
    #expect(reason([0x30]) == nil && reason([0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF]) == nil)
  }

  @Test("a text in UTF-16 becomes one byte for each unit, in both byte orders")
  func wide() throws {
    let text = "key = \"pkk1-é\"\n"
    let expected = Array("key = \"pkk1- \"\n".utf8)
    for isBig in [false, true] {
      let bytes: [UInt8] = ([0xFEFF] + Array(text.utf16)).flatMap { unit in
        isBig ? [UInt8(unit >> 8), UInt8(unit & 0xFF)] : [UInt8(unit & 0xFF), UInt8(unit >> 8)]
      }
      #expect(WideText.narrowed(bytes.byteSpan) == expected)
      #expect(WideText.narrowed(Array(bytes.dropLast()).byteSpan) == nil)
    }
    #expect(WideText.narrowed(Array(text.utf8).byteSpan) == nil)
    #expect(WideText.narrowed([UInt8]([0xFF, 0xFE]).byteSpan) == nil)
  }
}
