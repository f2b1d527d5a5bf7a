/// Writes texts that compress like texts written by people: the frequencies of names are like those of words, each file reuses its own names,
/// and lines repeat.
struct TextWriter {
  private let lexicon: Lexicon
  private var noise: Noise
  /// The ranks of the names that the file reuses.
  private var locals: [Int] = []

  init(seed: UInt64, lexicon: Lexicon = .standard) {
    self.lexicon = lexicon
    noise = Noise(seed: seed)
    for _ in 0..<noise.within(16...40) { locals.append(lexicon.name(&noise, dialect: 0)) }
  }

  /// Appends exactly `size` bytes of one file.
  mutating func append(_ grammar: Grammar, size: Int, to bytes: inout [UInt8]) {
    let end = bytes.count + size
    var depth = 0
    for line in grammar.start { append(line, depth: 0, grammar, to: &bytes) }
    // Recent lines are repeated, as in programs, where lines are often copied.
    var recent: [Int] = []
    while bytes.count < end {
      switch noise.below(16) {
      case 0...1 where depth < 6:
        append(grammar.opening[noise.below(grammar.opening.count)], depth: depth, grammar, to: &bytes)
        depth += 1
      case 2...3 where depth > 0:
        depth -= 1
        append(grammar.closing, depth: depth, grammar, to: &bytes)
      case 4 where !recent.isEmpty && !grammar.isMinified:
        repeatLine(from: recent[noise.below(recent.count)], to: &bytes)
      default:
        if recent.count == 24 { recent.removeFirst(12) }
        recent.append(bytes.count)
        append(grammar.plain[noise.below(noise.below(grammar.plain.count) + 1)], depth: depth, grammar, to: &bytes)
      }
    }
    bytes.removeLast(bytes.count - end)
    if size > 0, !grammar.isMinified { bytes[end - 1] = UInt8(ascii: "\n") }
  }

  /// Appends one plain line, as an edit does.
  mutating func appendLine(_ grammar: Grammar, to bytes: inout [UInt8]) {
    append(grammar.plain[noise.below(grammar.plain.count)], depth: 1, grammar, to: &bytes)
  }

  private func repeatLine(from start: Int, to bytes: inout [UInt8]) {
    guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) else { return }
    // Copied first: a slice would share the whole buffer, so appending would copy all of it.
    bytes.append(contentsOf: Array(bytes[start...end]))
  }

  private mutating func append(_ line: Grammar.Line, depth: Int, _ grammar: Grammar, to bytes: inout [UInt8]) {
    if !grammar.isMinified {
      for _ in 0..<depth { bytes.append(contentsOf: Self.indentation) }
    }
    for piece in line.pieces {
      switch piece {
      case .text(let text): bytes.append(contentsOf: text)
      case .name: bytes.append(contentsOf: lexicon.names[lexicon.name(&noise, dialect: grammar.dialect)])
      case .local:
        let rank = locals[noise.below(noise.below(locals.count) + 1)] % Lexicon.namesPerDialect
        bytes.append(contentsOf: lexicon.names[grammar.dialect % Lexicon.dialects * Lexicon.namesPerDialect + rank])
      case .word: bytes.append(contentsOf: lexicon.words[lexicon.word(&noise)])
      case .sentence:
        for count in 0..<noise.within(3...9) {
          if count > 0 { bytes.append(UInt8(ascii: " ")) }
          bytes.append(contentsOf: lexicon.words[lexicon.word(&noise)])
        }
      case .integer: append(noise.below(1 << noise.within(1...11)), to: &bytes)
      case .decimal:
        append(noise.below(10), to: &bytes)
        bytes.append(UInt8(ascii: "."))
        append(noise.below(noise.below(4) == 0 ? 1_000 : 10), to: &bytes)
      case .foreign:
        for count in 0..<noise.within(2...7) {
          if count > 0 { bytes.append(UInt8(ascii: " ")) }
          bytes.append(contentsOf: lexicon.foreignWords[lexicon.word(&noise)])
        }
      case .base64:
        for _ in 0..<noise.within(2...12) {
          var word = noise.next()
          for _ in 0..<10 {
            bytes.append(Self.base64[Int(word & 63)])
            word >>= 6
          }
        }
      case .coordinates:
        for count in 0..<noise.within(4...16) {
          bytes.append(count % 2 == 0 ? UInt8(ascii: " ") : UInt8(ascii: ","))
          append(noise.below(400), to: &bytes)
          bytes.append(UInt8(ascii: "."))
          append(noise.below(100), to: &bytes)
        }
      case .hexadecimal:
        var word = noise.next()
        for _ in 0..<6 {
          bytes.append(Self.digits[Int(word & 15)])
          word >>= 4
        }
      }
    }
    if !grammar.isMinified { bytes.append(UInt8(ascii: "\n")) }
  }

  private func append(_ number: Int, to bytes: inout [UInt8]) {
    if number >= 10 { append(number / 10, to: &bytes) }
    bytes.append(Self.digits[number % 10])
  }

  private static let indentation = Array("  ".utf8)
  private static let base64 = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let digits = Array("0123456789abcdef".utf8)
}
