import Foundation
import TestSupport
import Testing

@testable import PackApp

/// Tests of what an app tells its server about new versions.
@Suite("Seen files", .bounded)
struct LibrarySeenTests {
  private let place: DeliveryStage
  private var stage: StoreStage { place.stage }
  private let published = Monitor<[UInt8]>([])
  private let told = Monitor<[String]>([])

  init() throws { place = try DeliveryStage(waits: true) }

  private func library(
    _ transport: any Transport, session: String = "one", _ seen: PackLibrary.SeenFiles?, confirms: Bool = true
  ) async throws -> PackLibrary {
    let app = try await place.app(transport, session: session)
    var options = PackLibrary.Options()
    (options.seen, options.confirmsVersions) = (seen, confirms)
    return try await PackLibrary(
      app.delivery, service: app.service, exports: FileExports(stage.directory("exports")), options,
      sleep: { [clock = place.clock] seconds in
        guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { return }
        clock.advance(Int64(clamping: seconds))
      },
      source: { [published, told] (file) async throws(PackError) in
        switch file {
        case .manifest: return published.withLock { $0 }
        case .seen(let address):
          told.withLock { $0.append(address) }
          throw PackError(.downloadFailed, "the server has no such file")
        default: throw PackError(.internalError, "there is nothing else")
        }
      })
  }

  private func publish(_ manifest: UInt64, _ offers: [StoreStage.Offer]) throws {
    published.update { $0 = try! stage.manifest(manifest, offers).bytes }
  }

  private func told(_ count: Int) async throws -> [String] {
    try await eventually("\(count) are told") { told.withLock { $0.count } >= count }
    return told.withLock { $0 }.map { $0.replacing(/https:\/\/cdn\.example\.com\/(packs\/)?/, with: "") }
  }

  @Test("nothing is told unless the app wants it, and by no device at a share of zero")
  func silence() async throws {
    let offer = try await stage.offer("core", 1)
    try publish(1, [offer])
    for seen in [nil, PackLibrary.SeenFiles(share: 0)] {
      let packs = try await library(try place.network([offer]), session: "\(seen == nil)", seen)
      try await packs.ensure("core")
      try await packs.remove("core")
      await packs.back.stop()
    }
    #expect(told.withLock { $0 } == [])
  }

  @Test("a version that is confirmed is told once, and so is one that the app, or a crash, rolls back")
  func outcomes() async throws {
    let (one, two) = (try await stage.offer("core", 1), try await stage.offer("core", 2))
    let network = try place.network([one, two])
    try publish(1, [one])
    let seen = PackLibrary.SeenFiles(share: 1)
    var packs = try await library(network, seen)
    try await packs.ensure("core")
    try await packs.ensure("core")
    #expect(try await told(1) == ["seen/core/1/0/confirmed"])
    await packs.back.stop()
    stage.end("one")
    // A version on trial whose process ends.
    try publish(2, [two])
    packs = try await library(network, session: "two", seen, confirms: false)
    try await eventually("version 2 is not installed") { try await packs.store.installed("core").count == 2 }
    try await packs.ensure("core")
    await packs.back.stop()
    stage.end("two")
    packs = try await library(network, session: "three", seen, confirms: false)
    let outcomes = try await told(2)
    // On a slow machine, the time for the trial is over before.
    #expect(outcomes[0] == "seen/core/1/0/confirmed" && outcomes[1].hasPrefix("seen/core/2/0/rolled-back-") && outcomes.count == 2)
    #expect(RollbackReason.outcome(of: RollbackReason.crash) == .crash && RollbackReason.outcome(of: "the player said no") == .refused)
    #expect(RollbackReason.outcome(of: RollbackReason.timeout(milliseconds: 10)) == .timeout)
    #expect(RollbackReason.outcome(of: RollbackReason.unreadable("damagedPack")) == .unreadable)
  }

  @Test("what was told at random is half confirmed, and the rest is any reason")
  func random() throws {
    var random = SeededGenerator()
    var counts: [SeenFile.Outcome: Int] = [:]
    for _ in 0..<10_000 { counts[SeenFile.told(.crash, randomised: 40, using: &random), default: 0] += 1 }
    // 60 % as it is, 20 % confirmed, and 5 % for each reason.
    #expect(abs((counts[.crash] ?? 0) - 6500) < 150 && abs((counts[.confirmed] ?? 0) - 2000) < 120)
    for outcome in [SeenFile.Outcome.timeout, .unreadable, .refused] { #expect(abs((counts[outcome] ?? 0) - 500) < 70) }
    #expect(PackLibrary.SeenFiles(share: 7, randomised: 99) == PackLibrary.SeenFiles(share: 1, randomised: 90))
    #expect(PackLibrary.SeenFiles(share: -1, randomised: -2) == PackLibrary.SeenFiles(share: 0, randomised: 0))
  }

  @Test("names are read as they are written, and others are not")
  func names() {
    for outcome in SeenFile.Outcome.allCases {
      let file = SeenFile(id: "game-7", version: 12, randomised: 10, outcome: outcome)
      #expect(SeenFile(endOf: "/packs/" + file.path) == file && SeenFile(endOf: file.path) == file)
    }
    for wrong in [
      "", "confirmed", "seen/core/1/confirmed", "seen/core/01/0/confirmed", "seen/core/0/0/confirmed", "seen/core/1/91/confirmed",
      "seen/core/1/+1/confirmed", "seen/Core!/1/0/confirmed", "seen/core/1/0/rolled-back-", "seen/core/1/0/confirmed/",
      "ween/core/1/0/confirmed",
      "seen/core/18446744073709551616/0/confirmed",
    ] {
      #expect(SeenFile(endOf: wrong) == nil, "\(wrong)")
    }
  }
}
