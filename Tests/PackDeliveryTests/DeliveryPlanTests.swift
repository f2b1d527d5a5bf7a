import TestSupport
import Testing

@Suite("Delivery plans")
struct DeliveryPlanTests {
  private func plan(
    _ packs: ManifestPack..., records: [PackStatus] = [], files: [WaitingFile] = [],
    facts: DeliveryFacts = DeliveryFacts(.periodic, at: now)
  ) -> DeliveryPlan {
    DeliveryPlan(for: manifest(packs), records: records, files: files, facts: facts)
  }

  private func waiting(_ id: String, _ version: UInt64 = 1, size: UInt64 = 1000) -> WaitingFile {
    WaitingFile(identifier: DownloadIdentifier(id: id, bytes: bytes(id, version)), size: size)
  }

  // MARK: Downloads

  @Test("an empty manifest on an empty device plans nothing")
  func nothing() {
    #expect(plan() == plan())
    #expect(plan().downloads.isEmpty && plan().changes.isEmpty && plan().downloadSize == 0)
  }

  @Test("missing packs are downloaded with the sizes, digests and URLs of the manifest: essential packs first, each kind in its order")
  func order() {
    let plan = plan(
      offer("p2"), offer("e2", 3, size: 77, .essential), offer("p1"), offer("e1", .essential), facts: DeliveryFacts(.install, at: now))
    #expect(plan.downloads.map(\.id) == ["e2", "e1", "p2", "p1"])
    #expect(plan.downloads[0].bytes == bytes("e2", 3, size: 77))
    #expect(plan.downloads[0].url == "https://cdn.example.com/e2-3.pack")
    #expect(plan.downloads[0].identifier.description == identifier("e2", 3))
    #expect(plan.downloads.map(\.isEssential) == [true, true, false, false])
    #expect(plan.downloads.map(\.priority) == [1, 1, 0.5, 0.5])
    #expect(plan.downloadSize == 3077)
    #expect(plan.changes.map(\.after?.state) == [.scheduled, .scheduled, .scheduled, .scheduled])
    #expect(plan.changes.map(\.after?.isEssential) == [true, true, false, false])
  }

  @Test("a sum of sizes beyond 64 bits does not crash")
  func overflow() {
    let huge = plan(offer("a", size: .max), offer("b", size: .max, .essential, .unpacked))
    #expect(huge.downloadSize == .max)
    #expect(plan(offer("a", size: .max), facts: DeliveryFacts(.periodic, at: now, freeSpace: 5)).downloads.isEmpty)
  }

  @Test("downloads are essential only when the app was installed or updated", arguments: DeliveryEvent.allCases)
  func essential(_ event: DeliveryEvent) {
    let plan = plan(offer("e", .essential), offer("p"), facts: DeliveryFacts(event, at: now))
    #expect(plan.downloads.map(\.isEssential) == [event == .install || event == .update, false])
  }

  @Test("a pack with on-demand delivery is downloaded only if requested, and the request is remembered")
  func onDemand() throws {
    let quiet = plan(offer("d", .onDemand))
    #expect(quiet.downloads.isEmpty && quiet.changes.isEmpty)
    #expect(quiet.reason(of: "d") == .notAsked)
    let asked = plan(offer("p"), offer("d", .onDemand), facts: DeliveryFacts(.launch, at: now, asked: ["d"]))
    #expect(asked.downloads.map(\.id) == ["d", "p"], "the app waits for it")
    let record = try #require(asked.changes.first { $0.id == "d" }?.after)
    #expect(record.isWanted)
    let forgotten = try #require([record].first)
    let later = plan(
      offer("d", .onDemand), records: [forgotten], facts: DeliveryFacts(.periodic, at: now + 100, downloads: []))
    #expect(later.downloads.map(\.id) == ["d"], "it need not be requested again")
  }

