import TestSupport
import Testing

@Suite("Deltas in delivery plans")
struct DeltaPlanTests {
  /// A delta to version 2 of a pack.
  private func delta(_ id: String, from version: UInt64 = 1, size: UInt64 = 100) -> ManifestDelta {
    ManifestDelta(bases: [digest("root \(id)", version)], size: size, sha256: digest("delta \(id) \(version) \(size)", 2))
  }

  private func file(_ delta: ManifestDelta) -> PackBytes { PackBytes(version: 2, size: delta.size, sha256: delta.sha256) }

  private func held(
    _ id: String, _ version: UInt64 = 1, _ mode: InstallMode = .packed, isRejected: Bool = false, hasRoot: Bool = true
  ) -> DevicePack {
    DevicePack(
      id: id, version: version, sha256: digest(id, version), mode: mode, isRejected: isRejected,
      contentRoot: hasRoot ? digest("root \(id)", version) : nil)
  }

  /// Plans version 2 of pack `a`.
  ///
  /// - Parameter isUnknown: whether the pack is in a shard that is not here.
  private func plan(
    _ pack: ManifestPack = offer("a", 2), deltas: [ManifestDelta], records: [PackStatus] = [], device: [DevicePack]? = nil,
    files: [WaitingFile] = [], downloads: Set<String>? = nil, isUnknown: Bool = false, _ event: DeliveryEvent = .periodic,
    freeSpace: UInt64? = nil, allowance: Allowance? = nil
  ) -> DeliveryPlan {
    var pack = pack
    pack.deltas = deltas
    var manifest = isUnknown ? manifest() : manifest(pack)
    manifest.defaults = ManifestDefaults(baseURL: "https://cdn.example.com/b/")
    var lookup = CatalogueLookup()
    if isUnknown { lookup.unknown = ["a"] }
    return DeliveryPlan(
      for: manifest, lookup, records: records, files: files,
      facts: DeliveryFacts(event, at: now, device: device, downloads: downloads, allowance: allowance, freeSpace: freeSpace))
  }

  private func change(in plan: DeliveryPlan) -> PackStatus? { plan.changes.first { $0.id == "a" }?.after }

  // MARK: Refusals

  @Test("a delta is not taken without its base: another version, a rejected one, one of unknown content, another pack")
  func withoutBase() {
    for device in [[], [held("a", 3)], [held("a", isRejected: true)], [held("a", hasRoot: false)], [held("b")]] {
      let plan = plan(deltas: [delta("a")], device: device)
      #expect(plan.downloads.map(\.bytes) == [bytes("a", 2)] && plan.downloads.map(\.isDelta) == [false])
    }
    #expect(plan(deltas: [delta("a")]).downloads.map(\.isDelta) == [false], "nothing is known of the device")
  }

  @Test("a delta that is not smaller than the pack, or lacks one of two bases, is not taken")
  func useless() {
    var other = delta("a")
    other.bases.append(digest("root a", 7))
    for deltas in [[other], [delta("a", size: 1000)], [delta("a", size: 5000)], []] {
      #expect(plan(deltas: deltas, device: [held("a")]).downloads.map(\.bytes) == [bytes("a", 2)])
    }
  }

  // MARK: The choice

  @Test("the delta with the fewest bytes is downloaded, from below the base, with its own size, digest and identifier")
  func smallest() throws {
    let small = delta("a", size: 90)
    let plan = plan(deltas: [delta("a", size: 100), small, delta("a", size: 95)], device: [held("a")])
    let download = try #require(plan.downloads.first)
    #expect(download.bytes == file(small) && download.isDelta && download.fallback == nil)
    #expect(download.url == "https://cdn.example.com/b/a-\(small.sha256.prefix(8).hex).pack")
    #expect(plan.downloadSize == 90)
    let record = try #require(change(in: plan))
    #expect(record.bytes == bytes("a", 2) && record.file == file(small) && record.state == .scheduled)
    #expect(try PackStatus(reading: record.record, of: "a") == record)
  }

  @Test("any version on the device may be the base, packed or unpacked", arguments: InstallMode.allCases, InstallMode.allCases)
  func olderBase(_ mode: InstallMode, _ next: InstallMode) {
    let old = delta("a", from: 1, size: 50)
    let plan = plan(offer("a", 2, .prefetch, next), deltas: [old], device: [held("a", 1, mode), held("a", 4, mode)])
    #expect(plan.downloads.map(\.bytes) == [file(old)])
  }

