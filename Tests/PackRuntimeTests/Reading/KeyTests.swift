import Foundation
import TestSupport
import Testing

@Suite("Keys for opening packs", .bounded)
struct KeyTests {
  let directory: TemporaryDirectory
  let tree = SampleTree(["index.html": .init(Array("<p>Hello</p>".utf8))])

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Creates a pack named `kat` with the key that counts up from `first`, or with a key derived from it.
  private func pack(_ name: String, keyFrom first: UInt8, ofItsOwn: Bool = false) async throws -> String {
    try tree.write(to: "tree", in: directory)
    var job = PackJob(source: directory("tree"), output: directory(name), name: try PackName("kat"))
    job.usesPackKey = ofItsOwn
    job.jobs = 1
    _ = try await job.run(key: try key(filledFrom: first))
    return directory(name)
  }

  /// Returns the request that a provider gets for such a pack.
  private func request(keyFrom first: UInt8, ofItsOwn: Bool = false) throws -> KeyRequest {
    let root = try key(filledFrom: first)
    let id = try PackID.bytes(for: PackName("kat"))
    return KeyRequest(keyID: ofItsOwn ? try root.packKey(forPackID: id).id : root.id, packID: id)
  }

  private func open(_ path: String, _ keys: some KeyProvider) async -> PackError? {
    await failure { () async throws(PackError) in
      for backend in CryptoBackends.all {
        let pack = try await Pack.open(path, keys: keys, files: FaultyFiles(), backend: backend)
        guard try pack.read("index.html") == Array("<p>Hello</p>".utf8) else { throw PackError(.internalError, "other bytes") }
      }
    }
  }

  // MARK: Recipients

  /// Wraps a pack for the key that counts up from `first`.
  private func wrap(_ path: String, madeFrom root: UInt8, for first: UInt8, _ kind: PackKey.Kind = .recipient) async throws -> String {
    let key = try recipient(first, kind)
    let root = try TestSupport.key(filledFrom: root)
    let output = directory("wrapped-\(first).pack")
    _ = try await WrappedCopy.write(path, to: output, key: root) { (header) throws(PackError) in
      if let recipient = key.recipient { try header.add(recipient) } else { try header.add(key) }
    }
    return output
  }

  private func recipient(_ first: UInt8, _ kind: PackKey.Kind = .recipient) throws(PackError) -> PackKey {
    try PackKey(bytes: (0..<32).map { first &+ $0 }, kind: kind)
  }

  @Test(
    "every provider opens a wrapped pack with a recipient's key, a shared key and the usual key", arguments: [false, true],
    [PackKey.Kind.recipient, .application])
  func recipients(ofItsOwn: Bool, kind: PackKey.Kind) async throws {
    let path = try await wrap(try await pack("a.pack", keyFrom: 0, ofItsOwn: ofItsOwn), madeFrom: 0, for: 0x40, kind)
    let other = try recipient(0x77)
    let ring = KeyRing(other)
    ring.add(try recipient(0x40, kind))
    #expect(await open(path, ring) == nil)
    #expect(await open(path, KeyRing(try key(filledFrom: 0))) == nil)
    let fetched = FetchedKeys { (request) throws(PackError) -> PackKey in
      guard request.recipientIDs.count == 1 else { throw PackError(.noKey, "the request names no recipient") }
      return try PackKey(bytes: (0..<32).map { 0x40 + $0 }, kind: kind)
    }
    #expect(await open(path, fetched) == nil)
  }

