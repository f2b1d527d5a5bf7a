import TestSupport
import Testing

@Suite("Log events")
struct LogEventTests {
  @Test("without a logger no value is computed")
  func unset() {
    let none: (any PackLogger)? = nil
    var count = 0
    func value() -> [LogValue] {
      count += 1
      return [.public("count", count)]
    }
    none.record(.error, .store, "failed", value())
    #expect(count == 0)
    let logger = RecordingLogger()
    let some: (any PackLogger)? = logger
    some.record(.error, .store, "failed", value())
    #expect(count == 1)
    #expect(logger.take() == ["error store: failed count=1"])
  }

  @Test("a private value is only in the full text")
  func privateValue() {
    let event = LogEvent(.notice, .downloads, "cannot be read", [.public("pack", "core"), .private("path", "/var/mobile/core.pack")])
    #expect("\(event)" == "cannot be read pack=core path=<private>")
    #expect(event.fullText == "cannot be read pack=core path=/var/mobile/core.pack")
    #expect(event.values.map(\.isPrivate) == [false, true])
  }

  @Test("the code of an error is public, and its message is private")
  func error() {
    let values = [LogValue].error(PackError(.missingInput, of: "/var/mobile/core.pack", "does not exist"), pack: "core")
    #expect("\(LogEvent(.error, .store, "failed", values))" == "failed pack=core code=missing-input error=<private>")
    #expect(values.last?.text == "/var/mobile/core.pack does not exist")
  }

  @Test("a value cannot add a line, or move the cursor of a terminal")
  func printable() {
    let value = LogValue.public("reason", "a\nerror store: forged\u{1b}[2J")
    #expect(value.text == "a\\u{a}error store: forged\\u{1b}[2J")
  }
}
