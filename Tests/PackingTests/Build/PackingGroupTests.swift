import TestSupport
import Testing

@testable import PackBuild

/// How many packs of a build are made at the same time.
@Suite("Packs that are made at once", .bounded)
struct PackingGroupTests {
  private func item(_ index: Int, _ cost: UInt64, frames: UInt64 = 100) -> PackingGroup.Item {
    PackingGroup.Item(index: index, cost: cost, frames: frames)
  }

  @Test("are the small ones, with a thread each and the largest first")
  func small() {
    let items = (0..<100).map { item($0, UInt64(1 + $0 % 10)) }
    let groups = PackingGroup.groups(items, threads: 4)
    #expect(groups.map(\.atOnce) == [4] && groups.map(\.jobs) == [1])
    let costs = groups.flatMap(\.packs).map { items[$0].cost }
    #expect(costs == costs.sorted(by: >) && Set(groups.flatMap(\.packs)) == Set(0..<100))
    #expect(groups[0].packs.prefix(3) == [9, 19, 29])
  }

  @Test("do not include those that keep all threads busy, which come before them")
  func large() {
    let items = [item(0, 10), item(1, 5000), item(2, 11), item(3, 9000)] + (4..<40).map { item($0, 10) }
    let groups = PackingGroup.groups(items, threads: 4)
    #expect(groups.first == PackingGroup(packs: [1, 3], atOnce: 1, jobs: 4))
    #expect(groups.count == 2 && groups[1].atOnce == 4 && groups[1].jobs == 1 && groups[1].packs.prefix(2) == [2, 0])
  }

  @Test("share the threads if there are fewer packs than those")
  func few() {
    let items = [item(0, 300, frames: 3), item(1, 200, frames: 2), item(2, 100, frames: 1)]
    #expect(PackingGroup.groups(items, threads: 8) == [PackingGroup(packs: [0, 1, 2], atOnce: 3, jobs: 2)])
    #expect(PackingGroup.groups(items, threads: 1).allSatisfy { $0.atOnce == 1 && $0.jobs == 1 })
    #expect(PackingGroup.groups([item(7, 0, frames: 1)], threads: 8) == [PackingGroup(packs: [7], atOnce: 1, jobs: 8)])
    #expect(PackingGroup.groups([], threads: 8).isEmpty)
  }

  @Test("never use more threads than allowed, and no pack is left out", arguments: 0..<200 as Range<UInt64>)
  func any(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let threads = Int.random(in: 1...32, using: &random)
    let items = (0..<Int.random(in: 0...60, using: &random)).map {
      item($0, .random(in: 0...10_000, using: &random), frames: .random(in: 1...60, using: &random))
    }
    let groups = PackingGroup.groups(items, threads: threads)
    #expect(groups.allSatisfy { $0.jobs >= 1 && $0.atOnce >= 1 && $0.jobs * $0.atOnce <= threads && !$0.packs.isEmpty })
    #expect(groups.flatMap(\.packs).sorted() == items.map(\.index))
  }

  @Test("report their progress as one sum, which only rises and ends at the total")
  func progress() async throws {
    let seen = Monitor<[UInt64]>([])
    let meter = SumMeter(.packing, total: 4000) { progress in
      #expect(progress.phase == .packing && progress.total == 4000)
      seen.withLock { $0.append(progress.done) }
    }
    try await ConcurrentJobs.run(4, atOnce: 3) { (number) async throws(PackError) -> Void in
      try await meter.measure { (progress) async throws(PackError) in
        progress?(PackProgress(phase: .hashing, done: 999, total: 999))
        for done in stride(from: 0, through: 500 + 100 * number, by: 100) {
          progress?(PackProgress(phase: .packing, done: UInt64(done), total: 1000))
        }
      }
    } take: { (_, _) in
    }
    try await meter.measure { (progress) async throws(PackError) in progress?(PackProgress(phase: .packing, done: 0, total: 0)) }
    let all = seen.withLock { $0 }
    #expect(all == all.sorted() && all.last == 4000 && all.count == 31)
  }
}
