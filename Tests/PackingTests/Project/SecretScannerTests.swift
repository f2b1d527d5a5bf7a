import TestSupport
import Testing

@testable import PackProject

@Suite("The search for secrets")
struct SecretScannerTests {
  private struct Found: Equatable, CustomStringConvertible {
    var matches: [String]
    var conflict: UInt64?

    var description: String { "\(matches), conflict \(conflict.map { "\($0)" } ?? "none")" }
  }

  /// Scans bytes in pieces that end at these places.
  private func scan(_ bytes: [UInt8], endingAt ends: [Int] = []) -> Found {
    var scanner = SecretScanner()
    var start = 0
    for end in ends + [bytes.count] {
      scanner.add(bytes.byteSpan.extracting(start..<end), isLast: end == bytes.count)
      start = end
    }
    return Found(matches: scanner.matches.map { "\($0.rule.id) \($0.offset)" }.sorted(), conflict: scanner.conflict)
  }

  private func rules(_ text: String) -> Set<String> {
    Set(scan(Array(text.utf8)).matches.map { String($0.prefix { $0 != " " }) })
  }

  // MARK: Cases

  @Test("finds each kind", arguments: SecretCases.all.indices)
  func found(_ number: Int) {
    let (rule, text) = SecretCases.all[number]
    #expect(rules(text) == [rule])
    // Far into a file that is one line, and in a text with the line ends of Windows.
    let code = String(repeating: "a(b,c);", count: 700)
    #expect(rules(code + "\"" + text + "\"" + code) == [rule])
    #expect(rules("x = 1\r\n" + text + "\r\ny\r\n") == [rule])
  }

  @Test("has at least 60 cases of 20 kinds, and a case for every form")
  func counts() {
    let kinds = Set(SecretCases.all.map(\.rule))
    #expect(SecretCases.all.count >= 60 && kinds.count >= 20)
    #expect(kinds.isSubset(of: SecretRule.all.map(\.id)))
  }

  @Test("finds nothing in what only resembles a secret", arguments: SecretCases.harmless.indices)
  func harmless(_ number: Int) {
    #expect(rules(SecretCases.harmless[number].text) == [], "\(SecretCases.harmless[number].name)")
  }

  @Test("finds a secret at the end of a line of 3 MiB")
  func longLine() {
    let line = String(repeating: "var a=b?c:d,e=f>>>3===g;", count: 131_072)
    #expect(rules(line + SecretCases.forges[0].text) == ["github-token"])
    #expect(rules(line) == [])
  }

  @Test("does not read UTF-16")
  func otherEncoding() {
    var wide: [UInt8] = [0xFF, 0xFE]
    for byte in SecretCases.forges[0].text.utf8 { wide += [byte, 0] }
    #expect(scan(wide).matches == [])
  }

  // MARK: Pieces

