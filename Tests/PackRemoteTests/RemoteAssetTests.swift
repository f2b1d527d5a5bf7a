import TestSupport
import Testing

@testable import PackRemote

@Suite("A remote asset", .bounded)
struct RemoteAssetTests {
  private let place = AssetPlace()

  // MARK: The value

  @Test("it starts with the bundled resource, without a request")
  func bundledFirst() throws {
    let asset = try place.open()
    #expect(asset.value == "bundled")
    #expect(asset.status.origin == .bundled)
    #expect(asset.status.lastResult == nil)
    #expect(place.source.requests.isEmpty)
  }

  @Test("content that materializes replaces it, and the next start begins with that, without a request")
  func replaced() async throws {
    let asset = try place.open()
    #expect(await asset.refresh().isKept)
    #expect(asset.value == "remote")
    #expect(asset.status.origin == .remote)
    #expect(asset.status.contentSize == 6)

    let next = try place.open()
    #expect(next.value == "remote")
    #expect(next.status.origin == .cached)
    #expect(place.source.requests.count == 1)
  }

  @Test("content that does not materialize changes nothing, now or at the next start")
  func invalid() async throws {
    let asset = try place.open()
    await asset.refresh()
    place.source.answer(.text("bad"))
    let result = await asset.refresh()
    #expect(result.isInvalid)
    #expect(result.error?.code == .invalidContent)
    #expect(result.description == "invalid: the content breaks a rule: it is not bad")
    #expect(asset.value == "remote")
    #expect(try place.open().value == "remote")
  }

  @Test(
    "if a provider returns no content, the value stays and the result contains the reason",
    arguments: [TransferFailure.offline, .status(404, retryAfter: nil)])
  func unavailable(_ failure: TransferFailure) async throws {
    place.source.answer(.failure(.transfer(failure)))
    let asset = try place.open()
    let result = await asset.refresh()
    #expect(result.isUnavailable)
    #expect(result.error?.code == .contentUnavailable)
    #expect(asset.value == "bundled")
    #expect(asset.status.lastResult?.isUnavailable == true)
  }

  @Test("another app version starts with its bundled resource, and the saved content is removed")
  func appVersion() async throws {
    await (try place.open()).refresh()
    let next = try place.open("1.1 (2)", bundled: .text("newly bundled"))
    #expect(next.value == "newly bundled")
    #expect(place.disk.bytes(of: AssetPlace.path) == nil)
    #expect(try place.open().value == "bundled")
  }

  @Test("content of another source is not used")
  func otherSource() async throws {
    await (try place.open()).refresh()
    #expect(try place.open(from: place.source.provider(named: "other")).value == "bundled")
  }

  @Test("saved content that the materializer no longer accepts is removed")
  func outgrown() async throws {
    await (try place.open()).refresh()
    let strict = AssetPlace.materializer.validated { $0 == "bundled" }
    let asset = try place.open(as: strict)
    #expect(asset.value == "bundled")
    #expect(asset.status.origin == .bundled)
    #expect(place.disk.bytes(of: AssetPlace.path) == nil)
  }

  @Test("an invalid bundled resource is refused when the asset is created")
  func invalidBundled() throws {
    let disk = place.disk
    disk.write(Array("bad".utf8), to: "/app/bad")
    disk.write([UInt8](repeating: 65, count: 1001), to: "/app/large")
    for resource in [
      BundledResource.text("bad"), .file("/app/bad"), .file("/app/none"), .file("/app/large"), .text(.init(repeating: "a", count: 1001)),
    ] {
      #expect(code { () throws(PackError) in _ = try place.open(bundled: resource) } == .invalidBundledResource)
    }
    disk.write(Array("good".utf8), to: "/app/good")
    #expect(try place.open(bundled: .file("/app/good")).value == "good")
  }

  @Test(
    "an invalid name, app version or limit is refused",
    arguments: ["", ".", "../a", "a/b", "ä", String(repeating: "a", count: 65)])
  func usage(_ name: String) {
    func make(_ name: String, _ version: String, _ limit: Int) -> PackError.Code? {
      code { () throws(PackError) in
        _ = try RemoteAsset(
          name, bundled: .text(""), as: .text, from: place.source.provider, cache: "/cache", appVersion: version, sizeLimit: limit,
          files: MemoryFiles(place.disk), clock: place.clock)
      }
    }
    #expect(make(name, "1", 1) == .usage)
    #expect(make("a", name.isEmpty ? "" : String(repeating: "1", count: 257), 1) == .usage)
    #expect(make("a", "1", 0) == .usage)
    #expect(make("a", "1", 1) == nil)
  }

