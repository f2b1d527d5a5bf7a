@_spi(Fake) import BackgroundAssets
import Foundation
import PackApp
import StoreKit
@_spi(Fake) import os

/// Ends the driver if a condition is false. Unlike with `precondition`, the condition may throw and wait.
func require(_ isSo: Bool, _ message: String = "unexpected result", file: StaticString = #file, line: UInt = #line) {
  if !isSo { preconditionFailure(message, file: file, line: line) }
}

/// Simulates downloads with the strict fake of the system: `dist` is a release with the packs `core` (essential), `game` and `extra` (both prefetch),
/// `later` (on demand).
struct BackgroundDriver {
  let dist: URL
  let place: URL
  let key: KeyRing
  let publicKey: SigningPublicKey
  let system = FakeSystem.shared
  static let group = "group.com.example.games"

  /// Runs all simulations. `next` is a newer release, with other versions of `core` and `later`.
  static func run(dist: String, next: String, key text: [UInt8], publicKey: String, in place: String) async throws {
    let driver = BackgroundDriver(
      dist: URL(fileURLWithPath: dist), place: URL(fileURLWithPath: place), key: try KeyRing(PackKey(text: text.byteSpan)),
      publicKey: try SigningPublicKey(text: publicKey))
    try driver.priorities()
    driver.documented()
    driver.errors()
    driver.space()
    try await driver.firstInstallation()
    try await driver.batches()
    try await driver.timeOfADay()
    try await driver.keysAsText()
    try await driver.wrongFile()
    try await driver.challenges()
    try await driver.listening()
    for domain in [Documented.earlierErrorDomain.value, Documented.errorDomain.value] {
      driver.system.setErrorDomain(domain)
      try await driver.failures()
      try await driver.handing()
      try await driver.cancelling()
    }
    try await driver.logging(text)
    try await driver.deliveryOfAnApp()
    try await driver.managed()
    print("the adapters of Background Assets behave as expected")
    try await LibraryDriver.run(driver, next: next)
  }

  // MARK: Helpers

  /// The reports of the extension.
  final class Log: @unchecked Sendable {
    private let lock = NSLock()
    private var reports: [BackgroundReport] = []
    func add(_ report: BackgroundReport) { lock.withLock { reports.append(report) } }
    func take() -> [BackgroundReport] {
      lock.withLock {
        defer { reports = [] }
        return reports
      }
    }
  }

  /// The extension as an app would write it, except for how it gets its delivery.
  struct Downloader: PackDownloaderExtension, Sendable {
    let delivery: BackgroundDelivery
    init() { preconditionFailure("the system does not make this extension") }
    init(_ delivery: BackgroundDelivery) { self.delivery = delivery }
  }

  /// Makes a separate device for each test.
  func newContainer(_ name: String) throws -> URL {
    let container = place.appendingPathComponent("\(name)-\(system.errorDomain)")
    try FileManager.default.createDirectory(at: container, withIntermediateDirectories: true)
    system.setContainer(container)
    system.setControl(.free)
    system.prohibitBackground(false)
    for identifier in system.identifiers { system.forget(identifier) }
    return container
  }

  func downloader(_ log: Log = Log(), challenges: ChallengeHandler = .system) -> Downloader {
    Downloader(
      BackgroundDelivery(group: Self.group, trusting: [publicKey], challenges: challenges, report: { log.add($0) }))
  }

  var manifestFile: URL { dist.appendingPathComponent("manifest.json") }

  func manifest() throws -> Manifest {
    try SignedManifest([UInt8](Data(contentsOf: manifestFile))).verify(trusting: [publicKey]).manifest
  }

  /// The entry of a pack, from the manifest or its catalogue.
  func entry(_ id: String) throws -> ManifestPack {
    let manifest = try manifest()
    var packs = manifest.packs
    for (number, shard) in manifest.catalogue.enumerated() {
      let bytes = try [UInt8](Data(contentsOf: dist.appendingPathComponent(shard.fileName)))
      packs += try ShardFile.packs(bytes.byteSpan, number, of: manifest)
    }
    return packs.first { $0.id == id }!
  }

  /// Finds `later` in the catalogue, as an app that has fetched it.
  func search(_ ids: Set<String>) throws(PackError) -> CatalogueLookup {
    var lookup = CatalogueLookup()
    for id in ids { lookup.packs[id] = try? entry(id) }
    return lookup
  }

  func identifier(_ id: String) throws -> String {
    let pack = try entry(id)
    return DownloadIdentifier(id: id, bytes: PackBytes(version: pack.version, size: pack.size, sha256: pack.sha256)).description
  }

