import TestSupport
import Testing

@testable import PackServer

@Suite("A link that is simulated", .bounded)
struct LinkTests {
  private static let millisecond: UInt64 = 1_000_000
  private static let second: UInt64 = 1_000_000_000

  private func schedule(_ text: String) throws -> LinkSchedule { LinkSchedule(try NetworkLink(parsing: text)) }

  /// Takes all turns until a time, as a clock that is read each millisecond does. The system accepts what arrives, except from some connections.
  private func turns(
    of schedule: inout LinkSchedule, from start: UInt64 = 0, until end: UInt64, deaf: Set<Int> = [],
    refill: (inout LinkSchedule, LinkSchedule.Turn, UInt64) -> Void = { _, _, _ in }
  ) -> [LinkSchedule.Turn] {
    var turns: [LinkSchedule.Turn] = []
    var arrived = 0
    for now in stride(from: start, through: end, by: UInt64.Stride(Self.millisecond)) {
      while let turn = schedule.take(at: now) {
        turns.append(turn)
        refill(&schedule, turn, now)
      }
      while arrived < turns.count, turns[arrived].arrival <= now {
        if !deaf.contains(turns[arrived].connection) { schedule.accept(turns[arrived].bytes, of: turns[arrived].connection, at: now) }
        arrived += 1
      }
    }
    return turns
  }

  private func arrival(_ schedule: inout LinkSchedule, at now: UInt64) -> UInt64? { schedule.take(at: now)?.arrival }

  private func expectNothing(_ schedule: inout LinkSchedule, at now: UInt64, location: SourceLocation = #_sourceLocation) {
    let turn = schedule.take(at: now)
    #expect(turn == nil, sourceLocation: location)
  }

  @Test(
    "anything but a rate and a round trip is refused",
    arguments: [
      "", "5Mbit/s", "5Mbit/s,", ",50ms", "5Mbit/s,50", "5Mbit/s,50ms,1", "5,50ms", "Mbit/s,50ms", "5MB/s,50ms", "5 Mbit/s,50ms",
      "-5Mbit/s,50ms", "+5Mbit/s,50ms", "5e3kbit/s,50ms", "0x5Mbit/s,50ms", "nanMbit/s,50ms", "5Mbit/s,-1ms", "5Mbit/s,infms",
      "1..5Mbit/s,1ms", "5.Mbit/s,1ms", ".5Mbit/s,1ms", ".Mbit/s,1ms", "7bit/s,0ms", "0.007kbit/s,0ms", "0kbit/s,0ms", "10.001Gbit/s,0ms",
      "11Gbit/s,0ms",
      "1Gbit/s,10001ms", "99999999999999999999999999Gbit/s,1ms", "5Mbit/s,1s",
    ])
  func refused(_ text: String) {
    #expect(throws: PackError.self) { try NetworkLink(parsing: text) }
  }

  @Test(
    "a rate and a round trip are read in their units",
    arguments: [
      ("5Mbit/s,50ms", 5_000_000, 50_000_000), ("500kbit/s,0ms", 500_000, 0), ("1Gbit/s,10000ms", 1_000_000_000, 10_000_000_000),
      ("1kbit/s,1ms", 1000, 1_000_000), ("8bit/s,1ms", 8, 1_000_000), ("10Gbit/s,0.5ms", 10_000_000_000, 500_000),
      ("2.5Mbit/s,007ms", 2_500_000, 7_000_000),
    ] as [(String, UInt64, UInt64)])
  func read(_ text: String, bits: UInt64, nanoseconds: UInt64) throws {
    let link = try NetworkLink(parsing: text)
    #expect((link.bitsPerSecond, link.roundTripNanoseconds) == (bits, nanoseconds))
  }

  @Test(
    "bytes arrive half a round trip after they left at the rate of the link, in their order", arguments: [0, 1, 50, 10_000] as [UInt64])
  func times(roundTrip: UInt64) throws {
    var schedule = try schedule("8Mbit/s,\(roundTrip)ms")
    expectNothing(&schedule, at: 0)
    #expect(schedule.nextTurn == nil)
    schedule.add(1_000_000, of: 1, at: 0)
    let turns = turns(of: &schedule, until: 2 * Self.second)
    #expect(turns.reduce(0) { $0 + $1.bytes } == 1_000_000)
    #expect(turns.last?.arrival == Self.second + roundTrip * Self.millisecond / 2)
    var left = 0
    for turn in turns {
      left += turn.bytes
      // A byte takes a microsecond.
      #expect(turn.arrival == UInt64(left) * 1000 + roundTrip * Self.millisecond / 2)
    }
    expectNothing(&schedule, at: 3 * Self.second)
  }

