import TestSupport
import Testing

@testable import PackBase
@testable import PackGate
@testable import PackReading

@Suite("A channel of gaps from many workers to one reader", .bounded)
struct GapChannelTests {
  private func piece(_ number: Int, count: Int = 512) -> FrameGaps {
    FrameGaps(
      pieces: [TarPiece(start: UInt64(number) << 20, bytes: [UInt8](repeating: UInt8(number & 0xFF), count: count)[...])])
  }

  @Test("delivers gaps in the order of their frames, in whichever order they are pushed", arguments: [1, 2, 8])
  func order(workers: Int) async throws {
    let channel = GapChannel()
    let next = Monitor(0)
    let pulled = Monitor<[UInt64]>([])
    try await WorkerPool.run(workers + 1) { (pool, member) throws(PackError) in
      pool.onStop { channel.close() }
      guard member > 0 else {
        for _ in 0..<200 {
          for gap in try channel.pull()?.pieces ?? [] { pulled.withLock { $0.append(gap.start >> 20) } }
        }
        return
      }
      while true {
        let number = next.withLock { next in
          defer { next += 1 }
          return next
        }
        guard number < 200 else { return }
        // Every fifth frame has only content, and no gaps.
        try channel.push(number, number % 5 == 0 ? FrameGaps() : piece(number, count: 40_000))
      }
    }
    channel.finish()
    #expect(try channel.pull() == nil)
    let expected: [UInt64] = (0..<200 as Range<UInt64>).filter { $0 % 5 != 0 }
    #expect(pulled.withLock { $0 } == expected)
  }

  @Test("makes a worker wait until the reader asks for a later frame, and refuses if the channel closes before")
  func reader() async throws {
    let channel = GapChannel()
    try channel.push(0, piece(0))
    try channel.push(1, piece(1))
    let order = Monitor<[String]>([])
    try await WorkerPool.run(2) { (pool, member) throws(PackError) in
      pool.onStop { channel.close() }
      if member == 0 {
        try channel.waitForReader(of: 0)
        order.withLock { $0.append("worker") }
        try channel.push(2, piece(2))
      } else {
        _ = try channel.pull()
        order.withLock { $0.append("reader") }
        _ = try channel.pull()
        _ = try channel.pull()
      }
    }
    #expect(order.withLock { $0 } == ["reader", "worker"])
    channel.close()
    #expect { try channel.waitForReader(of: 2) } throws: { ($0 as? PackError)?.code == GapChannel.closed.code }
    #expect { try channel.waitForSuccess() } throws: { ($0 as? PackError)?.code == GapChannel.closed.code }
    channel.succeed()
    try channel.waitForSuccess()
  }

  @Test("makes a worker wait if the channel is full, unless its frame is the next one")
  func bound() async throws {
    let channel = GapChannel()
    try channel.push(1, piece(1, count: 200 << 10))
    let isIn = Monitor(false)
    try await WorkerPool.run(2) { (pool, member) throws(PackError) in
      pool.onStop { channel.close() }
      if member == 0 {
        try channel.push(2, piece(2, count: 200 << 10))
        isIn.update { $0 = true }
      } else {
        try channel.push(0, piece(0, count: 8 << 20))
        #expect(!isIn.withLock { $0 })
        #expect(try channel.pull()?.pieces.first?.start == 0)
        #expect(try channel.pull()?.pieces.first?.start == 1 << 20)
        #expect(try channel.pull()?.pieces.first?.start == 2 << 20)
      }
    }
  }

  @Test("ends for all sides when one closes it")
  func closed() async throws {
    let channel = GapChannel()
    try channel.push(1, piece(1))
    let codes = Monitor<[String]>([])
    try await WorkerPool.run(3) { (_, member) throws(PackError) in
      do throws(PackError) {
        switch member {
        case 0: channel.close()
        case 1: _ = try channel.pull()
        default: while true { try channel.push(2, piece(2, count: 1 << 20)) }
        }
      } catch {
        codes.withLock { $0.append(error.code.rawValue) }
      }
    }
    #expect(codes.withLock { $0 } == ["channel-closed", "channel-closed"])
  }
}