  @Test("a requested pack on the device is kept up to date; one that was purged must be requested again")
  func onDemandUpdates() {
    let facts = DeliveryFacts(.launch, at: now, device: [installed("d")])
    let here = plan(offer("d", .onDemand), records: [status("d", .asked, .arrived)], facts: facts)
    #expect(here.ready == ["d"] && here.changes.map(\.after) == [nil])
    #expect(plan(offer("d", 2, .onDemand), facts: facts).downloads.map(\.bytes.version) == [2])
    let declined = status("d", 2, .scheduled(isEssential: false), .cancelled)
    #expect(plan(offer("d", 2, .onDemand), records: [declined], facts: facts).reason(of: "d") == .cancelled)
    #expect(plan(offer("d", 3, .onDemand), records: [declined], facts: facts).downloads.map(\.bytes.version) == [3])
    let purged = plan(offer("d", .onDemand), facts: DeliveryFacts(.launch, at: now, device: []))
    #expect(purged.reason(of: "d") == .notAsked && purged.changes == [])
  }

  @Test("downloads that someone waits for start in the foreground: essential, requested, or not permitted in the background")
  func foreground() {
    let barred = status("b", .scheduled(isEssential: false), .turnedAway(.background))
    let packs = [offer("e", .essential), offer("d", .onDemand), offer("p"), offer("b")]
    for event in [DeliveryEvent.launch, .periodic] {
      let plan = DeliveryPlan(for: manifest(packs), records: [barred], facts: DeliveryFacts(event, at: now, asked: ["d"]))
      #expect(plan.downloads.map(\.id) == ["e", "d", "p", "b"])
      #expect(plan.downloads.map(\.startsInForeground) == (event == .launch ? [true, true, false, true] : [false, false, false, false]))
    }
  }

  @Test("packs that a manifest offers to other devices count as not offered")
  func otherDevices() {
    let facts = DeliveryFacts(.periodic, at: now, device: [installed("mac")], isForDevice: { $0.id != "mac" })
    let plan = plan(offer("mac"), offer("ios"), facts: facts)
    #expect(plan.downloads.map(\.id) == ["ios"])
    #expect(plan.obsolete.map(\.id) == ["mac"])
  }

  // MARK: Packs on the device or in progress

  @Test("a download that the system has is not started again", arguments: [[PackEvent](), [.began], [.began, .paused(.user)]])
  func underWay(_ events: [PackEvent]) {
    var record = status("a", .scheduled(isEssential: false))
    for event in events { if let next = record.after(event, at: now) { record = next } }
    for facts in [
      DeliveryFacts(.update, at: now), DeliveryFacts(.launch, at: now + 50, device: [], downloads: []),
      DeliveryFacts(.launch, at: now + 9999, device: [], downloads: [identifier("a")]), DeliveryFacts(.periodic, at: now + 86_399),
    ] {
      let plan = plan(offer("a", .essential), records: [record], facts: facts)
      #expect(plan.underWay == ["a"] && plan.downloads.isEmpty && plan.changes.isEmpty)
    }
  }

  @Test("a download that the system lost is detected and started again")
  func forgotten() {
    let record = status("a", .scheduled(isEssential: false), .began)
    for facts in [
      DeliveryFacts(.periodic, at: now + 60, downloads: []),
      DeliveryFacts(.periodic, at: now + 60, downloads: [identifier("a", 2), "other"]),
      DeliveryFacts(.periodic, at: now + 86_400), DeliveryFacts(.periodic, at: now - 5, downloads: []),
      DeliveryFacts(.periodic, at: now - 5),
    ] {
      let plan = plan(offer("a"), records: [record], facts: facts)
      #expect(plan.downloads.map(\.id) == ["a"])
      #expect(plan.changes.map(\.after?.state) == [.scheduled])
    }
  }

  @Test("a download that the system has but that has no record is in progress, and is not started twice")
  func remembered() {
    for record in [[], [status("a", .scheduled(isEssential: false), .downloadFailed(.offline))]] {
      let plan = plan(offer("a"), records: record, facts: DeliveryFacts(.launch, at: now + 5, downloads: [identifier("a")]))
      #expect(plan.underWay == ["a"] && plan.downloads.isEmpty)
      #expect(plan.changes.map(\.after?.state) == [.loading])
    }
  }

  @Test("a download that failed just now is not in progress, even if an older list of the system has it")
  func failedMeanwhile() {
    let record = status("a", .scheduled(isEssential: false), .downloadFailed(.offline))
    let plan = plan(offer("a"), records: [record], facts: DeliveryFacts(.launch, at: now + 4, downloads: [identifier("a")]))
    #expect(plan.underWay.isEmpty && plan.changes.isEmpty && plan.cancellations.isEmpty)
    #expect(plan.reason(of: "a") == .failed(.offline, secondsLeft: 56))
  }

