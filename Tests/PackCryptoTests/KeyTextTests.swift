import Testing

@testable import PackCrypto

@Suite("key texts")
struct KeyTextTests {
  static let digits = KnownAnswer.keyBytes.hex
  static let text = "pkk1-\(digits)-a5978502"

  static func read(_ text: String) -> (id: String?, error: PackError?) {
    var id: String?
    let bytes = Array(text.utf8)
    let error = failure { () throws(PackError) in id = try PackKey(text: bytes.byteSpan).id.description }
    return (id, error)
  }

  @Test("a key is written as its known answer")
  func written() throws {
    let bytes = KnownAnswer.keyBytes
    let key = try PackKey(bytes: bytes.byteSpan)
    #expect(key.withText { String(decoding: [UInt8](copying: $0), as: UTF8.self) } == Self.text)
  }

  @Test("a text is read with and without surrounding white space", arguments: ["", "\n", "\r\n", " \t\n"])
  func read(_ space: String) {
    #expect(Self.read(Self.text + space).id == "e545120e613dd715")
    #expect(Self.read(space + Self.digits + space).id == "e545120e613dd715")
  }

  @Test("a new key is read as it was written, and differs from other keys")
  func random() throws {
    let first = try PackKey.random()
    let second = try PackKey.random()
    #expect(first.id != second.id)
    let text = first.withText { [UInt8](copying: $0) }
    #expect(try PackKey(text: text.byteSpan).id == first.id)
  }

  @Test("each fault has its own message, and none quotes the key")
  func faults() {
    let swapped = Self.text.replacingOccurrence(of: "0001", with: "0100")
    let faults = [
      "", String(Self.text.dropLast()), Self.text + "0", swapped,
      Self.text.replacingOccurrence(of: "1e1f-", with: "1e1f_"), Self.text.replacingOccurrence(of: "1e1f", with: "1eXf"),
      Self.text.replacingOccurrence(of: "1e1f", with: "1E1f"), Self.text.replacingOccurrence(of: "pkk1", with: "pks1"),
      Self.text.replacingOccurrence(of: "pkk1", with: "pkp1"), String(Self.digits.dropLast()),
    ]
    var messages: Set<String> = []
    for fault in faults {
      let error = Self.read(fault).error
      #expect(error?.code == .malformedKey)
      messages.insert(error?.message ?? "")
      for start in 0..<56 {
        let piece = Self.digits.dropFirst(start).prefix(8)
        #expect(error?.description.contains(piece) == false)
      }
    }
    #expect(messages.count == faults.count)
  }

  @Test("any single wrong digit is detected")
  func wrongDigits() {
    var text = Array(Self.text)
    for index in 5..<text.count where text[index] != "-" {
      let digit = text[index]
      text[index] = digit == "7" ? "8" : "7"
      #expect(Self.read(String(text)).error?.code == .malformedKey)
      text[index] = digit
    }
  }

  @Test("every byte that is not a lower-case hexadecimal digit is refused, also if there is no checksum")
  func otherDigits() {
    for (text, places) in [(Self.digits, [0, 31, 63]), (Self.text, [5, 68, 70, 77])] {
      for byte in UInt8.min...UInt8.max where !"0123456789abcdef".utf8.contains(byte) {
        for place in places {
          var bytes = Array(text.utf8)
          bytes[place] = byte
          let error = failure { () throws(PackError) in _ = try PackKey(text: bytes.byteSpan) }
          #expect(error?.code == .malformedKey, "byte \(byte) at \(place)")
        }
      }
    }
  }

  @Test("a key has 32 bytes", arguments: [0, 31, 33])
  func size(_ count: Int) {
    let bytes = [UInt8](repeating: 1, count: count)
    let error = failure { () throws(PackError) in _ = try PackKey(bytes: bytes.byteSpan) }
    #expect(error?.code == .malformedKey)
  }
}

extension String {
  fileprivate func replacingOccurrence(of text: String, with other: String) -> String {
    guard let range = firstRange(of: text) else { return self }
    return replacingCharacters(in: range, with: other)
  }

  fileprivate func replacingCharacters(in range: Range<Index>, with other: String) -> String {
    self[..<range.lowerBound] + other + self[range.upperBound...]
  }
}
