import Foundation
import PackDelivery
import TestSupport
import Testing

@Suite("Random walks of deliveries")
struct DeliveryWalkTests {
  /// The events of one walk: 10 000, or what `PACKER_DELIVERY_EVENTS` says.
  private static let events = ProcessInfo.processInfo.environment["PACKER_DELIVERY_EVENTS"].flatMap(Int.init) ?? 10_000

  @Test("whatever happens, in whatever order, with crashes anywhere: no state is stuck and no pack is lost")
  func walk() throws {
    var world = DeliveryWorld(SeededGenerator())
    let seed = world.random.seed
    for number in 1...Self.events {
      world.step()
      if number % 200 == 0 { try world.settle("PACKER_TEST_SEED=\(seed), event \(number)") }
    }
    try world.settle("PACKER_TEST_SEED=\(seed), at the end")
    print("\(Self.events) events: " + world.counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    print("edges taken: \(world.edges.count) of \(DeliveryEdge.all.count)")
    for what in ["crash", "installed", "delivered", "failed", "power cut", "settled"] {
      #expect(world.counts[what, default: 0] > 0, "\(what) never happened")
    }
  }
}