  @Test("a download that was cancelled or is no longer needed is cancelled in the system; downloads of other code are not")
  func strays() {
    let records = [
      status("c", .scheduled(isEssential: false), .cancelled), status("gone", .scheduled(isEssential: false)),
    ]
    let downloads: Set = [identifier("c"), identifier("r"), identifier("gone"), identifier("unheard-of"), "the app's own"]
    let plan = plan(
      offer("c"), offer("r"), records: records, facts: DeliveryFacts(.launch, at: now, device: [installed("r")], downloads: downloads))
    #expect(plan.cancellations == [identifier("c"), identifier("gone"), identifier("r"), identifier("unheard-of")])
    #expect(plan.reason(of: "c") == .cancelled)
    #expect(plan.ready == ["r"])
  }

  @Test("the download of a pack that is no longer listed is cancelled, even if the system's list is unknown", arguments: [false, true])
  func unlisted(isKnown: Bool) {
    let records = [status("gone", .scheduled(isEssential: false), .began)]
    let facts = DeliveryFacts(.periodic, at: now, downloads: isKnown ? [identifier("gone")] : nil)
    let plan = plan(offer("a"), records: records, facts: facts)
    #expect(plan.cancellations == [identifier("gone")])
    #expect(plan.downloads.map(\.id) == ["a"])
  }

  @Test("a download of older bytes is cancelled if their record is the only trace of it, and one that is wanted again is not")
  func replaced() {
    let record = status("a", .scheduled(isEssential: false), .began)
    #expect(plan(offer("a", 2), records: [record], facts: DeliveryFacts(.periodic, at: now)).cancellations == [identifier("a")])
    let forgotten = status("a", .scheduled(isEssential: false), .downloadFailed(.offline))
    let facts = DeliveryFacts(.launch, at: now + 4, downloads: [identifier("a")], asked: ["a"])
    let again = plan(offer("a"), records: [forgotten], facts: facts)
    #expect(!again.cancellations.contains { $0 == identifier("a") })
  }

  @Test("a waiting file is handed over, even if it was not recorded")
  func handOver() {
    let records: [[PackStatus]] = [
      [], [status("a", .scheduled(isEssential: true))], [status("a", .scheduled(isEssential: true), .arrived)],
      [status("a", .scheduled(isEssential: true), .downloadFailed(.offline))], [status("a", .scheduled(isEssential: true), .cancelled)],
    ]
    for records in records {
      let plan = plan(offer("a", .essential, .unpacked), records: records, files: [waiting("a")])
      #expect(plan.handOver == [HandOver(id: "a", bytes: bytes("a", 1), mode: .unpacked)])
      #expect(plan.downloads.isEmpty && plan.orphans.isEmpty)
    }
  }

  @Test("a file with the wrong length is not used, and is reported as an orphan")
  func wrongLength() {
    let plan = plan(offer("a"), records: [status("a", .arrived)], files: [waiting("a", size: 999)])
    #expect(plan.downloads.map(\.id) == ["a"])
    #expect(plan.orphans == [identifier("a")])
  }

  @Test("a file of other bytes is an orphan")
  func otherFile() {
    let plan = plan(offer("a", 2), records: [status("a", 2, .scheduled(isEssential: false))], files: [waiting("a")])
    #expect(plan.orphans == [identifier("a", 1)])
  }

  @Test("a pack is ready if the device has exactly its bytes")
  func ready() {
    #expect(plan(offer("a"), facts: DeliveryFacts(.launch, at: now, device: [installed("a")])).ready == ["a"])
    let arrived = plan(
      offer("a"), records: [status("a", .arrived)], files: [waiting("a")], facts: DeliveryFacts(.launch, at: now, device: [installed("a")]))
    #expect(arrived.ready == ["a"] && arrived.orphans == [identifier("a")] && arrived.changes.map(\.after) == [nil])
    let other = DevicePack(id: "a", version: 1, sha256: digest("a", 2), mode: .packed)
    #expect(plan(offer("a"), facts: DeliveryFacts(.launch, at: now, device: [other])).downloads.map(\.id) == ["a"])
  }

