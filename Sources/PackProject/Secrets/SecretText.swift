/// The forms of secrets, looked for around a candidate. What is before the first byte or after the last one separates.
enum SecretText {
  /// Whether a form has a token at its literal, which starts at `start`.
  static func matches(_ form: SecretRule.Form, _ bytes: Span<UInt8>, literalAt start: Int, count: Int) -> Bool {
    let body = start + count
    switch form {
    case .token(let set, let counts, let variety):
      return startsToken(bytes, start) && isToken(bytes, from: body, set, counts, variety: variety)
    case .separated(let set, let counts, let variety):
      // The literal of a hexadecimal token has its first digit.
      let first = set.contains(bytes[body - 1]) && bytes[body - 1] != UInt8(ascii: "_") ? body - 1 : body
      return isToken(bytes, from: first, set, counts, variety: variety)
    case .special(let special):
      return matches(special, bytes, start, body)
    }
  }

  private static func matches(_ special: SecretRule.Special, _ bytes: Span<UInt8>, _ start: Int, _ body: Int) -> Bool {
    switch special {
    case .privateKey: return isPrivateKey(bytes, body)
    case .sshPrivateKey: return body < bytes.count && (ByteSet.digits.contains(bytes[body]) || bytes[body] == UInt8(ascii: " "))
    case .serviceAccount: return isServiceAccount(bytes, start, body)
    case .serverKey:
      // The eleven characters before the colon.
      let count = run(bytes, before: start, .base64URL, most: 12)
      return count == 11 && has("AAAA", bytes, at: start - 11) && isToken(bytes, from: body, .base64URL, 134...200, variety: 20)
    case .awsSecretKey:
      guard let value = value(bytes, after: body) else { return false }
      return isToken(bytes, from: value, .base64, 40...40, variety: 16)
    case .slackToken:
      guard startsToken(bytes, start) else { return false }
      // A configuration token has a second prefix.
      let first = has("xox", bytes, at: body) ? body + 5 : body
      if has("xapp", bytes, at: start) { return isToken(bytes, from: first, .dashed, 40...400, variety: 12) }
      return first < bytes.count && ByteSet.digits.contains(bytes[first]) && isToken(bytes, from: first, .dashed, 22...400, variety: 8)
    case .slackWebhook:
      guard let path = ["services/T", "workflows/T", "triggers/T"].first(where: { has($0, bytes, at: body) }) else { return false }
      return isToken(bytes, from: body + path.utf8.count, .slashed, 30...100, variety: 12)
    case .sendGrid: return isDotted(bytes, from: body, .base64URL, [22...22, 43...43])
    case .openAI:
      let before = run(bytes, before: start, .base64URL, most: 250)
      let first = start - before
      return before >= 20 && has("sk-", bytes, at: first) && isToken(bytes, from: body, .base64URL, 20...200, variety: 10)
    case .discordToken:
      return anyToken(bytes, from: body, within: 160) { (bytes, place) in isDiscordToken(bytes, from: place) }
    case .discordHeader: return isDiscordToken(bytes, from: body)
    case .discordWebhook:
      let digits = run(bytes, from: body, .digits, most: 21)
      let token = body + digits + 1
      return (17...20).contains(digits) && has("/", bytes, at: token - 1) && contains("discord", bytes, start - 24..<start)
        && isToken(bytes, from: token, .base64URL, 60...80, variety: 16)
    case .teamsWebhook:
      return run(bytes, from: body, ByteSet.dashed.union("@"), most: 80) >= 73 && contains("/IncomingWebhook/", bytes, body..<body + 96)
    case .telegram:
      // The literal has one digit, and two letters that belong to the token.
      let digits = 1 + run(bytes, before: start, .digits, most: 10)
      return (8...10).contains(digits) && isToken(bytes, from: body - 2, .base64URL, 35...35, variety: 14)
    case .mailgun:
      return anyToken(bytes, from: body, within: 128) { (bytes, place) in
        if has("key-", bytes, at: place) { return isToken(bytes, from: place + 4, .hex, 32...32, variety: 8) }
        return isDashed(bytes, from: place, .hex, [32, 8, 8])
      }
    case .terraform:
      return run(bytes, before: start, .alphanumeric, most: 15) == 14 && isToken(bytes, from: body, .base64URL, 60...70, variety: 16)
    }
  }

  // MARK: Tokens