  /// Makes a file as the system has it after the download.
  func arrived(_ id: String) throws -> URL {
    let pack = try entry(id)
    let name = URL(string: pack.url)!.lastPathComponent
    let file = place.appendingPathComponent("downloaded-\(UUID().uuidString)")
    try FileManager.default.copyItem(at: dist.appendingPathComponent(name), to: file)
    return file
  }

  func status(_ id: String) throws -> PackStatus? { try SharedState(group: Self.group).status(of: id) }

  func hasArrived(_ id: String) throws -> Bool { try SharedState(group: Self.group).content().files.contains { $0.identifier.id == id } }

  /// Lists every file below a directory with its name, number, size and time.
  func snapshot(_ directory: URL) -> [String] {
    let names = FileManager.default.enumerator(atPath: directory.path)!.compactMap { $0 as? String }.sorted()
    return names.map { name in
      let values = try! FileManager.default.attributesOfItem(atPath: "\(directory.path)/\(name)")
      return "\(name) \(values[.systemFileNumber]!) \(values[.size]!) \(values[.modificationDate]!)"
    }
  }

  func number(of file: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: file))?[.systemFileNumber] as? Int
  }

  /// The bytes that this process has read so far.
  func bytesRead() -> Int {
    let text = String(decoding: FileManager.default.contents(atPath: "/proc/self/io") ?? Data(), as: UTF8.self)
    return text.split(separator: "\n").first.flatMap { Int($0.split(separator: " ").last!) } ?? 0
  }

  // MARK: The extension

  /// A more urgent download has a higher number, regardless of its place among the others.
  func priorities() throws {
    let numbers = [1, 0.75, 0.5, 0].map { priority in
      [0, 1, 10_000].map { DownloadPriority.number(priority, place: $0, min: -1000, default: 0, max: 1000) }
    }
    require(numbers[0].first == 1000 && numbers[2].first == 0 && numbers[3].last == -1000)
    let flat = numbers.flatMap { $0 }
    require(flat == flat.sorted(by: >), "\(flat)")
    // For any values of Apple's constants.
    require(DownloadPriority.number(0.5, place: 3, min: 0, default: 0, max: 0) == 0)
    require(DownloadPriority.number(7, place: 0, min: 1, default: 2, max: 3) == 3)
    require(DownloadPriority.number(1, place: 0, min: .min, default: 0, max: .max) == .max)
    require(DownloadPriority.number(0, place: 9, min: .min, default: 0, max: .max) == .min)
  }

  /// The stub declares the documented values.
  func documented() {
    require(BAErrorDomain == Documented.errorDomain.value)
    for row in Documented.errorCodes.value + Documented.laterErrorCodes.value {
      require(BAErrorCode(rawValue: row.code).map { "\($0)" } == row.name, row.name)
    }
    for row in Documented.contentRequests.value { require(BAContentRequest(rawValue: row.code).map { "\($0)" } == row.name, row.name) }
    for row in Documented.downloadStates.value { require(BADownload.State(rawValue: row.code).map { "\($0)" } == row.name, row.name) }
  }

  /// The space for packs includes what the system can purge.
  func space() {
    FakeVolume.important = 5_000_000_000
    require(ImportantCapacity.bytes(at: place.path) == 5_000_000_000)
    FakeVolume.important = nil
    require(ImportantCapacity.bytes(at: place.path) == nil)
  }

  func errors() {
    for domain in [Documented.errorDomain.value, Documented.earlierErrorDomain.value] {
      for row in Documented.errorCodes.value + Documented.laterErrorCodes.value {
        require(DownloadFailure(NSError(domain: domain, code: row.code)) == .backgroundAssets(code: row.code), "\(domain) \(row.code)")
      }
    }
    let below = NSError(domain: NSURLErrorDomain, code: NSURLErrorNotConnectedToInternet)
    require(DownloadFailure(below) == .offline)
    require(DownloadFailure(NSError(domain: "Other", code: 1, userInfo: [NSUnderlyingErrorKey: below])) == .offline)
    require(DownloadFailure(NSError(domain: "Other", code: 1)) == .other)
    let outer = NSError(domain: BAErrorDomain, code: 204, userInfo: [NSUnderlyingErrorKey: below])
    require(DownloadFailure(outer) == .backgroundAssets(code: 204))
    require(BAErrorCode.sessionDownloadAllowanceExceeded.rawValue == 204)
  }

  /// The system has at most 500 downloads at a time, the essential ones first. The others follow at later content requests, each once.
  func batches() async throws {
    _ = try newContainer("batches")
    let key = try SigningKey.random()
    let packs = (0..<1100).map { (number: Int) -> ManifestPack in
      let sha256: [UInt8] = Array(repeating: UInt8(number >> 8), count: 31) + [UInt8(number & 255)]
      return ManifestPack(
        id: "pack-\(number)", version: 1, url: "https://cdn.example.com/packs/pack-\(number).pack", size: 4,
        sha256: sha256, contentRoot: Array(repeating: 0, count: 32),
        contentSize: 4, installSize: 4096, files: 1, maxFrame: 4, keyID: "e545120e613dd715",
        delivery: number % 40 == 39 ? .essential : .prefetch, install: .packed)
    }
    let manifest = Manifest(version: 1, issued: nil, expires: ManifestTime(secondsSince1970: 4_000_000_000)!, budget: nil, packs: packs)
    let signed = try manifest.signedBytes()
    let document = try SignedManifest(signed: signed, signatures: [SignedManifest.signature(of: signed, by: key)])
    let file = place.appendingPathComponent("batches.json")
    try Data(document.bytes).write(to: file)
    let downloader = Downloader(BackgroundDelivery(group: Self.group, trusting: [key.publicKey]))
    let essential = packs.count { $0.delivery == .essential }
    var handed: [String] = []
    repeat {
      let request: BAContentRequest = handed.isEmpty ? .install : .periodic
      let downloads = try await system.ask(downloader, request, manifest: file, essentialLeft: nil, otherLeft: nil)
      if handed.isEmpty { require(downloads.prefix(essential).allSatisfy(\.isEssential) && downloads.count == 500) }
      handed += downloads.map(\.identifier)
      require(system.identifiers.count == min(500, packs.count - handed.count + system.identifiers.count))
      for identifier in system.identifiers.sorted().prefix(300) {
        let arrived = place.appendingPathComponent("arrived")
        try Data([1, 2, 3, 4]).write(to: arrived)
        require(await !system.finish(identifier, with: arrived, downloader), "a file was not taken")
      }
    } while !system.identifiers.isEmpty
    require(handed.count == packs.count && Set(handed).count == packs.count, "\(handed.count) downloads")
  }

  /// Content request, finished files, and the records. No pack is read or copied.
  func firstInstallation() async throws {
    let container = try newContainer("install")
    let log = Log()
    let downloader = downloader(log)
    let handed = try await system.ask(downloader, .install, manifest: manifestFile, essentialLeft: 50_000_000, otherLeft: 50_000_000)
    require(try handed.map(\.identifier) == ["core", "extra", "game"].map(identifier), "\(handed.map(\.identifier))")
    require(handed.map(\.isEssential) == [true, false, false])
    for download in handed {
      let pack = try manifest().packs.first { $0.id == DownloadIdentifier(download.identifier)!.id }!
      require(system.size(of: download.identifier) == Int(pack.size))
      require(type(of: download) == BAURLDownload.self)
    }
    require(try status("core")?.state == .scheduled && status("game")?.state == .scheduled && status("later") == nil)

    // The extension must not take the lock of the system's manager.
    system.setControl(.silent)
    let file = try arrived("game")
    let number = number(of: file.path)
    let size = try manifest().packs.first { $0.id == "game" }!.size
    let read = bytesRead()
    let wasLeft = await system.finish(try identifier("game"), with: file, downloader)
    require(!wasLeft && size > 1_000_000 && bytesRead() - read < 200_000, "\(bytesRead() - read) bytes were read")
    let parked = "\(container.path)/Library/Caches/deliveries/incoming/\(try identifier("game"))"
    require(self.number(of: parked) == number && number != nil, "the file was not moved")
    require(try hasArrived("game"))

    // An update requests nothing that is already here, and nothing twice.
    let again = try await system.ask(downloader, .update, manifest: manifestFile)
    require(again.isEmpty, "\(again.map(\.identifier))")
    // A damaged manifest erases nothing, and a periodic request has no essential downloads.
    let damaged = place.appendingPathComponent("damaged.json")
    try Data("{\"signatures\":[".utf8).write(to: damaged)
    let before = snapshot(container)
    require(try await system.ask(downloader, .periodic, manifest: damaged).isEmpty)
    require(snapshot(container) == before)
    let reports = log.take()
    require("\(reports[0])" == "manifest 1, 3 downloads", "\(reports[0])")
    require(reports.contains { if case .answered(let answer) = $0 { answer.refusal?.code == .damagedManifest } else { false } })
    require(reports.contains { if case .arrived(_, .moved) = $0 { true } else { false } })
    // Without a container nothing can be done, and nothing crashes.
    let nobody = Downloader(BackgroundDelivery(group: "other", trusting: [publicKey], report: { log.add($0) }))
    require(try await system.ask(nobody, .install, manifest: manifestFile).isEmpty)
    require(log.take().contains { if case .refused(let error) = $0 { error.code == .noAppGroup } else { false } })
  }

  /// Keys as text: a malformed one is reported, and nothing is downloaded.
  func keysAsText() async throws {
    _ = try newContainer("text")
    let log = Log()
    let malformed = Downloader(BackgroundDelivery(group: Self.group, trusting: [publicKey.text, "pkp1-…"], report: { log.add($0) }))
    require(try await system.ask(malformed, .install, manifest: manifestFile).isEmpty)
    require(log.take().contains { if case .refused(let error) = $0 { error.code == .malformedKey } else { false } })
    let downloader = Downloader(BackgroundDelivery(group: Self.group, trusting: [publicKey.text], report: { log.add($0) }))
    require(try await system.ask(downloader, .install, manifest: manifestFile).count == 3)
  }

  /// An extension that has run too long is not started. Nothing is lost: the next day, or the app, continues.
  func timeOfADay() async throws {
    _ = try newContainer("day")
    let log = Log()
    let downloader = downloader(log)
    system.spend(seconds: Documented.extensionSecondsPerDay.value)
    require(try await system.ask(downloader, .install, manifest: manifestFile).isEmpty && log.take().isEmpty)
    require(try status("core") == nil)
    system.beginDay()
    require(try await system.ask(downloader, .periodic, manifest: manifestFile).count == 3)
    // No shortest interval is documented: a second request at once changes nothing.
    require(Documented.periodicIntervalSeconds.value == nil)
    require(try await system.ask(downloader, .periodic, manifest: manifestFile).isEmpty)
  }

  /// Failures of an essential download, of another, and of the manifest.
  func failures() async throws {
    let container = try newContainer("failures")
    let log = Log()
    let downloader = downloader(log)
    try await system.ask(downloader, .install, manifest: manifestFile, essentialLeft: 50_000_000, otherLeft: 50_000_000)
    let (core, game) = (try identifier("core"), try identifier("game"))

    // The essential download is scheduled again as a non-essential one.
    let first = system.download(core)
    await system.fail(core, NSError(domain: NSURLErrorDomain, code: NSURLErrorTimedOut), downloader)
    let second = system.download(core)
    require(second !== first && second?.isEssential == false && second?.state == .waiting)
    require(try status("core")?.state == .scheduled && status("core")?.isEssential == false)

    await system.fail(game, system.error(.sessionDownloadDisallowedByDomain), downloader)
    require(try status("game")?.state == .notLoaded(.host))
    require(system.download(game)?.state == .failed)

    // The manifest's failure is recognised by its identifier, which is not one of a pack.
    let before = snapshot(container)
    await system.failManifest("com.example.games.Manifest-1", 203, downloader)
    require(snapshot(container) == before)
    let told = log.take().filter { if case .manifestFailed(.backgroundAssets(code: 203)) = $0 { true } else { false } }
    require(told.count == 1)

    // If the system refuses it again, that is recorded.
    system.prohibitBackground(true)
    _ = try newContainer("failures-again")
    try await system.ask(downloader, .install, manifest: manifestFile)
    system.prohibitBackground(true)
    await system.fail(core, system.error(.sessionDownloadAllowanceExceeded), downloader)
    require(try status("core")?.state == .notLoaded(.background), "core is not postponed")
  }

  /// A file of another size is left to the system and requested again.
  func wrongFile() async throws {
    _ = try newContainer("wrong-file")
    let downloader = downloader()
    try await system.ask(downloader, .install, manifest: manifestFile)
    let core = try identifier("core")
    let file = place.appendingPathComponent("short")
    try Data(repeating: 7, count: 100).write(to: file)
    require(await system.finish(core, with: file, downloader), "a file of the wrong size was accepted")
    require(try status("core")?.state == .scheduled && system.download(core)?.isEssential == false)
    // A file that is not expected is left, too.
    let game = try identifier("game")
    await system.finish(game, with: try arrived("game"), downloader)
    try await system.ask(downloader, .periodic, manifest: manifestFile)
    require(try hasArrived("game"))
  }

  /// Makes a challenge for a password.
  func challenge() -> URLAuthenticationChallenge {
    let space = URLProtectionSpace(
      host: "cdn.example.com", port: 443, protocol: "https", realm: nil, authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
    return URLAuthenticationChallenge(
      protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil, sender: Sender())
  }

  final class Sender: NSObject, URLAuthenticationChallengeSender, @unchecked Sendable {
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
  }

  /// Challenges reach the app's closure, in the extension and in the app, in both forms.
  func challenges() async throws {
    _ = try newContainer("challenges")
    let handler = ChallengeHandler { challenge, download in
      let user = "\(challenge.protectionSpace.host) \(DownloadIdentifier(download.identifier)?.id ?? "?")"
      return (.useCredential, URLCredential(user: user, password: "p", persistence: .none))
    }
    let downloader = downloader(challenges: handler)
    try await system.ask(downloader, .install, manifest: manifestFile)
    let download = system.download(try identifier("core"))!
    let challenge = challenge()
    let (disposition, credential) = await downloader.backgroundDownload(download, didReceive: challenge)
    require(disposition == .useCredential && credential?.user == "cdn.example.com core")

    let later = ChallengeHandler { _, _, completion in
      DispatchQueue.global().async {
        completion(.cancelAuthenticationChallenge, nil)
        completion(.useCredential, nil)
      }
    }
    let downloads = BackgroundDownloads(group: Self.group, state: try SharedState(group: Self.group), challenges: later)
    downloads.listen()
    let answer = await BADownloadManager.shared.delegate!.download(download, didReceive: challenge)
    require(answer.0 == .cancelAuthenticationChallenge && answer.1 == nil)
    let usual = await self.downloader().backgroundDownload(download, didReceive: challenge)
    require(usual.0 == .performDefaultHandling)
  }

  // MARK: The app

  /// Begin, pause, progress, failure, arrival. Progress is not written to disk.
  func listening() async throws {
    let container = try newContainer("listening")
    try await system.ask(downloader(), .install, manifest: manifestFile)
    let state = try SharedState(group: Self.group)
    let downloads = BackgroundDownloads(group: Self.group, state: state, progressInterval: .seconds(3600))
    downloads.listen()
    let events = downloads.events()
    let game = try identifier("game")
    await system.begin(game)
    require(try status("game")?.state == .loading)
    await system.pause(game)
    require(try status("game")?.state == .paused(.system))
    await system.begin(game)
    let before = snapshot(container)
    let size = Int64(system.size(of: game))
    for bytes in stride(from: 0, through: size, by: Int(size) / 5000) { await system.progress(game, bytes) }
    require(downloads.received(game)! > UInt64(size) * 9 / 10)
    await system.progress(game, size)
    require(snapshot(container) == before, "progress was written")
    require(downloads.received(game) == UInt64(size))
    require(await !system.finish(game, with: try arrived("game")))
    require(downloads.received(game) == nil)
    let core = try identifier("core")
    await system.fail(core, NSError(domain: NSURLErrorDomain, code: NSURLErrorTimedOut))
    require(system.download(core)?.isEssential == false)
    let extra = try identifier("extra")
    await system.fail(extra, NSError(domain: "NSPOSIXErrorDomain", code: 28))
    require(try status("extra")?.state == .failed(.noSpace))
    await system.failManifest("x", 1)
    // A failed download is in the system's list, but not in progress.
    require(system.identifiers.contains(extra))
    require(await downloads.current() == [core])

    var progress = 0
    var told: [String] = []
    for await event in events {
      switch event {
      case .began: told.append("began")
      case .paused: told.append("paused")
      case .progress: progress += 1
      case .arrived(_, .moved): told.append("arrived")
      case .failed(let download, _, _): told.append("failed \(DownloadIdentifier(download)!.id)")
      case .manifestFailed: told.append("manifest")
      default: preconditionFailure("\(event)")
      }
      if told.last == "manifest" { break }
    }
    require(told == ["began", "paused", "began", "arrived", "failed core", "failed extra", "manifest"], "\(told)")
    // The first and the last progress, and nothing in between.
    require((2...3).contains(progress), "\(progress)")
  }

  /// Plans reach the system, in the foreground if the user waits, with or without the manager's lock.
  func handing() async throws {
    for control in [FakeSystem.Control.free, .held, .silent] {
      _ = try newContainer("handing-\(control)")
      let state = try SharedState(group: Self.group)
      let downloads = BackgroundDownloads(group: Self.group, state: state, control: ExclusiveControl(patienceSeconds: 0.2))
      downloads.listen()
      system.setControl(control)
      system.become(.inactiveApp)
      let manifest = try manifest()
      let plan = try state.plan(for: manifest, facts: DeliveryFacts(.launch, at: state.time, asked: ["later"]), search: search).plan
      require(plan.downloads.count == 4)
      let handed = await downloads.hand(plan)
      require(handed.isExclusive == (control == .free))
      // The app is not in the foreground, so all downloads are scheduled in the background.
      require(handed.scheduled.count == 4 && handed.started.isEmpty && handed.refused.isEmpty && handed.errors.isEmpty)
      require(system.identifiers.count == 4)
      require(system.identifiers.allSatisfy { system.download($0)?.isEssential == false })

      // The same plan again changes nothing, except that the app is now in the foreground.
      system.become(.activeApp)
      let again = await downloads.hand(plan)
      require(again.known.count == 4 && again.scheduled.isEmpty)
      require(try system.isInForeground(identifier("later")) && !system.isInForeground(identifier("game")))
      require(try await downloads.promote(identifier("game")) == .started)
      require(try system.isInForeground(identifier("game")))
      require(await downloads.promote("no@1-0123456789abcdef") == nil)
    }
    // A failed download is handed over as a new object. A refused one is recorded.
    _ = try newContainer("handing-again")
    let state = try SharedState(group: Self.group)
    let downloads = BackgroundDownloads(group: Self.group, state: state)
    downloads.listen()
    system.become(.activeApp)
    let plan = try state.plan(for: try manifest(), facts: DeliveryFacts(.launch, at: state.time)).plan
    _ = await downloads.hand(plan)
    let game = try identifier("game")
    await system.fail(game, system.error(.downloadFailedToStart))
    require(try await downloads.current()?.contains(game) == false && status("game")?.state == .failed(.system))
    let retried = try state.plan(
      for: try manifest(), facts: DeliveryFacts(.launch, at: state.time, downloads: await downloads.current(), asked: ["game"])
    ).plan
    require(retried.downloads.map(\.id) == ["game"])
    require(await downloads.hand(retried).started == [game])
    system.prohibitBackground(true)
    let extra = try identifier("extra")
    system.forget(extra)
    let barred = try state.plan(
      for: try manifest(), facts: DeliveryFacts(.launch, at: state.time + 3600, downloads: await downloads.current())
    ).plan
    require(barred.downloads.map(\.id) == ["extra"])
    require(await downloads.hand(barred).refused == [extra: .backgroundAssets(code: 111)])
    require(try status("extra")?.state == .notLoaded(.background))
  }

  /// Cancelling works once. The second time there is no such download, which is not an error.
  func cancelling() async throws {
    _ = try newContainer("cancelling")
    let state = try SharedState(group: Self.group)
    let downloads = BackgroundDownloads(group: Self.group, state: state)
    downloads.listen()
    let plan = try state.plan(for: try manifest(), facts: DeliveryFacts(.launch, at: state.time)).plan
    _ = await downloads.hand(plan)
    let game = try identifier("game")
    let object = system.download(game)!
    try await downloads.cancel("game")
    require(try !system.identifiers.contains(game) && status("game")?.state == .notLoaded(.cancelled))
    try await downloads.cancel("game")
    do {
      try BADownloadManager.shared.cancel(object)
      preconditionFailure("the fake lets a download be cancelled twice")
    } catch {
      require(DownloadFailure(error) == .backgroundAssets(code: 113))
    }
    // It stays cancelled until it is requested.
    let next = try state.plan(for: try manifest(), facts: DeliveryFacts(.launch, at: state.time, downloads: await downloads.current())).plan
    require(next.downloads.isEmpty)
  }

  /// The store where the extension looks for what is installed.
  func store(in container: URL, logger: (any PackLogger)? = nil) async throws -> AssetStore {
    try await AssetStore(root: SharedState.packs(in: container).path, keys: key, trusting: [publicKey], logger: logger)
  }

  /// The extension brings packs, the app installs and reads them.
  func deliveryOfAnApp() async throws {
    let container = try newContainer("app")
    let downloader = downloader()
    try await system.ask(downloader, .install, manifest: manifestFile)
    await system.finish(try identifier("core"), with: try arrived("core"), downloader)
    await system.finish(try identifier("game"), with: try arrived("game"), downloader)
    system.become(.activeApp)
    let delivery = AppDelivery(state: try SharedState(group: Self.group), store: try await store(in: container))
    let downloads = BackgroundDownloads(group: Self.group, state: delivery.state)
    downloads.listen()
    let start = try await delivery.start()
    require(start.refusal == nil)
    let plan = try await delivery.plan(downloads: await downloads.current())
    require(plan.handOver.map(\.id).sorted() == ["core", "game"] && plan.underWay == ["extra"], "\(plan)")
    require(try await delivery.install(plan).allSatisfy { $0.installed != nil })
    _ = await downloads.hand(plan)
    try await delivery.store.activate("core", onTrial: false)
    require(try await delivery.store.open("core").read("hello.txt") == Array("hello\n".utf8))
    require(try status("core") == nil && status("game") == nil)
    // The extension knows it from the store.
    try await system.ask(downloader, .periodic, manifest: manifestFile)
    require(try status("core") == nil && status("game") == nil && status("extra")?.state == .scheduled)
    // A download that was in progress when the app started is delivered to the app.
    require(await !system.finish(try identifier("extra"), with: try arrived("extra")))
    require(try await delivery.plan(downloads: await downloads.current()).handOver.map(\.id) == ["extra"])
  }

  // MARK: The log

  /// What the extension and the app do is in the system's log, with private values marked, and without keys.
  func logging(_ key: [UInt8]) async throws {
    let container = try newContainer("logging")
    let logger = SystemLogger(subsystem: "com.example.games")
    _ = FakeLog.shared.take()
    let downloader = Downloader(BackgroundDelivery(group: Self.group, trusting: [publicKey], logger: logger))
    try await system.ask(downloader, .install, manifest: manifestFile, essentialLeft: 50_000_000, otherLeft: 50_000_000)
    await system.finish(try identifier("core"), with: try arrived("core"), downloader)
    await system.fail(try identifier("game"), system.error(.sessionDownloadDisallowedByDomain), downloader)
    await system.failManifest("x", 203, downloader)
    try await system.ask(downloader, .periodic, manifest: place.appendingPathComponent("damaged.json"))
    let lines = FakeLog.shared.take()
    require(lines.allSatisfy { $0.subsystem == "com.example.games" })
    require(lines.contains { $0.category == "background" && $0.shown == "content request kind=1 event=install" && $0.level == .default })
    require(lines.contains { $0.category == "delivery" && $0.shown.hasPrefix("planned event=install manifest=1 downloads=3 ") })
    require(lines.contains { $0.category == "background" && $0.shown.hasPrefix("callback ended milliseconds=") && $0.level == .info })
    require(lines.contains { $0.shown.hasPrefix("file arrived download=core@1-") && $0.shown.hasSuffix(" result=moved") })
    require(
      lines.contains {
        $0.level == .error && $0.shown.hasPrefix("download failed download=game@1-")
          && $0.shown.hasSuffix(" failure=backgroundAssets(code: 202) remedy=\(DeliveryState.notLoaded(.host))")
      })
    require(lines.contains { $0.shown == "manifest failed failure=backgroundAssets(code: 203)" })
    require(
      lines.contains { $0.category == "delivery" && $0.shown == "manifest refused code=damaged-manifest <private>" && $0.whole != $0.shown }
    )

    // The app, from the files of the extension to a pack that runs and is removed.
    system.become(.activeApp)
    let state = try SharedState(group: Self.group, logger: logger)
    let store = try await store(in: container, logger: logger)
    let delivery = AppDelivery(state: state, store: store)
    let downloads = BackgroundDownloads(group: Self.group, state: state, logger: logger)
    downloads.listen()
    _ = try await delivery.start()
    try await store.takeShards(from: dist.path)
    let plan = try await delivery.plan(asked: ["later"], downloads: await downloads.current())
    require(try await delivery.install(plan).allSatisfy { $0.installed != nil })
    _ = await downloads.hand(plan)
    await system.begin(try identifier("later"))
    await system.progress(try identifier("later"), 1)
    try await store.confirm(try await store.activate("core"))
    _ = try await store.open("core").read("hello.txt")
    try await store.remove("core")
    let appLines = FakeLog.shared.take()
    for text in ["manifest accepted", "installed pack=core", "trial began pack=core", "confirmed pack=core", "removed pack=core"] {
      require(appLines.contains { $0.category == "store" && $0.shown.hasPrefix(text) }, text)
    }
    require(appLines.contains { $0.category == "background" && $0.shown.hasPrefix("handed over started=") })
    require(appLines.contains { $0.category == "background" && $0.shown.hasPrefix("download began download=later@1-") })
    let all = lines + appLines
    require(!all.contains { $0.shown.contains("progress") })
    // No directory of this device is shown, and no key is logged.
    require(!all.contains { $0.shown.contains(container.path) || $0.shown.contains(place.path) })
    let secret = String(decoding: key, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    require(secret.count > 20 && !all.contains { $0.whole.contains(secret) || $0.whole.contains(secret.dropFirst(5).prefix(20)) })
  }

  // MARK: Managed packs

  struct ManagedDownloader: PackManagedDownloaderExtension {
    let choice: ManagedChoice
    init() { choice = ManagedChoice { $0.id != "extra" } }
  }

  private static func asset(_ id: String) -> AssetPack { AssetPack(.init(id: id, version: 1, downloadSize: 1)) }

  private func eventually(_ failure: String, line: UInt = #line, _ isSo: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(20)
    while try await !isSo() {
      require(ContinuousClock.now < end, failure, line: line)
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// The extension for packs that Apple hosts, as in BACKGROUND_ASSETS.md.
  struct StoreDownloader: StoreDownloaderExtension {
    func shouldDownload(_ assetPack: AssetPack) -> Bool { assetPack.id != "extra" }
  }

  /// An extension that implements more than its documentation permits.
  struct FaultyDownloader: ManagedDownloaderExtension {
    func backgroundDownload(_ failedDownload: BADownload, failedWithError error: any Error) {}
  }

  /// The calls of an app with packs of its own, over the system's asset packs: see ManagedLibraryTests for the rest.
  func managed() async throws {
    let model = system.assetPacks
    system.publish("core", path: "core.pack", file: try arrived("core"))
    system.publish("later", path: "later.pack", file: try arrived("later"), language: "de")
    // A file with the name of another pack's file.
    system.publish("game", path: "game.pack", file: try arrived("extra"))
    model.publish(.init(id: "empty", version: 1, downloadSize: 1))
    let packs = try await PackLibrary.managed(keys: key)
    require(await packs.offers().packs.map(\.id) == ["core", "empty", "game"])
    await expect(.unknownPack) { try await packs.ensure("nothing") }
    let progress = packs.progress(of: "core")
    let request = Task { try await packs.ensure(["core", "later"]) }
    for id in ["core", "later"] { try await eventually("\(id) is not downloaded") { model.isDownloading(id) } }
    require(model.requests.sorted() == ["core", "later"])
    model.begin("core")
    model.advance("core", to: 0.5)
    try await eventually("there is no progress") { (490..<500).contains(progress.completedUnitCount) }
    model.finish("core")
    model.fail("later", .offline)
    try await eventually("the failed one is not requested again") { model.isDownloading("later") }
    model.finish("later")
    try await request.value
    require(try packs.data("core", "hello.txt") == Data("hello\n".utf8))
    for (id, code) in [("game", PackError.Code.wrongPack), ("empty", .missingInput)] {
      let request = Task { try await packs.ensure(id) }
      try await eventually("\(id) is not downloaded") { model.isDownloading(id) }
      model.finish(id)
      await expect(code) { try await request.value }
    }
    // Twice: the second cancellation has no effect in the system before iOS 26.4.
    model.setForgetful(true)
    for _ in 0..<2 {
      try await packs.remove("later")
      let request = Task { try await packs.ensure("later") }
      try await eventually("it is not downloaded") { model.isDownloading("later") }
      model.advance("later", to: 0.5)
      let statuses = packs.status(of: "later")
      for await status in statuses { if case .downloading = status { break } }
      try await packs.cancel("later")
      await expect(.cancelled) { try await request.value }
      model.finish("later")
      try await eventually("what was cancelled stays") { model.localVersion("later") == nil }
    }
    system.publish("core", version: 2, path: "core.pack", file: try arrived("core"))
    require(try await packs.refresh())
    model.finish("core")
    for await status in packs.status(of: "core") { if case .ready(_, update: .installed(2)) = status { break } }
    try await packs.ensure("core")
    require("\(await packs.offers().packs[0].status)" == "ready(version: 2, update: nil)")
    try await packs.setLanguages(["de"])
    require(await packs.offers().packs.map(\.id) == ["core", "empty", "game", "later"])
    // Without the server, the device knows what it has.
    model.setOnline(false)
    await expect(.offline) { try await packs.refresh() }
    try await packs.ensure("core")
    try await packs.remove("core")
    await expect(.notInstalled) { _ = try packs.data("core", "hello.txt") }

    let (core, game, extra) = (Self.asset("core"), Self.asset("game"), Self.asset("extra"))
    let downloader = await ManagedDownloader()
    require(downloader.shouldDownload(core) && downloader.shouldDownload(game) && !downloader.shouldDownload(extra))
    require(await system.ownRequirements(of: downloader, challenge()) == Documented.managedRequirements.value)
    let hosted = await StoreDownloader()
    require(hosted.shouldDownload(core) && !hosted.shouldDownload(extra))
    require(await system.ownRequirements(of: hosted, challenge()) == Documented.storeRequirements.value)
    require(await system.ownRequirements(of: FaultyDownloader(), challenge()) == ["backgroundDownload(_:failedWithError:)"])
  }

  func expect(_ code: PackError.Code, _ body: () async throws -> Void) async {
    do {
      _ = try await body()
      preconditionFailure("not refused")
    } catch {
      require((error as? PackError)?.code == code, "\(error)")
    }
  }
}