  @Test("content may be as large as the limit, but no larger", arguments: [(10, true), (11, false)])
  func limit(_ size: Int, _ isTaken: Bool) async throws {
    place.source.answer(.text(String(repeating: "a", count: size)))
    let asset = try place.open(limit: 10)
    let result = await asset.refresh()
    #expect(result.isKept == isTaken)
    #expect(isTaken || result.isInvalid && result.error?.code == .limitExceeded)
    #expect(asset.value.count == (isTaken ? size : 7))
    #expect(try place.open(limit: 10).value == asset.value)
    // A smaller limit later applies to saved content too.
    #expect(try place.open(limit: 9).value == "bundled")
  }

  // MARK: Conditional requests

  @Test("the next request contains the version of the current content, in this process and the next")
  func conditional() async throws {
    place.source.answer(.text("remote", tag: "\"a\""))
    let asset = try place.open()
    #expect(await asset.refresh().isKept)
    #expect(await asset.refresh().isUnchanged)
    #expect(asset.status.version?.tag == "\"a\"")
    let next = try place.open()
    #expect(await next.refresh().isUnchanged)
    #expect(place.source.requests.map { $0.known?.tag } == [nil, "\"a\"", "\"a\""])
    place.source.answer(.text("newer", tag: "\"b\""))
    #expect(await next.refresh().isKept)
    #expect(next.value == "newer")
    // After a reset or with another app version, no version is known.
    try await next.reset()
    await next.refresh()
    #expect(place.source.requests.last?.known == nil)
  }

  @Test("the same content again is not a change, and writes nothing")
  func sameContent() async throws {
    let files = MemoryFiles(place.disk)
    let asset = try place.open(files: files)
    await asset.refresh()
    let changes = files.changeCount
    #expect(await asset.refresh().isUnchanged)
    #expect(files.changeCount == changes)
  }

  @Test("unchanged content without a known version counts as unavailable")
  func unchangedOfNothing() async throws {
    place.source.answer(.unchanged)
    #expect(await (try place.open()).refresh().isUnavailable)
  }

  // MARK: The disk

  @Test("if nothing can be written, the value is still replaced, and the result says that it was not saved")
  func readOnly() async throws {
    let files = MemoryFiles(place.disk, .failing(FileFailure(number: 30)) { $0.isChange })
    let asset = try place.open(files: files)
    let result = await asset.refresh()
    #expect(result.isReplaced)
    #expect(result.error?.code == .cannotWrite)
    #expect(asset.value == "remote")
    #expect(try place.open().value == "bundled")
  }

  @Test("reset returns to the bundled resource and removes the saved content")
  func reset() async throws {
    let asset = try place.open()
    await asset.refresh()
    try await asset.reset()
    #expect(asset.value == "bundled")
    #expect(asset.status.origin == .bundled)
    #expect(asset.status.contentSize == 7)
    #expect(try place.open().value == "bundled")
    #expect(await asset.refresh().isKept)
    #expect(asset.value == "remote")
  }

  @Test("a reset that fails on disk throws, and the value is the bundled one")
  func resetRefused() async throws {
    let asset = try place.open(files: MemoryFiles(place.disk, .failing(.inputOutput) { $0.operation == "remove" }))
    await asset.refresh()
    #expect(await awaitedCode { () async throws(PackError) in try await asset.reset() } == .cannotWrite)
    #expect(asset.value == "bundled")
  }

  // MARK: Several at a time

  @Test("two refreshes at once run only once, and both return the same result")
  func together() async throws {
    let asset = try place.open()
    place.source.isOpen.set(false)
    async let first = asset.refresh()
    await place.source.asked(1)
    async let second = asset.refresh()
    async let third = asset.refresh()
    await waiting(asset, 2)
    place.source.isOpen.set(true)
    #expect(await [first, second, third].allSatisfy(\.isKept))
    #expect(place.source.requests.count == 1)
  }

  @Test("a refresh that is cancelled changes nothing, and the next one does")
  func cancelled() async throws {
    let asset = try place.open()
    place.source.isOpen.set(false)
    let task = Task { await asset.refresh() }
    await place.source.asked(1)
    task.cancel()
    #expect(await task.value.isCancelled)
    #expect(asset.value == "bundled")
    #expect(asset.status.lastResult == nil)
    place.source.isOpen.set(true)
    #expect(await asset.refresh().isKept)
  }

