import TestSupport
import Testing

@Suite("Leads in delivery plans")
struct LeadPlanTests {
  private static let stream = ManifestStream(
    launch: 132_000, tail: 984_000, leaves: digest("leaves a", 1), size: 148_000 + 32 * 16, sha256: digest("lead a", 1))
  private let lead = PackBytes(version: 1, size: stream.size, sha256: stream.sha256)
  private let whole = bytes("a", 1, size: 1_000_000)

  private var file: WaitingFile { WaitingFile(identifier: DownloadIdentifier(id: "a", bytes: lead), size: lead.size) }

  private func pack(
    _ delivery: DeliveryClass = .essential, _ install: InstallMode = .packed, _ stream: ManifestStream? = stream
  ) -> ManifestPack {
    var pack = offer("a", 1, size: 1_000_000, delivery, install)
    pack.stream = stream
    return pack
  }

  private func plan(
    _ event: DeliveryEvent, _ pack: ManifestPack? = nil, records: [PackStatus] = [], files: [WaitingFile] = [],
    device: [DevicePack]? = nil, downloads: Set<String>? = nil, asked: Set<String> = [], allowance: Allowance? = nil
  ) -> DeliveryPlan {
    var manifest = manifest(pack ?? self.pack())
    manifest.defaults = ManifestDefaults(baseURL: "https://cdn.example.com/b/")
    return DeliveryPlan(
      for: manifest, records: records, files: files,
      facts: DeliveryFacts(event, at: now, device: device, downloads: downloads, asked: asked, allowance: allowance))
  }

  private func record(in plan: DeliveryPlan) -> PackStatus? { plan.changes.first { $0.id == "a" }?.after }

  /// The record after the lead was handed over at the installation.
  private var scheduled: PackStatus {
    get throws { try #require(record(in: plan(.install))) }
  }

  // MARK: Refusals

  @Test(
    "no other pack is fetched by its lead: without one, not essential, unpacked, of which the device has a version, or outside an installation"
  )
  func without() {
    for (event, pack, device) in [
      (DeliveryEvent.install, pack(.essential, .packed, nil), nil), (.install, pack(.prefetch), nil),
      (.install, pack(.essential, .unpacked), nil),
      (.update, pack(), [installed("a", 7)]), (.periodic, pack(), nil), (.launch, pack(), []),
    ] as [(DeliveryEvent, ManifestPack, [DevicePack]?)] {
      let plan = plan(event, pack, device: device)
      #expect(plan.downloads.map(\.bytes) == [whole] && plan.leads.isEmpty)
      // Of a pack with a lead, nothing else is essential.
      #expect(
        plan.downloads.map(\.isEssential) == [
          pack.delivery == .essential && event.permitsEssential && (pack.stream == nil || pack.install == .unpacked)
        ])
    }
  }

  @Test("a lead counts with its own bytes, and one that does not fit the allowance waits")
  func allowance() {
    #expect(plan(.install, allowance: Allowance(essential: lead.size, other: 9_000_000)).downloads.isEmpty)
    let plan = plan(.install, allowance: Allowance(essential: lead.size + 1, other: 1))
    #expect(plan.downloads.map(\.bytes) == [lead] && plan.allowance == Allowance(essential: 1, other: 1))
  }

  @Test("a file that is not as long as the lead is none, nor is the lead of another pack or version")
  func otherFile() throws {
    let scheduled = try scheduled
    for file in [
      WaitingFile(identifier: file.identifier, size: lead.size - 1),
      WaitingFile(
        identifier: DownloadIdentifier(id: "a", bytes: PackBytes(version: 2, size: lead.size, sha256: lead.sha256)), size: lead.size),
    ] {
      let plan = plan(.launch, records: [scheduled], files: [file], device: [], downloads: [], asked: ["a"])
      #expect(plan.leads.isEmpty && plan.downloads.map(\.bytes) == [whole] && plan.orphans == [file.identifier.description])
    }
  }

  // MARK: The way of a lead

  @Test("at the installation, the lead is handed over, and is the only essential download of its pack")
  func handed() throws {
    let download = try #require(plan(.install).downloads.first)
    #expect(download.bytes == lead && download.isEssential && !download.isDelta && download.lead == nil)
    #expect(download.url == "https://cdn.example.com/b/a-\(lead.sha256.prefix(8).hex).lead")
    let record = try scheduled
    #expect(record.lead == lead && record.identifier == file.identifier && record.bytes == whole)
    #expect(try PackStatus(reading: record.record, of: "a") == record)
    // A second request changes nothing while it is on its way.
    #expect(plan(.install, records: [record]).underWay == ["a"])
  }

  @Test("when it is here, the extension keeps it, and the pack itself comes like one that is fetched in advance")
  func kept() throws {
    let scheduled = try scheduled
    for event in [DeliveryEvent.install, .update, .periodic] {
      let plan = plan(event, records: [scheduled], files: [file])
      #expect(plan.downloads.map(\.bytes) == [whole] && plan.downloads.map(\.isEssential) == [false])
      #expect(plan.leads.isEmpty && plan.orphans.isEmpty && record(in: plan)?.lead == nil)
    }
  }

