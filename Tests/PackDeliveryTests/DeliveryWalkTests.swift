import Foundation
import TestSupport
import Testing

/// A walk that ended in a fault once.
private struct KeptWalk: Sendable {
  let seed: UInt64
  let hasPages: Bool
  let events: Int

  static let all = [KeptWalk(seed: 17_260_788_349_961_858_455, hasPages: true, events: 7400)]
}

@Suite("Random walks of deliveries")
struct DeliveryWalkTests {
  /// The number of events in one walk: 2000, or 10 000 if everything is tried, or what `PACKER_DELIVERY_EVENTS` says.
  private static let events =
    ProcessInfo.processInfo.environment["PACKER_DELIVERY_EVENTS"].flatMap(Int.init) ?? Effort.number(quick: 2000, full: 10_000)

  @Test("for any events in any order, with crashes anywhere, no state is stuck and no pack is lost", arguments: [false, true])
  func walk(hasPages: Bool) throws {
    try take(Self.events, SeededGenerator(for: "a walk of deliveries").seed, hasPages)
  }

  @Test(
    "a walk that ended in a fault once ends without one", .enabled(if: Effort.isFull, "it has thousands of events: Scripts/soak runs it"),
    arguments: KeptWalk.all.indices)
  func keptWalk(_ number: Int) throws {
    let walk = KeptWalk.all[number]
    try take(walk.events, walk.seed, walk.hasPages)
  }

  private func take(_ events: Int, _ seed: UInt64, _ hasPages: Bool) throws {
    var world = DeliveryWorld(SeededGenerator(seed: seed), hasPages: hasPages)
    for number in 1...events {
      world.step()
      if number % 200 == 0 { try world.settle("PACKER_TEST_SEED=\(seed), event \(number)") }
    }
    try world.settle("PACKER_TEST_SEED=\(seed), at the end")
    print("\(events) events: " + world.counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    print("edges taken: \(world.edges.count) of \(DeliveryEdge.all.count)")
    // The frequent ones happen in any walk, the others in a long one.
    for what in ["crash", "installed", "delivered", "failed", "settled"] {
      #expect(world.counts[what, default: 0] > 0, "\(what) never happened")
    }
    guard events >= 10_000 else { return }
    #expect(world.counts["power cut", default: 0] > 0, "power cut never happened")
    if hasPages {
      for what in ["swapped page", "followed page", "settled by delta", "settled by two deltas", "settled over another pack", "fell back"] {
        #expect(world.counts[what, default: 0] > 0, "\(what) never happened")
      }
    }
  }
}
