import Testing

@testable import PackProject

@Suite("A word for a shell")
struct ShellWordTests {
  @Test(
    "is never more than one word, and nothing in it is run",
    arguments: [
      ("dist/a b; echo hi.pack", "'dist/a b; echo hi.pack'"), ("$(id)", "'$(id)'"), ("`id`", "'`id`'"), ("a'b", #"'a'\''b'"#),
      ("", "''"), ("~", "'~'"), ("*", "'*'"), ("a=b", "'a=b'"), ("ゲーム", "'ゲーム'"), (#"a\b"#, #"'a\b'"#),
      ("a\nrm b", #"$'a\012rm b'"#), ("it's\u{202E}\\", #"$'it\'s\342\200\256\\'"#),
    ])
  func quoted(_ text: String, _ word: String) {
    #expect(ShellWord.quoted(text) == word)
  }

  @Test("is the text itself if all its characters are safe", arguments: ["dist/core-0011.pack", "Info.plist", "1.0.0+beta", "a_b:c,d@e"])
  func plain(_ text: String) {
    #expect(ShellWord.quoted(text) == text)
    #expect(ShellWord.path(text) == text)
  }

  @Test("for a path is not an option")
  func option() {
    #expect(ShellWord.path("-rf") == "./-rf")
    #expect(ShellWord.path("-r f") == "'./-r f'")
  }
}
