import Foundation
import TestSupport
import Testing

@Suite("Errors of the system, each with the reaction of our code", .bounded)
struct SimulatedErrorTests {
  @Test(
    "an installation without faults reports no errors: essential packs are present at the first start, the others soon after, and all of them open"
  )
  func clean() async throws {
    let report = try await play(Releases.made().settings(.install))
    #expect(report.codes.isEmpty && report.findings.isEmpty && report.notes.isEmpty && report.launches == 1, "\(report.story)")
    #expect(report.notReady == ["voices-de"])
    #expect(report.packs.first { $0.id == "core" }?.wasHereAtLaunch == true)
    #expect(report.events.allSatisfy { !$0.isInjected })
  }

  @Test("112: a download above the allowance is refused when it is scheduled, and the pack arrives after the first start")
  func exceedsAllowance() async throws {
    let releases = try await Releases.made()
    var settings = try releases.settings(.install)
    settings.rules = try releases.rules(1, essential: 20_000, other: 30_000)
    settings.ignoresAllowance = true
    let report = try await play(settings)
    #expect(report.codes("core") == [112, 112], "as an essential and as a non-essential download: \(report.story)")
    #expect(report.remedies(112).first == "handed over again as a non-essential one")
    #expect(report.codes("music") == [112])
    #expect(report.notReady == ["voices-de"])
    let finding = try #require(report.findings.first)
    #expect(report.findings.count == 1 && finding.kind == .missing && finding.pack == "core" && finding.error == .wouldExceedAllowance)
  }

  @Test(
    "an extension that counts the remaining allowance schedules no download that the system would refuse with 112, and the finding still has the code"
  )
  func plannedAllowance() async throws {
    let releases = try await Releases.made()
    var settings = try releases.settings(.install)
    settings.rules = try releases.rules(1, essential: 20_000, other: 30_000)
    let report = try await play(settings)
    #expect(report.codes.isEmpty, "\(report.story)")
    #expect(report.findings.map(\.error) == [.wouldExceedAllowance])
    #expect(report.notReady == ["voices-de"])
  }

  @Test("112: a failed essential download does not fit the non-essential allowance if that has no room for it")
  func demotedExceeds() async throws {
    let releases = try await Releases.made()
    var settings = try releases.settings(.install, 1, "core:truncate")
    let others = try ["extra", "gone", "music"].reduce(0) { try $0 + releases.pack($1, of: 1).size }
    settings.rules = try releases.rules(1, other: others + 1)
    let report = try await play(settings)
    #expect(report.codes("core") == [-1, 112], "\(report.story)")
    #expect(report.findings.isEmpty && report.notReady == ["voices-de"])
  }

  @Test("a download of exactly the remaining allowance does not fit, and one byte less fits")
  func exactFit() async throws {
    let releases = try await Releases.made()
    let needed = try releases.pack("core", of: 1).size + UInt64(releases[1].document.count)
    for (allowance, isHere) in [(needed, false), (needed + 1, true)] {
      var settings = try releases.settings(.install)
      settings.rules = try releases.rules(1, essential: allowance)
      let report = try await play(settings)
      #expect(report.packs.first { $0.id == "core" }?.wasHereAtLaunch == isHere, "\(allowance)")
      #expect(report.findings.isEmpty == isHere)
    }
  }

  @Test("203: a manifest that is larger than both allowances is refused, and nothing is downloaded before the first start")
  func manifestAllowance() async throws {
    let releases = try await Releases.made()
    let size = UInt64(releases[1].document.count)
    var settings = try releases.settings(.install)
    settings.rules = try releases.rules(1, essential: size, other: size)
    let report = try await play(settings)
    #expect(report.codes(nil) == [203] && report.remedies(203) == ["everything stays as it is"], "\(report.story)")
    #expect(report.findings.map(\.kind) == [.manifest] && report.findings[0].error == .disallowedByAllowance)
    #expect(report.packs.allSatisfy { !$0.wasHereAtLaunch } && report.notReady == ["voices-de"])
    // A manifest that does not fit the essential allowance counts against the other one.
    settings.rules = try releases.rules(1, essential: size, other: 1_000_000)
    #expect(try await play(settings).codes(nil).isEmpty)
  }