  /// Whether a token can start here: not in the middle of a word, except after an escape such as `\\n`.
  private static func startsToken(_ bytes: Span<UInt8>, _ start: Int) -> Bool {
    guard start > 0, ByteSet.word.contains(bytes[start - 1]) else { return true }
    return start > 1 && bytes[start - 2] == UInt8(ascii: "\\")
      && [UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t")].contains(bytes[start - 1])
  }

  /// Whether characters of a set follow in a number that is allowed, various enough to be random, and not those of an example.
  private static func isToken(
    _ bytes: Span<UInt8>, from start: Int, _ set: ByteSet, _ counts: ClosedRange<Int>, variety: Int
  ) -> Bool {
    let room = SecretScanner.ahead - 64
    let count = run(bytes, from: start, set, most: min(counts.upperBound, room) + 1)
    guard counts.contains(count) || count > room && counts.upperBound > room else { return false }
    let end = start + count
    guard end >= bytes.count || !ByteSet.word.contains(bytes[end]) || count > room else { return false }
    return isRandom(bytes.extracting(start..<end), variety: variety)
  }

  /// Whether so many characters are different, and none of the words of examples is among them.
  private static func isRandom(_ token: Span<UInt8>, variety: Int) -> Bool {
    var (low, high): (UInt64, UInt64) = (0, 0)
    var (previous, repeated): (UInt8, Int) = (0, 0)
    for index in token.indices {
      let byte = token[index] & 0x7F
      if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
      repeated = byte == previous ? repeated + 1 : 0
      // Six equal characters in a row are filling.
      if repeated == 5 { return false }
      previous = byte
    }
    guard low.nonzeroBitCount + high.nonzeroBitCount >= variety else { return false }
    return !["example", "placeholder", "redacted", "dummy", "yourtoken", "your_", "your-"].contains { holdsWord($0, token) }
  }

  private static func holdsWord(_ word: String, _ token: Span<UInt8>) -> Bool {
    let word = Array(word.utf8)
    guard word.count <= token.count else { return false }
    for start in 0...(token.count - word.count) {
      var index = 0
      while index < word.count, token[start + index] | 0x20 == word[index] | 0x20 { index += 1 }
      if index == word.count { return true }
    }
    return false
  }

  /// Whether tokens of these lengths follow, with a dot between them.
  private static func isDotted(_ bytes: Span<UInt8>, from start: Int, _ set: ByteSet, _ counts: [ClosedRange<Int>]) -> Bool {
    var place = start
    for (number, range) in counts.enumerated() {
      let count = run(bytes, from: place, set, most: range.upperBound + 1)
      guard range.contains(count) else { return false }
      place += count
      if number < counts.count - 1 {
        guard place < bytes.count, bytes[place] == UInt8(ascii: ".") else { return false }
        place += 1
      }
    }
    return isRandom(bytes.extracting(start..<place), variety: 16)
  }

  private static func isDashed(_ bytes: Span<UInt8>, from start: Int, _ set: ByteSet, _ counts: [Int]) -> Bool {
    var place = start
    for (number, expected) in counts.enumerated() {
      guard run(bytes, from: place, set, most: expected + 1) == expected else { return false }
      place += expected
      if number < counts.count - 1 {
        guard place < bytes.count, bytes[place] == UInt8(ascii: "-") else { return false }
        place += 1
      }
    }
    return (place >= bytes.count || !ByteSet.word.contains(bytes[place])) && isRandom(bytes.extracting(start..<place), variety: 10)
  }

  /// A user's number in base 64, a time and a signature.
  private static func isDiscordToken(_ bytes: Span<UInt8>, from start: Int) -> Bool {
    guard start < bytes.count, [UInt8(ascii: "M"), UInt8(ascii: "N"), UInt8(ascii: "O")].contains(bytes[start]) else { return false }
    return isDotted(bytes, from: start, .base64URL, [23...28, 6...6, 27...40])
  }

  /// Whether a token for which `body` returns true starts in the next bytes of the same line.
  private static func anyToken(
    _ bytes: Span<UInt8>, from start: Int, within count: Int, _ body: (Span<UInt8>, Int) -> Bool
  ) -> Bool {
    var place = start
    let end = min(bytes.count, start + count)
    while place < end, bytes[place] != UInt8(ascii: "\n") {
      if ByteSet.alphanumeric.contains(bytes[place]), startsToken(bytes, place), body(bytes, place) { return true }
      place += 1
    }
    return false
  }

  /// Returns where the value of a key starts: after quotes, blanks and an equality sign or a colon.
  private static func value(_ bytes: Span<UInt8>, after place: Int) -> Int? {
    let separators = ByteSet("\"'`=: \t>\\")
    let count = run(bytes, from: place, separators, most: 16)
    return (1...15).contains(count) ? place + count : nil
  }

  // MARK: Keys

  /// Whether the label of a private key and the key follow.
  ///
  /// A program that reads such keys has the label as well, so the key must follow, possibly in escaped lines or in pieces of a string.
  private static func isPrivateKey(_ bytes: Span<UInt8>, _ start: Int) -> Bool {
    let label = run(bytes, from: start, ByteSet.upperAndDigits.union(" "), most: 65)
    var place = start + label
    guard label <= 64, has("-----", bytes, at: place) else { return false }
    guard has("PRIVATE KEY", bytes, at: place - 11) || has("PRIVATE KEY BLOCK", bytes, at: place - 17) else { return false }
    place += 5
    let end = min(bytes.count, place + 480)
    let separators = ByteSet(" \t\r\n\"'`+,")
    var (count, low, high): (Int, UInt64, UInt64) = (0, 0, 0)
    while place < end {
      let byte = bytes[place]
      if byte == UInt8(ascii: "\\") {
        // An escaped end of a line.
        place += 1
        while place < end, [UInt8(ascii: "\\"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "\n")].contains(bytes[place]) {
          place += 1
        }
      } else if let next = endOfField(bytes, place, end) {
        place = next
      } else if ByteSet.base64.contains(byte) || byte == UInt8(ascii: "=") {
        count += 1
        if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
        place += 1
        if count >= 48, low.nonzeroBitCount + high.nonzeroBitCount >= 12 { return true }
      } else if separators.contains(byte) {
        place += 1
      } else {
        break
      }
    }
    return count >= 16 && has("-----END ", bytes, at: place)
  }

  /// Returns the end of a field of a key, such as `Proc-Type: 4,ENCRYPTED`, if one starts at a place that follows a line break.
  private static func endOfField(_ bytes: Span<UInt8>, _ place: Int, _ end: Int) -> Int? {
    let isFirst = bytes[place - 1] == UInt8(ascii: "\n") || bytes[place - 1] == UInt8(ascii: "n") && bytes[place - 2] == UInt8(ascii: "\\")
    guard isFirst else { return nil }
    let name = run(bytes, from: place, .dashed, most: 24)
    guard name > 0, has(": ", bytes, at: place + name) else { return nil }
    var next = place + name
    while next < end, bytes[next] != UInt8(ascii: "\n"), bytes[next] != UInt8(ascii: "\\") { next += 1 }
    return next
  }

  /// Whether the word is the type of a JSON object that has the id of a private key.
  private static func isServiceAccount(_ bytes: Span<UInt8>, _ start: Int, _ body: Int) -> Bool {
    contains("\"type", bytes, start - 16..<start) && contains("\"private_key", bytes, body..<body + 400)
  }

  // MARK: Bytes

  /// The number of bytes of a set from a place on.
  private static func run(_ bytes: Span<UInt8>, from start: Int, _ set: ByteSet, most: Int) -> Int {
    var place = start
    let end = min(bytes.count, start + most)
    while place < end, set.contains(bytes[place]) { place += 1 }
    return max(0, place - start)
  }

  /// The number of bytes of a set before a place.
  private static func run(_ bytes: Span<UInt8>, before end: Int, _ set: ByteSet, most: Int) -> Int {
    var place = end
    while place > 0, end - place < most, set.contains(bytes[place - 1]) { place -= 1 }
    return end - place
  }

  private static func has(_ text: String, _ bytes: Span<UInt8>, at place: Int) -> Bool {
    guard place >= 0, place + text.utf8.count <= bytes.count else { return false }
    var place = place
    for byte in text.utf8 {
      guard bytes[place] == byte else { return false }
      place += 1
    }
    return true
  }

  private static func contains(_ text: String, _ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    let range = range.clamped(to: 0..<bytes.count)
    guard range.count >= text.utf8.count else { return false }
    return (range.lowerBound...(range.upperBound - text.utf8.count)).contains { has(text, bytes, at: $0) }
  }
}
