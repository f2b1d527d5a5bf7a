import Foundation
import TestSupport
import Testing

@testable import PackApp
@testable import PackBase
@testable import PackRuntime
@testable import PackStore

@Suite("Downloads of requests by tags", .bounded)
struct TagDownloadTests {
  private static let rounds = Effort.number(quick: 12, full: 300)

  let tags: TagStage
  private var stage: StoreStage { tags.stage }

  init() throws {
    tags = try TagStage()
  }

  // MARK: Sharing

  @Test("requests for the same packs share one download, which goes on when they are cancelled")
  func shared() async throws {
    // Nothing arrives before the third pack is requested.
    let (store, transport, packs) = try await tags.open { _ in .gathered(3) }
    let offers = try await [
      tags.offer("core", tags: ["a", "b", "c"]), tags.offer("more", tags: ["b"]), tags.offer("last", tags: ["last"]),
    ]
    try await store.adopt(stage.manifest(1, offers))
    let requests = ["a", "b", "c"].map { TagRequest([$0], of: packs) }
    let tasks = requests.map(begin)
    let ensuring = Task { await failure { () async throws(PackError) in try await packs.ensure("core") }?.code }
    try await eventually("they do not begin") { transport.calls.count == 2 }
    for task in tasks { task.cancel() }
    ensuring.cancel()
    for task in tasks { #expect(await error(task)?.code == .cancelled) }
    #expect(await ensuring.value == .cancelled)
    let again = requests.map(begin)
    #expect(try await TagRequest(["last"], of: packs).begin().packs.count == 1)
    for task in again { #expect(try await task.value.get().packs.count > 0) }
    #expect(transport.calls.count == 3)
  }

  @Test("a request that was cancelled leaves its download, which ends if the app cancels it, and its part stays until then")
  func cancelled() async throws {
    let (store, transport, packs) = try await tags.open { _ in .stuck(at: 700) }
    let offer = try await tags.offer("core", tags: ["boot"])
    try await store.adopt(stage.manifest(1, [offer]))
    let task = begin(TagRequest(["boot"], of: packs))
    try await eventually("it does not begin") { !tags.parts.isEmpty }
    task.cancel()
    #expect(await error(task)?.code == .cancelled)
    #expect(transport.running == [TagStage.identifier(offer)] && !tags.parts.isEmpty)
    try await packs.cancel("core")
    #expect(transport.running.isEmpty && tags.parts.isEmpty)
  }

  @Test("a pack that another process installs during the download completes the request")
  func installedElsewhere() async throws {
    let (store, transport, packs) = try await tags.open { _ in .stuck(at: 700) }
    let offer = try await tags.offer("core", tags: ["boot"])
    try await store.adopt(stage.manifest(1, [offer]))
    let task = begin(TagRequest(["boot"], of: packs))
    try await eventually("it does not begin") { transport.running.count == 1 }
    try await store.install(offer.path, as: "core", taking: .copying)
    #expect(try await task.value.get().packs.map(\.installed.id) == ["core"])
  }

  @Test("a download of an earlier process is continued, and removed if no manifest names it")
  func nextProcess() async throws {
    let first = tags.transport { _ in .stuck(at: 700) }
    let old = try await [tags.offer("core", tags: ["boot"]), tags.offer("gone", tags: ["boot"])]
    do {
      let (store, _, packs) = try await tags.start(first)
      try await store.adopt(stage.manifest(1, old))
      let task = begin(TagRequest(["boot"], of: packs))
      try await eventually("they do not begin") { first.running.count == 2 }
      task.cancel()
      _ = await task.value
    }
    stage.end("one")
    let (store, second, packs) = try await tags.start(tags.transport(), session: "two")
    try await store.adopt(stage.manifest(2, [old[0], tags.offer("other", tags: ["other"])]))
    let access = try await TagRequest(["boot"], of: packs).begin()
    #expect(access.packs.map(\.installed.id) == ["core"])
    #expect(second.calls.map(\.offset) == [700])
    #expect(tags.parts.isEmpty)
  }

  @Test("a file that was damaged or lost after its download is not used: it is fetched again", arguments: [true, false])
  func damagedFile(isLost: Bool) async throws {
    let damaged = Monitor(0)
    let files = FaultyFiles { call in
      guard call.operation == .status, call.name.contains("shared/incoming/"),
        damaged.withLock({
          $0 += 1
          return $0 == 1
        }),
        var bytes = FileManager.default.contents(atPath: call.name)
      else { return nil }
      if isLost {
        try? FileManager.default.removeItem(atPath: call.name)
      } else {
        bytes[bytes.count / 2] ^= 1
        try? bytes.write(to: URL(fileURLWithPath: call.name))
      }
      return nil
    }
    let (store, transport, packs) = try await tags.start(tags.transport(), storeFiles: files)
    let offer = try await tags.offer("core", tags: ["boot"])
    try await store.adopt(stage.manifest(1, [offer]))
    let access = try await TagRequest(["boot"], of: packs).begin()
    #expect(damaged.withLock { $0 } > 0)
    #expect(access.packs.count == 1)
    #expect(transport.calls.count == 2)
  }

  @Test("bytes with a new URL are fetched from there")
  func movedFile() async throws {
    let (store, transport, packs) = try await tags.open {
      $0.request.url.hasSuffix("core-1-0.pack") ? .failure(.status(410, retryAfter: nil)) : nil
    }
    let offer = try await tags.offer("core", tags: ["boot"])
    try await store.adopt(stage.manifest(1, [offer]))
    let request = TagRequest(["boot"], of: packs)
    #expect(await failure { () async throws(PackError) in _ = try await request.begin() }?.code == .downloadFailed)
    try await store.adopt(stage.manifest(2, [tags.move(offer, to: "https://mirror.example.com/core.pack")]))
    #expect(try await request.begin().packs.count == 1)
    #expect(transport.calls.map(\.request.url).last == "https://mirror.example.com/core.pack")
  }

  // MARK: Priority

  @Test("a download has the highest priority of the waiting calls, from its start, and also when one changes or ends")
  func priority() async throws {
    let (store, transport, packs) = try await tags.open { _ in .stuck(at: 700) }
    let offer = try await tags.offer("core", tags: ["boot"])
    try await store.adopt(stage.manifest(1, [offer]))
    let requests = [TagRequest(["boot"], of: packs, priority: 0.2), TagRequest(["boot"], of: packs, priority: 0.4)]
    func priority() -> Double? { transport.priorities[TagStage.identifier(offer)] ?? transport.calls.first?.request.priority }
    let first = begin(requests[0])
    try await eventually("it does not begin") { !transport.calls.isEmpty }
    #expect(transport.calls.map(\.request.priority) == [0.2])
    let second = begin(requests[1])
    try await eventually("it is not as urgent as the second") { priority() == 0.4 }
    try await requests[0].setPriority(0.9)
    #expect(priority() == 0.9)
    try await requests[0].setPriority(0.1)
    #expect(priority() == 0.4)
    let third = Task { try? await packs.ensure("core") }
    try await eventually("it is not as urgent as a pack that the app waits for") { priority() == 0.75 }
    third.cancel()
    _ = await third.value
    #expect(priority() == 0.4)
    second.cancel()
    _ = await second.value
    #expect(priority() == 0.1)
    first.cancel()
    _ = await first.value
    try await requests[0].setPriority(TagRequest.urgent)
    #expect(requests[0].priority == 1)
    #expect(priority() == 0.1)
  }

  @Test("an urgent request interrupts other downloads, which continue later")
  func urgent() async throws {
    let isHeld = Monitor(true)
    let offers = try await [tags.offer("film", tags: ["film"]), tags.offer("level", tags: ["level"])]
    let (store, transport, packs) = try await tags.open(concurrentDownloads: 1) { call in
      isHeld.withLock { $0 } && call.request.identifier == TagStage.identifier(offers[0]) ? .stuck(at: 700) : nil
    }
    try await store.adopt(stage.manifest(1, offers))
    let film = begin(TagRequest(["film"], of: packs))
    try await eventually("it does not begin") { transport.running.count == 1 && !tags.parts.isEmpty }
    isHeld.withLock { $0 = false }
    let level = TagRequest(["level"], of: packs)
    let task = begin(level)
    for await status in packs.status(of: "level") { if case .waiting = status { break } }
    #expect(transport.running == [TagStage.identifier(offers[0])])
    try await level.setPriority(TagRequest.urgent)
    #expect(try await task.value.get().packs.count == 1)
    #expect(try await film.value.get().packs.count == 1)
    #expect(transport.calls.map(\.offset) == [0, 0, 700])
  }

  // MARK: Progress

  @Test("progress goes from 0 to 1 through downloading and installing, and ends", arguments: InstallMode.allCases)
  func progress(install: InstallMode) async throws {
    let (store, _, packs) = try await tags.open()
    let offers = try await [
      tags.offer("a", tags: ["level"], size: 20_000, install: install), tags.offer("b", tags: ["level"], size: 30_000, install: install),
      tags.offer("c", tags: ["level"], size: 40_000),
    ]
    try await store.adopt(stage.manifest(1, offers))
    try await tags.deliver([offers[2]], to: store)
    let request = TagRequest(["level"], of: packs)
    #expect(request.progress == TagProgress())
    let updates = request.progressUpdates()
    // All progress values, as a fast listener receives them.
    let all = Monitor<[TagProgress]>([])
    let listener = Task {
      for await update in updates { all.withLock { $0.append(update) } }
    }
    let access = try await request.begin()
    await listener.value
    let heard = all.withLock { $0 }
    #expect(heard.last?.phase == .ready)
    #expect(heard.last?.fraction == 1)
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $0.fraction <= $1.fraction })
    let missing = offers[0].entry.size + offers[1].entry.size
    #expect(request.progress.downloadSize == missing)
    #expect(request.progress.downloaded == missing)
    let unpacked = install == .unpacked ? offers[0].entry.contentSize + offers[1].entry.contentSize : 0
    #expect(request.progress.installSize == missing + unpacked)
    #expect(request.progress.installed == missing + unpacked)
    // A late listener receives the last value and the end.
    let late = request.progressUpdates()
    var count = 0
    for await _ in late { count += 1 }
    #expect(count == 1)
    withExtendedLifetime(access) {}
  }

