import PackFormat
import Testing

@Suite("Errors")
struct PackErrorTests {
  @Test(
    "what a document has of characters that disturb a terminal stands escaped in messages",
    arguments: [
      ("\u{1B}[2J", "\\u{1b}[2J"), ("a\nb", "a\\u{a}b"), ("\u{9B}31m", "\\u{9b}31m"), ("\u{202E}gpj", "\\u{202e}gpj"),
      ("\u{7F}", "\\u{7f}"),
    ])
  func escapes(_ text: String, _ shown: String) {
    let error = PackError(.damagedManifest, "manifest has the key '\(text)'", details: ["'\(text)' is one"])

    #expect(error.message == "manifest has the key '\(shown)'")
    #expect(error.details == ["'\(shown)' is one"])
    #expect(error.about("dist/\(text)").message == "dist/\(shown): manifest has the key '\(shown)'")
  }

  @Test("other letters stay as they are")
  func letters() {
    #expect(PackError(.usage, "'größe/日本語 👾' is no name").message == "'größe/日本語 👾' is no name")
  }
}
