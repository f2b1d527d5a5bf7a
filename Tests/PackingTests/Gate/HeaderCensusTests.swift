import PackArchive
import PackCrypto
import PackFiles
import PackFormat
import TestSupport
import Testing

@testable import PackGate
@testable import PackReading
@testable import PackWork

@Suite("A census of the headers of a tar")
struct HeaderCensusTests {
  /// What a census says of a pack; nil where already its digests or its padding are refused.
  private func census(_ pack: Pack, jobs: Int) async -> Bool? {
    let census = HeaderCensus(pack)
    do throws(PackError) {
      try await TreeWalk.run(
        pack, into: nil, jobs: jobs, phase: .verifying, strictness: .release, progress: nil,
        makeObserver: { HeaderWitness(census, pack) })
    } catch {
      return nil
    }
    return census.isComplete
  }

  @Test(
    "knows all that packing makes: links, empty files and directories, long and foreign names, contents in many frames",
    arguments: [1, 2, 7])
  func ownPacks(jobs: Int) async throws {
    var random = SeededGenerator(seed: 5)
    let shop = try Workshop()
    let twin = random.bytes(3000)
    try shop.add("a/one.bin", twin)
    try shop.add("b/two.bin", twin)
    try shop.add("ü/\(String(repeating: "x", count: 120)).bin", twin)
    try shop.add("large.bin", random.bytes(300_000))
    try shop.add("large-twin.bin", [UInt8](repeating: 9, count: 200_000))
    try shop.add("z/large-twin.bin", [UInt8](repeating: 9, count: 200_000))
    try shop.add("run.sh", [1], mode: 0o755)
    try shop.add("\(String(repeating: "p", count: 80))/\(String(repeating: "q", count: 80))", [2])
    try shop.directory.makeDirectory("tree/nothing")
    try shop.directory.makeDirectory("tree/né/\(String(repeating: "e", count: 110))")
    for number in 0..<300 { try shop.add("empty/\(number)", []) }
    for number in 0..<200 { try shop.add("small/\(number).txt", random.bytes(Int.random(in: 1...1500, using: &random))) }
    try await shop.pack()
    #expect(try await census(shop.open(), jobs: jobs) == true)
  }

  @Test("is complete only for what libarchive finds sound", arguments: TestVector.all)
  func vectors(_ name: String) async throws {
    let vector = try TestVector(named: name)
    let directory = try TemporaryDirectory()
    let path = try directory.write(vector.pack, to: "vector.pack")
    guard let pack = try? Pack(path, key: try PackKey(bytes: vector.key.span), files: FaultyFiles(), backend: CryptoBackends.standard)
    else {
      return
    }
    if await census(pack, jobs: 2) == true { #expect(vector.expect == "ok", "\(name)") }
  }

  @Test("leaves to libarchive what it does not know: a client takes these packs, a verifier does not")
  func unknown() async throws {
    var count = 0
    for name in TestVector.all {
      let vector = try TestVector(named: name)
      guard vector.client == "ok", vector.expect != "ok" else { continue }
      let directory = try TemporaryDirectory()
      let path = try directory.write(vector.pack, to: "vector.pack")
      let pack = try Pack.open(path, key: try PackKey(bytes: vector.key.span))
      let answer = await census(pack, jobs: 2)
      #expect(answer != true, "\(name)")
      if answer == false { count += 1 }
    }
    #expect(count >= 20)
  }
}

@Suite("Gaps on their way from many workers to one reader")
struct GapChannelTests {
  private func piece(_ number: Int, count: Int = 512) -> FrameGaps {
    FrameGaps(
      pieces: [TarPiece(start: UInt64(number) << 20, bytes: [UInt8](repeating: UInt8(number & 0xFF), count: count)[...])])
  }

  @Test("come in the order of their frames, whoever is first", arguments: [1, 2, 8])
  func order(workers: Int) async throws {
    let channel = GapChannel()
    let next = Monitor(0)
    let pulled = Monitor<[UInt64]>([])
    try await Crew.run(workers + 1) { (crew, member) throws(PackError) in
      crew.onStop { channel.close() }
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
        // Every fifth frame is all content.
        try channel.push(number, number % 5 == 0 ? FrameGaps() : piece(number, count: 40_000))
      }
    }
    channel.finish()
    #expect(try channel.pull() == nil)
    let expected: [UInt64] = (0..<200 as Range<UInt64>).filter { $0 % 5 != 0 }
    #expect(pulled.withLock { $0 } == expected)
  }

  @Test("wait where too much waits already, unless they are due")
  func bound() async throws {
    let channel = GapChannel()
    try channel.push(1, piece(1, count: 200 << 10))
    let isIn = Monitor(false)
    try await Crew.run(2) { (crew, member) throws(PackError) in
      crew.onStop { channel.close() }
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

  @Test("end for both sides when one gives up")
  func closed() async throws {
    let channel = GapChannel()
    try channel.push(1, piece(1))
    let codes = Monitor<[String]>([])
    try await Crew.run(3) { (_, member) throws(PackError) in
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
