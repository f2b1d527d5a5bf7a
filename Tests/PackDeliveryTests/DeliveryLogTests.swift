import TestSupport
import Testing

@Suite("The log of deliveries")
struct DeliveryLogTests {
  private let logger = RecordingLogger()

  private func state() throws(PackError) -> SharedState {
    try SharedState(directory: "/group", files: MemoryFiles(MemoryDisk()), clock: TestClock(), logger: logger)
  }

  @Test("a refused manifest is an error with its code")
  func refused() throws {
    let state = try state()
    let error = failure { () throws(PackError) in _ = try state.accept([1, 2, 3]) { (_) throws(PackError) in } }
    #expect(error != nil)
    #expect(logger.take() == ["error delivery: manifest refused code=damaged-manifest error=<private>"])
  }

  @Test("a plan is one line with numbers, however many packs there are")
  func plan() throws {
    let state = try state()
    let offers =
      (0..<300).map { offer("wanted-\($0)") } + [offer("a", .onDemand), offer("b", .onDemand), offer("large", size: 1_000_000, .essential)]
    _ = try state.plan(
      for: manifest(offers, version: 7),
      facts: DeliveryFacts(.install, at: now, allowance: Allowance(essential: 5000, other: 10_000_000)))
    #expect(
      logger.take() == [
        "notice delivery: planned event=install manifest=7 downloads=300 bytes=300000 running=0 arrived=0 ready=0 essentialLeft=5000 "
          + "otherLeft=9700000 postponed=allowance:1,not-requested:2"
      ])
  }

  @Test("without a logger, a plan is the same")
  func same() throws {
    let facts = DeliveryFacts(.periodic, at: now)
    let packs = manifest(offer("a"), offer("b"))
    #expect(try state().plan(for: packs, facts: facts) == SharedState.sample(MemoryFiles(MemoryDisk())).plan(for: packs, facts: facts))
  }
}