  @Test("finds the same wherever a piece ends", arguments: SecretCases.all.indices)
  func borders(_ number: Int) {
    let text = Array((String(repeating: "let x = 1;\n", count: 30) + SecretCases.all[number].text + "\nend;\n").utf8)
    let whole = scan(text)
    #expect(!whole.matches.isEmpty)
    for end in 1..<text.count { #expect(scan(text, endingAt: [end]) == whole, "a piece ends at \(end)") }
  }

  @Test(
    "finds the same in pieces of any size, and in parts that are scanned on their own", arguments: [1, 2, 3, 7, 64, 319, 640, 961, 2000])
  func pieces(_ size: Int) {
    let text = document
    let whole = scan(text)
    #expect(whole.matches.count == Set(SecretCases.all.map(\.rule)).count && whole.conflict != nil)
    #expect(scan(text, endingAt: Array(stride(from: size, to: text.count, by: size))) == whole)

    var found: [SecretScanner.Match] = []
    for start in stride(from: 0, to: text.count, by: size) {
      var scanner = SecretScanner(from: UInt64(start))
      if start > 0 {
        scanner.add(text.byteSpan.extracting(max(0, start - Int(SecretScanner.overlap))..<start), isLast: false)
      }
      let end = min(start + size, text.count)
      scanner.add(text.byteSpan.extracting(start..<end), isLast: end == text.count)
      found += scanner.matches
    }
    // Each part reports the first match of a rule in it, so only the first in the file is compared.
    var first: [Int: UInt64] = [:]
    for match in found { first[match.number] = min(first[match.number] ?? .max, match.offset) }
    #expect(first.map { "\(SecretRule.all[$0.key].id) \($0.value)" }.sorted() == whole.matches)
  }

  @Test("finds the same in random texts however they are cut")
  func random() {
    var random = SeededGenerator()
    for _ in 0..<20 {
      var text: [UInt8] = []
      for _ in 0..<Int.random(in: 1...12, using: &random) {
        switch Int.random(in: 0...3, using: &random) {
        case 0: text += random.bytes(Int.random(in: 0...700, using: &random))
        case 1: text += Array(SecretCases.all.randomElement(using: &random)!.text.utf8)
        case 2: text += Array(SecretCases.harmless.randomElement(using: &random)!.text.utf8)
        default: text += Array(Self.merge.utf8)
        }
        text.append(10)
      }
      let whole = scan(text)
      for _ in 0..<20 {
        let ends = (0..<Int.random(in: 0...5, using: &random)).map { _ in Int.random(in: 1..<text.count, using: &random) }
        #expect(scan(text, endingAt: ends.sorted()) == whole)
      }
    }
  }

  @Test("finds nothing in random bytes")
  func noise() {
    var random = SeededGenerator()
    #expect(scan(random.bytes(1 << 20)) == Found(matches: [], conflict: nil))
  }

  /// A case of every kind, with scripts between them, and a conflict.
  private var document: [UInt8] {
    var text = "start\n"
    var kinds: Set<String> = []
    for (rule, secret) in SecretCases.all where kinds.insert(rule).inserted {
      text += secret + "\n" + String(repeating: "if (a === b) { return c >>> 1 }\n", count: 20)
    }
    return Array((text + Self.merge).utf8)
  }

  // MARK: Conflicts

  private static let merge = "<<<<<<< HEAD\nvar a = 1\n=======\nvar a = 2\n>>>>>>> branch\n"

  @Test(
    "finds the marks of a merge",
    arguments: [
      merge, "x\n" + merge, merge.replacing("\n", with: "\r\n"), "<<<<<<< a\n||||||| base\n=======\n>>>>>>> b",
      "<<<<<<< a\n<<<<<<< b\n=======\n>>>>>>> c\n", "Title\n=======\n" + merge, "<<<<<<< a\nb\n=======\nc\n", "<<<<<<< a\n=======",
    ])
  func conflict(_ text: String) {
    let bytes = Array(text.utf8)
    let whole = scan(bytes)
    #expect(whole.conflict != nil)
    for end in 1..<bytes.count { #expect(scan(bytes, endingAt: [end]) == whole, "a piece ends at \(end)") }
  }

  @Test(
    "does not take other lines for a merge",
    arguments: [
      "Title\n=======\n\nText\n", "<<<<<<< HEAD\nno end\n", "=======\n>>>>>>> b\n<<<<<<< a\n", " " + merge.replacing("\n", with: "\n "),
      "<<<<<<<< a\n========\n>>>>>>>> b\n", "<<<<<<<a\n=======\n>>>>>>> b\n", "<<<<<<< a\n======= b\n>>>>>>> c\n", ">>>>>>> quote\n",
    ])
  func noConflict(_ text: String) {
    #expect(scan(Array(text.utf8)).conflict == nil)
  }

  @Test("a conflict is found across pieces, far apart")
  func farConflict() {
    let lines = String(repeating: "line\n", count: 2000)
    let text = Array((lines + "<<<<<<< HEAD\n" + lines + "=======\n" + lines + ">>>>>>> b\n" + lines).utf8)
    #expect(scan(text, endingAt: Array(stride(from: 777, to: text.count, by: 777))).conflict == 10_000)
    #expect(scan(text).conflict == 10_000)
  }
}
