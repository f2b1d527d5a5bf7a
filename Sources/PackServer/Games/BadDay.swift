/// Makes the replies of games slow, and some of them fail, while it is switched on: as files come from a CDN on a bad day.
///
/// The same requests in the same order fail each time that it is switched on.
final class BadDay: Sendable {
  /// The speed of each file in bytes per second.
  static let bytesPerSecond: UInt64 = 250_000
  /// The share of requests that get status 503, and of those whose reply ends in the middle.
  static let refusedShare = 0.05
  static let cutShare = 0.03

  private struct Dice: Sendable {
    let refused: FaultDice
    let cut: FaultDice

    init() {
      func plan(_ chance: Double, seed: UInt64, _ change: (inout FaultPlan) -> Void) -> FaultDice {
        var plan = FaultPlan()
        (plan.patterns, plan.chance, plan.seed) = (["*"], chance, seed)
        change(&plan)
        return FaultDice(plan)
      }
      refused = plan(refusedShare, seed: 1) { $0.status = 503 }
      cut = plan(cutShare, seed: 2) { $0.truncation = 0 }
    }
  }

  private let dice = Monitor<Dice?>(nil)

  var isOn: Bool { dice.withLock { $0 != nil } }

  func turn(on: Bool) { dice.withLock { $0 = on ? Dice() : nil } }

  /// Changes a reply, if it is switched on.
  ///
  /// - Parameter isPage: whether it is a page that a person goes to. It is only slow, because a browser shows nothing else in its place.
  /// - Returns: what it made fail; nil if that is nothing.
  func change(_ reply: inout SiteReply, isPage: Bool) -> String? {
    guard let dice = dice.withLock({ $0 }), (200..<300).contains(reply.status), let body = reply.body else { return nil }
    reply.rate = Self.bytesPerSecond
    var end = body.length
    if !isPage, !dice.refused.plan(for: "").isEmpty {
      reply = .text(503, "A bad day: this request fails.\n", headers: ["Cache-Control": "no-store"])
      return Self.note("refused on a bad day", &reply)
    }
    var fault: String?
    if !isPage, !dice.cut.plan(for: "").isEmpty {
      end /= 2
      fault = Self.note("cut in the middle on a bad day", &reply)
    }
    // Ten pieces per second behave like a slow connection. Larger pieces would behave like one that stalls.
    reply.body = PacedBody(body, pieceSize: Int(Self.bytesPerSecond / 10), end: end)
    return fault
  }

  private static func note(_ fault: String, _ reply: inout SiteReply) -> String {
    reply.note = [reply.note, fault].compactMap(\.self).joined(separator: "; ")
    return fault
  }
}

/// A body in the small pieces that a slow connection brings, which may end too early.
private final class PacedBody: SiteBody {
  let length: UInt64
  private let body: any SiteBody
  private let pieceSize: Int
  /// The bytes of the last piece that were not passed on yet, and the number of those that may be.
  private let state: Monitor<(piece: ArraySlice<UInt8>, left: UInt64)>

  init(_ body: any SiteBody, pieceSize: Int, end: UInt64) {
    (self.body, self.pieceSize, length) = (body, pieceSize, body.length)
    state = Monitor(([], end))
  }

  var decryptedBytes: UInt64 { body.decryptedBytes }

  func next(_ receive: (Span<UInt8>) throws(PackError) -> Void) throws(PackError) -> Bool {
    var (piece, left) = state.withLock { $0 }
    guard left > 0 else { return false }
    if piece.isEmpty {
      guard let next = try body.nextPiece() else { return false }
      piece = next[...]
    }
    let sent = piece.prefix(min(pieceSize, Int(clamping: left)))
    state.withLock { $0 = (piece.dropFirst(sent.count), left - UInt64(sent.count)) }
    try receive(sent.byteSpan)
    return true
  }
}