  @Test("progress matches the download for the first request and for later ones")
  func progressOfStuck() async throws {
    let (store, _, packs) = try await tags.open { _ in .stuck(at: 700) }
    let offer = try await tags.offer("core", tags: ["boot"])
    try await store.adopt(stage.manifest(1, [offer]))
    let requests = [TagRequest(["boot"], of: packs), TagRequest(["boot"], of: packs)]
    let first = begin(requests[0])
    try await eventually("it does not begin") { requests[0].progress.downloaded == 700 }
    let second = begin(requests[1])
    try await eventually("it does not join") { requests[1].progress.downloaded == 700 }
    #expect(requests[1].progress.phase == .downloading)
    #expect(requests[1].progress.fraction == 700 / Double(2 * offer.entry.size))
    for task in [first, second] { task.cancel() }
    for task in [first, second] { _ = await task.value }
    #expect(requests.map(\.progress.phase) == [.failed, .failed])
  }

  // MARK: Network

  @Test("a request that waits for a network continues when there is one")
  func waitingForNetwork() async throws {
    let isOffline = Monitor(true)
    let (store, transport, packs) = try await tags.open { _ in isOffline.withLock { $0 } ? .failure(.offline) : nil }
    try await store.adopt(stage.manifest(1, [tags.offer("core", tags: ["boot"])]))
    let task = begin(TagRequest(["boot"], of: packs, waitsForNetwork: true))
    // More often than a request that does not wait.
    while transport.calls.count <= 6 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(await failure { () async throws(PackError) in _ = try await TagRequest(["boot"], of: packs).begin() }?.code == .offline)
    isOffline.withLock { $0 = false }
    let access = try await task.value.get()
    #expect(access.packs.count == 1)
  }