  @Test("the app takes it, and fetches the pack", arguments: [true, false])
  func taken(_ isAsked: Bool) throws {
    let plan = plan(.launch, records: [try scheduled], files: [file], device: [], downloads: [], asked: isAsked ? ["a"] : [])
    #expect(plan.leads.map(\.file) == [file.identifier] && plan.leads.map(\.download.bytes) == [whole])
    #expect(plan.leads.first?.download.lead?.stream == Self.stream)
    #expect(plan.downloads.map(\.bytes) == [whole] && plan.downloads.first?.lead != nil && plan.orphans == [file.identifier.description])
    // Also while the system brings the pack.
    let coming = try #require(record(in: plan))
    let next = self.plan(.launch, records: [coming], files: [file], device: [], downloads: [coming.identifier.description])
    #expect(next.leads.map(\.file) == [file.identifier] && next.underWay == ["a"] && next.cancellations.isEmpty)
  }

  @Test("a lead that is on its way when the app is started goes on, until somebody asks for the pack")
  func underWay() throws {
    let (scheduled, identifier) = (try scheduled, file.identifier.description)
    let plan = plan(.launch, records: [scheduled], device: [], downloads: [identifier])
    #expect(plan.underWay == ["a"] && plan.downloads.isEmpty && plan.cancellations.isEmpty)
    let asked = self.plan(.launch, records: [scheduled], device: [], downloads: [identifier], asked: ["a"])
    #expect(asked.downloads.map(\.bytes) == [whole] && asked.cancellations == [identifier])
  }

  @Test("a lead that failed is not tried again by the app: the pack comes")
  func failed() throws {
    let demoted = try #require(try scheduled.after(.demoted, at: now, policy: exact))
    #expect(demoted.lead == lead && !demoted.isEssential)
    let failed = try #require(demoted.after(.downloadFailed(.server), at: now, policy: exact))
    #expect(failed.lead == nil && failed.state == .failed(.server))
    #expect(plan(.launch, records: [failed], device: [], downloads: [], asked: ["a"]).downloads.map(\.bytes) == [whole])
    #expect(plan(.install, records: [failed]).downloads.map(\.bytes) == [lead], "another installation")
  }

  @Test("what the lead has is not lost for a delta over a base, nor does the base come for it")
  func besideBase() throws {
    var (pack, base) = (pack(), offer("base", size: 10, .onDemand))
    pack.basePack = "base"
    pack.deltas = [ManifestDelta(bases: [base.contentRoot], size: 100, sha256: digest("delta", 1))]
    base.delivery = .onDemand
    var manifest = manifest(pack, base)
    manifest.defaults = ManifestDefaults(baseURL: "https://cdn.example.com/b/")
    let scheduled = try scheduled
    for held in [
      [], [DevicePack(id: "base", version: 1, sha256: base.sha256, mode: .packed, isRejected: false, contentRoot: base.contentRoot)],
    ] {
      let plan = DeliveryPlan(
        for: manifest, records: [scheduled], files: [file], facts: DeliveryFacts(.launch, at: now, device: held, downloads: []))
      #expect(plan.leads.count == 1 && plan.downloads.map(\.bytes) == [whole])
    }
  }

  @Test("of a pack of which the device has a version, a new one waits for its base, in spite of its lead", arguments: [true, false])
  func updateOverBase(_ isHeld: Bool) throws {
    var (pack, base) = (pack(), offer("base", size: 10, .onDemand))
    pack.basePack = "base"
    pack.deltas = [ManifestDelta(bases: [base.contentRoot], size: 100, sha256: digest("delta", 1))]
    base.delivery = .onDemand
    var manifest = manifest(pack, base)
    manifest.defaults = ManifestDefaults(baseURL: "https://cdn.example.com/b/")
    let earlier = DevicePack(
      id: "a", version: 1, sha256: digest("a", 0), mode: .packed, isRejected: !isHeld, contentRoot: digest("content", 0))
    let plan = DeliveryPlan(
      for: manifest, records: [], files: [], facts: DeliveryFacts(.launch, at: now, device: [earlier], downloads: []))
    #expect(plan.downloads.map(\.bytes.size).sorted() == (isHeld ? [10, 100] : [whole.size]))
  }

  @Test("if the pack is here, too, its lead is not taken")
  func besideFile() throws {
    var pack = pack(.prefetch)
    let there = WaitingFile(identifier: DownloadIdentifier(id: "a", bytes: whole), size: whole.size)
    pack.delivery = .essential
    let coming = try #require(self.record(in: plan(.periodic, pack)))
    let plan = plan(.launch, pack, records: [coming], files: [there, file], device: [], downloads: [])
    #expect(plan.leads.isEmpty && plan.handOver.map(\.bytes) == [whole] && plan.orphans == [file.identifier.description])
  }

  @Test("another lead of the same pack takes its place")
  func changed() throws {
    var other = pack()
    other.stream?.sha256 = digest("lead a", 9)
    let scheduled = try scheduled
    let plan = plan(.install, other, records: [scheduled])
    #expect(plan.downloads.map(\.bytes.sha256) == [digest("lead a", 9)] && plan.cancellations == [scheduled.identifier.description])
  }
}