  @Test("204 and 203: a file larger than declared uses up the allowance during its download, and later downloads do not begin")
  func allowanceExceeded() async throws {
    let report = try await play(Releases.made().settings(.install, 1, "extra:size=9000000"))
    #expect(report.codes("extra") == [204], "\(report.story)")
    #expect(report.codes("gone") == [203] && report.codes("music") == [203])
    #expect(report.remedies(204) == ["not-loaded allowance: the next plan decides"])
    #expect(report.findings.isEmpty && report.notReady == ["voices-de"])
    #expect(report.packs.first { $0.id == "core" }?.wasHereAtLaunch == true, "essential downloads have their own allowance")
  }

  @Test("204: the download of a file larger than declared ends with the allowance, even if it lasts until after the first start")
  func slowlyExceeded() async throws {
    let releases = try await Releases.made()
    let file = try #require(try releases.pack("extra", of: 1).url.split(separator: "/").last)
    var settings = try releases.settings(.install)
    settings.release = try releases.copy(of: 1, "large-extra") { path in
      let handle = try #require(FileHandle(forWritingAtPath: "\(path)/\(file)"))
      try handle.truncate(atOffset: 1 << 30)
      try handle.close()
    }
    settings.link = try NetworkLink(parsing: "20Mbit/s,100ms")
    let report = try await play(settings)
    #expect(report.codes("extra").first == 204, "\(report.story)")
    #expect(!report.events.contains { $0.text.hasPrefix("extra: has ") && $0.time <= 31_000 })
  }

  @Test("202: a host that is not in the allow list, for the manifest and after a redirect")
  func host() async throws {
    let releases = try await Releases.made()
    var settings = try releases.settings(.install)
    settings.rules = try releases.rules(1, hosts: ["cdn.example.org"])
    let refused = try await play(settings)
    #expect(refused.codes(nil) == [202] && refused.findings.first?.error == .disallowedByDomain, "\(refused.story)")
    #expect(refused.notReady == ["voices-de"], "the allow list does not apply after the first start")
    let led = try await play(releases.settings(.install, 1, "music:host"))
    #expect(led.codes("music") == [202] && led.remedies(202) == ["not-loaded host: the next plan decides"])
    #expect(led.findings.isEmpty && led.notReady == ["voices-de"])
    let manifest = try await play(releases.settings(.install, 1, "manifest:host"))
    #expect(manifest.codes(nil) == [202] && manifest.findings.isEmpty && manifest.notReady == ["voices-de"])
  }

  @Test("109: an essential download outside an installation or update is handed over again as a non-essential one")
  func essential() async throws {
    let releases = try await Releases.made()
    var settings = try releases.settings(.periodic, 2, from: 1)
    settings.misreadsRequest = true
    let report = try await play(settings)
    #expect(report.codes("core") == [109] && report.remedies(109) == ["handed over again as a non-essential one"], "\(report.story)")
    #expect(report.findings.isEmpty && report.notReady == ["voices-de"])
    settings.misreadsRequest = false
    #expect(try await play(settings).codes.isEmpty, "an extension that knows the kind of request plans no essential download")
  }

  @Test("a wrong size has no published code: the download fails, and an essential one is handed over again as non-essential")
  func size() async throws {
    let report = try await play(Releases.made().settings(.install, 1, "core:size", "music:size"))
    let event = try #require(report.events.first { $0.pack == "core" && $0.error != nil })
    #expect(event.error?.code == nil && "\(event.error!)" == "no published code: the size is not the declared one")
    #expect(event.remedy == "handed over again as a non-essential one")
    #expect(report.codes("music") == [-1] && report.findings.isEmpty && report.notReady == ["voices-de"], "\(report.story)")
  }

  @Test("a file of any size on the server takes no longer than its declared size", arguments: ["100Mbit/s,100ms", "8kbit/s,100ms"])
  func endlessFile(_ link: String) async throws {
    var settings = try await Releases.made().settings(.periodic, 1, "extra:size=\(UInt64.max)")
    settings.link = try NetworkLink(parsing: link)
    let report = try await play(settings)
    #expect(report.findings.isEmpty && report.notReady == ["voices-de"], "\(report.story)")
    #expect(report.duration < 30 * 86_400_000)
  }

  @Test("111: in low power mode the system accepts only essential downloads, and the app fetches the rest in the foreground")
  func lowPower() async throws {
    var settings = try await Releases.made().settings(.install)
    settings.isLowPower = true
    let report = try await play(settings)
    #expect(report.codes("core").isEmpty && report.codes("extra") == [111] && report.codes("gone") == [111], "\(report.story)")
    #expect(Set(report.remedies(111)) == ["not-loaded background: the next plan decides"])
    #expect(report.findings.isEmpty && report.notReady == ["voices-de"] && report.launches == 1)
  }

