/// The order in which connections send on a link that they share, and the times at which their bytes arrive.
///
/// The connections take turns. Bytes leave one after the other at the rate of the link, and arrive half a round trip later. Loss and the slow start of
/// TCP are not modelled. It has no clock: times are passed in, as nanoseconds, and never go back.
struct LinkSchedule {
  /// Bytes that one connection sends at once.
  struct Turn: Equatable {
    let connection: Int
    let bytes: Int
    /// The time at which the last byte arrives.
    let arrival: UInt64
  }

  /// The largest number of bytes under way, of all connections together, besides a turn for each: those that have left and that the system has not
  /// accepted. It is what clients that do not read cost.
  static let mostUnderWay = 16 << 20
  /// How long before the link is free its next bytes are taken, in nanoseconds, so that a thread that runs late does not leave it idle.
  static let lead: UInt64 = 10_000_000

  private let bitsPerSecond: UInt64
  private let delay: UInt64
  /// The largest number of bytes in a turn.
  let turnBytes: Int
  /// The bytes of each connection that have not left.
  private var waiting: [Int: Int] = [:]
  /// The bytes of each connection under way, and their sum.
  private var underWay: [Int: Int] = [:]
  private(set) var bytesUnderWay = 0
  /// The connections with waiting bytes, in the order of their turns.
  private var order: [Int] = []
  /// The time at which all bytes that were taken have left.
  private var freeTime: UInt64 = 0

  init(_ link: NetworkLink) {
    bitsPerSecond = link.bitsPerSecond
    delay = link.roundTripNanoseconds / 2
    // A packet of TCP, or what a fast link sends in two milliseconds, because each turn costs a call of the system.
    turnBytes = Int(min(64 << 10, max(1460, bitsPerSecond / 8 / 500)))
  }

  /// Notes bytes that a connection has to send.
  mutating func add(_ bytes: Int, of connection: Int, at now: UInt64) {
    guard bytes > 0 else { return }
    change(at: now) { schedule in
      if schedule.waiting[connection, default: 0] == 0 { schedule.order.append(connection) }
      schedule.waiting[connection, default: 0] += bytes
    }
  }

  /// Takes the next turn; nil if it is not time for it.
  mutating func take(at now: UInt64) -> Turn? {
    guard freeTime <= now + Self.lead, let next = order.firstIndex(where: maySend) else { return nil }
    let connection = order.remove(at: next)
    let left = waiting[connection, default: 0]
    let bytes = min(turnBytes, left)
    waiting[connection] = left - bytes
    if left > bytes { order.append(connection) }
    underWay[connection, default: 0] += bytes
    bytesUnderWay += bytes
    freeTime += (UInt64(bytes) * 8_000_000_000 + bitsPerSecond - 1) / bitsPerSecond
    return Turn(connection: connection, bytes: bytes, arrival: freeTime + delay)
  }

  /// The time from which ``take(at:)`` returns a turn; nil if no connection may send.
  var nextTurn: UInt64? { order.contains(where: maySend) ? freeTime - min(freeTime, Self.lead) : nil }

  /// Notes that the system accepted bytes that had arrived.
  mutating func accept(_ bytes: Int, of connection: Int, at now: UInt64) {
    guard let count = underWay[connection] else { return }
    change(at: now) { schedule in
      schedule.underWay[connection] = count - bytes
      schedule.bytesUnderWay -= bytes
    }
  }

  /// Forgets a connection. What it has sent has taken its time.
  mutating func remove(_ connection: Int, at now: UInt64) {
    change(at: now) { schedule in
      schedule.waiting[connection] = nil
      schedule.order.removeAll { $0 == connection }
      schedule.bytesUnderWay -= schedule.underWay.removeValue(forKey: connection) ?? 0
    }
  }

  /// Changes what may be sent. A link that had nothing to send was idle until now.
  private mutating func change(at now: UInt64, _ body: (inout LinkSchedule) -> Void) {
    if !order.contains(where: maySend) { freeTime = max(freeTime, now) }
    body(&self)
  }

  /// Whether a connection may send. It may have as much under way as is left of the limit, and always a turn, so that clients that do not read keep no
  /// other one out.
  private func maySend(_ connection: Int) -> Bool {
    let bytes = underWay[connection, default: 0]
    if bytes == 0 { return true }
    return bytes < Self.mostUnderWay - bytesUnderWay
  }
}