  @Test("a recipient's key does not open a pack that is not wrapped for it, and the error names the recipients")
  func notWrapped() async throws {
    let plain = try await pack("a.pack", keyFrom: 0)
    let path = try await wrap(plain, madeFrom: 0, for: 0x40)
    let stranger = try recipient(0x50)
    let error = await open(path, KeyRing(stranger))
    #expect(error?.code == .notWrapped)
    #expect(
      error?.message
        == "\(path): pack is not wrapped for recipient key \(stranger.id), only for \(try recipient(0x40).id); it was made with key e545120e613dd715"
    )
    #expect(await open(plain, KeyRing(stranger))?.code == .notWrapped)
    #expect(await open(path, KeyRing(try key(filledFrom: 9)))?.code == .wrongKey)
    struct Liar: KeyProvider {
      func key(for request: KeyRequest) async throws(PackError) -> PackKey {
        try PackKey(bytes: [UInt8](repeating: 9, count: 32), kind: .recipient)
      }
    }
    #expect(await open(path, Liar())?.code == .wrongKey)
  }

  @Test("a copy has the same body, opens, and appears whole or not at all")
  func wholeCopies() async throws {
    let plain = try await pack("a.pack", keyFrom: 0)
    let path = try await wrap(plain, madeFrom: 0, for: 0x40)
    let (old, new) = (try #require(directory.bytes(of: "a.pack")), try #require(directory.bytes(of: "wrapped-64.pack")))
    #expect(new.count == old.count + 92 && new.suffix(old.count - 144) == old.suffix(old.count - 144))
    let reader = try recipient(0x40)
    let back = directory("back.pack")
    _ = try await WrappedCopy.write(path, to: back, key: reader) { (header) throws(PackError) in try header.remove(reader.id) }
    #expect(directory.bytes(of: "back.pack") == old)
    let names = directory.names().sorted()
    let own = try key(filledFrom: 0)
    for operation in 0..<60 {
      let files = FaultyFiles.failing(at: operation)
      let error = await failure { () async throws(PackError) in
        _ = try await WrappedCopy.write(path, to: directory("half.pack"), key: own, files: files) {
          (header) throws(PackError) in try header.remove(reader.id)
        }
      }
      if let half = directory.bytes(of: "half.pack") {
        #expect(half == old, "operation \(operation): \(error?.message ?? "no error")")
        try FileManager.default.removeItem(atPath: directory("half.pack"))
      } else {
        #expect(error != nil)
        #expect(directory.names().sorted() == names, "operation \(operation)")
      }
    }
  }

  // MARK: Refusals

  @Test("an empty ring has no key, and the error names the file and the requested id")
  func noKey() async throws {
    let path = try await pack("a.pack", keyFrom: 0)
    let error = await open(path, KeyRing())
    #expect(error?.code == .noKey)
    #expect(error?.message == "\(path): pack was made with key e545120e613dd715, but no key is available")
    #expect(error?.advice == .giveKey(try key(filledFrom: 0).id))
    #expect(error?.subject == path)
  }

  @Test("if no key of the ring fits, the key is wrong, and the error lists all ids", arguments: [false, true])
  func wrongKey(ofItsOwn: Bool) async throws {
    let path = try await pack("a.pack", keyFrom: 0, ofItsOwn: ofItsOwn)
    let ring = KeyRing(try key(filledFrom: 1))
    ring.add(try key(filledFrom: 2))
    let error = await open(path, ring)
    #expect(error?.code == .wrongKey)
    let wanted = ofItsOwn ? "72af39abae9a562f" : "e545120e613dd715"
    #expect(
      error?.message
        == "\(path): pack was made with key \(wanted), but none of the available keys fits: \(ring.keyIDs[0]), \(ring.keyIDs[1])"
    )
    for first in UInt8(3)..<20 { ring.add(try key(filledFrom: first)) }
    #expect(await open(path, ring)?.message.hasSuffix(" and 11 more") == true)
  }

  @Test("a provider that returns another key is refused", arguments: [false, true])
  func liar(ofItsOwn: Bool) async throws {
    struct Liar: KeyProvider {
      func key(for request: KeyRequest) async throws(PackError) -> PackKey { try TestSupport.key(filledFrom: 9) }
    }
    let path = try await pack("a.pack", keyFrom: 0, ofItsOwn: ofItsOwn)
    let files = FaultyFiles()
    let error = await failure { () async throws(PackError) in
      _ = try await Pack.open(path, keys: Liar(), files: files, backend: CryptoBackends.standard)
    }
    #expect(error?.code == .wrongKey)
    #expect(
      error?.message
        == "\(path): pack was made with key \(try request(keyFrom: 0, ofItsOwn: ofItsOwn).keyID), but the provided key is \(try key(filledFrom: 9).id)"
    )
    let fetched = FetchedKeys { (_) throws(PackError) in try TestSupport.key(filledFrom: 9) }
    #expect(await open(path, fetched)?.code == .wrongKey)
    #expect("\(fetched)" == "FetchedKeys()")
  }

  @Test("an error of a provider is passed on, with the file as its subject")
  func failing() async throws {
    struct Failing: KeyProvider {
      func key(for request: KeyRequest) async throws(PackError) -> PackKey { throw PackError(.noKey, "the server says 403") }
    }
    let path = try await pack("a.pack", keyFrom: 0)
    let error = await open(path, Failing())
    #expect(error?.code == .noKey && error?.message == "\(path): the server says 403")
  }

  @Test("no key is requested for a file that is not a pack, has a truncated header, or does not exist")
  func noPack() async throws {
    struct Asked: KeyProvider {
      func key(for request: KeyRequest) async throws(PackError) -> PackKey { throw PackError(.internalError, "asked") }
    }
    _ = try await pack("a.pack", keyFrom: 0)
    let whole = try #require(directory.bytes(of: "a.pack"))
    #expect(await open(try directory.write("a text, and longer than the magic".utf8, to: "text"), Asked())?.code == .notAPack)
    #expect(await open(try directory.write(whole.prefix(150), to: "cut"), Asked())?.code == .truncated)
    #expect(await open(directory("none"), Asked())?.code == .missingInput)
  }

  @Test("a changed header is distinguished from a wrong key, with any provider", arguments: [40, 70, 120, 140, 150])
  func changedHeader(byte: Int) async throws {
    let path = try await pack("a.pack", keyFrom: 0, ofItsOwn: true)
    var bytes = try #require(directory.bytes(of: "a.pack"))
    bytes[byte] ^= 1
    try directory.write(bytes, to: "a.pack")
    let own = KeyRing(try key(filledFrom: 0).packKey(for: PackName("kat")))
    #expect(await open(path, own)?.code == .damagedHeader)
    // A changed pack id gives another derived key, so with the root key the pack looks like one with another key.
    #expect(await open(path, KeyRing(try key(filledFrom: 0)))?.code == (byte == 40 ? .wrongKey : .damagedHeader))
  }

  // MARK: Rings

  @Test("a ring with the keys of two generations opens both, in any order, and only one after the other key is removed")
  func rotation() async throws {
    let (old, new) = (try await pack("old.pack", keyFrom: 1), try await pack("new.pack", keyFrom: 2))
    for generations in [[1, 2], [2, 1]] as [[UInt8]] {
      let ring = KeyRing()
      for first in generations { ring.add(try key(filledFrom: first)) }
      #expect(await open(old, ring) == nil)
      #expect(await open(new, ring) == nil)
      ring.remove(try key(filledFrom: 1).id)
      #expect(await open(old, ring)?.code == .wrongKey)
      #expect(await open(new, ring) == nil)
      ring.remove(try key(filledFrom: 2).id)
      #expect(await open(new, ring)?.code == .noKey)
    }
  }

  @Test(
    "a root key opens packs with derived keys and packs with the key itself; a derived key opens only its own pack"
  )
  func roots() async throws {
    let (own, plain) = (try await pack("own.pack", keyFrom: 0, ofItsOwn: true), try await pack("plain.pack", keyFrom: 0))
    let other = try await pack("other.pack", keyFrom: 5)
    let ring = KeyRing(try key(filledFrom: 0))
    ring.add(try key(filledFrom: 5))
    for path in [own, plain, other] { #expect(await open(path, ring) == nil) }
    let alone = KeyRing(try key(filledFrom: 0).packKey(for: PackName("kat")))
    #expect(await open(own, alone) == nil)
    #expect(await open(plain, alone)?.code == .wrongKey)
    // A root key also opens the pack without a ring.
    let root = try key(filledFrom: 0)
    #expect(try Pack.open(own, key: root).keyID.description == "72af39abae9a562f")
  }

  @Test("a ring holds each key once, however often it is added, and keeps its copy after the caller's key is gone")
  func copies() async throws {
    let ring = KeyRing()
    for _ in 0..<3 { ring.add(try key(filledFrom: 0)) }
    #expect(ring.keyIDs.map(\.description) == ["e545120e613dd715"])
    let key = try ring.key(for: request(keyFrom: 0))
    #expect(key.secret.withSpan { [UInt8](copying: $0) } == (0..<32).map { UInt8($0) })
  }

  @Test("no printed form reveals a key")
  func unprinted() async throws {
    let ring = KeyRing(try key(filledFrom: 0))
    let fetched = FetchedKeys { (_) throws(PackError) in try TestSupport.key(filledFrom: 0) }
    _ = try await fetched.key(for: request(keyFrom: 0))
    for value in [ring, fetched] as [any KeyProvider] {
      var text = "\(value) \(String(reflecting: value))"
      dump(value, to: &text)
      #expect(text.contains("e545120e613dd715"))
      let lower = text.lowercased()
      // As hex, as a list of numbers, and the end of the key's text.
      for trace in ["0001020304", "a5978502", "4, 5, 6, 7", "- 4\n"] { #expect(!lower.contains(trace), "\(text)") }
    }
  }

  #if os(Linux)
    @Test(
      "no key stays in memory after its owners are gone, or while a pack is open",
      .enabled("a sanitizer has more memory than can be read") { try MemoryTrace.isFeasible })
    func wiped() async throws {
      let root = MemoryTrace(of: try PackKey.random().secret.withSpan { SecretBytes(copying: $0) })
      let own = MemoryTrace(of: try root.key().packKey(for: PackName("kat")).secret.withSpan { SecretBytes(copying: $0) })
      func sightings() throws -> [Int] { [try root.sightings(), try own.sightings()] }
      #expect(try sightings() == [0, 0])
      try tree.write(to: "tree", in: directory)
      var job = PackJob(source: directory("tree"), output: directory("a.pack"), name: try PackName("kat"))
      job.usesPackKey = true
      _ = try await job.run(key: try root.key())
      #expect(try sightings() == [0, 0])
      do {
        let ring = KeyRing(try root.key())
        let fetched = FetchedKeys { (_) throws(PackError) in try root.key() }
        for keys in [ring, fetched] as [any KeyProvider] {
          let pack = try await Pack.open(directory("a.pack"), keys: keys)
          #expect(try pack.read("index.html") == Array("<p>Hello</p>".utf8))
        }
        // One in the ring, and one in the ring of the fetched keys.
        #expect(try sightings() == [2, 0])
        ring.remove(try root.key().id)
        #expect(try sightings() == [1, 0])
        withExtendedLifetime((ring, fetched)) {}
      }
      #expect(try sightings() == [0, 0])
      let pack = try await Pack.open(directory("a.pack"), keys: KeyRing(try own.key()))
      #expect(try sightings() == [0, 0])
      withExtendedLifetime(pack) {}
    }
  #endif

  @Test("no key is requested if the task was cancelled")
  func cancelled() async throws {
    struct Asked: KeyProvider {
      func key(for request: KeyRequest) async throws(PackError) -> PackKey { throw PackError(.internalError, "asked") }
    }
    let path = try await pack("a.pack", keyFrom: 0)
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return await open(path, Asked())
    }
    task.cancel()
    #expect(await task.value?.code == .cancelled)
  }

  // MARK: Fetching

  @Test("a key is fetched once for all concurrent requests, and never again")
  func shared() async throws {
    let server = Server()
    let keys = FetchedKeys { (request) async throws(PackError) in try await server.key(for: request) }
    let request = try request(keyFrom: 0)
    let tasks = (0..<20).map { _ in Task { await failure { () async throws(PackError) in _ = try await keys.key(for: request) } } }
    await server.waitForRequests(1)
    await server.answer(0)
    for task in tasks { #expect(await task.value == nil) }
    #expect(await open(try await pack("a.pack", keyFrom: 0), keys) == nil)
    #expect(await server.requests == 1)
  }

  @Test("a root key is fetched for the first pack, and used for the next one without a request")
  func fetchedRoot() async throws {
    let server = Server()
    let keys = FetchedKeys { (request) async throws(PackError) in try await server.key(for: request) }
    let request = try request(keyFrom: 0, ofItsOwn: true)
    let task = Task { await failure { () async throws(PackError) in _ = try await keys.key(for: request) } }
    await server.waitForRequests(1)
    await server.answer(0)
    #expect(await task.value == nil)
    #expect(await open(try await pack("a.pack", keyFrom: 0, ofItsOwn: true), keys) == nil)
    #expect(await open(try await pack("b.pack", keyFrom: 0), keys) == nil)
    #expect(await server.requests == 1)
  }

  @Test("a failure is shared with all that wait for the fetch, and is not remembered")
  func sharedFailure() async throws {
    let server = Server()
    let keys = FetchedKeys { (request) async throws(PackError) in try await server.key(for: request) }
    let request = try request(keyFrom: 0)
    let first = Task { await failure { () async throws(PackError) in _ = try await keys.key(for: request) } }
    await server.waitForRequests(1)
    let others = (0..<5).map { _ in Task { await failure { () async throws(PackError) in _ = try await keys.key(for: request) } } }
    await server.refuse()
    #expect(await first.value?.code == .noKey)
    // Tasks that were too late to wait for the first fetch have started another.
    let late = Task {
      while !Task.isCancelled {
        await server.answer(0)
        await Task.yield()
      }
    }
    for task in others {
      let code = await task.value?.code
      #expect(code == .noKey || code == nil)
    }
    #expect(await failure { () async throws(PackError) in _ = try await keys.key(for: request) } == nil)
    late.cancel()
  }

  @Test("if the fetching task is cancelled, another one fetches; a waiting task that is cancelled is resumed")
  func cancellation() async throws {
    let server = Server()
    let keys = FetchedKeys { (request) async throws(PackError) in try await server.key(for: request) }
    let request = try request(keyFrom: 0)
    func ask() -> Task<PackError?, Never> {
      Task { await failure { () async throws(PackError) in _ = try await keys.key(for: request) } }
    }
    let first = ask()
    await server.waitForRequests(1)
    let (second, third) = (ask(), ask())
    third.cancel()
    #expect(await third.value?.code == .cancelled)
    first.cancel()
    #expect(await first.value?.code == .cancelled)
    // The second task fetches by itself, whether it already waited or came only now.
    await server.waitForRequests(2)
    await server.answer(0)
    #expect(await second.value == nil)
    #expect(await server.requests == 2)
  }

  @Test("every request gets a key or an error, whichever tasks are cancelled")
  func anyOrder() async throws {
    let request = try request(keyFrom: 0)
    var random = SeededGenerator(for: "cancelled fetches")
    for _ in 0..<200 {
      let keys = FetchedKeys { (_) async throws(PackError) in
        for _ in 0..<3 {
          await Task.yield()
          if Task.isCancelled { throw PackError(.cancelled, "cancelled") }
        }
        return try TestSupport.key(filledFrom: 0)
      }
      let tasks = (0..<8).map { _ in Task { await failure { () async throws(PackError) in _ = try await keys.key(for: request) } } }
      let cancelled = (0..<8).filter { _ in Bool.random(using: &random) }
      for number in cancelled {
        if Bool.random(using: &random) { await Task.yield() }
        tasks[number].cancel()
      }
      for (number, task) in tasks.enumerated() {
        let error = await task.value
        #expect(error == nil || cancelled.contains(number) && error?.code == .cancelled)
      }
    }
  }
}

/// A server that responds when the test says so.
private actor Server {
  private(set) var requests = 0
  private var waiting: [Int: CheckedContinuation<UInt8?, Never>] = [:]

  nonisolated func key(for request: KeyRequest) async throws(PackError) -> PackKey {
    guard let first = await answered() else {
      throw Task.isCancelled ? PackError(.cancelled, "cancelled") : PackError(.noKey, "the server says 403")
    }
    return try TestSupport.key(filledFrom: first)
  }

  private func answered() async -> UInt8? {
    requests += 1
    let number = requests
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled { continuation.resume(returning: nil) } else { waiting[number] = continuation }
      }
    } onCancel: {
      Task { await self.end(number) }
    }
  }

  private func end(_ number: Int) {
    waiting.removeValue(forKey: number)?.resume(returning: nil)
  }

  func waitForRequests(_ count: Int) async {
    while requests < count || waiting.isEmpty { await Task.yield() }
  }

  /// Answers all waiting requests with the key that counts up from `first`.
  func answer(_ first: UInt8) {
    for continuation in waiting.values { continuation.resume(returning: first) }
    waiting = [:]
  }

  func refuse() {
    for continuation in waiting.values { continuation.resume(returning: nil) }
    waiting = [:]
  }
}
