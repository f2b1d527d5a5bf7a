import PackDelivery
import PackFormat
import PackManifest
import TestSupport
import Testing

@Suite("Deltas in delivery plans")
struct DeltaPlanTests {
  private static let page = PageReference(
    kind: .updates, first: "a", count: 1, size: 300, contentSize: 500, sha256: [UInt8](repeating: 9, count: 32))

  /// A delta to version 2 of a pack.
  private func delta(_ id: String, from version: UInt64 = 1, size: UInt64 = 100) -> ManifestDelta {
    ManifestDelta(bases: [digest("root \(id)", version)], size: size, sha256: digest("delta \(id) \(version) \(size)", 2))
  }

  private func file(_ delta: ManifestDelta) -> PackBytes { PackBytes(version: 2, size: delta.size, sha256: delta.sha256) }

  private func held(_ id: String, _ version: UInt64 = 1, room: Int = 3, isRejected: Bool = false, hasRoot: Bool = true) -> DevicePack {
    DevicePack(
      id: id, version: version, sha256: digest(id, version), mode: .packed, isRejected: isRejected,
      contentRoot: hasRoot ? digest("root \(id)", version) : nil, room: room)
  }

  /// Plans version 2 of pack `a`.
  private func plan(
    _ pack: ManifestPack = offer("a", 2), deltas: [ManifestDelta], records: [PackStatus] = [], device: [DevicePack]? = nil,
    files: [WaitingFile] = [], downloads: Set<String>? = nil, isPageMissing: Bool = false, _ event: DeliveryEvent = .periodic,
    freeSpace: UInt64? = nil, allowance: Allowance? = nil
  ) -> DeliveryPlan {
    var manifest = manifest(pack)
    manifest.defaults = ManifestDefaults(baseURL: "https://cdn.example.com/b/")
    manifest.pages = [Self.page]
    var lookup = PageLookup()
    if isPageMissing {
      lookup.updates.unknown = ["a"]
      lookup.updates.missing = [Self.page]
    } else {
      lookup.updates.deltas = ["a": deltas]
    }
    return DeliveryPlan(
      for: manifest, lookup, records: records, files: files,
      facts: DeliveryFacts(event, at: now, device: device, downloads: downloads, allowance: allowance, freeSpace: freeSpace))
  }

  private func change(in plan: DeliveryPlan) -> PackStatus? { plan.changes.first { $0.id == "a" }?.after }

  // MARK: Refusals

  @Test("a delta is not taken without its base: another version, a rejected one, one with three deltas already, one of unknown content")
  func withoutBase() {
    for device in [[], [held("a", 3)], [held("a", isRejected: true)], [held("a", room: 0)], [held("a", hasRoot: false)], [held("b")]] {
      let plan = plan(deltas: [delta("a")], device: device)
      #expect(plan.downloads.map(\.bytes) == [bytes("a", 2)] && plan.downloads.map(\.isDelta) == [false])
    }
    #expect(plan(deltas: [delta("a")]).downloads.map(\.isDelta) == [false], "nothing is known of the device")
  }

  @Test("a delta that leads elsewhere, or is not smaller than the pack, is not taken")
  func useless() {
    var other = delta("a")
    other.target = digest("root a", 7)
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

  @Test("any version on the device may be the base")
  func olderBase() {
    let old = delta("a", from: 1, size: 50)
    let plan = plan(deltas: [old], device: [held("a", 1), held("a", 4)])
    #expect(plan.downloads.map(\.bytes) == [file(old)])
  }

  @Test("an extension, which does not ask the store, goes by the record of the last plan that did")
  func byRecord() throws {
    let first = plan(offer("a", 1), deltas: [], records: [status("a", .found(.packed))], device: [held("a")])
    let ready = try #require(change(in: first))
    #expect(ready.state == .ready && ready.base == digest("root a", 1))
    let later = plan(deltas: [delta("a")], records: [ready])
    #expect(later.downloads.map(\.isDelta) == [true])
    // The next plan of the app finds that the base is gone.
    let gone = plan(deltas: [delta("a")], records: [try #require(change(in: later))], device: [], downloads: [])
    #expect(change(in: gone)?.base == nil)
  }

  @Test("space and allowance are counted by the delta")
  func sizes() {
    let pack = offer("a", 2, size: 100_000)
    #expect(plan(pack, deltas: [delta("a")], device: [held("a")], freeSpace: 5000).downloads.map(\.isDelta) == [true])
    #expect(plan(pack, deltas: [], device: [held("a")], freeSpace: 5000).downloads == [])
    let allowance = Allowance(essential: 0, other: 500)
    let planned = plan(pack, deltas: [delta("a")], device: [held("a")], .update, allowance: allowance)
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
    // Without the page it is not known.
    let waiting = plan(deltas: [], records: [scheduled], device: [held("a")], isPageMissing: true)
    #expect(waiting.underWay == ["a"] && waiting.cancellations == [])
  }

  // MARK: The page

  @Test("a pack waits for the page with the deltas, but an essential one does not")
  func page() {
    let planned = plan(deltas: [], device: [held("a")], isPageMissing: true)
    #expect(planned.downloads.map(\.id) == [DeliveryName.page(Self.page)] && planned.reason(of: "a") == .updates)
    let essential = plan(offer("a", 2, .essential), deltas: [], device: [held("a")], isPageMissing: true, .update)
    #expect(essential.downloads.first?.bytes == bytes("a", 2) && essential.downloads.first?.isEssential == true)
  }

  @Test("once the page could not be fetched, nobody waits for it: the full pack is downloaded")
  func failedPage() throws {
    let planned = plan(deltas: [], device: [held("a")], isPageMissing: true)
    var page = try #require(planned.changes.first { DeliveryName.isPage($0.id) }?.after)
    guard case .became(let failed) = page.after(.downloadFailed(.server), at: now) else { throw BadTest() }
    page = failed
    let next = plan(deltas: [], records: [page], device: [held("a")], isPageMissing: true)
    #expect(next.downloads.map(\.bytes) == [bytes("a", 2)])
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
      for event in [PackEvent.arrived, .installBegan, .installFailed(reason)] {
        guard case .became(let next) = record.after(event, at: now) else { throw BadTest() }
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
    guard reason.isWorthRetrying, case .became(let due) = record.after(.retryDue, at: now),
      case .became(let again) = due.after(.scheduled(isEssential: false), at: now)
    else { return }
    record = try fail(again)
    #expect((record.delta == nil) == [.server, .configuration].contains(reason))
  }

  @Test("new bytes may come as a delta again after an earlier one had failed")
  func afterwards() throws {
    var record = status("a", 1, .asked)
    record = try #require(change(in: plan(deltas: [delta("a")], records: [record], device: [held("a")])))
    guard case .became(let offered) = record.after(.offered(bytes("a", 3)), at: now) else { throw BadTest() }
    #expect(offered.delta == nil && offered.fallback == nil)
  }

  private struct BadTest: Error {}
}