  @Test("206: with in-app content switched off, the extension is not started before the first start of the app")
  func contentOff() async throws {
    var settings = try await Releases.made().settings(.install)
    settings.isContentOff = true
    let report = try await play(settings)
    #expect(
      report.codes == [206] && report.cost.calls == 0 && report.notReady == ["voices-de"] && report.findings.isEmpty, "\(report.story)")
  }

  @Test("100: a slow download that the extension hands over again after a day is under way only once")
  func alreadyScheduled() async throws {
    let releases = try await Releases.made()
    var settings = try releases.settings(.install)
    settings.link = try NetworkLink(parsing: "8bit/s,100ms")
    let report = try await play(settings)
    #expect(report.codes == [100] && report.findings.isEmpty && report.notReady == ["voices-de"], "\(report.story)")
  }

  @Test("113: the forgotten download of an older version cannot be cancelled, and need not be")
  func doesNotExist() async throws {
    let releases = try await Releases.made()
    var settings = try releases.settings(.install, 1, "music:forgotten")
    settings.later = releases[2]
    let report = try await play(settings)
    #expect(report.codes("music") == [113] && report.remedies(113) == ["nothing to do"], "\(report.story)")
    #expect(report.packs.first { $0.id == "music" }?.version == 2 && report.notReady == ["voices-de"] && report.findings.isEmpty)
  }
}

@Suite("Faults without an error of the system", .bounded)
struct SimulatedFaultTests {
  @Test("forgotten: a download that the system lost is detected at the start of the app, and fetched again")
  func forgotten() async throws {
    let report = try await play(Releases.made().settings(.install, 1, "core:forgotten", "extra:forgotten"))
    #expect(report.findings.isEmpty && report.notReady == ["voices-de"] && report.notes.isEmpty, "\(report.story)")
    let found = report.events.filter { $0.text.contains("in the foreground") }.compactMap(\.pack)
    #expect(Set(found) == ["core", "extra"])
  }

  @Test("lock: if the lock is never released, a content request schedules no downloads, but a finished file is still moved")
  func lock() async throws {
    let releases = try await Releases.made()
    let request = try await play(releases.settings(.install, 1, "manifest:lock"))
    #expect(request.events.contains { $0.text.hasPrefix("state-busy: device/group has been locked") }, "\(request.story)")
    #expect(request.findings.isEmpty && request.notReady == ["voices-de"])
    let file = try await play(releases.settings(.install, 1, "core:lock"))
    #expect(file.events.contains { $0.actor == .extension && $0.text.hasSuffix("downloaded: moves the file") })
    #expect(file.findings.isEmpty && file.notReady == ["voices-de"] && file.packs.first { $0.id == "core" }?.wasHereAtLaunch == true)
    #expect(!file.events.contains { $0.text.contains("in the foreground") }, "nothing is fetched twice")
    // A failure that cannot be recorded.
    let failure = try await play(releases.settings(.install, 1, "core:lock", "core:truncate"))
    #expect(failure.events.contains { $0.remedy == "the failure was not reported; the next plan finds it" }, "\(failure.story)")
    #expect(failure.findings.isEmpty && failure.notReady == ["voices-de"])
  }

  @Test("memory: the extension is killed in a content request, and while it handles a file")
  func memory() async throws {
    let releases = try await Releases.made()
    for fault in ["manifest:memory", "core:memory", "all:memory"] {
      let report = try await play(releases.settings(.install, 1, fault))
      #expect(report.events.contains { $0.text == "kills the extension, because it uses too much memory" })
      #expect(report.findings.isEmpty && report.notReady == ["voices-de"], "\(fault)\n\(report.story)")
    }
  }

  @Test("offline: without a network until the first or the third start of the app, all packs arrive afterwards")
  func offline() async throws {
    let releases = try await Releases.made()
    for (fault, launches) in [("all:offline", 2), ("all:offline*3", 4)] {
      let report = try await play(releases.settings(.install, 1, fault))
      #expect(report.launches == launches && report.findings.isEmpty && report.notReady == ["voices-de"], "\(fault)\n\(report.story)")
    }
    let update = try await play(releases.settings(.update, 2, from: 1, "all:offline"))
    #expect(update.launches == 2 && update.notReady == ["voices-de"] && update.findings.isEmpty, "\(update.story)")
    #expect(update.packs.first { $0.id == "extra" }?.readyAt == nil, "packs on the device are kept")
    let one = try await play(releases.settings(.install, 1, "core:offline*3"))
    #expect(one.findings.isEmpty && one.notReady == ["voices-de"], "\(one.story)")
  }

