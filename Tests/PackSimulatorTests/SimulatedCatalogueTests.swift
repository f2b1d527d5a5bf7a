import Foundation
import TestSupport
import Testing

@Suite("Simulated devices and packs in a catalogue", .bounded)
struct SimulatedCatalogueTests {
  /// Returns a release whose packs except `core` are on demand, in 4 shards.
  private func onDemand(_ number: Int, _ change: (String) throws -> Void = { _ in }) async throws -> SimulatedRelease {
    let releases = try await Releases.made()
    return try releases.copy(of: number, "catalogue-\(number)-\(UUID().uuidString)") { path in
      var manifest = releases[number].manifest
      manifest.packs = releases[number].packs
      for index in manifest.packs.indices where manifest.packs[index].id != "core" { manifest.packs[index].delivery = .onDemand }
      let (root, files) = try manifest.withCatalogue(of: 4)
      let signed = try root.signedBytes()
      let document = try SignedManifest(signed: signed, signatures: [SignedManifest.signature(of: signed, by: Releases.signer())])
      try Data(document.bytes).write(to: URL(fileURLWithPath: "\(path)/manifest.json"))
      for file in files { try Data(file.bytes).write(to: URL(fileURLWithPath: "\(path)/\(file.shard.fileName)")) }
      try change(path)
    }
  }