  @Test("a pack that is installed packed stays packed; an unpacked one follows the manifest")
  func packedStaysPacked() {
    func mode(_ held: [DevicePack], _ install: InstallMode) -> [InstallMode] {
      plan(offer("a", 2, .prefetch, install), files: [waiting("a", 2)], facts: DeliveryFacts(.launch, at: now, device: held)).handOver.map(
        \.mode)
    }
    #expect(mode([installed("a", 1, .packed)], .unpacked) == [.packed])
    #expect(mode([installed("a", 1, .unpacked)], .packed) == [.packed])
    #expect(mode([installed("a", 1, .unpacked)], .unpacked) == [.unpacked])
    #expect(mode([installed("a", 0, .unpacked), installed("a", 1, .packed)], .unpacked) == [.packed])
    #expect(mode([], .unpacked) == [.unpacked])
    let same = plan(offer("a", 1, .prefetch, .unpacked), facts: DeliveryFacts(.launch, at: now, device: [installed("a", 1, .packed)]))
    #expect(same.ready == ["a"], "another mode is no reason to download the same bytes")
  }

  @Test("bytes that the store rejected are not downloaded again; other bytes are")
  func rejected() {
    let facts = DeliveryFacts(.launch, at: now, device: [installed("a", 1, isRejected: true), installed("a", 0)])
    #expect(plan(offer("a"), facts: facts).reason(of: "a") == .failed(.rejected, secondsLeft: nil))
    #expect(plan(offer("a", 2), facts: facts).downloads.map(\.id) == ["a"])
  }

  // MARK: Versions

  @Test("a new version while the old one downloads is one download, and the old one is cancelled")
  func supersededDownload() {
    let plan = plan(offer("a", 2), records: [status("a", 1, .scheduled(isEssential: false), .began)])
    #expect(plan.downloads.map(\.bytes.version) == [2])
    #expect(plan.cancellations == [identifier("a", 1)])
    #expect(plan.underWay.isEmpty)
  }

  @Test("other bytes under the same version count as a new version")
  func rewrapped() {
    var pack = offer("a", 1)
    pack.sha256 = digest("a", 99)
    let facts = DeliveryFacts(.launch, at: now, device: [installed("a")])
    #expect(plan(pack, facts: facts).downloads.map(\.bytes.sha256) == [digest("a", 99)])
  }

  // MARK: Postponed packs

  @Test("a download of exactly the remaining allowance is refused; one byte less is not", arguments: [999, 1000, 1001] as [UInt64])
  func allowance(_ left: UInt64) {
    let essential = plan(
      offer("e", .essential), facts: DeliveryFacts(.install, at: now, allowance: Allowance(essential: left, other: 0)))
    #expect(essential.downloads.count == (left > 1000 ? 1 : 0))
    #expect(essential.allowance == Allowance(essential: left > 1000 ? left - 1000 : left, other: 0))
    #expect(essential.reason(of: "e") == (left > 1000 ? nil : .allowance(size: 1000, left: left)))
    let other = plan(offer("p"), facts: DeliveryFacts(.install, at: now, allowance: Allowance(essential: 0, other: left)))
    #expect(other.downloads.count == (left > 1000 ? 1 : 0))
  }

  @Test("the two allowances are counted down in order, and a smaller pack may fit after one that does not")
  func allowances() {
    let plan = plan(
      offer("p1", size: 500), offer("e1", size: 600, .essential), offer("p2", size: 600), offer("e2", size: 500, .essential),
      offer("p3", size: 499), facts: DeliveryFacts(.install, at: now, allowance: Allowance(essential: 1101, other: 1000)))
    #expect(plan.downloads.map(\.id) == ["e1", "e2", "p1", "p3"])
    #expect(plan.reason(of: "p2") == .allowance(size: 600, left: 500))
    #expect(plan.allowance == Allowance(essential: 1, other: 1))
  }

