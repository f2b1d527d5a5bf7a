import Foundation
import TestSupport
import Testing

@Suite("Simulated devices and packs in pages", .bounded)
struct SimulatedPageTests {
  /// Returns a release whose packs except `core` are on demand and in pages, one entry each, below index pages.
  private func paged(_ number: Int, _ change: (String) throws -> Void = { _ in }) async throws -> SimulatedRelease {
    let releases = try await Releases.made()
    return try releases.copy(of: number, "paged-\(number)-\(UUID().uuidString)") { path in
      var manifest = releases[number].manifest
      for index in manifest.packs.indices where manifest.packs[index].id != "core" { manifest.packs[index].delivery = .onDemand }
      let (root, pages) = try manifest.inPages(of: 1)
      let signed = try root.signedBytes()
      let document = try SignedManifest(signed: signed, signatures: [SignedManifest.signature(of: signed, by: Releases.signer())])
      try Data(document.bytes).write(to: URL(fileURLWithPath: "\(path)/manifest.json"))
      for (reference, bytes) in pages { try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(reference.fileName)")) }
      try change(path)
    }
  }

  private func settings(_ event: DeliveryEvent, _ numbers: [Int], _ faults: String...) async throws -> SimulationSettings {
    let releases = try await Releases.made()
    var settings = try releases.settings(event, numbers.last ?? 1)
    settings.release = try await paged(numbers.last ?? 1)
    if numbers.count > 1 { settings.earlier = try await paged(numbers[0]) }
    settings.asked = ["music", "extra"]
    settings.faults = try faults.map { try SimulatedFault(parsing: $0) }
    return settings
  }

  @Test("a page that the server does not have is a finding about the packs that wait for it, and about no other")
  func missing() async throws {
    var settings = try await settings(.install, [1])
    settings.release = try await paged(1) { path in
      let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".page") && !$0.hasPrefix("index") }
      for name in names { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }
    }
    // Their names cannot be known without pages.
    let error = #expect(throws: PackError.self) { try settings.release.packs(asked: ["core", "music"]) }
    #expect(error?.code.rawValue == "missing-pages" && error?.message.contains(".page") == true, "\(error?.message ?? "")")
    // Without pages of tags, all names and tags are known, and a wrong one is not blamed on them.
    let untagged = try await paged(1) { path in
      let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("tags-") }
      #expect(!names.isEmpty)
      for name in names { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }
    }
    #expect(try untagged.packs(asked: ["music"]) == ["music"])
    #expect(#expect(throws: PackError.self) { try untagged.packs(asked: ["musik"]) }?.code.rawValue == "unknown-pack")
    let report = try await play(settings)
    #expect(report.findings.allSatisfy { $0.kind == .missing || $0.kind == .stuck }, "\(report.story)")
    #expect(report.packs.first { $0.id == "core" }?.state == "ready")
    #expect(report.findings.contains { $0.message.contains(".page and ") }, "\(report.story)")
    // Nobody asked for a pack in a page, but somebody will.
    for release in [settings.release, untagged] {
      settings.release = release
      settings.asked = []
      let unasked = try await play(settings)
      #expect(unasked.findings.map(\.kind) == [.missing] && unasked.findings[0].message.contains(".page"), "\(unasked.story)")
    }
  }

  @Test("a page that the extension fetched after the app had no network is not fetched again by the app")
  func fetchedOnce() async throws {
    let report = try await play(settings(.install, [1], "pages:offline"))
    let pages = report.events.filter { $0.text.contains("moves and records the file") || $0.text.contains("is downloaded and checked") }
      .compactMap(\.pack).filter(DeliveryName.isPage)
    #expect(!pages.isEmpty && Set(pages).count == pages.count, "\(report.story)")
  }

  @Test("requested packs are found in pages by the app, and updated ones by the extension, with two pages each")
  func found() async throws {
    let first = try await play(settings(.install, [1]))
    #expect(first.findings.isEmpty && first.notReady.isEmpty, "\(first.story)")
    #expect(first.packs.map(\.id).sorted() == ["core", "extra", "music"])
    // 'music' changes in release 2, and the extension alone finds and downloads it.
    let second = try await play(settings(.periodic, [1, 2]))
    #expect(second.findings.isEmpty && second.notReady.isEmpty, "\(second.story)")
    let arrivals = second.events.filter { $0.actor == .extension && $0.text.contains("moves and records the file") }.compactMap(\.pack)
    #expect(arrivals.count { DeliveryName.isPage($0) } == 2 && arrivals.contains("music") && arrivals.contains("core"), "\(second.story)")
    #expect(second.cost.memory < 100_000)
  }

  // MARK: Requests by tags

  /// Settings whose app requests a pack by its tag.
  private func tagged(_ event: DeliveryEvent, _ numbers: [Int], _ faults: String...) async throws -> SimulationSettings {
    var settings = try await settings(event, numbers)
    settings.faults = try faults.map { try SimulatedFault(parsing: $0) }
    settings.asked = []
    settings.tags = ["german"]
    return settings
  }

  /// Returns the pages that the app downloaded itself, in their order.
  private func pagesOfApp(_ report: SimulationReport) -> [String] {
    let arrivals = report.events.filter { $0.actor == .app && $0.text.contains("is downloaded and checked") }
    return arrivals.compactMap(\.pack).filter(DeliveryName.isPage)
  }

  @Test("if the server lacks the pages of tags, a requested tag is a finding, and no pack is called lost")
  func missingTagPages() async throws {
    var settings = try await tagged(.install, [1])
    settings.release = try await paged(1) { path in
      let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("tags-") }
      for name in names { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }
    }
    let report = try await play(settings)
    #expect(report.findings.allSatisfy { $0.kind == .missing }, "\(report.story)")
    #expect(report.findings.contains { $0.message.hasPrefix("the packs with the tag 'german' were not found") }, "\(report.story)")
    #expect(report.packs.first { $0.id == "core" }?.state == "ready")
  }

  @Test("packs are found by their tag through the pages of tags, which are fetched once, like the pages of the packs")
  func foundByTag() async throws {
    let report = try await play(tagged(.install, [1]))
    #expect(report.findings.isEmpty && report.notReady.isEmpty, "\(report.story)")
    #expect(report.packs.map(\.id).sorted() == ["core", "voices-de"])
    // An index page and a page of tags, then an index page and a page of packs.
    let pages = pagesOfApp(report)
    #expect(pages.count == 4 && Set(pages).count == 4 && pages[1].hasPrefix("~tags-") && pages[3].hasPrefix("~packs-"), "\(report.story)")
    #expect(try await play(tagged(.install, [1])).story == report.story)
    // The next manifest has the same page for the tag, and the device has it.
    let second = try await play(tagged(.periodic, [1, 2]))
    #expect(second.findings.isEmpty && second.notReady.isEmpty, "\(second.story)")
    #expect(!pagesOfApp(second).contains { $0.hasPrefix("~tags-") }, "\(second.story)")
  }

  @Test(
    "whatever happens to the downloads of pages, the packs of a tag arrive",
    arguments: ["pages:truncate", "pages:size", "pages:offline", "pages:forgotten", "all:offline", "pages:truncate*3"], [[1], [1, 2]])
  func tagFaults(_ fault: String, _ numbers: [Int]) async throws {
    let report = try await play(tagged(numbers.count == 1 ? .install : .update, numbers, fault))
    #expect(report.findings.isEmpty && report.notReady.isEmpty, "\(report.story)")
    #expect(report.packs.contains { $0.id == "voices-de" && $0.state == "ready" })
  }

  @Test("a tag that a release does not have is no finding, and the packs of a release without pages are found by tags, too")
  func otherTags() async throws {
    var settings = try await tagged(.install, [1])
    settings.tags = ["german", "klingon"]
    let report = try await play(settings)
    #expect(report.findings.isEmpty && report.packs.map(\.id).sorted() == ["core", "voices-de"], "\(report.story)")
    #expect(report.events.contains { $0.text == "finds no pack with the tag 'klingon'" })
    let releases = try await Releases.made()
    settings.release = releases[1]
    let whole = try await play(settings)
    #expect(whole.findings.isEmpty && whole.packs.first { $0.id == "voices-de" }?.state == "ready", "\(whole.story)")
  }

  // MARK: Faults

  @Test(
    "whatever happens to the downloads of pages, every requested pack arrives",
    arguments: ["pages:truncate", "pages:size", "pages:offline", "pages:forgotten", "pages:lock", "pages:memory", "pages:truncate*3"],
    [[1], [1, 2]])
  func faults(_ fault: String, _ numbers: [Int]) async throws {
    let report = try await play(settings(numbers.count == 1 ? .install : .periodic, numbers, fault))
    #expect(report.findings.isEmpty && report.notReady.isEmpty, "\(report.story)")
  }

  @Test("two new manifests in a row during an update leave every pack in the version of the last one")
  func twoManifests() async throws {
    for changesAfter in 1...4 {
      var settings = try await settings(.update, [1, 2])
      settings.later = try await paged(3)
      settings.changesAfter = changesAfter
      settings.asked = ["music", "extra", "gone"]
      let report = try await play(settings)
      #expect(report.findings.isEmpty && report.notReady.isEmpty, "after \(changesAfter)\n\(report.story)")
      #expect(report.packs.map(\.id).sorted() == ["core", "extra", "music"])
    }
  }

  @Test("an extension that is killed before any of its file operations loses no pack")
  func killed() async throws {
    var settings = try await settings(.periodic, [1, 2])
    settings.extensionDeath = .max
    let operations = try await play(settings).cost.operations
    #expect(operations > 100)
    // The last one is not reached.
    for number in Effort.sample(of: 1...operations + 1, 12) {
      settings.extensionDeath = number
      let report = try await play(settings)
      #expect(report.findings.isEmpty && report.notReady.isEmpty, "killed at operation \(number)\n\(report.story)")
      #expect(report.notes.contains { $0.hasSuffix("fewer than --kill-extension \(number)") } == (number > operations))
    }
  }

  @Test("faults of pages are written like those of packs")
  func words() throws {
    #expect(try SimulatedFault(parsing: "pages:truncate*2").description == "pages:truncate*2")
    #expect(throws: PackError.self) { try SimulatedFault(parsing: "pages:late") }
  }
}