  @Test("content that arrives after the task was cancelled is not used")
  func cancelledLate() async throws {
    let isAsked = LatestValue(false)
    let asset = try place.open(
      from: DataProvider { (_) throws(PackError) in
        isAsked.set(true)
        while !Task.isCancelled { await Task.yield() }
        return .content(Array("remote".utf8))
      })
    let task = Task { await asset.refresh() }
    _ = await isAsked.next(after: 1)
    task.cancel()
    #expect(await task.value.isCancelled)
    #expect(asset.value == "bundled")
    #expect(place.disk.bytes(of: AssetPlace.path) == nil)
  }

  @Test("if a refresh that others wait for is cancelled, one of them refreshes instead")
  func takeOver() async throws {
    let asset = try place.open()
    place.source.isOpen.set(false)
    let first = Task { await asset.refresh() }
    await place.source.asked(1)
    async let second = asset.refresh()
    async let third = asset.refresh()
    await waiting(asset, 2)
    first.cancel()
    await place.source.asked(2)
    place.source.isOpen.set(true)
    #expect(await first.value.isCancelled)
    #expect(await [second, third].allSatisfy(\.isKept))
    #expect(place.source.requests.count == 2)
  }

  @Test("a call that waits for another refresh can be cancelled without effect on it")
  func waiterCancelled() async throws {
    let asset = try place.open()
    place.source.isOpen.set(false)
    async let first = asset.refresh()
    await place.source.asked(1)
    let second = Task { await asset.refresh() }
    await waiting(asset, 1)
    second.cancel()
    #expect(await second.value.isCancelled)
    place.source.isOpen.set(true)
    #expect(await first.isKept)
  }

  @Test("a refresh in progress changes nothing if the asset is reset")
  func resetMeanwhile() async throws {
    let asset = try place.open()
    place.source.isOpen.set(false)
    async let refresh = asset.refresh()
    await place.source.asked(1)
    try await asset.reset()
    place.source.isOpen.set(true)
    #expect(await refresh.isCancelled)
    #expect(asset.value == "bundled")
    #expect(place.disk.bytes(of: AssetPlace.path) == nil)
  }

  /// Waits until `count` calls wait for a refresh.
  private func waiting(_ asset: RemoteAsset<String>, _ count: Int) async {
    while asset.waitingCount < count { await Task.yield() }
  }

  // MARK: Listening

  @Test("each listener gets the current value, and then the new one")
  func updates() async throws {
    let asset = try place.open()
    var early = asset.updates.makeAsyncIterator()
    #expect(await early.next() == "bundled")
    await asset.refresh()
    #expect(await early.next() == "remote")
    var late = asset.updates.makeAsyncIterator()
    #expect(await late.next() == "remote")
    place.source.answer(.text("newer"))
    async let next = late.next()
    await asset.refresh()
    #expect(await next == "newer")
    #expect(await early.next() == "newer")
  }

  @Test("a slow listener misses some values, but never the latest")
  func slowListener() async throws {
    let asset = try place.open()
    var listener = asset.updates.makeAsyncIterator()
    for number in 1...5 {
      place.source.answer(.text("remote \(number)"))
      await asset.refresh()
    }
    #expect(await listener.next() == "remote 5")
  }

