@_spi(Fake) import BackgroundAssets
@_spi(Fake) import BackgroundTasks
import Foundation
import PackApp
import PackBackground

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Simulates an app that knows only `PackLibrary(group:…)`, and its extension, with the strict fake of the system. The app's Info.plist has
/// `BAManifestURL`, so downloads go through Background Assets.
struct LibraryDriver {
  /// The device with the first release.
  let first: BackgroundDriver
  /// The same device with the second release: other versions of `core` and `later`.
  let second: BackgroundDriver
  let server = ManifestServer()
  var system: FakeSystem { first.system }

  static func run(_ first: BackgroundDriver, next: String) async throws {
    let second = BackgroundDriver(dist: URL(fileURLWithPath: next), place: first.place, key: first.key, publicKey: first.publicKey)
    let driver = LibraryDriver(first: first, second: second)
    try await driver.check("no group", driver.noGroup)
    try await driver.check("install", driver.install)
    try await driver.check("update", driver.update)
    try await driver.check("retry", driver.retry)
    try await driver.check("no space", driver.space)
    try await driver.check("purge", driver.purge)
    try await driver.check("offline", driver.offline)
    try await driver.check("essential failure", driver.essential)
    try await driver.check("rollback", driver.rollback)
    try await driver.check("removal", driver.removal)
    try await driver.check("delivered by the extension", driver.delivered)
    try await driver.check("in progress when the app starts", driver.inProgress)
    try await driver.check("in the foreground again", driver.foreground)
    try await driver.check("requests of the app", driver.requests)
    try await driver.check("continued in the background", driver.continued)
    try await driver.check("stopped by the user", driver.stopped)
    try await driver.check("not continued in the background", driver.refused)
    try await driver.check("suspension", driver.suspension)
    print("PackLibrary behaves as expected over Background Assets")
  }

  // MARK: Helpers

  /// Runs a check on a device of its own, in an app that is in the foreground.
  private func check(_ name: String, _ body: () async throws -> Void) async throws {
    FileHandle.standardError.write(Data("PackLibrary over Background Assets: \(name)\n".utf8))
    _ = try first.newContainer("library-\(name)")
    system.become(.activeApp)
    try server.publish(first.manifestFile)
    try stock(first)
    try await body()
    try await closed()
  }

