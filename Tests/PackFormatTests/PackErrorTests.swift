import Testing

@Suite("Errors")
struct PackErrorTests {
  @Test(
    "characters of a document that disturb a terminal are escaped in messages",
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

  @Test("a fault continues the sentence that its subject begins")
  func subject() {
    let error = PackError(.missingInput, of: "game.pack", "does not exist")

    #expect(error.subject == "game.pack" && error.fault == "does not exist")
    #expect(error.message == "game.pack does not exist")
    #expect(PackError(.truncated, "pack ends at byte 5").subject == nil)
  }

  @Test("an error names its subject once, even if it is set again")
  func aboutOnce() {
    let error = PackError(.truncated, "pack ends at byte 5", details: ["byte 5"], advice: .fetchAgain).about("game.pack")

    #expect(error.subject == "game.pack" && error.fault == "pack ends at byte 5")
    #expect(error.message == "game.pack: pack ends at byte 5")
    #expect(error.about("game.pack").message == error.message)
    #expect(PackError(.missingInput, of: "a\nb", "is gone").about("a\nb").message == "a\\u{a}b is gone")
    #expect(error.code == .truncated && error.details == ["byte 5"] && error.advice == .fetchAgain)
  }

  @Test("an error about a thing inside another one names both, even if the names begin alike")
  func aboutBoth() {
    let error = PackError(.missingInput, of: "game.pack.key", "does not exist").about("game.pack")

    #expect(error.subject == "game.pack" && error.fault == "game.pack.key does not exist")
    #expect(error.message == "game.pack: game.pack.key does not exist")
  }

  @Test("rewording changes every text except the advice, and new advice changes only the advice")
  func rewording() {
    let error = PackError(.cannotWrite, of: "tmp/a", "is not in tmp", details: ["tmp/b"], advice: .developer("clean tmp"))
    let other = error.rewording { $0.replacing("tmp", with: "out") }

    #expect(other.message == "out/a is not in out" && other.subject == "out/a" && other.details == ["out/b"])
    #expect(other.advice == error.advice)
    #expect(other.advising(.tryAgain).message == other.message && other.advising(.tryAgain).advice == .tryAgain)
    #expect(other.advising(nil).advice == nil)
  }

  @Test("an error prints its message, then the default text of its advice")
  func description() {
    #expect("\(PackError(.noSpace, of: "a", "is full", advice: .freeSpace(bytes: 7)))" == "a is full (hint: free 7 bytes on the volume)")
    #expect("\(PackError(.noSpace, of: "a", "is full"))" == "a is full")
  }
}

@Suite("Advice")
struct AdviceTests {
  @Test("has its own id and a default text without a command", arguments: PackError.Advice.samples)
  func words(advice: PackError.Advice) {
    #expect(advice.id.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil)
    #expect(PackError.Advice.samples.count { $0.id == advice.id } == 1)
    #expect(!advice.description.isEmpty && !advice.description.contains("packer") && !advice.description.contains("--"))
  }
}