  @Test("truncate: a cut download of the system is handed over again, and one of the app's own continues from where it was cut")
  func truncate() async throws {
    var settings = try await Releases.made().settings(.install, 1, "core:truncate", "voices-de:truncate*2", "manifest:truncate")
    settings.asked = ["voices-de"]
    let report = try await play(settings)
    #expect(report.notReady.isEmpty && report.findings.isEmpty, "\(report.story)")
    #expect(report.events.contains { $0.text.contains("voices-de: downloads") && $0.text.contains("from byte") })
    #expect(report.events.contains { $0.text.hasPrefix("damaged-manifest: ") }, "half of a manifest is refused")
  }

  @Test("if the version changes while a file of the old version waits, the new one is downloaded, and the old file is removed")
  func versionChange() async throws {
    let releases = try await Releases.made()
    for count in 1...3 {
      var settings = try releases.settings(.update, 2, from: 1)
      settings.later = releases[3]
      settings.changesAfter = count
      let report = try await play(settings)
      #expect(report.notReady == ["voices-de"] && report.findings.isEmpty, "after \(count)\n\(report.story)")
      #expect(report.packs.map(\.version) == [3, 2, 2, 1])
      #expect(report.events.count { $0.text.contains("core: downloads") } == 1)
      #expect(report.events.contains { $0.text.contains("of files that are no longer needed") })
      #expect(report.events.contains { $0.text == "gone: is no longer offered, and is removed" })
    }
  }

  @Test(
    "if the extension is killed at any of its file operations, all packs are still present after the next start of the app",
    arguments: [DeliveryEvent.install, .update])
  func killed(_ event: DeliveryEvent) async throws {
    let releases = try await Releases.made()
    var settings = try releases.settings(event, event == .install ? 1 : 2, from: event == .install ? nil : 1)
    settings.extensionDeath = .max
    let operations = try await play(settings).cost.operations
    var kept = 0
    // The last one is the sync of a file that was moved; the one after it is not reached.
    for number in [operations] + Effort.sample(of: 1...operations + 1, 20, for: "\(event)") {
      settings.extensionDeath = number
      let report = try await play(settings)
      #expect(report.findings.isEmpty && report.notReady == ["voices-de"], "killed at operation \(number)\n\(report.story)")
      if report.events.contains(where: { $0.text.contains("the file was already moved") }) { kept += 1 }
      let isAlive = report.notes.contains { $0.hasSuffix("fewer than --kill-extension \(number)") }
      #expect(isAlive == (number > operations), "\(number)")
      let isKilled = report.events.contains { $0.text.hasPrefix("kills the extension at its file operation \(number): ") }
      #expect(isKilled == (number <= operations), "\(number)")
    }
    #expect(operations > 100, "it made \(operations) operations")
    // Each of the five or more files has one operation after its move.
    #expect(kept >= Effort.number(quick: 1, full: 5), "\(kept) files were moved before the end")
  }

  @Test("after any combination of faults, every pack is on the device in the end")
  func together() async throws {
    let releases = try await Releases.made()
    var random = SeededGenerator()
    for round in 0..<Effort.number(quick: 8, full: 100) {
      let event = [DeliveryEvent.install, .update, .periodic][Int(random.next() % 3)]
      var settings = try releases.settings(event, event == .install ? 1 : 2, from: event == .install ? nil : 1)
      var faults: [String] = []
      for _ in 0...Int(random.next() % 4) {
        let subject = ["core", "extra", "gone", "music", "all", "manifest"][Int(random.next() % 6)]
        let kind = SimulatedFault.Kind.allCases[Int(random.next() % UInt64(SimulatedFault.Kind.allCases.count))].rawValue
        faults.append("\(subject):\(kind)\(kind == "size" ? "=70000" : "")*\(1 + random.next() % 3)")
      }
      settings.faults = try faults.map { try SimulatedFault(parsing: $0) }
      if random.next() % 2 == 0 { settings.extensionDeath = 1 + Int(random.next() % 250) }
      if event != .periodic, random.next() % 2 == 0 { settings.later = releases[3] }
      settings.isLowPower = random.next() % 3 == 0
      settings.link = try NetworkLink(parsing: "\(8 + random.next() % 800_000)bit/s,\(random.next() % 400)ms")
      let report = try await play(settings)
      let what = "seed \(random.seed), round \(round): \(event) \(faults) killed at \(settings.extensionDeath ?? 0), \(settings.link.text)"
      #expect(report.findings.isEmpty && report.notReady == ["voices-de"], "\(what)\n\(report.story)")
    }
  }