  @Test("many listeners all get the last value while it is replaced and reset repeatedly")
  func manyListeners() async throws {
    let asset = try place.open()
    await withTaskGroup(of: String?.self) { tasks in
      for _ in 0..<8 {
        tasks.addTask {
          var last: String?
          for await value in asset.updates {
            last = value
            if value == "last" { break }
          }
          return last
        }
      }
      for number in 0..<100 {
        place.source.answer(.text("remote \(number)"))
        await asset.refresh()
        if number % 10 == 0 { try? await asset.reset() }
      }
      place.source.answer(.text("last"))
      await asset.refresh()
      for await last in tasks { #expect(last == "last") }
    }
  }

  @Test("releasing an asset ends its listeners and frees it")
  func released() async throws {
    var asset: RemoteAsset<String>? = try place.open()
    weak let weakAsset = asset
    let updates = try #require(asset).updates
    let heard = LatestValue<[String]>([])
    let listener = Task {
      for await value in updates { heard.set(heard.value + [value]) }
    }
    _ = await heard.next(after: 1)
    await asset?.refresh()
    asset = nil
    await listener.value
    #expect(weakAsset == nil)
    #expect(heard.value == ["bundled", "remote"])
    for await _ in updates { break }
  }

  @Test("a listener whose task is cancelled ends")
  func listenerCancelled() async throws {
    let asset = try place.open()
    let heard = LatestValue(0)
    let listener = Task {
      for await _ in asset.updates { heard.set(heard.value + 1) }
    }
    _ = await heard.next(after: 1)
    listener.cancel()
    await listener.value
    #expect(heard.value == 1)
  }

  // MARK: Running

  @Test("while it runs, it refreshes at its interval, and stops when its task is cancelled")
  func interval() async throws {
    let asset = try place.open(from: place.source.provider.every(.seconds(60)))
    let task = Task { await asset.run() }
    for number in 1...5 {
      #expect(await place.clock.sleeper() == .seconds(60))
      #expect(place.source.requests.count == number)
      place.source.answer(.text("remote \(number)"))
      place.clock.advance(by: .seconds(59))
      #expect(await place.clock.sleeper() == .seconds(1))
      #expect(place.source.requests.count == number)
      place.clock.advance(by: .seconds(1))
      await place.source.asked(number + 1)
    }
    await place.clock.sleeper()
    #expect(asset.value == "remote 5")
    #expect(asset.status.sinceLastResult == .zero)
    task.cancel()
    await task.value
    #expect(place.source.requests.count == 6)
  }

  @Test("with the real-time pace it refreshes each second, whatever its provider specifies")
  func realTime() async throws {
    let asset = try place.open(from: place.source.provider.every(.seconds(3600)))
    let task = Task { await asset.run(.realTime) }
    #expect(await place.clock.sleeper() == .seconds(1))
    place.clock.advance(by: .seconds(1))
    await place.source.asked(2)
    task.cancel()
    await task.value
  }

  @Test("an interval of zero becomes 0.1 seconds")
  func shortestInterval() async throws {
    let asset = try place.open(from: place.source.provider.every(.zero))
    let task = Task { await asset.run() }
    #expect(await place.clock.sleeper() == .milliseconds(100))
    task.cancel()
    await task.value
  }

  @Test("an asset without interval or signals refreshes once and returns")
  func once() async throws {
    let asset = try place.open()
    await asset.run()
    #expect(asset.value == "remote")
    #expect(place.source.requests.count == 1)
  }

  @Test("it continues after failures, and a signal makes it refresh at once")
  func signals() async throws {
    let (signals, signal) = AsyncStream.makeStream(of: Void.self)
    place.source.answer(.failure(.transfer(.offline)))
    let asset = try place.open(from: place.source.provider.refreshed { signals }.every(.seconds(60)))
    let task = Task { await asset.run() }
    await place.clock.sleeper()
    #expect(asset.status.lastResult?.isUnavailable == true)
    place.source.answer(.text("remote"))
    var values = asset.updates.makeAsyncIterator()
    #expect(await values.next() == "bundled")
    signal.yield()
    #expect(await values.next() == "remote")
    #expect(place.clock.now == .zero)
    task.cancel()
    await task.value
  }

  @Test("a signal during a refresh causes another refresh")
  func signalMeanwhile() async throws {
    let source = place.source
    let count = LatestValue(0)
    let asset = try place.open(
      from: source.provider.refreshed {
        AsyncStream<Void>(unfolding: {
          count.set(count.value + 1)
          if count.value == 1 {
            await source.asked(1)
            return ()
          }
          // A listener that asks for the second signal has handled the first.
          _ = await LatestValue(()).next(after: 1)
          return nil
        })
      })
    source.isOpen.set(false)
    let task = Task { await asset.run() }
    var seen: UInt64 = 0
    while count.value < 2, let next = await count.next(after: seen) { seen = next.revision }
    source.isOpen.set(true)
    await source.asked(2)
    #expect(count.value == 2)
    task.cancel()
    await task.value
  }

  @Test("nothing retains an asset after its run has ended")
  func runReleased() async throws {
    let task: Task<Void, Never>
    weak let weakAsset: RemoteAsset<String>?
    do {
      let asset = try place.open(from: place.source.provider.every(.seconds(60)))
      weakAsset = asset
      task = Task { await asset.run() }
    }
    await place.clock.sleeper()
    #expect(weakAsset != nil)
    task.cancel()
    await task.value
    #expect(weakAsset == nil)
  }
}