  /// Puts the shards of a release where the app keeps them, because no server of this machine has the address in the manifest.
  private func stock(_ device: BackgroundDriver) throws {
    let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: BackgroundDriver.group)!
    let store = container.appendingPathComponent("Library/Application Support/packer/packs")
    try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
    let catalogue = Catalogue(
      store.appendingPathComponent("catalogue").path, files: SystemFiles(), backend: CryptoBackends.standard)
    let manifest = try device.manifest()
    for (number, shard) in manifest.catalogue.enumerated() {
      let bytes = try [UInt8](Data(contentsOf: device.dist.appendingPathComponent(shard.fileName)))
      try catalogue.keep(bytes, number, of: manifest)
    }
  }

  /// Starts the app.
  private func library(_ change: (inout PackLibrary.Options) -> Void = { _ in }) async throws -> PackLibrary {
    try await closed()
    system.become(.activeApp)
    var options = PackLibrary.Options()
    change(&options)
    var policy = DeliveryPolicy()
    (policy.firstDelaySeconds, policy.longestDelaySeconds, policy.jitter) = (1, 1, 0)
    return try await PackLibrary(
      group: BackgroundDriver.group, manifest: server.address, trusting: [first.publicKey.description], keys: first.key, options: options,
      policy: policy)
  }

  /// An app without the group says so, and makes nothing.
  private func noGroup() async throws {
    do throws(PackError) {
      _ = try await PackLibrary(group: "other", manifest: server.address, trusting: [first.publicKey.description], keys: first.key)
      preconditionFailure("the library opened without a group")
    } catch {
      require(error.code == .noAppGroup, "\(error)")
    }
  }

  /// Waits until the last app has ended: then the system starts the extension again.
  private func closed() async throws {
    try await eventually("the app does not end") { BADownloadManager.shared.delegate == nil }
  }

  /// Waits for a condition, for less time than passes between two plans without an event.
  private func eventually(
    _ failure: String, file: StaticString = #file, line: UInt = #line, _ isSo: () async throws -> Bool
  ) async throws {
    let end = ContinuousClock.now + .seconds(20)
    while try await !isSo() {
      require(ContinuousClock.now < end, failure, file: file, line: line)
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Waits until the system has a download of a pack that has not failed, and returns its identifier.
  private func handed(_ id: String, _ device: BackgroundDriver? = nil, line: UInt = #line) async throws -> String {
    let identifier = try (device ?? first).identifier(id)
    try await eventually("\(id) was not handed over", line: line) {
      [.waiting, .downloading].contains(system.download(identifier)?.state)
    }
    return identifier
  }

  /// Waits until the system downloads a pack in the foreground.
  private func hurried(_ id: String, _ device: BackgroundDriver? = nil, line: UInt = #line) async throws -> String {
    let identifier = try await handed(id, device, line: line)
    try await eventually("\(id) is not in the foreground", line: line) { system.isInForeground(identifier) }
    return identifier
  }

  /// Lets the system deliver a pack to the app.
  private func deliver(_ id: String, _ device: BackgroundDriver? = nil, line: UInt = #line) async throws {
    let wasLeft = await system.finish(try await handed(id, device, line: line), with: try (device ?? first).arrived(id))
    require(!wasLeft, "the app did not take the file of \(id)", line: line)
    try await suspend(line: line)
  }

  /// Suspends the app for a moment, in the middle of an installation for example. It may keep no file of the app group locked.
  private func suspend(line: UInt = #line) async throws {
    let locked = await system.suspend()
    require(locked.isEmpty, "the system ends the app, which has locked \(locked)", line: line)
    system.become(.activeApp)
  }

  /// Makes a pack usable while the system downloads it.
  private func ensure(_ id: String, in packs: PackLibrary, line: UInt = #line) async throws {
    let request = Task { try await packs.ensure(id) }
    try await deliver(id, line: line)
    try await request.value
  }

  /// Waits until the status of a pack starts with a text.
  private func shows(_ status: String, _ id: String, in packs: PackLibrary, line: UInt = #line) async throws {
    try await eventually("the status does not become \(status)", line: line) {
      let text = await packs.offers().packs.first { $0.id == id }.map { "\($0.status)" }
      return text?.replacingOccurrences(of: "PackApp.PackLibrary.WaitReason.", with: "").hasPrefix(status) ?? false
    }
  }

  private func hello(_ packs: PackLibrary, _ id: String) throws -> String {
    String(decoding: try packs.data(id, "hello.txt"), as: UTF8.self)
  }

  /// Waits until a version is in the store, activated or not.
  private func installed(_ id: String, _ version: UInt64, in packs: PackLibrary) async throws {
    try await eventually("\(id) \(version) was not installed") {
      try await packs.store.installed().contains { $0.id == id && $0.version == version }
    }
  }

  // MARK: The checks

  /// A pack that somebody waits for is downloaded in the foreground, installed, confirmed and read. The other packs of the release follow.
  private func install() async throws {
    let packs = try await library()
    let statuses = packs.status(of: "game")
    let listening = Task {
      var seen: [String] = []
      for await status in statuses {
        if case .downloading(let received, let size) = status, received == size / 2 { seen.append("half") }
        seen.append("\(status)")
        if case .ready = status { break }
      }
      return seen
    }
    let request = Task { try await packs.ensure("game") }
    let game = try await hurried("game")
    let extra = try await handed("extra")
    require(try !system.isInForeground(extra) && system.download(first.identifier("later")) == nil)
    await system.begin(game)
    await system.progress(game, Int64(system.size(of: game) / 2))
    try await shows("downloading(received: ", "game", in: packs)
    await first.expect(.notInstalled) { _ = try packs.data("game", "index.html") }
    try await deliver("game")
    try await request.value
    let name = "index.html"
    require(try packs.data("game", name) == Data(contentsOf: URL(fileURLWithPath: "Examples/HTML5Game/game/\(name)")))
    require(try await packs.store.current("game")?.state == .current && first.status("game") == nil)
    let seen = await listening.value
    require(seen.contains("half") && seen.contains("installing"), "\(seen)")
    // The prefetched pack is installed although nobody waits for it.
    try await deliver("extra")
    try await installed("extra", 1, in: packs)
  }

  /// The old version is used until the new one is installed and requested.
  private func update() async throws {
    let packs = try await library()
    try await ensure("later", in: packs)
    require(try hello(packs, "later") == "hello\n")
    try server.publish(second.manifestFile)
    try stock(second)
    require(try await packs.refresh())
    _ = try await handed("later", second)
    try await packs.ensure("later")
    require(try hello(packs, "later") == "hello\n")
    try await deliver("later", second)
    try await installed("later", 2, in: packs)
    require(try hello(packs, "later") == "hello\n")
    try await packs.ensure("later")
    require(try hello(packs, "later") == "hello again\n")
    require(try await packs.refresh() == false)
  }

  /// Failures of the network, a file of a wrong size and a file with wrong bytes are followed by another download.
  private func retry() async throws {
    let packs = try await library()
    let request = Task { try await packs.ensure("later") }
    let later = try await hurried("later")
    let timeout = NSError(domain: NSURLErrorDomain, code: NSURLErrorTimedOut)
    for failure in [timeout, system.error(.downloadFailedToStart)] {
      let before = system.download(later)
      await system.fail(later, failure)
      try await shows("waiting(retry)", "later", in: packs)
      _ = try await hurried("later")
      require(system.download(later) !== before, "a failed download was handed over again")
    }
    let file = first.place.appendingPathComponent("wrong")
    try Data(repeating: 7, count: 100).write(to: file)
    require(await system.finish(later, with: file), "a file of the wrong size was taken")
    _ = try await hurried("later")
    try Data(repeating: 7, count: system.size(of: later)).write(to: file)
    await system.finish(later, with: file)
    _ = try await hurried("later")
    require(try await packs.store.installed().isEmpty)
    try await deliver("later")
    try await request.value
    require(try hello(packs, "later") == "hello\n")
  }

  /// A full device is an error for the caller, with an advice. The next call tries again.
  private func space() async throws {
    let packs = try await library()
    let request = Task { try await packs.ensure("later") }
    await system.fail(try await hurried("later"), NSError(domain: "NSPOSIXErrorDomain", code: 28))
    await first.expect(.noSpace) { try await request.value }
    try await ensure("later", in: packs)
    require(try hello(packs, "later") == "hello\n")
  }

  /// Packs and files that the system deleted are downloaded again when they are needed, and only then.
  private func purge() async throws {
    do {
      let packs = try await library()
      try await ensure("later", in: packs)
    }
    do {
      let packs = try await library()
      _ = try await packs.store.purge(toFree: 1 << 40)
      require(try await packs.store.installed().isEmpty)
      try await packs.refresh()
      require(try system.download(first.identifier("later")) == nil, "a purged pack is downloaded although nobody needs it")
      try await ensure("later", in: packs)
      require(try hello(packs, "later") == "hello\n")
    }
    try await closed()
    // The system empties the caches while the app does not run. A file that waits there is lost.
    await system.finish(try first.identifier("extra"), with: try first.arrived("extra"), first.downloader())
    require(try first.hasArrived("extra"))
    let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: BackgroundDriver.group)!
    try FileManager.default.removeItem(at: container.appendingPathComponent("Library/Caches/deliveries"))
    let packs = try await library()
    try await packs.ensure("later")
    require(try hello(packs, "later") == "hello\n" && system.download(first.identifier("later")) == nil)
    try await ensure("extra", in: packs)
    require(try hello(packs, "extra") == "hello\n")
  }

  /// Without a network, installed packs work, and the first start is an error. A request waits until the network is back.
  private func offline() async throws {
    do {
      try server.publish(nil)
      let packs = try await library()
      await first.expect(.downloadFailed) { try await packs.ensure("later") }
      try server.publish(first.manifestFile)
      let request = Task { try await packs.ensure("later") }
      await system.fail(try await hurried("later"), NSError(domain: NSURLErrorDomain, code: NSURLErrorNotConnectedToInternet))
      try await shows("waiting(network)", "later", in: packs)
      let later = try await hurried("later")
      await system.begin(later)
      await system.progress(later, 1)
      try await shows("downloading", "later", in: packs)
      try await deliver("later")
      try await request.value
    }
    try server.publish(nil)
    let packs = try await library()
    try await packs.ensure("later")
    require(try hello(packs, "later") == "hello\n")
    await first.expect(.downloadFailed) { try await packs.refresh() }
  }

  /// A failed essential download is handed over again as a non-essential one, by the extension or by the app, and then succeeds.
  private func essential() async throws {
    let timeout = NSError(domain: NSURLErrorDomain, code: NSURLErrorTimedOut)
    let downloader = first.downloader()
    let core = try first.identifier("core")
    for isByApp in [false, true] {
      _ = try first.newContainer("library-essential-\(isByApp)")
      try stock(first)
      try await system.ask(downloader, .install, manifest: first.manifestFile, essentialLeft: 50_000_000, otherLeft: 50_000_000)
      require(system.download(core)?.isEssential == true)
      if !isByApp { await system.fail(core, timeout, downloader) }
      let packs = try await library()
      let request = Task { try await packs.ensure("core") }
      if isByApp {
        try await shows("waiting(turn)", "core", in: packs)
        require(system.download(core)?.isEssential == true)
        await system.fail(core, timeout)
      }
      require(system.download(core)?.isEssential == false)
      _ = try await hurried("core")
      require(try first.status("core")?.isEssential == false)
      try await deliver("core")
      try await request.value
      require(try hello(packs, "core") == "hello\n")
    }
  }

  /// A version that the app rejects is replaced by the one before, and not downloaded again.
  private func rollback() async throws {
    do {
      let packs = try await library { $0.confirmsVersions = false }
      try await ensure("later", in: packs)
      try await packs.confirm("later")
      try server.publish(second.manifestFile)
      try stock(second)
      try await packs.refresh()
      try await deliver("later", second)
      try await installed("later", 2, in: packs)
      try await packs.ensure("later")
      require(try hello(packs, "later") == "hello again\n")
      require(try await packs.reject("later", reason: "black screen") == 1)
      require(try hello(packs, "later") == "hello\n")
    }
    let packs = try await library { $0.confirmsVersions = false }
    try await packs.refresh()
    try await packs.ensure("later")
    require(try hello(packs, "later") == "hello\n")
    require(try system.download(second.identifier("later")) == nil, "the rejected version is downloaded again")
    require(try await packs.store.current("later")?.version == 1)
  }

  /// A removed pack is not downloaded again, by app or extension, until it is requested.
  private func removal() async throws {
    let extra = try first.identifier("extra")
    do {
      let packs = try await library()
      try await ensure("extra", in: packs)
      try await packs.remove("extra")
      try await packs.refresh()
      require(try await packs.store.installed().isEmpty && system.download(extra) == nil)
    }
    try await closed()
    let downloads = try await system.ask(first.downloader(), .periodic, manifest: first.manifestFile)
    require(!downloads.contains { $0.identifier == extra })
    let packs = try await library()
    try await packs.refresh()
    require(system.download(extra) == nil)
    try await ensure("extra", in: packs)
    require(try hello(packs, "extra") == "hello\n")
  }

  /// Manifest and packs that the extension received while the app did not run are installed by the next app, without a network.
  private func delivered() async throws {
    try server.publish(nil)
    let downloader = first.downloader()
    try await system.ask(downloader, .install, manifest: first.manifestFile)
    for id in ["core", "extra", "game"] {
      require(await !system.finish(try first.identifier(id), with: try first.arrived(id), downloader))
    }
    do {
      let packs = try await library()
      try await packs.ensure("core")
      require(try hello(packs, "core") == "hello\n")
      // The other packs are installed without a request.
      try await installed("game", 1, in: packs)
      try await installed("extra", 1, in: packs)
    }
    try await closed()
    try await system.ask(downloader, .update, manifest: second.manifestFile)
    require(await !system.finish(try second.identifier("core"), with: try second.arrived("core"), downloader))
    let packs = try await library()
    try await installed("core", 2, in: packs)
    try await packs.ensure("core")
    require(try hello(packs, "core") == "hello again\n")
    require(system.identifiers.isEmpty, "a pack that is here is downloaded again: \(system.identifiers)")
  }

  /// A download that the extension scheduled is continued and not started again. If somebody waits for it, it moves to the foreground.
  private func inProgress() async throws {
    try await system.ask(first.downloader(), .install, manifest: first.manifestFile)
    let game = try first.identifier("game")
    let download = system.download(game)
    let packs = try await library()
    try await packs.refresh()
    require(!system.isInForeground(game))
    let request = Task { try await packs.ensure("game") }
    _ = try await hurried("game")
    require(system.download(game) === download, "the download was started again")
    try await deliver("game")
    try await request.value
    require(try !packs.data("game", "index.html").isEmpty)
  }

  /// When the app comes to the foreground, a manifest that is old is fetched again.
  private func foreground() async throws {
    let packs = try await library { $0.refreshInterval = .zero }
    try await ensure("core", in: packs)
    try server.publish(second.manifestFile)
    try stock(second)
    NotificationCenter.default.post(name: Notification.Name("UIApplicationWillEnterForegroundNotification"), object: nil)
    try await deliver("core", second)
    try await installed("core", 2, in: packs)
  }

  /// A lock that somebody keeps is noticed: what the other checks show is not that nothing was looked at.
  private func suspension() async throws {
    let packs = try await library()
    try await packs.refresh()
    try await suspend()
    let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: BackgroundDriver.group)!
    let file = container.appendingPathComponent("Library/Caches/deliveries/lock")
    let handle = try FileHandle(forUpdating: file)
    require(flock(handle.fileDescriptor, LOCK_EX) == 0)
    let locked = await system.suspend(after: 0.1)
    require(locked.count == 1 && locked[0].hasSuffix("deliveries/lock"), "a lock was overlooked: \(locked)")
    try handle.close()
    try await suspend()
    withExtendedLifetime(packs) {}
  }

  private static let permitted = "\(Bundle.main.bundleIdentifier ?? "").packs.*"

  /// A task of the system shows how far a pack is, and ends with it.
  private func continued() async throws {
    let (packs, scheduler) = (try await library(), FakeScheduler.shared)
    scheduler.reset(permitting: Self.permitted)
    let request = Task { try await packs.ensure(["later"], title: "Later", subtitle: "Downloading") }
    let later = try await hurried("later")
    await system.begin(later)
    await system.progress(later, Int64(system.size(of: later) / 2))
    try await eventually("half of the download was not shown") { (0.25...0.35).contains(scheduler.last?.done ?? 0) }
    require(scheduler.last?.title == "Later" && scheduler.last?.subtitle == "Downloading" && scheduler.last?.isCompleted == nil)
    try await deliver("later")
    try await request.value
    try await eventually("the task was not completed") { scheduler.last?.isCompleted == true && scheduler.last?.done == 1 }
    require(try hello(packs, "later") == "hello\n")
    try await packs.ensure(["later"], title: "Later", subtitle: "Again")
    require(scheduler.last?.subtitle == "Downloading", "a task is shown for a pack that is here")
  }

  /// A user who stops the task stops the download.
  private func stopped() async throws {
    let (packs, scheduler) = (try await library(), FakeScheduler.shared)
    scheduler.reset(permitting: Self.permitted)
    let request = Task { try await packs.ensure(["later"], title: "Later", subtitle: "Downloading") }
    let later = try await hurried("later")
    try await eventually("no task was begun") { scheduler.last != nil }
    scheduler.expire()
    await first.expect(.cancelled) { try await request.value }
    require(scheduler.last?.isCompleted == false)
    try await eventually("the download goes on") { ![.waiting, .downloading].contains(system.download(later)?.state) }
    let again = Task { try await packs.ensure(["later"], title: "Later", subtitle: "Again") }
    let second = try await hurried("later")
    await system.begin(second)
    await system.progress(second, Int64(system.size(of: second) / 2))
    try await eventually("the second attempt was not shown") { scheduler.last?.subtitle == "Again" && scheduler.last?.done ?? 0 > 0.25 }
    try await deliver("later")
    try await again.value
    require(scheduler.last?.isCompleted == true)
  }

  /// Without a permission, or if the system has no room for a task, packs come as otherwise.
  private func refused() async throws {
    let (packs, scheduler) = (try await library(), FakeScheduler.shared)
    for (permitted, id) in [(nil, "later"), (Self.permitted, "game")] as [(String?, String)] {
      scheduler.reset(permitting: permitted, isBusy: true)
      let request = Task { try await packs.ensure([id], title: "Later", subtitle: "Downloading") }
      try await deliver(id)
      try await request.value
      require(scheduler.last == nil)
    }
  }

  /// Downloads carry what the app puts into their requests, and keep their addresses.
  private func requests() async throws {
    let packs = try await library {
      $0.transport.request = { _ in
        var request = URLRequest(url: URL(string: "https://elsewhere.example.com/a")!)
        request.setValue("secret", forHTTPHeaderField: "Authorization")
        return request
      }
    }
    let request = try await system.request(of: handed("core"))
    require(request?.value(forHTTPHeaderField: "Authorization") == "secret" && request?.url?.host != "elsewhere.example.com")
    try await ensure("core", in: packs)
  }
}
