import Testing

@testable import PackProject

@Suite("What looks like a key")
struct KeyShapeTests {
  private static let digits = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
  private static let text = "pkk1-\(digits)-00000000"

  /// Spellings of a key, right and wrong.
  static let spellings: [String] =
    [text, digits, text.uppercased(), digits.uppercased(), text.replacing("pkk1", with: "pks1")].flatMap { key in
      [
        key, " \(key)", "\(key)\r", "\r\n\t\(key)\n", "'\(key)'", "\"\(key)", "\u{201C}\(key)\u{201D}", "0x\(key)", "env:\(key)",
        "file:\(key)",
        "fd:\(key)", "cmd:\(key)", "cmd:echo \(key)", "cmd:curl -H 'Key: \(key)'", "env: \(key)", "./\(key)", "/\(key)", "\(key)/",
        "key=\(key)",
        "\u{FEFF}\(key)", "\u{200B}\(key)", "\(key.prefix(20)) \(key.dropFirst(20))", "\(key.prefix(20))\u{A0}\(key.dropFirst(20))",
        key.enumerated().map { $0 % 2 == 0 ? "\($1)" : "\($1):" }.joined(), key.map { "\($0) " }.joined(), "<\(key)>", "keys/\(key).key",
        "\(key)\(key)",
      ]
    } + [
      String(text.prefix(40)), "pkk1-0123", "file:pks1-x",
      stride(from: 0, to: 64, by: 2).map { "\\x\(digits.dropFirst($0).prefix(2))" }.joined(),
    ]

  @Test("every spelling of a key is refused as a reference, and no error repeats a part of it", arguments: spellings)
  func refused(_ spelling: String) throws {
    #expect(KeyShape(in: spelling).isKey)
    let error = #expect(throws: PackError.self) { _ = try KeyReference(parsing: spelling) }
    #expect(error?.code == .usage)
    let said = [error?.description ?? "", error?.details.joined() ?? "", KeyShape.shown(spelling)].joined().lowercased()
    for start in stride(from: 0, to: 64, by: 8) { #expect(!said.contains(Self.digits.dropFirst(start).prefix(8))) }
  }

  @Test(
    "a reference that contains no key is accepted and shown",
    arguments: [
      "game.key", "file:keys/game.key", "env:GAME_KEY", "fd:3", "stdin", "cmd:op read op://vault/game/key", "out/apks1-build/game.key",
      "/builds/\(digits)/project/game.key", "cmd:git show 8f14e45fceea167a5a36dedd4bea2543ab12cd34:key", "chess-0123456789abcdef.key",
      "pk.key",
      "cmd:vault read deadbeef cafe", "", "-",
    ])
  func accepted(_ text: String) {
    #expect(!KeyShape(in: text).isKey)
    #expect(text.contains("8f14e") || KeyShape.shown(text) == text)
  }

  @Test("a part of a key may be the name of a file, but is not shown", arguments: [20, 32, 40, 63])
  func part(_ count: Int) throws {
    let name = String(Self.digits.dropFirst(2).prefix(count))
    let error = #expect(throws: PackError.self) { _ = try KeyReference(parsing: name).resolve { _ in } }
    #expect(error?.code == .noKey)
    #expect(error?.description.contains(name.prefix(12)) == false)
    #expect(KeyShape.shown(String(name.prefix(16))) == name.prefix(16))
  }

  @Test("a key with two wrong characters is not shown, wherever they are")
  func mistyped() {
    for first in 0..<64 {
      for second in first..<64 {
        var characters = Array(Self.digits)
        characters[first] = "l"
        characters[second] = "O"
        #expect(!KeyShape(in: String(characters)).isHarmless)
      }
    }
  }

  @Test("a public key is refused as a reference, but not called a secret")
  func publicKey() {
    let shape = KeyShape(in: " file:pkp1-\(Self.digits)-01234567")
    #expect(shape.isPublic && !shape.isKey && shape.isHarmless)
    let error = #expect(throws: PackError.self) { try KeyReference(parsing: "pkp1-\(Self.digits)-01234567") }
    #expect(error?.message.contains("public key") == true)
    // A secret behind it is still one.
    #expect(KeyShape(in: "pkp1-\(Self.digits)-01234567 \(Self.digits)").isKey)
  }
}
