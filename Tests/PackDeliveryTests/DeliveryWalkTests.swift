import Foundation
import PackDelivery
import TestSupport
import Testing

@Suite("Random walks of deliveries")
struct DeliveryWalkTests {
  /// The number of events in one walk: 10 000, or the value of `PACKER_DELIVERY_EVENTS`.
  private static let events = ProcessInfo.processInfo.environment["PACKER_DELIVERY_EVENTS"].flatMap(Int.init) ?? 10_000

  @Test("for any events in any order, with crashes anywhere, no state is stuck and no pack is lost", arguments: [false, true])
  func walk(hasPages: Bool) throws {
    var world = DeliveryWorld(SeededGenerator(), hasPages: hasPages)
    let seed = world.random.seed
    for number in 1...Self.events {
      world.step()
      if number % 200 == 0 { try world.settle("PACKER_TEST_SEED=\(seed), event \(number)") }
    }
    try world.settle("PACKER_TEST_SEED=\(seed), at the end")
    print("\(Self.events) events: " + world.counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    print("edges taken: \(world.edges.count) of \(DeliveryEdge.all.count)")
    if hasPages {
      for what in ["swapped page", "followed page", "settled by delta", "settled by two deltas", "settled over another pack", "fell back"] {
        #expect(world.counts[what, default: 0] > 0, "\(what) never happened")
      }
    }
    for what in ["crash", "installed", "delivered", "failed", "power cut", "settled"] {
      #expect(world.counts[what, default: 0] > 0, "\(what) never happened")
    }
  }
}