  @Test("a simulation can be cancelled at any point")
  func cancelled() async throws {
    var settings = try await Releases.made().settings(.install, 1, "all:forgotten*2", "all:truncate*3", "manifest:lock")
    settings.asked = ["voices-de"]
    for round in 0..<12 {
      let task = Task { [settings] in try await play(settings) }
      // How far the simulation has come by then does not matter.
      for _ in 0..<(round * round * 4) { await Task.yield() }
      task.cancel()
      do {
        let report = try await task.value
        #expect(report.notReady.isEmpty, "it ended before the cancellation")
      } catch let error as PackError {
        #expect(error.code == .cancelled || error.code == .storeBusy, "\(error)")
      }
    }
  }

  @Test("the same settings give the same events, also in another directory")
  func deterministic() async throws {
    var settings = try await Releases.made().settings(
      .install, 1, "core:truncate", "music:lock", "extra:forgotten", "voices-de:truncate*3", "gone:offline")
    settings.asked = ["voices-de"]
    let (first, second) = (try await play(settings), try await play(settings))
    #expect(first.events == second.events && first.packs == second.packs && first.cost == second.cost)
    #expect(first.events.count > 20)
  }
}

@Suite("Findings of a simulation", .bounded)
struct SimulationFindingTests {
  @Test("a pack that is missing or different on the server is missing in the end")
  func wrongFile() async throws {
    let releases = try await Releases.made()
    let file = try #require(try releases.pack("extra", of: 1).url.split(separator: "/").last)
    let gone = try releases.copy(of: 1, "without-extra") { try FileManager.default.removeItem(atPath: "\($0)/\(file)") }
    let other = try releases.copy(of: 1, "other-extra") { path in
      var bytes = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(file)"))
      bytes[bytes.count - 1] ^= 1
      try bytes.write(to: URL(fileURLWithPath: "\(path)/\(file)"))
    }
    for release in [gone, other] {
      var settings = try releases.settings(.install)
      settings.release = release
      let report = try await play(settings)
      #expect(report.findings.map(\.kind) == [.missing] && report.findings[0].pack == "extra", "\(report.story)")
      #expect(report.notReady == ["extra", "voices-de"])
      #expect(report.launches > 5, "it was retried for days")
    }
  }

  @Test("a manifest without a trusted signature is refused by extension and app")
  func untrusted() async throws {
    var settings = try await Releases.made().settings(.install)
    settings.trusted = TrustedKeys([try Releases.signer(7).publicKey])
    let report = try await play(settings)
    #expect(report.findings.contains { $0.kind == .manifest && $0.message.contains("untrusted-signature: ") }, "\(report.story)")
    #expect(report.packs.allSatisfy { $0.state == "not-loaded new" })
  }

  @Test("packs that need another key are never installed")
  func wrongKey() async throws {
    var settings = try await Releases.made().settings(.install)
    settings.keys = KeyRing(try Releases.key(9))
    let report = try await play(settings)
    #expect(report.findings.map(\.kind) == [.stuck, .stuck, .stuck, .stuck], "\(report.story)")
    #expect(report.findings.allSatisfy { $0.message.contains(" starts of the app: wrong-key: ") }, "with the reason: \(report.story)")
    settings.keys = nil
    let keyless = try await play(settings)
    #expect(keyless.findings.isEmpty && keyless.packs.count { $0.state == "to-be-transferred" } == 4, "\(keyless.story)")
    #expect(keyless.notes == ["no key was given, so no pack was installed: at the end, downloaded files still wait for installation"])
  }

  @Test("an earlier release that the app refuses is an error, with the reason and without the directory of the device")
  func untrustedEarlier() async throws {
    var settings = try await Releases.made().settings(.update, 2, from: 1)
    settings.trusted = TrustedKeys([try Releases.signer(7).publicKey])
    let directory = try TemporaryDirectory()
    var simulation = Simulation(settings, in: directory.path)
    do {
      _ = try await simulation.run()
      Issue.record("it was accepted")
    } catch {
      #expect(error.code == .untrustedSignature && !error.message.contains(directory.path), "\(error.message)")
      #expect(error.message.hasPrefix("\(settings.earlier?.path ?? "") cannot be the release on the device: "))
    }
  }