  @Test("a request that does not wait ends after five failures of its own, whenever others begin")
  func attempts() async throws {
    let isCounted = Monitor(false)
    let (store, transport, packs) = try await tags.open { _ in .failure(.status(503, retryAfter: nil)) }
    try await store.adopt(stage.manifest(1, [tags.offer("core", tags: ["boot"])]))
    let first = begin(TagRequest(["boot"], of: packs))
    try await eventually("it is not tried again") { transport.calls.count >= 3 }
    let second = Task {
      let code = await failure { () async throws(PackError) in _ = try await TagRequest(["boot"], of: packs).begin() }?.code
      isCounted.withLock { $0 = true }
      return (code, transport.calls.count)
    }
    #expect(await error(first)?.code == .downloadFailed)
    #expect(!isCounted.withLock { $0 })
    let (code, count) = await second.value
    #expect(code == .downloadFailed)
    // The attempt that ran when it began does not count.
    #expect((8...9).contains(count))
  }

  @Test("a request that waits goes on without a manifest, and while parts of the catalogue cannot be had")
  func waitingForManifest() async throws {
    let offer = try await tags.offer("core", tags: ["boot"])
    let release = try CatalogueRelease(1, [offer], count: 1)
    let missing = Monitor(4)
    tags.failShards { _ in
      missing.withLock { count in
        defer { count -= 1 }
        return count > 0 ? .missing : nil
      }
    }
    tags.serve(release)
    let (store, _, packs) = try await tags.open()
    #expect(await failure { () async throws(PackError) in _ = try await TagRequest(["boot"], of: packs).begin() }?.code == .offline)
    let task = begin(TagRequest(["boot"], of: packs, waitsForNetwork: true))
    try await eventually("it does not ask for a manifest again") { tags.manifestCalls >= 5 }
    try await store.adopt(release.document)
    #expect(try await task.value.get().packs.count == 1)
    #expect(tags.shardCalls.count == 5)
  }

