import TestSupport
import Testing

@Suite("Batches of downloads")
struct BatchTests {
  private let disk = MemoryDisk()

  /// Lets a download arrive, and the app install its file.
  ///
  /// - Returns: What the device has then.
  private func deliver(_ identifier: String, to state: SharedState, isInstalled: Bool) throws -> DevicePack? {
    disk.write([1], to: "/system/file")
    #expect(try state.park("/system/file", asDownload: identifier) == .moved)
    guard isInstalled, let record = try DownloadIdentifier(identifier).flatMap({ try state.status(of: $0.id) }) else { return nil }
    let file = HandOver(id: record.id, bytes: record.bytes, mode: .packed)
    _ = try #require(try state.path(of: file))
    try state.finishInstall(file, .installed)
    return installed(record.id)
  }

  @Test(
    "the system never has more than 500 downloads; the most urgent come first, all arrive, and none is handed over twice",
    arguments: [600, 2000], [DeliveryEvent.launch, .periodic])
  func batches(count: Int, later: DeliveryEvent) throws {
    let seed = UInt64.random(in: 0..<UInt64.max)
    var random = SeededGenerator(seed: seed)
    let state = try SharedState.sample(MemoryFiles(disk))
    // Every 40th is essential, and the last ones too, so that the order of the manifest is not the order of urgency.
    let essential = Set((0..<count).filter { $0 % 40 == 39 || $0 > count - 10 }.map { "pack-\($0)" })
    let release = manifest((0..<count).map { offer("pack-\($0)", size: 1, essential.contains("pack-\($0)") ? .essential : .prefetch) })
    var (system, handed, device): ([String], [String], [DevicePack]) = ([], [], [])
    var (event, rounds) = (DeliveryEvent.install, 0)
    repeat {
      let plan = try state.plan(for: release, facts: DeliveryFacts(event, at: now, device: device, downloads: Set(system))).plan
      handed += plan.downloads.map(\.id)
      system += plan.downloads.map(\.identifier.description)
      #expect(system.count <= 500, "seed \(seed)")
      let waiting = plan.postponed.count { if case .batch = $0.reason { true } else { false } }
      #expect(waiting == count - handed.count && (waiting == 0 || system.count == 500), "seed \(seed)")
      for _ in 0..<min(system.count, 200 + Int(random.next() % 300)) {
        let identifier = system.remove(at: Int(random.next() % UInt64(system.count)))
        if let pack = try deliver(identifier, to: state, isInstalled: later == .launch) { device.append(pack) }
      }
      (event, rounds) = (later, rounds + 1)
    } while !system.isEmpty && rounds < 20
    #expect(handed.count == count && Set(handed).count == count, "seed \(seed)")
    #expect(Set(handed.prefix(essential.count)) == essential)
    #expect(Array(handed.dropFirst(essential.count)) == release.packs.map(\.id).filter { !essential.contains($0) })
  }

  @Test("essential packs do not wait at the event that permits them, because no other does")
  func essential() throws {
    let release = manifest((0..<1200).map { offer("pack-\($0)", size: 1, $0 < 700 ? .prefetch : .essential) })
    let plan = DeliveryPlan(for: release, records: [], facts: DeliveryFacts(.install, at: now))
    #expect(plan.downloads.map(\.id) == (700..<1200).map { "pack-\($0)" })
    #expect(plan.downloads.allSatisfy { $0.isEssential })
    let more = manifest((0..<1200).map { offer("pack-\($0)", size: 1, $0 < 700 ? .essential : .prefetch) })
    #expect(DeliveryPlan(for: more, records: [], facts: DeliveryFacts(.install, at: now)).downloads.count == 700)
    // Later they are downloads like others.
    #expect(DeliveryPlan(for: more, records: [], facts: DeliveryFacts(.periodic, at: now)).downloads.count == 500)
  }

  @Test("a requested pack does not wait for packs that nobody requested, but for 500 others that were requested")
  func requested() throws {
    let asked = (0..<600).map { "asked-\($0)" }
    let release = manifest((0..<600).map { offer("pack-\($0)") } + asked.map { offer($0, .onDemand) })
    let state = try SharedState.sample(MemoryFiles(disk))
    #expect(try state.plan(for: release, facts: DeliveryFacts(.launch, at: now)).plan.downloads.count == 500)
    let one = try state.plan(for: release, facts: DeliveryFacts(.launch, at: now, asked: ["asked-7"])).plan
    #expect(one.downloads.map(\.id) == ["asked-7"])
    let all = try state.plan(for: release, facts: DeliveryFacts(.launch, at: now, asked: Set(asked))).plan
    #expect(all.downloads.count == 499 && all.downloads.allSatisfy { $0.id.hasPrefix("asked-") })
    // Their requests are remembered.
    #expect(try state.status(of: "asked-599")?.isWanted == true)
    #expect(all.reason(of: "asked-599") == .batch(bytes("asked-599", 1)))
    #expect(all.reason(of: "pack-599") == .batch(bytes("pack-599", 1)))
  }
}