  @Test("the manifest counts as essential, and a manifest larger than the allowance leaves nothing")
  func manifestCounts() {
    let budget = InstallBudget(essentialDownloadAllowance: 1000, downloadAllowance: 7, essentialMaxInstallSize: 0, maxInstallSize: 0)
    #expect(Allowance(budget, manifestSize: 300) == Allowance(essential: 700, other: 7))
    #expect(Allowance(budget, manifestSize: 1001) == Allowance(essential: 0, other: 7))
  }

  @Test(
    "downloads that the system refuses before the first start wait for it and follow then",
    arguments: [IdleReason.beforeLaunch, .allowance, .host])
  func beforeLaunch(_ reason: IdleReason) {
    let record = status("a", .scheduled(isEssential: false), .turnedAway(reason))
    let before = plan(
      offer("a"), records: [record], facts: DeliveryFacts(.install, at: now, allowance: Allowance(essential: 9999, other: 9999)))
    #expect(before.reason(of: "a") == .beforeLaunch(reason))
    #expect(plan(offer("a"), records: [record], facts: DeliveryFacts(.launch, at: now)).downloads.map(\.id) == ["a"])
  }

  @Test("a pack waits if the device has too little space, including everything in progress, and its own file if it is unpacked")
  func space() {
    // Packed, a pack takes whole blocks. Unpacked, it takes three times its size, and until it is installed also its file.
    let records = [status("w", .scheduled(isEssential: false))]
    func plan(_ free: UInt64, _ mode: InstallMode) -> DeliveryPlan {
      self.plan(
        offer("w"), offer("a", size: 8192, .prefetch, mode), records: records, facts: DeliveryFacts(.periodic, at: now, freeSpace: free))
    }
    #expect(plan(4096 + 8192, .packed).downloads.map(\.id) == ["a"])
    #expect(plan(4096 + 8191, .packed).reason(of: "a") == .space(needed: 12_288, free: 12_287))
    #expect(plan(4096 + 4 * 8192, .unpacked).downloads.map(\.id) == ["a"])
    #expect(plan(4096 + 4 * 8192 - 1, .unpacked).downloads.isEmpty)
    #expect(plan(0, .packed).underWay == ["w"], "a download in progress stays in progress")
  }