  @Test("an essential download is the full pack, and a delta where no essential download is permitted")
  func essential() {
    for (event, isDelta) in [(DeliveryEvent.install, false), (.update, false), (.periodic, true), (.launch, true)] {
      let planned = plan(offer("a", 2, .essential), deltas: [delta("a")], device: [held("a")], event)
      #expect(planned.downloads.map(\.isDelta) == [isDelta] && planned.downloads.map(\.isEssential) == [!isDelta])
    }
  }

  @Test("the allowance is counted by the delta, and space for the delta and what is made of it", arguments: InstallMode.allCases)
  func sizes(_ mode: InstallMode) {
    let pack = offer("a", 2, size: 100_000, .prefetch, mode)
    let made = mode == .packed ? 102_400 : pack.installSize
    for (free, isDelta) in [(made + 99, []), (made + 100, [true])] as [(UInt64, [Bool])] {
      let planned = plan(pack, deltas: [delta("a")], device: [held("a", 1, mode)], freeSpace: free)
      #expect(planned.downloads.map(\.isDelta) == isDelta)
    }
    let allowance = Allowance(essential: 0, other: 500)
    let planned = plan(pack, deltas: [delta("a")], device: [held("a", 1, mode)], .update, allowance: allowance)
    #expect(planned.allowance?.other == 400)
  }

  @Test("a delta that arrived is handed over, also if its record was lost")
  func arrived() throws {
    let delta = delta("a")
    let scheduled = try #require(change(in: plan(deltas: [delta], device: [held("a")])))
    let waiting = WaitingFile(identifier: scheduled.identifier, size: 100)
    for records in [[scheduled], []] {
      let next = plan(deltas: [delta], records: records, device: [held("a")], files: [waiting])
      #expect(next.handOver == [HandOver(id: "a", bytes: file(delta), mode: .packed)] && next.orphans == [])
    }
    let cut = WaitingFile(identifier: scheduled.identifier, size: 99)
    #expect(plan(deltas: [delta], device: [held("a")], files: [cut]).handOver == [])
  }

  @Test("a full pack that is here already is taken, and a download in progress keeps its file")
  func keepsFile() throws {
    let full = WaitingFile(identifier: DownloadIdentifier(id: "a", bytes: bytes("a", 2)), size: 1000)
    #expect(plan(deltas: [delta("a")], device: [held("a")], files: [full]).handOver.map(\.bytes) == [bytes("a", 2)])
    let loading = status("a", 2, .scheduled(isEssential: false), .began)
    let kept = plan(deltas: [delta("a")], records: [loading], device: [held("a")], downloads: [identifier("a", 2)])
    #expect(kept.underWay == ["a"] && kept.cancellations == [])
  }

  @Test("a delta that the manifest no longer offers is cancelled, and another file takes its place")
  func noLongerOffered() throws {
    let scheduled = try #require(change(in: plan(deltas: [delta("a")], device: [held("a")])))
    let other = delta("a", size: 60)
    let next = plan(deltas: [other], records: [scheduled], device: [held("a")])
    #expect(next.cancellations == [scheduled.identifier.description])
    #expect(next.downloads.map(\.bytes) == [file(other)])
  }

  // MARK: Deltas over other packs

  /// A game of which there is a delta over version 1 of the pack `e`.
  private static func game(_ delivery: DeliveryClass = .prefetch, _ install: InstallMode = .packed, size: UInt64 = 1000) -> ManifestPack {
    var game = offer("a", 2, size: size, delivery, install)
    game.basePack = "e"
    game.deltas = [overEngine]
    return game
  }

  private static let overEngine = ManifestDelta(bases: [digest("root e", 1)], size: 100, sha256: digest("over e", 1))

  /// Plans the game and its engine.
  private func plan(
    _ game: ManifestPack = game(), engine: ManifestPack? = offer("e"), records: [PackStatus] = [], device: [DevicePack]? = [],
    asked: Set<String> = [], files: [WaitingFile] = [], _ event: DeliveryEvent = .launch,
    isFor: @escaping @Sendable (ManifestPack) -> Bool = { _ in true }
  ) -> DeliveryPlan {
    var manifest = manifest([game] + [engine].compactMap(\.self))
    manifest.defaults = ManifestDefaults(baseURL: "https://cdn.example.com/b/")
    return DeliveryPlan(
      for: manifest, records: records, files: files,
      facts: DeliveryFacts(event, at: now, device: device, asked: asked, isForDevice: isFor))
  }

  private func downloads(_ plan: DeliveryPlan) -> [String: UInt64] {
    Dictionary(plan.downloads.map { ($0.id, $0.bytes.size) }) { first, _ in first }
  }