  @Test("the simulation starts at the given time, also at an earlier one", arguments: [0, 4_102_444_800])
  func start(_ start: Int64) async throws {
    let clock = VirtualClock(start: 1_793_491_200)
    clock.advance(milliseconds: 5000)
    clock.restart(at: start)
    #expect(clock.secondsSince1970 == start && clock.milliseconds == 0)
    for event in [DeliveryEvent.install, .update] {
      var settings = try await Releases.made().settings(event, 2, from: event == .update ? 1 : nil)
      settings.start = start
      let report = try await play(settings)
      let isExpired = start > settings.release.manifest.expires.secondsSince1970
      #expect(report.findings.isEmpty != isExpired, "\(report.story)")
    }
  }

  @Test("with a clock beyond the years of a manifest, every manifest is expired for extension and app")
  func endOfTime() async throws {
    var settings = try await Releases.made().settings(.install)
    settings.start = 253_402_300_799
    let report = try await play(settings)
    #expect(report.findings.contains { $0.kind == .manifest && $0.message.contains("manifest-expired: ") }, "\(report.story)")
  }

  @Test("an expired manifest adds no packs and removes none")
  func expired() async throws {
    var settings = try await Releases.made().settings(.update, 2, from: 1)
    settings.start = settings.release.manifest.expires.secondsSince1970
    let report = try await play(settings)
    #expect(report.findings.contains { $0.kind == .manifest && $0.message.contains("manifest-expired: ") }, "\(report.story)")
    #expect(report.findings.allSatisfy { $0.kind != .lost })
  }

  @Test("an extension that uses too much memory or time is a finding, and the app fetches the missing packs")
  func cost() async throws {
    var settings = try await Releases.made().settings(.install)
    settings.memoryLimit = 5000
    let memory = try await play(settings)
    #expect(memory.findings.map(\.kind) == [.missing, .cost] && memory.notReady == ["voices-de"], "\(memory.story)")
    settings.memoryLimit = 6_000_000
    settings.callRuntime = 300_001
    let runtime = try await play(settings)
    #expect(runtime.cost.calls == 2 && runtime.cost.refusedCalls == 3, "\(runtime.story)")
    #expect(runtime.findings.map(\.kind) == [.cost] && runtime.notReady == ["voices-de"])
    settings.callRuntime = 100
    #expect(try await play(settings).findings.isEmpty)
  }

  @Test("a fault that never occurred is reported")
  func unused() async throws {
    var settings = try await Releases.made().settings(.install, 1, "voices-de:truncate", "core:truncate")
    settings.extensionDeath = 1_000_000
    let notes = try await play(settings).notes
    #expect(
      notes.count == 2 && notes[0] == "the fault voices-de:truncate never occurred"
        && notes[1].hasSuffix("fewer than --kill-extension 1000000"))
  }

  @Test(
    "valid faults are parsed, and invalid ones are refused",
    arguments: [
      "core", ":truncate", "core:", "core:late", "core:size=", "core:truncate=4", "core:size*0", "core:size*x", "manifest:size",
      "core:size*1001",
    ])
  func words(_ text: String) throws {
    #expect(throws: PackError.self) { try SimulatedFault(parsing: text) }
    for text in ["core:truncate", "all:offline*3", "manifest:size=4096", "a:size=1*2", "manifest:lock"] {
      #expect(try SimulatedFault(parsing: text).description == text)
    }
  }

  @Test("packs that the app requests by tag or name arrive, and an unknown word gives the most similar one")
  func asked() async throws {
    let releases = try await Releases.made()
    #expect(try releases[1].packs(asked: ["german", "boot"]) == ["voices-de", "core"])
    let error = #expect(throws: PackError.self) { try releases[1].packs(asked: ["germen"]) }
    #expect(error?.code == .unknownPack && error?.advice?.description == "did you mean 'german'?")
    var settings = try releases.settings(.periodic, 3, from: 1)
    settings.asked = ["voices-de"]
    let report = try await play(settings)
    #expect(report.notReady.isEmpty && report.findings.isEmpty, "\(report.story)")
  }
}
