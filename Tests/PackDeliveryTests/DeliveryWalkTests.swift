import Foundation
import TestSupport
import Testing

@Suite("Random walks of deliveries")
struct DeliveryWalkTests {
  /// The number of events in one walk: 2000, or 10 000 if everything is tried, or what `PACKER_DELIVERY_EVENTS` says.
  private static let events =
    ProcessInfo.processInfo.environment["PACKER_DELIVERY_EVENTS"].flatMap(Int.init) ?? Effort.number(quick: 2000, full: 10_000)

  @Test("for any events in any order, with crashes anywhere, no state is stuck and no pack is lost", arguments: [false, true])
  func walk(hasCatalogue: Bool) throws {
    let (events, seed) = (Self.events, SeededGenerator(for: "a walk of deliveries").seed)
    var world = DeliveryWorld(SeededGenerator(seed: seed), hasCatalogue: hasCatalogue)
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
    let rare = ["power cut", "taken", "settled by delta", "settled over another pack", "fell back"]
    for what in rare + (hasCatalogue ? ["fetched shard", "swapped shard"] : []) {
      #expect(world.counts[what, default: 0] > 0, "\(what) never happened")
    }
  }
}
