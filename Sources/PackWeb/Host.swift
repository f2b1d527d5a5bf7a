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
  func ask(_ text: CanonicalWriter) throws(PackError) -> Answer {
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
  func wants(_ text: inout CanonicalWriter) {
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

// JSON as it is handed to the host. Its keys are in no order.
extension CanonicalWriter {
  /// The text of an object.
  init(_ body: (inout CanonicalWriter) -> Void) {
    self.init()
    object(body)
  }

  /// A member whose value is in hexadecimal.
  mutating func hex(_ name: String, _ value: Span<UInt8>) {
    // Without texts in between, because a message may be a megabyte, and is written again in every round.
    var json: [UInt8] = []
    json.reserveCapacity(2 * value.count + 2)
    json.append(UInt8(ascii: "\""))
    for index in value.indices {
      for digit in [value[index] >> 4, value[index] & 15] { json.append(digit + (digit < 10 ? 0x30 : 0x57)) }
    }
    json.append(UInt8(ascii: "\""))
    raw(name, json)
  }

  mutating func flag(_ name: String, _ value: Bool) { raw(name, Array((value ? "true" : "false").utf8)) }

  mutating func raw(_ name: String, _ json: [UInt8]) {
    key(name)
    raw(json)
  }

  /// The members of an object for an error.
  mutating func members(of error: PackError) {
    string("code", error.code.rawValue)
    string("message", error.message)
    string("subject", error.subject)
    string("advice", error.advice?.id)
    string("hint", error.advice?.description)
  }
}
