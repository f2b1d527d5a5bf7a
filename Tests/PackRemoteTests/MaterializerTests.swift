import Testing

@Suite("A materializer")
struct MaterializerTests {
  private struct Settings: Codable, Hashable, Sendable {
    struct Level: Codable, Hashable, Sendable {
      let name: String
      let stars: Int
    }

    let levels: [Level]
  }

  @Test(
    "text that is not UTF-8 is refused",
    arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0x61, 0xE2, 0x82], [0xF5, 0x80, 0x80, 0x80]] as [[UInt8]])
  func badText(_ bytes: [UInt8]) {
    #expect(code { () throws(PackError) in _ = try Materializer.text(bytes) } == .invalidContent)
  }

  @Test("text and bytes are returned unchanged", arguments: ["", "a", "\u{FEFF}a", "grün 🟢\0"])
  func text(_ text: String) throws {
    #expect(try Materializer.text(Array(text.utf8)) == text)
    #expect(try Materializer.bytes(Array(text.utf8)) == Array(text.utf8))
  }

  @Test("JSON is decoded to any decodable type")
  func json() throws {
    let settings = try Materializer.json(Settings.self)(Array(#"{"levels": [{"name": "one", "stars": 3}]}"#.utf8))
    #expect(settings == Settings(levels: [.init(name: "one", stars: 3)]))
  }

  @Test(
    "unexpected JSON is refused, and the error names the place but no values",
    arguments: [
      ("", "it cannot be parsed"),
      ("{", "it cannot be parsed"),
      (#"{"levels": 1} x"#, "it cannot be parsed"),
      ("{}", "'levels' is missing"),
      (#"{"levels": [{"name": "secret"}]}"#, "'levels[0].stars' is missing"),
      (#"{"levels": [{"name": "secret", "stars": "secret"}]}"#, "'levels[0].stars' is not of type Int"),
      (#"{"levels": [{"name": null, "stars": 3}]}"#, "'levels[0].name' is null, but must be of type String"),
      (#"{"levels": [{"name": "secret", "stars": 1.5}]}"#, "a number does not fit its type"),
    ])
  func badJSON(_ text: String, _ reason: String) throws {
    do throws(PackError) {
      _ = try Materializer.json(Settings.self)(Array(text.utf8))
      Issue.record("\(text) was taken")
    } catch {
      #expect(error.code == .invalidContent)
      #expect(error.message.contains(reason), "\(error.message)")
      #expect(!error.message.contains("secret"))
    }
  }

  @Test("a value that breaks a rule is refused, and the error contains the rule")
  func validated() throws {
    let levels = Materializer.json([Int].self).validated("there is a level") { !$0.isEmpty }.validated { $0.allSatisfy { $0 > 0 } }
    #expect(try levels(Array("[1, 2]".utf8)) == [1, 2])
    do throws(PackError) {
      _ = try levels(Array("[]".utf8))
      Issue.record("an empty list was taken")
    } catch {
      #expect(error.code == .invalidContent)
      #expect(error.message == "the content breaks a rule: there is a level")
    }
    #expect(code { () throws(PackError) in _ = try levels(Array("[0]".utf8)) } == .invalidContent)
  }

  @Test("an error of a transformation means invalid content, but a PackError is thrown unchanged")
  func map() throws {
    struct Secret: Error {}
    #expect(try Materializer.text.map(\.count)(Array("abc".utf8)) == 3)
    #expect(code { () throws(PackError) in _ = try Materializer.text.map { (_) throws -> Int in throw Secret() }([]) } == .invalidContent)
    let own = Materializer.text.map { (_) throws -> Int in throw PackError(.wrongKey, "wrong") }
    #expect(code { () throws(PackError) in _ = try own([]) } == .wrongKey)
  }
}