  @Test(
    "over a pack that the device has the delta is downloaded at once, whether that pack is unpacked or not", arguments: InstallMode.allCases
  )
  func overBase(_ mode: InstallMode) {
    let engine = DevicePack(
      id: "e", version: 1, sha256: digest("e", 1), mode: mode, contentRoot: digest("root e", 1))
    #expect(downloads(plan(device: [engine])) == ["a": 100])
  }

  @Test("a delta over a base that comes anyway is downloaded beside it, also as an update, and installed after it")
  func waitsForBase() throws {
    let planned = plan()
    #expect(downloads(planned) == ["e": 1000, "a": 100])
    let older = DevicePack(id: "e", version: 0, sha256: digest("e", 0), mode: .packed, contentRoot: digest("root e", 0))
    #expect(downloads(plan(device: [older])) == ["e": 1000, "a": 100])
    let underWay = plan(records: [status("e", .scheduled(isEssential: false), .began)])
    #expect(downloads(underWay) == ["a": 100] && underWay.underWay == ["e"])

    let record = try #require(change(in: planned))
    guard let arrived = record.after(.arrived, at: now) else { throw BadTest() }
    let file = WaitingFile(identifier: arrived.identifier, size: 100)
    let engine = DevicePack(id: "e", version: 1, sha256: digest("e", 1), mode: .packed, contentRoot: digest("root e", 1))
    let waiting = plan(records: [arrived, status("e", .scheduled(isEssential: false), .began)], files: [file])
    #expect(waiting.reason(of: "a") == .base("e") && waiting.handOver == [] && waiting.orphans == [])
    let ready = plan(records: [arrived], device: [engine], files: [file])
    #expect(ready.handOver.map(\.id) == ["a"])
    // The store says that the base is missing, the full pack comes, and it is told why.
    let lost = plan(records: [arrived, status("e", .scheduled(isEssential: false), .downloadFailed(.offline))], files: [file])
    #expect(lost.handOver.map(\.id) == ["a"])
  }

  @Test("a base on demand is requested only if it and the delta are fewer bytes than the pack, and the pack is wanted")
  func asksForBase() {
    let onDemand = offer("e", size: 800, .onDemand)
    let planned = plan(engine: onDemand)
    #expect(downloads(planned) == ["e": 800, "a": 100])
    #expect(planned.changes.first { $0.id == "e" }?.after?.isWanted == true)
    #expect(downloads(plan(engine: offer("e", size: 900, .onDemand))) == ["a": 1000])
    #expect(downloads(plan(engine: offer("e", size: 900, .onDemand), asked: ["e"])) == ["e": 900, "a": 100])
    let unwanted = plan(Self.game(.onDemand), engine: onDemand)
    #expect(unwanted.downloads == [] && unwanted.reason(of: "a") == .notAsked && unwanted.reason(of: "e") == .notAsked)
    #expect(downloads(plan(Self.game(.onDemand), engine: onDemand, asked: ["a"])) == ["e": 800, "a": 100])
  }

  @Test("the full pack comes if the base does not: not offered, not for the device, failed, cancelled, rejected, or of another version")
  func withoutBasePack() throws {
    let whole: [String: UInt64] = ["a": 1000]
    #expect(downloads(plan(engine: nil)) == whole)
    #expect(downloads(plan(isFor: { $0.id == "a" })) == whole)
    #expect(downloads(plan(records: [status("e", .scheduled(isEssential: false), .downloadFailed(.offline))]))["a"] == 1000)
    #expect(downloads(plan(records: [status("e", .scheduled(isEssential: false), .cancelled)]))["a"] == 1000)
    let rejected = DevicePack(id: "e", version: 1, sha256: digest("e", 1), mode: .packed, isRejected: true)
    #expect(downloads(plan(device: [rejected])) == whole)
    #expect(downloads(plan(engine: offer("e", 2)))["a"] == 1000, "the delta is over version 1")
    let engine = DevicePack(id: "e", version: 1, sha256: digest("e", 1), mode: .packed, contentRoot: digest("root e", 1))
    var record = try #require(change(in: plan(device: [engine])))
    for event in [PackEvent.arrived, .installFailed(.base)] {
      guard let next = record.after(event, at: now) else { throw BadTest() }
      record = next
    }
    let again = plan(records: [record])
    #expect(downloads(again)["a"] == 1000 && again.downloads.first { $0.id == "a" }?.fallback == .base)
  }

