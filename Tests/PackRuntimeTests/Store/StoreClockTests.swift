import TestSupport
import Testing

@Suite("A store whose clock is set back", .bounded)
struct StoreClockTests {
  /// Returns what a store reports in the life of a pack, step by step. Calls `set` with the clock before each step.
  private func life(_ set: (StageClock) -> Void) async throws -> [String] {
    let stage = try StoreStage()
    var store = try await stage.open()
    var said: [String] = []
    func note(_ step: String) async throws {
      let packs = try await store.installed().map { "\($0.id) \($0.version) \($0.state)" }
      let running = (try? await store.open("core").read("index.html")).map { String(decoding: $0, as: UTF8.self) }
      let planned = try await store.plan().downloads.map(\.id)
      said.append("\(step): \(packs), runs \(running ?? "nothing"), wants \(planned)")
      set(stage.clock)
    }
    set(stage.clock)
    var offers: [StoreStage.Offer] = []
    for version in 1...4 { offers.append(try await stage.offer("core", UInt64(version))) }
    try await store.adopt(stage.manifest(1, [offers[0]]))
    try await note("adopted")
    try await store.install(offers[0].path, as: "core", taking: .copying)
    try await note("installed")
    let first = try await store.activate("core")
    try await note("on trial")
    try await store.confirm(first)
    try await note("confirmed")
    try await store.adopt(stage.manifest(2, [offers[1]]))
    try await note("offered")
    try await store.install(offers[1].path, as: "core", taking: .copying)
    try await store.activate("core")
    try await note("second on trial")
    try await store.rollback("core", reason: "blank page")
    try await note("rolled back")
    // A process that ends in a trial.
    try await store.adopt(stage.manifest(3, [offers[2]]))
    try await store.install(offers[2].path, as: "core", taking: .copying)
    try await store.activate("core")
    try await note("third on trial")
    stage.end("one")
    store = try await stage.open(as: "two")
    said.append("\(try await store.reconcile().map { "\($0)".prefix { $0 != "(" } })")
    try await note("crashed")
    try await store.adopt(stage.manifest(4, [offers[3]]))
    try await store.install(offers[3].path, as: "core", taking: .copying)
    try await store.confirm(try await store.activate("core"))
    try await note("fourth")
    #expect(
      await failure { () async throws(PackError) in try await store.adopt(stage.manifest(3, [offers[2]])) }?.code == .manifestRollback)
    _ = try await store.purge(toFree: .max)
    try await note("purged")
    try await store.remove("core")
    try await note("removed")
    return said
  }

  @Test("setting the clock back before every step changes nothing")
  func everyStep() async throws {
    let steady = try await life { _ in }
    #expect(steady.count > 10)
    let latest = StageClock().secondsSince1970
    for times in [[0], [-1], [Int64.min], [latest - 1], [latest, 1, latest - 1_000_000, Int64.min, 1_700_000_000]] {
      var step = 0
      let moved = try await life { clock in
        clock.secondsSince1970 = times[step % times.count]
        step += 1
      }
      #expect(moved == steady, "\(times)")
    }
  }
}