  @Test("a failed pack waits for its delay, and an update of the app ends the wait")
  func failed() {
    let record = status("a", .scheduled(isEssential: false), .downloadFailed(.server))
    #expect(
      plan(offer("a"), records: [record], facts: DeliveryFacts(.periodic, at: now + 20)).reason(of: "a")
        == .failed(.server, secondsLeft: 40))
    #expect(plan(offer("a"), records: [record], facts: DeliveryFacts(.periodic, at: now + 60)).downloads.map(\.id) == ["a"])
    #expect(plan(offer("a"), records: [record], facts: DeliveryFacts(.update, at: now)).downloads.map(\.id) == ["a"])
    #expect(plan(offer("a"), records: [record], facts: DeliveryFacts(.launch, at: now, asked: ["a"])).downloads.map(\.id) == ["a"])
    #expect(
      plan(offer("a"), records: [record], facts: DeliveryFacts(.periodic, at: now - 999)).downloads.map(\.id) == ["a"],
      "the clock was set back")
  }

  @Test("a cancelled pack is downloaded when it is requested, when its bytes change, and when an app that needs it is updated")
  func cancelled() {
    let record = status("a", .scheduled(isEssential: false), .cancelled)
    for event in DeliveryEvent.allCases {
      #expect(plan(offer("a"), records: [record], facts: DeliveryFacts(event, at: now)).reason(of: "a") == .cancelled)
    }
    #expect(plan(offer("a"), records: [record], facts: DeliveryFacts(.launch, at: now, asked: ["a"])).downloads.map(\.id) == ["a"])
    #expect(plan(offer("a", 2), records: [record]).downloads.map(\.id) == ["a"])
    #expect(plan(offer("a", .essential), records: [record], facts: DeliveryFacts(.update, at: now)).downloads.map(\.id) == ["a"])
  }

  @Test("an expired manifest starts nothing and removes nothing", arguments: [0, 1] as [Int64])
  func expired(_ late: Int64) {
    let records = [status("w", .arrived), status("l", .scheduled(isEssential: false))]
    let plan = DeliveryPlan(
      for: manifest(offer("r"), offer("w"), offer("l"), offer("n"), expires: now), records: records, files: [waiting("w")],
      facts: DeliveryFacts(.periodic, at: now + late, device: [installed("r")]))
    #expect(plan.ready == ["r"] && plan.underWay == ["l"] && plan.downloads.isEmpty && plan.handOver.isEmpty)
    #expect(plan.reason(of: "w") == .manifestExpired && plan.reason(of: "n") == .manifestExpired)
    #expect(plan.orphans.isEmpty && plan.obsolete.isEmpty && plan.changes.isEmpty)
  }

  // MARK: Invariants

  @Test("each pack is in exactly one list, for any records, files and facts")
  func oneListEach() {
    var random = SeededGenerator()
    let ids = ["a", "b", "c", "d", "e", "f"]
    let samples = DeliveryStateTests.samples.values.map(\.state)
    for _ in 0..<3000 {
      let offered = ids.filter { _ in random.next() % 4 > 0 }.map { id in
        offer(
          id, 1 + random.next() % 2, size: random.next() % 3000, DeliveryClass.allCases.randomElement(using: &random)!,
          InstallMode.allCases.randomElement(using: &random)!)
      }
      var records: [PackStatus] = []
      for id in ids where random.next() % 3 > 0 {
        var record = PackStatus(id: id, bytes: bytes(id, 1 + random.next() % 2), at: now - Int64(random.next() % 200_000))
        let wanted = samples.randomElement(using: &random)!
        for _ in 0..<40 where record.state.kind != wanted.kind {
          let event = DeliveryStateTests.events.values.randomElement(using: &random)!
          if event.kind == .offered { continue }
          if let next = record.after(event, at: record.since) { record = next }
        }
        records.append(record)
      }
      func some<Value>(_ value: Value) -> Value? { random.next() % 2 == 0 ? value : nil }
      let facts = DeliveryFacts(
        DeliveryEvent.allCases.randomElement(using: &random)!, at: now + Int64(random.next() % 100) - 50,
        device: some(
          ids.filter { _ in random.next() % 2 == 0 }.map { installed($0, 1 + random.next() % 2, isRejected: random.next() % 4 == 0) }),
        downloads: some(Set(ids.filter { _ in random.next() % 2 == 0 }.map { identifier($0, 1 + random.next() % 2) })),
        asked: Set(ids.filter { _ in random.next() % 4 == 0 }),
        allowance: some(Allowance(essential: random.next() % 5000, other: random.next() % 5000)),
        freeSpace: some(random.next() % 30_000))
      let files = ids.filter { _ in random.next() % 3 == 0 }.map {
        waiting($0, 1 + random.next() % 2, size: random.next() % 2 == 0 ? 1000 : 1)
      }
      let plan = DeliveryPlan(for: manifest(offered), records: records, files: files, facts: facts)
      for id in ids {
        let lists = lists(of: id, in: plan)
        if offered.contains(where: { $0.id == id }) {
          #expect(lists.count == 1 && lists != ["obsolete"], "\(id): \(lists)")
        } else {
          #expect(lists == [] || lists == ["obsolete"], "\(id): \(lists)")
        }
      }
      #expect(Set(plan.changes.map(\.id)).count == plan.changes.count)
      #expect(Set(plan.cancellations).isDisjoint(with: plan.downloads.map(\.identifier.description)))
      #expect(plan.downloads.allSatisfy { !$0.isEssential || facts.event.permitsEssential })
      #expect(plan.handOver.allSatisfy { !plan.orphans.contains(DownloadIdentifier(id: $0.id, bytes: $0.bytes).description) })
      // Applying a plan is complete: with its records, the next plan at the same time has the same downloads in progress and nothing more to do.
      var next = Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0) })
      for change in plan.changes { next[change.id] = change.after }
      var calm = facts
      calm.asked = []
      calm.downloads = facts.downloads?.union(plan.downloads.map(\.identifier.description)).subtracting(plan.cancellations)
      if calm.event.permitsEssential { calm.event = .periodic }
      let again = DeliveryPlan(for: manifest(offered), records: Array(next.values), files: files, facts: calm)
      #expect(Set(again.downloads.map(\.id)).isDisjoint(with: plan.downloads.map(\.id)))
    }
  }
}
