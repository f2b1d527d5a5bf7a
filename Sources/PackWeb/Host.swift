/// What a call needs from the host before it can go on, and what the host has answered so far.
///
/// A host cannot be waited for: WebCrypto and the network answer later. A call that needs something that is not there throws
/// ``PackFormat/PackError/unread``, and is made again when the host has brought it: then it finds the answers of before here.
class Conversation {
  /// The name of what is read, for messages.
  let path: String
  /// The requests that have answers.
  private var exchanges: [Exchange] = []
  /// The request that has no answer yet.
  private(set) var request: [UInt8]?

  enum Answer {
    case bytes([UInt8])
    /// A key that stays with the host.
    case key(Int)
    /// The host's library refuses it: a tag, a signature or a point.
    case refused
  }

  /// A request and its answer, which may have secret bytes. They are wiped at its end.
  private final class Exchange {
    var request: [UInt8]
    var answer: Answer

    init(_ request: [UInt8], _ answer: Answer) { (self.request, self.answer) = (request, answer) }

    deinit {
      wipe(&request)
      guard case .bytes(var bytes) = answer else { return }
      answer = .refused
      wipe(&bytes)
    }
  }

  /// The one whose call runs.
  static let running = Running()

  /// A variable that one thread has to itself.
  final class Running: @unchecked Sendable {
    var conversation: Conversation?
  }

  init(path: String) {
    self.path = path
  }

  deinit { forget() }

  /// Returns the host's answer to a request.
  func ask(_ text: JSONText) throws(PackError) -> Answer {
    if let known = exchanges.first(where: { $0.request == text.bytes }) { return known.answer }
    request = text.bytes
    throw .unread
  }

  /// Whether the host has to answer before anything counts that was found out since.
  var isWaiting: Bool { request != nil }

  /// Takes the answer to ``request``.
  func take(_ answer: Answer) {
    guard let asked = request else { return }
    request = nil
    exchanges.append(Exchange(asked, answer))
  }

  /// Wipes all answers.
  func forget() {
    exchanges = []
    request = nil
  }

  /// Appends what the host has to bring to the members of an object.
  func wants(_ text: inout JSONText) {
    if let request { text.raw("crypto", request) }
  }
}

extension PackError {
  /// Something that the host has to bring first. It never reaches the host as an error.
  static let unread = PackError(.unread, "the host has to bring something first")
}

extension PackError.Code {
  static let unread = Self(rawValue: "unread")
}

/// JSON as it is handed to the host.
struct JSONText {
  private(set) var bytes: [UInt8] = []

  init() {}

  /// The text of an object.
  init(_ body: (inout JSONText) -> Void) { self.object(body) }

  mutating func object(_ body: (inout JSONText) -> Void) {
    bytes.append(UInt8(ascii: "{"))
    body(&self)
    bytes.append(UInt8(ascii: "}"))
  }

  /// A member that is an object.
  mutating func object(_ name: String, _ body: (inout JSONText) -> Void) {
    key(name)
    object(body)
  }

  mutating func list<Element>(_ name: String, _ elements: some Sequence<Element>, _ body: (inout JSONText, Element) -> Void) {
    key(name)
    bytes.append(UInt8(ascii: "["))
    for element in elements {
      separate()
      body(&self, element)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  mutating func text(_ name: String, _ value: String) {
    key(name)
    text(value)
  }

  /// A member whose value is in hexadecimal. Without texts in between, because a message may be a megabyte, and is written again in every round.
  mutating func hex(_ name: String, _ value: Span<UInt8>) {
    key(name)
    bytes.reserveCapacity(bytes.count + 2 * value.count + 2)
    bytes.append(UInt8(ascii: "\""))
    for index in value.indices {
      for digit in [value[index] >> 4, value[index] & 15] { bytes.append(digit + (digit < 10 ? 0x30 : 0x57)) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  mutating func number(_ name: String, _ value: UInt64) {
    key(name)
    number(value)
  }

  mutating func flag(_ name: String, _ value: Bool) {
    key(name)
    bytes += value ? "true".utf8 : "false".utf8
  }

  mutating func raw(_ name: String, _ json: [UInt8]) {
    key(name)
    bytes += json
  }

  mutating func number(_ value: UInt64) { bytes += "\(value)".utf8 }

  mutating func text(_ value: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in value.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<0x20: bytes += "\\u00\([byte].hex)".utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func key(_ name: String) {
    separate()
    text(name)
    bytes.append(UInt8(ascii: ":"))
  }

  /// Writes a comma unless it is the first of an object or a list.
  private mutating func separate() {
    if let last = bytes.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") { bytes.append(UInt8(ascii: ",")) }
  }
}

extension JSONText {
  /// The members of an object for an error.
  mutating func members(of error: PackError) {
    text("code", error.code.rawValue)
    text("message", error.message)
    if let subject = error.subject { text("subject", subject) }
    if let advice = error.advice {
      text("advice", advice.id)
      text("hint", advice.description)
    }
  }
}