  private func removeShards(_ path: String) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".shard") }
    for name in names { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }
  }

  /// The packs that are on the device in the end.
  private func ready(_ report: SimulationReport) -> Set<String> { Set(report.packs.filter { $0.state == "ready" }.map(\.id)) }

  private func settings(_ event: DeliveryEvent, _ numbers: [Int], _ faults: String...) async throws -> SimulationSettings {
    let releases = try await Releases.made()
    var settings = try releases.settings(event, numbers.last ?? 1)
    settings.release = try await onDemand(numbers.last ?? 1)
    if numbers.count > 1 { settings.earlier = try await onDemand(numbers[0]) }
    settings.asked = ["music", "extra"]
    settings.faults = try faults.map { try SimulatedFault(parsing: $0) }
    return settings
  }

  @Test("a shard that the server does not have is a finding about the packs that wait for it, and about no other")
  func missing() async throws {
    var settings = try await settings(.install, [1])
    settings.release = try await onDemand(1, removeShards)
    // Their names cannot be known without the catalogue.
    let error = #expect(throws: PackError.self) { try settings.release.packs(asked: ["core", "music"]) }
    #expect(error?.code.rawValue == "catalogue-not-available" && error?.message.contains(".shard") == true, "\(error?.message ?? "")")
    let report = try await play(settings)
    #expect(report.findings.allSatisfy { $0.kind == .missing || $0.kind == .stuck }, "\(report.story)")
    #expect(report.packs.first { $0.id == "core" }?.state == "ready")
    #expect(report.findings.contains { $0.message.contains(".shard and ") }, "\(report.story)")
    // Nobody asked for a pack on demand, but somebody will.
    settings.asked = []
    let unasked = try await play(settings)
    #expect(unasked.findings.map(\.kind) == [.missing] && unasked.findings[0].message.contains(".shard"), "\(unasked.story)")
  }

  @Test("requested packs are found by the app, which also updates them; the extension leaves them alone")
  func found() async throws {
    let first = try await play(settings(.install, [1]))
    #expect(first.findings.isEmpty && ready(first) == ["core", "extra", "music"], "\(first.story)")
    // 'music' changes in release 2.
    let second = try await play(settings(.periodic, [1, 2]))
    #expect(second.findings.isEmpty && ready(second) == ["core", "extra", "music"], "\(second.story)")
    let arrivals = second.events.filter { $0.actor == .extension && $0.text.contains("moves the file") }.compactMap(\.pack)
    #expect(Set(arrivals) == ["core"], "\(second.story)")
    #expect(second.cost.memory < 100_000)
    // Shards that did not change are not fetched again.
    #expect(second.traffic.shards > 0 && second.traffic.shards <= first.traffic.shards, "\(second.story)")
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

  /// Returns the shards that the app downloaded, in their order.
  private func shards(_ report: SimulationReport) -> [String] {
    report.events.filter { $0.actor == .app && $0.text.contains("bytes in the foreground") }.compactMap(\.pack).filter(Shard.isFileName)
  }

  @Test("if the server lacks shards, a requested tag is a finding, and no pack is called lost")
  func missingTags() async throws {
    var settings = try await tagged(.install, [1])
    settings.release = try await onDemand(1, removeShards)
    let report = try await play(settings)
    #expect(report.findings.allSatisfy { $0.kind == .missing }, "\(report.story)")
    #expect(report.findings.contains { $0.message.hasPrefix("the packs with the tag 'german' were not found") }, "\(report.story)")
    #expect(report.packs.first { $0.id == "core" }?.state == "ready")
  }

  @Test("packs are found by their tag in all shards, which are fetched once each")
  func foundByTag() async throws {
    let report = try await play(tagged(.install, [1]))
    #expect(report.findings.isEmpty && ready(report) == ["core", "voices-de"], "\(report.story)")
    #expect(Set(shards(report)).count == shards(report).count && !shards(report).isEmpty, "\(report.story)")
    #expect(try await play(tagged(.install, [1])).story == report.story)
    let second = try await play(tagged(.periodic, [1, 2]))
    #expect(second.findings.isEmpty && ready(second) == ["core", "voices-de"], "\(second.story)")
    #expect(Set(shards(second)).isDisjoint(with: shards(report)), "\(second.story)")
  }

  @Test(
    "whatever happens to the downloads of shards, the packs of a tag arrive",
    arguments: ["catalogue:truncate", "catalogue:size", "catalogue:offline", "all:offline", "catalogue:truncate*3"],
    [[1], [1, 2]])
  func tagFaults(_ fault: String, _ numbers: [Int]) async throws {
    let report = try await play(tagged(numbers.count == 1 ? .install : .update, numbers, fault))
    #expect(report.findings.isEmpty && ready(report) == ["core", "voices-de"], "\(report.story)")
  }

  @Test("a tag that a release does not have is no finding, and the packs of a release without a catalogue are found by tags, too")
  func otherTags() async throws {
    var settings = try await tagged(.install, [1])
    settings.tags = ["german", "klingon"]
    let report = try await play(settings)
    #expect(report.findings.isEmpty && ready(report) == ["core", "voices-de"], "\(report.story)")
    #expect(report.events.contains { $0.text == "finds no pack with the tag 'klingon'" })
    let releases = try await Releases.made()
    settings.release = releases[1]
    let whole = try await play(settings)
    #expect(whole.findings.isEmpty && whole.packs.first { $0.id == "voices-de" }?.state == "ready", "\(whole.story)")
  }

  // MARK: Faults

  @Test(
    "whatever happens to the downloads of shards, every requested pack arrives",
    arguments: ["catalogue:truncate", "catalogue:size", "catalogue:offline", "catalogue:truncate*3"],
    [[1], [1, 2]])
  func faults(_ fault: String, _ numbers: [Int]) async throws {
    let report = try await play(settings(numbers.count == 1 ? .install : .periodic, numbers, fault))
    #expect(report.findings.isEmpty && ready(report) == ["core", "extra", "music"], "\(report.story)")
  }

  @Test("two new manifests in a row during an update leave every pack in the version of the last one")
  func twoManifests() async throws {
    for changesAfter in 1...4 {
      var settings = try await settings(.update, [1, 2])
      settings.later = try await onDemand(3)
      settings.changesAfter = changesAfter
      settings.asked = ["music", "extra", "gone"]
      let report = try await play(settings)
      #expect(report.findings.isEmpty && ready(report) == ["core", "extra", "music"], "after \(changesAfter)\n\(report.story)")
    }
  }

  @Test("an extension that is killed before any of its file operations loses no pack")
  func killed() async throws {
    var settings = try await settings(.periodic, [1, 2])
    settings.extensionDeath = .max
    let operations = try await play(settings).cost.operations
    #expect(operations > 20)
    // The last one is not reached.
    for number in Effort.sample(of: 1...operations + 1, 12) {
      settings.extensionDeath = number
      let report = try await play(settings)
      #expect(report.findings.isEmpty && ready(report) == ["core", "extra", "music"], "killed at operation \(number)\n\(report.story)")
      #expect(report.notes.contains { $0.hasSuffix("fewer than --kill-extension \(number)") } == (number > operations))
    }
  }

  @Test("faults of the catalogue are written like those of packs")
  func words() throws {
    #expect(try SimulatedFault(parsing: "catalogue:truncate*2").description == "catalogue:truncate*2")
    #expect(throws: PackError.self) { try SimulatedFault(parsing: "catalogue:late") }
  }
}
