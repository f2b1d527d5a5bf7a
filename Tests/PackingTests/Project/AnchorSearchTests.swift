import TestSupport
import Testing

@testable import PackProject

@Suite("The search for anchors")
struct AnchorSearchTests {
  private static let texts = ["ghp_", "AKIA", "<<<<", ":AA0", "\n\tA~", "zzzz", "!!!!"]

  private func number(_ text: some Sequence<UInt8>) -> UInt32 { text.reversed().reduce(0) { $0 << 8 | UInt32($1) } }

  /// All places that a search returns and where one of the texts is.
  private func places(_ search: AnchorSearch, _ bytes: [UInt8], in range: Range<Int>) -> [Int] {
    let texts = Set(Self.texts.map { number($0.utf8) })
    var found: [Int] = []
    var start = range.lowerBound
    while start < range.upperBound, let place = search.next(bytes.byteSpan, in: start..<range.upperBound) {
      if texts.contains(number(bytes[place..<place + 4])) { found.append(place) }
      start = place + 1
    }
    return found
  }

  private func search(_ method: AnchorSearch.Method) -> AnchorSearch {
    AnchorSearch(Self.texts.enumerated().map { (number($1.utf8), ($0 * 5) % 16) }, method: method)
  }

  @Test("finds each text wherever it is, and nothing after the range", arguments: AnchorSearch.Method.available)
  func everywhere(_ method: AnchorSearch.Method) {
    let search = search(method)
    for text in Self.texts {
      for size in 4...80 {
        for place in 0...size - 4 {
          var bytes = [UInt8](repeating: 0xA0, count: size)
          bytes.replaceSubrange(place..<place + 4, with: text.utf8)
          #expect(places(search, bytes, in: 0..<size - 3) == [place])
          #expect(places(search, bytes, in: 0..<place) == [] && places(search, bytes, in: place + 1..<max(place + 1, size - 3)) == [])
        }
      }
    }
  }

  @Test("finds the same with each method in random bytes", arguments: AnchorSearch.Method.available)
  func random(_ method: AnchorSearch.Method) {
    var random = SeededGenerator()
    let search = search(method)
    for _ in 0..<300 {
      var bytes = random.bytes(Int.random(in: 4...2000, using: &random))
      if Bool.random(using: &random) { bytes = bytes.map { $0 & 0x7F } }
      for _ in 0..<Int.random(in: 0...20, using: &random) {
        let place = Int.random(in: 0...bytes.count - 4, using: &random)
        bytes.replaceSubrange(place..<place + 4, with: Self.texts.randomElement(using: &random)!.utf8)
      }
      let texts = Set(Self.texts.map { number($0.utf8) })
      let start = Int.random(in: 0...bytes.count - 4, using: &random)
      let expected = (start..<bytes.count - 3).filter { texts.contains(number(bytes[$0..<$0 + 4])) }
      #expect(places(search, bytes, in: start..<bytes.count - 3) == expected)
    }
  }

  @Test("returns a place in the first text of 16 bytes", arguments: AnchorSearch.Method.available)
  func texts(_ method: AnchorSearch.Method) {
    var random = SeededGenerator()
    let search = search(method)
    for _ in 0..<2000 {
      // Noise without ASCII, with texts of a few bytes, and one that is long enough.
      var bytes = random.bytes(Int.random(in: 0...300, using: &random)).map { $0 | 0x80 }
      for place in bytes.indices where Int.random(in: 0..<4, using: &random) == 0 { bytes[place] = 0x08 }
      #expect(search.nextText(bytes.byteSpan, in: 0..<bytes.count) == nil)
      let place = Int.random(in: 0...bytes.count, using: &random)
      let count = Int.random(in: 1...40, using: &random)
      bytes.insert(contentsOf: (0..<count).map { _ in UInt8.random(in: 0x09...0x7F, using: &random) }, at: place)
      let found = search.nextText(bytes.byteSpan, in: 0..<bytes.count)
      #expect(count < 16 ? found == nil : found.map { (place..<place + count).contains($0) } == true)
    }
  }

  @Test("a scanner finds every case with each method", arguments: AnchorSearch.Method.available)
  func scanner(_ method: AnchorSearch.Method) {
    var random = SeededGenerator()
    let table = SecretTable(SecretRule.all, method: method)
    for (rule, text) in SecretCases.all {
      for isBinary in [true, false] {
        let around = (0..<2).map { _ in
          let bytes = random.bytes(Int.random(in: 0...9000, using: &random))
          return isBinary ? bytes : bytes.map { UInt8(ascii: " ") + $0 % 64 / 60 * 10 }
        }
        let bytes = around[0] + [10] + Array(text.utf8) + [10] + around[1]
        var scanner = SecretScanner(table: table)
        scanner.add(bytes.byteSpan, isLast: true)
        #expect(scanner.matches.map(\.rule.id) == [rule])
      }
    }
  }

  @Test("each anchor is in one group, so that a new rule does not make the search slow")
  func groups() {
    for rule in SecretRule.all {
      for literal in rule.literals {
        let anchor = literal.bytes[literal.anchor..<literal.anchor + 4]
        #expect(SecretTable.listedGroup(of: number(anchor)) != nil, "\(rule.id): list '\(printable(anchor))' in SecretTable.groups")
        #expect(literal.bytes.count < SecretTable.longestLiteral)
      }
    }
  }
}