  // MARK: Many at once

  @Test("any number of requests that begin, are cancelled and end at the same time leave nothing half done")
  func many() async throws {
    var random = SeededGenerator(for: "many requests by tags")
    // A very long lock timeout, because waits take almost no time on the stage's clock, even if the machine is busy.
    let policy = StorePolicy(lockTimeout: .seconds(100_000), freeSpaceMargin: 0)
    let transport = tags.transport { $0.request.size % 3 == 0 && $0.attempt == 0 ? .cut(at: 500, .unreachable) : nil }
    let (store, _, packs) = try await tags.start(transport, concurrentDownloads: 2, policy: policy)
    var offers: [StoreStage.Offer] = []
    for number in 0..<6 {
      let names = ["tag-\(number)", "tag-\((number + 1) % 6)", number % 2 == 0 ? "even" : "odd"]
      let install: InstallMode = number % 3 == 0 ? .unpacked : .packed
      offers.append(try await tags.offer("pack-\(number)", tags: names, size: 3000 + number * 500, install: install))
    }
    try await store.adopt(stage.manifest(1, offers))
    let expected = offers
    let seeds = (0..<8).map { _ in random.next() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for seed in seeds {
        group.addTask {
          var random = SeededGenerator(seed: seed)
          var held: [TagAccess] = []
          for _ in 0..<Self.rounds {
            let wanted = ["tag-\(random.next() % 6)", ["even", "odd"][Int(random.next() % 2)]]
            let request = TagRequest(
              Set(wanted.prefix(Int(random.next() % 2) + 1)), of: packs, priority: Double(random.next() % 101) / 100)
            let task = begin(request)
            switch random.next() % 4 {
            case 0:
              for _ in 0..<random.next() % 50 { await Task.yield() }
              task.cancel()
            case 1: try await request.setPriority(Double(random.next() % 101) / 100)
            default: break
            }
            switch await task.value {
            case .success(let access):
              for pack in access.packs {
                #expect(try pack.read("index.html") == Array("\(pack.installed.id) 1 0".utf8))
              }
              #expect(
                access.packs.map(\.installed.id) == expected.map(\.entry).filter { !request.tags.isDisjoint(with: $0.tags) }.map(\.id))
              if random.next() % 2 == 0 { held.append(access) }
            case .failure(let error): #expect(error.code == .cancelled, "\(error)")
            }
            if random.next() % 3 == 0 { held.removeAll() }
            if random.next() % 4 == 0 { try await store.purge(toFree: 1) }
          }
        }
      }
      try await group.waitForAll()
    }
    let access = try await TagRequest(["even", "odd"], of: packs).begin()
    #expect(access.packs.count == 6)
    access.end()
    #expect(stage.directory.names(in: "store/uses") == [])
    #expect(try await store.reconcile(.thorough).isEmpty)
  }
}