  @Test("a link that was idle sends nothing in advance, and one that was never idle makes up for a late thread")
  func idle() throws {
    var schedule = try schedule("8Mbit/s,0ms")
    schedule.add(1000, of: 1, at: 0)
    #expect(arrival(&schedule, at: 0) == Self.millisecond)
    schedule.add(1000, of: 1, at: 5 * Self.second)
    #expect(arrival(&schedule, at: 5 * Self.second) == 5 * Self.second + Self.millisecond)
    schedule.add(900_000, of: 1, at: 6 * Self.second)
    schedule.add(100_000, of: 2, at: 9 * Self.second)
    schedule.accept(1000, of: 1, at: 9 * Self.second)
    var last: UInt64 = 0
    while let turn = schedule.take(at: 9 * Self.second) { last = turn.arrival }
    #expect(last == 7 * Self.second)
  }

  @Test("nothing is taken long before the link is free for it")
  func lead() throws {
    var schedule = try schedule("8Mbit/s,0ms")
    schedule.add(1_000_000, of: 1, at: 0)
    var bytes = 0
    while let turn = schedule.take(at: 0) { bytes += turn.bytes }
    #expect(UInt64(bytes) * 1000 <= LinkSchedule.lead + UInt64(schedule.turnBytes) * 1000)
    let next = try #require(schedule.nextTurn)
    expectNothing(&schedule, at: next - 1)
    let turn = schedule.take(at: next)
    #expect(turn != nil)
  }

  @Test("twenty downloads get equal shares of the rate, and together no more than it", arguments: ["1Mbit/s,50ms", "100Mbit/s,200ms"])
  func shares(_ text: String) throws {
    var schedule = try schedule(text)
    let rate = try NetworkLink(parsing: text).bitsPerSecond / 8
    for connection in 0..<20 { schedule.add(schedule.turnBytes, of: connection, at: 0) }
    let turns = turns(of: &schedule, until: 10 * Self.second) { schedule, turn, now in
      schedule.add(schedule.turnBytes, of: turn.connection, at: now)
    }
    let sums = (0..<20).map { connection in turns.reduce(0) { $0 + ($1.connection == connection ? $1.bytes : 0) } }
    let (least, most) = (sums.min() ?? 0, sums.max() ?? 0)
    #expect(most - least <= schedule.turnBytes)
    let sum = UInt64(sums.reduce(0, +))
    #expect(sum >= rate * 10 && sum <= rate * 10 + rate / 100 + UInt64(schedule.turnBytes))
  }

  @Test("a short answer does not wait for a long one")
  func short() throws {
    var schedule = try schedule("1Mbit/s,0ms")
    schedule.add(10_000_000, of: 1, at: 0)
    _ = turns(of: &schedule, until: Self.second)
    schedule.add(500, of: 2, at: Self.second)
    let turns = turns(of: &schedule, from: Self.second, until: 2 * Self.second)
    // What was taken ahead, one packet of the other connection, and its own bytes, at eight microseconds for a byte.
    let latest = Self.second + LinkSchedule.lead + (2 * 1460 + 500) * 8000
    #expect(try #require(turns.first { $0.connection == 2 }).arrival <= latest)
  }

  @Test("clients that do not read have a bounded number of bytes under way, and keep no other one out")
  func bounded() throws {
    var schedule = try schedule("10Gbit/s,200ms")
    let deaf = Set(0..<255)
    // Some fill the room of those that come later.
    for connection in deaf.sorted() {
      schedule.add(1 << 30, of: connection, at: UInt64(connection) * Self.millisecond)
      _ = turns(of: &schedule, from: UInt64(connection) * Self.millisecond, until: UInt64(connection + 1) * Self.millisecond, deaf: deaf)
    }
    _ = turns(of: &schedule, from: Self.second / 2, until: Self.second, deaf: deaf)
    #expect(schedule.nextTurn == nil)
    #expect(schedule.bytesUnderWay >= LinkSchedule.mostUnderWay)
    #expect(schedule.bytesUnderWay <= LinkSchedule.mostUnderWay + deaf.count * schedule.turnBytes)
    schedule.add(1 << 20, of: 255, at: Self.second)
    let turns = turns(of: &schedule, from: Self.second, until: 20 * Self.second)
    #expect(turns.reduce(0) { $0 + $1.bytes } == 1 << 20)
    // One that reads again goes on, and one that leaves gives its bytes free.
    for connection in 0..<254 { schedule.remove(connection, at: 20 * Self.second) }
    #expect(schedule.bytesUnderWay <= schedule.turnBytes)
    let next = schedule.take(at: 20 * Self.second)
    #expect(next?.connection == 254)
  }

  @Test("a connection that is removed sends nothing more, and what the system accepted of it does not count")
  func removed() throws {
    var schedule = try schedule("8Mbit/s,0ms")
    schedule.add(10_000, of: 1, at: 0)
    let turn = schedule.take(at: 0)
    schedule.remove(1, at: 0)
    schedule.accept(turn?.bytes ?? 0, of: 1, at: 0)
    expectNothing(&schedule, at: Self.second)
    #expect(schedule.nextTurn == nil && schedule.bytesUnderWay == 0)
  }
}