  @Test("a base that arrived and whose file is gone again, which nobody asks for, is not waited for", arguments: [true, false])
  func lostBase(_ isHere: Bool) throws {
    let engine = status("e", .arrived)
    guard let arrived = try #require(change(in: plan())).after(.arrived, at: now) else { throw BadTest() }
    let game = WaitingFile(identifier: arrived.identifier, size: 100)
    let base = isHere ? [WaitingFile(identifier: engine.identifier, size: 1000)] : []
    let planned = plan(engine: offer("e", .onDemand), records: [arrived, engine], files: [game] + base)
    #expect(planned.handOver.map(\.id) == (isHere ? ["e"] : ["a"]))
    #expect(planned.reason(of: "a") == (isHere ? .base("e") : nil) && planned.reason(of: "e") == (isHere ? nil : .notAsked))
    #expect(planned.orphans == [])
    // Nor is a delta over it chosen, which it would have to be downloaded for.
    let before = plan(engine: offer("e", size: 950, .onDemand), records: [status("e", .arrived)])
    #expect(downloads(before) == ["a": 1000])
  }

  @Test("an essential download does not wait for its base")
  func essentialBase() {
    #expect(downloads(plan(Self.game(.essential), device: nil, .update))["a"] == 1000)
    #expect(downloads(plan(Self.game(.essential), .launch)) == ["e": 1000, "a": 100])
  }

  @Test("space is counted for the delta over another pack, and what is made of it")
  func baseSpace() {
    let engine = DevicePack(id: "e", version: 1, sha256: digest("e", 1), mode: .packed, contentRoot: digest("root e", 1))
    func plan(_ free: UInt64) -> DeliveryPlan {
      var manifest = manifest([Self.game(size: 20_000), offer("e")])
      manifest.defaults = ManifestDefaults(baseURL: "https://cdn.example.com/b/")
      return DeliveryPlan(
        for: manifest, records: [], facts: DeliveryFacts(.launch, at: now, device: [engine], freeSpace: free))
    }
    #expect(plan(20_580).downloads.map(\.isDelta) == [true] && plan(20_579).downloads == [])
  }

  // MARK: Packs whose shard is not here

  @Test("while its shard is not here, a pack keeps the delta that was chosen for it and its file, and no other is chosen")
  func unknown() throws {
    let delta = delta("a")
    let record = try #require(change(in: plan(deltas: [delta], device: [held("a")])))
    let waiting = WaitingFile(identifier: record.identifier, size: delta.size)
    for files in [[], [waiting]] {
      let downloads: Set<String> = files.isEmpty ? [record.identifier.description] : []
      let planned = plan(deltas: [], records: [record], device: [held("a")], files: files, downloads: downloads, isUnknown: true)
      #expect(planned.undecided == ["a"] && planned.downloads == [])
      #expect(planned.orphans == [] && planned.cancellations == [])
      #expect((change(in: planned) ?? record).delta == file(delta))
    }
    // When the shard is here, it goes on.
    let next = plan(deltas: [delta], records: [record], device: [held("a")], files: [waiting])
    #expect(next.handOver.map(\.bytes) == [file(delta)] && next.orphans == [])
  }

  // MARK: Falling back

  @Test(
    "after a failure of a delta the full pack comes, at once or after the second attempt, and the plan says why",
    arguments: FailureReason.allCases)
  func fallBack(_ reason: FailureReason) throws {
    let delta = delta("a")
    var record = try #require(change(in: plan(deltas: [delta], device: [held("a")])))
    func fail(_ record: PackStatus) throws -> PackStatus {
      var record = record
      for event in [PackEvent.arrived, .installFailed(reason)] {
        guard let next = record.after(event, at: now) else { throw BadTest() }
        record = next
      }
      return record
    }
    record = try fail(record)
    let isAtOnce = [.base, .wrongBytes, .wrongSize, .installation].contains(reason)
    #expect((record.delta == nil) == isAtOnce && record.fallback == (isAtOnce ? reason : nil))
    #expect(try PackStatus(reading: record.record, of: "a") == record)
    if isAtOnce {
      let next = plan(deltas: [delta], records: [record], device: [held("a")])
      #expect(next.downloads.map(\.bytes) == [bytes("a", 2)] && next.downloads.map(\.fallback) == [reason])
      #expect(next.downloads.map(\.isDelta) == [false])
      return
    }
    guard let due = record.after(.retryDue, at: now), let again = due.after(.scheduled(isEssential: false), at: now) else {
      throw BadTest()
    }
    record = try fail(again)
    #expect((record.delta == nil) == [.server, .configuration].contains(reason))
  }

  @Test("new bytes may come as a delta again after an earlier one had failed")
  func afterwards() throws {
    var record = status("a", 1, .asked)
    record = try #require(change(in: plan(deltas: [delta("a")], records: [record], device: [held("a")])))
    guard let offered = record.after(.offered(bytes("a", 3)), at: now) else { throw BadTest() }
    #expect(offered.delta == nil && offered.fallback == nil)
  }

  private struct BadTest: Error {}
}
