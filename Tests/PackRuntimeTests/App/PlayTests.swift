import Foundation
import TestSupport
import Testing

@testable import PackApp
@testable import PackBuild

/// A pack that is played while it arrives, and the server that it comes from.
struct PlayStage {
  /// The segments of its pack, so that a test knows where they end.
  static let segmentSize: UInt64 = 4096

  let place: DeliveryStage
  let offer: StoreStage.Offer
  let pack: [UInt8]
  let lead: [UInt8]
  let stream: ManifestStream
  /// What a test does to the server. In a structure, because each access to a function by itself would wrap it once more.
  struct Server {
    /// Which pieces of the pack may come.
    var gate: @Sendable (Range<UInt64>) -> Bool = { _ in true }
    var fault: @Sendable (FaultyTransport.Piece) -> FaultyTransport.PieceFault? = { _ in nil }
    var isOnline = true
  }

  let server = Monitor(Server())
  private let document: Monitor<[UInt8]>
  private let others = Monitor<[String: [UInt8]]>([:])

  static let id = "game"
  static let files: [String: [UInt8]] = {
    var random = SeededGenerator(seed: 54)
    return [
      "index.html": Array("<!doctype html><p>game".utf8), "a/launch.bin": random.bytes(40_000), "b/first.bin": random.bytes(1_500_000),
      "c/second.bin": random.bytes(1_200_000), "d/last.bin": random.bytes(700_000),
    ]
  }()

  init() async throws {
    place = try DeliveryStage(waits: true)
    let stage = place.stage
    (offer, pack, lead, stream) = try await Self.make(in: stage)
    document = Monitor(try Self.document(1, offer.entry))
  }

  private static func document(_ version: UInt64, _ entry: ManifestPack) throws -> [UInt8] {
    var manifest = Manifest(version: version, issued: nil, expires: ManifestTime("2030-01-01T00:00:00Z")!, budget: nil, packs: [entry])
    manifest.defaults = ManifestDefaults(baseURL: StoreStage.base)
    return try KeysSample.sign(manifest).bytes
  }

  /// Publishes the pack as an essential one. Returns the manifest.
  func publishEssential() throws -> SignedManifest { try publish { $0.delivery = .essential } }

  /// Publishes the pack after a change of its entry. Returns the manifest.
  @discardableResult
  func publish(_ change: (inout ManifestPack) -> Void) throws -> SignedManifest {
    var entry = offer.entry
    change(&entry)
    let bytes = try Self.document(1, entry)
    document.withLock { $0 = bytes }
    return try SignedManifest(bytes)
  }

  /// Publishes the same tree with other bytes, as version 2.
  func publishOther() async throws {
    var (offer, pack, lead, stream) = try await Self.make(in: place.stage, isOther: true)
    offer.entry.version = 2
    others.withLock { $0 = [offer.entry.url: pack, StoreStage.base + ManifestPack.leadName(Self.id, stream.sha256): lead] }
    let next = try Self.document(2, offer.entry)
    document.withLock { $0 = next }
  }

  /// - Parameter isOther: whether the same tree has other bytes.
  static func make(
    in stage: StoreStage, isOther: Bool = false
  ) async throws -> (StoreStage.Offer, [UInt8], [UInt8], ManifestStream) {
    let tree = SampleTree(files.mapValues { SampleTree.File($0) }, emptyDirectories: [])
    let name = isOther ? "other" : "game"
    try tree.write(to: "\(name).source", in: stage.directory)
    let order = LoadOrder(launch: ["index.html", "a/launch.bin"], later: [])
    var job = PackJob(source: stage.directory("\(name).source"), output: stage.directory("\(name).pack"), name: try PackName(id))
    job.settings.segmentSize = UInt32(segmentSize)
    job.settings.order = order
    job.settings.usesRandomSalt = isOther
    _ = try await job.run(key: try knownKey())
    let pack = try open(stage.directory("\(name).pack"))
    let lead = try #require(try PackLead.of(pack, by: order, files: FaultyFiles(), backend: CryptoBackends.standard))
    let stream = try lead.write(to: stage.directory("\(name).lead"))
    let bytes = stage.directory.bytes(of: "\(name).pack") ?? []
    var entry = ManifestPack(
      id: id, version: 1, url: StoreStage.base + "\(name).pack", size: UInt64(bytes.count),
      sha256: try CryptoBackends.standard.digest(of: bytes.byteSpan), contentRoot: pack.contentRoot, contentSize: pack.contentSize,
      installSize: try PackCensus(pack).installSize, files: UInt64(pack.entryCount), maxFrame: UInt64(pack.largestFrame),
      keyID: "\(pack.keyID)", delivery: .onDemand, install: .packed)
    entry.stream = stream
    return (
      StoreStage.Offer(path: stage.directory("\(name).pack"), tree: tree, entry: entry), bytes,
      stage.directory.bytes(of: "\(name).lead") ?? [], stream
    )
  }

  var leadURL: String { StoreStage.base + ManifestPack.leadName(Self.id, stream.sha256) }

  /// Returns a server of the pack and its lead, with ranges.
  func network(_ decide: @escaping @Sendable (FaultyTransport.Call) -> FaultyTransport.Fault? = { _ in nil }) -> FaultyTransport {
    FaultyTransport(
      pieceSize: 100_000,
      content: { [pack, lead, leadURL, others, url = offer.entry.url] address in
        address == url ? pack : address == leadURL ? lead : others.withLock { $0[address] ?? [] }
      },
      pieces: { [server, url = offer.entry.url] piece in
        while piece.url == url, !server.withLock({ $0 }).gate(piece.range) {
          if Task.isCancelled { return .failure(.cancelled) }
          try? await Task.sleep(for: .milliseconds(2))
        }
        let server = server.withLock { $0 }
        return server.isOnline ? server.fault(piece) : .failure(.offline)
      }, decide)
  }

  func library(
    _ network: FaultyTransport, session: String = "one", patience: Duration = .seconds(1_000_000), over system: FakeService? = nil,
    piece: UInt64 = 4 << 20, files: any FileSystem = FaultyFiles()
  ) async throws -> PackLibrary {
    let app = try await place.app(network, session: session, patience: patience, piece: piece, files: files)
    let service: any DownloadService =
      if let system { PlayingService(system, own: app.service) { system.drop($0) } } else { app.service }
    return try await PackLibrary(
      app.delivery, service: service, exports: FileExports(place.stage.directory("exports")), PackLibrary.Options(),
      sleep: { [clock = place.clock] seconds in
        guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { return }
        clock.advance(Int64(clamping: seconds))
      },
      source: { [document, server] (_) async throws(PackError) in
        guard server.withLock({ $0.isOnline }) else { throw PackError(.offline, "there is no network", advice: .connect) }
        return document.withLock { $0 }
      })
  }

  /// Lets only the launch come, and what is in front of `end`.
  func hold(after end: UInt64? = nil) {
    let (last, tail) = (end ?? stream.launch, stream.tail)
    server.withLock { $0.gate = { $0.upperBound <= last || $0.lowerBound >= tail } }
  }

  func release() { server.withLock { $0.gate = { _ in true } } }

  /// The pieces of the pack, without those of its lead.
  func pieces(_ network: FaultyTransport) -> [Range<UInt64>] { network.pieces.filter { $0.url == offer.entry.url }.map(\.range) }
}

@Suite("A pack is played while it arrives", .bounded)
struct PlayTests {
  private let stage: PlayStage

  init() async throws {
    stage = try await PlayStage()
  }

  private func isPlayable(_ packs: PackLibrary) async -> Bool {
    if case .playable = await packs.loop.status(of: PlayStage.id) { true } else { false }
  }

  private func isReady(_ packs: PackLibrary) async -> Bool {
    if case .ready = await packs.loop.status(of: PlayStage.id) { true } else { false }
  }

  /// Reads a file on a thread of its own, because it may have to wait.
  private func read(_ pack: OpenedPack, _ path: String) async throws(PackError) -> [UInt8] {
    try await WorkerPool.settled { () throws(PackError) in try pack.read(path) }
  }

  private func expectFiles(_ packs: PackLibrary) async throws {
    let opened = try packs.opened(PlayStage.id)
    for (path, bytes) in PlayStage.files {
      let found = try await read(opened, path)
      #expect(found == bytes, "\(path)")
    }
  }

  // MARK: Refusals

  @Test("bytes of a forger count nowhere: of the lead, the launch, the end, or all, sealed with the right key", arguments: 0..<4)
  func forger(_ place: Int) async throws {
    let forged = try await PlayStage.make(in: stage.place.stage, isOther: true)
    #expect(forged.1.count == stage.pack.count)
    let (url, leadURL) = (stage.offer.entry.url, stage.leadURL)
    stage.server.withLock {
      $0.fault = { piece in
        switch place {
        case 0: piece.url == leadURL ? .wrong : nil
        case 1: piece.url == url && piece.range.lowerBound == 0 ? .wrong : nil
        case 2: piece.url == leadURL ? .bytes(Array(forged.2[Int(piece.range.lowerBound)..<Int(piece.range.upperBound)])) : nil
        default: piece.url == url ? .bytes(Array(forged.1[Int(piece.range.lowerBound)..<Int(piece.range.upperBound)])) : nil
        }
      }
    }
    let network = stage.network()
    let packs = try await stage.library(network)
    let task = Task { await failure { () async throws(PackError) in try await packs.play(PlayStage.id) } }
    try await eventually("nothing fails") { try packs.loop.delivery.state.status(of: PlayStage.id)?.state == .failed(.wrongBytes) }
    #expect(await !isPlayable(packs))
    #expect(throws: PackError.self) { try packs.opened(PlayStage.id) }
    // The right bytes, later.
    stage.server.withLock { $0.fault = { _ in nil } }
    #expect(await task.value == nil)
    try await expectFiles(packs)
  }

  @Test("what does not arrive is an error after the time for it, with the reason, and comes when it is asked for again")
  func patience() async throws {
    stage.hold()
    let network = stage.network()
    let packs = try await stage.library(network, patience: .seconds(3000))
    try await packs.play(PlayStage.id)
    let failure = await failure { () async throws(PackError) in _ = try await read(packs.opened(PlayStage.id), "c/second.bin") }
    #expect(failure?.code == .downloadFailed && failure?.message.contains("did not arrive") == true)
    stage.release()
    // On a busy machine, three seconds may pass again.
    try await eventually("it does not come") { (try? await read(packs.opened(PlayStage.id), "c/second.bin")) != nil }
    try await eventually("it is not installed") { await isReady(packs) }
    try await expectFiles(packs)
  }

  @Test(
    "a network that is lost at any twentieth of the bytes leaves what is here, and later it goes on and fetches no byte again",
    arguments: Array(1...19 as ClosedRange<UInt64>))
  func lostNetwork(_ twentieth: UInt64) async throws {
    // Of the lead, only its digests are fetched; the rest of it is in the pack.
    let digests = 32 * UInt64(try stage.stream.layout(packSize: stage.offer.entry.size).segmentCount)
    let all = stage.offer.entry.size + digests
    let sent = Monitor<(ranges: [(url: String, range: Range<UInt64>)], left: UInt64)>(([], all * twentieth / 20))
    stage.server.withLock {
      $0.fault = { piece in
        sent.withLock { sent in
          let (start, end) = (piece.range.lowerBound, min(piece.range.upperBound, piece.range.lowerBound.adding(sent.left)))
          sent.left -= end - start
          if end > start { sent.ranges.append((piece.url, start..<end)) }
          return end == piece.range.upperBound ? nil : .cut(after: Int(end - start), .offline)
        }
      }
    }
    let packs = try await stage.library(stage.network(), piece: 256 << 10)
    let playing = Task { await failure { () async throws(PackError) in try await packs.play(PlayStage.id) } }
    try await eventually("the network is not lost") { sent.withLock { $0.left == 0 } }
    if await isPlayable(packs) {
      #expect(await playing.value == nil)
      #expect(try Array(packs.data(PlayStage.id, "a/launch.bin")) == PlayStage.files["a/launch.bin"])
    } else {
      #expect(throws: PackError.self) { try packs.opened(PlayStage.id) }
    }
    sent.withLock { $0.left = .max }
    if let failure = await playing.value {
      #expect(failure.code == .offline)
      try await packs.play(PlayStage.id)
    }
    try await expectFiles(packs)
    try await eventually("it is not installed") { await isReady(packs) }
    for (url, size) in [(stage.leadURL, digests), (stage.offer.entry.url, stage.offer.entry.size)] {
      let ranges = sent.withLock { $0.ranges }.filter { $0.url == url }.map(\.range).sorted { $0.lowerBound < $1.lowerBound }
      #expect(ranges.first?.lowerBound == 0 && ranges.last?.upperBound == size)
      for (one, other) in zip(ranges, ranges.dropFirst()) { #expect(one.upperBound == other.lowerBound) }
    }
  }

  @Test("a server without ranges: it is played when it is here as a whole")
  func wholeOnly() async throws {
    stage.server.withLock { $0.fault = { _ in .wholeOnly } }
    let network = stage.network()
    let packs = try await stage.library(network)
    try await packs.play(PlayStage.id)
    #expect(await isReady(packs) && network.calls.count == 1)
    try await expectFiles(packs)
  }

  @Test("who reads a pack whose download is cancelled, or whose library ends, hears of it", arguments: [true, false])
  func cancelled(_ isCancelled: Bool) async throws {
    stage.hold()
    let packs = try await stage.library(stage.network())
    try await packs.play(PlayStage.id)
    let opened = try packs.opened(PlayStage.id)
    let reading = Task { await failure { () async throws(PackError) in _ = try await read(opened, "d/last.bin") } }
    try await Task.sleep(for: .milliseconds(20))
    if isCancelled { try await packs.cancel(PlayStage.id) } else { await packs.loop.stop() }
    #expect(await reading.value?.code == .cancelled)
    #expect(try opened.read("a/launch.bin") == PlayStage.files["a/launch.bin"], "what is here can be read")
  }

  // MARK: Playing

  @Test("the extension fetches the lead of an essential pack, the first start plays it without a network, and the rest comes later")
  func firstLaunch() async throws {
    let ours = try stage.place.extension()
    let manifest = try stage.publishEssential()
    let allowance = Allowance(essential: stage.stream.size + 1, other: stage.offer.entry.size + 1)
    let downloads = ours.downloads(for: .install, manifestAt: try stage.place.download(manifest), allowance: allowance).downloads
    #expect(downloads.map(\.bytes.size) == [stage.stream.size] && downloads.map(\.isEssential) == [true])
    let file = try stage.place.stage.directory.write(stage.lead, to: "system-lead")
    #expect(try ours.finished(file, download: try #require(downloads.first).identifier.description) == .moved)

    stage.server.withLock { $0.isOnline = false }
    let network = stage.network()
    let packs = try await stage.library(network)
    try await packs.play(PlayStage.id)
    #expect(try Array(packs.data(PlayStage.id, "a/launch.bin")) == PlayStage.files["a/launch.bin"])
    try await eventually("the lead stays") { stage.place.waiting.isEmpty }
    #expect(network.calls.isEmpty)
    stage.server.withLock { $0.isOnline = true }
    try await packs.refresh()
    try await eventually("it is not installed") { await isReady(packs) }
    try await expectFiles(packs)
    // What the lead has is not fetched again.
    let pieces = stage.pieces(network)
    #expect(network.pieces.count == pieces.count && !pieces.isEmpty)
    for piece in pieces { #expect(piece.lowerBound >= stage.stream.launch && piece.upperBound <= stage.stream.tail, "\(piece)") }
  }

  @Test("a pack that the system downloads is taken from it when it is played by its lead")
  func leadBesideSystem() async throws {
    let ours = try stage.place.extension()
    let manifest = try stage.publishEssential()
    let path = try stage.place.download(manifest)
    let lead = try #require(ours.downloads(for: .install, manifestAt: path, allowance: nil).downloads.first)
    let file = try stage.place.stage.directory.write(stage.lead, to: "system-lead")
    #expect(try ours.finished(file, download: lead.identifier.description) == .moved)
    let whole = try #require(ours.downloads(for: .periodic, manifestAt: path, allowance: nil).downloads.first)
    #expect(whole.bytes.size == stage.offer.entry.size)
    let system = FakeService(state: ours.state, listing: [whole.identifier.description])
    let packs = try await stage.library(stage.network(), over: system)
    try await packs.play(PlayStage.id)
    try await expectFiles(packs)
    #expect(system.dropped == 1)
    try await eventually("the lead stays") { stage.place.waiting.isEmpty }
  }

  @Test("a lead that cannot be taken for want of space stays, and is taken later", arguments: 1..<4)
  func leadWithoutSpace(_ number: Int) async throws {
    let ours = try stage.place.extension()
    let manifest = try stage.publishEssential()
    let lead = try #require(ours.downloads(for: .install, manifestAt: try stage.place.download(manifest), allowance: nil).downloads.first)
    let file = try stage.place.stage.directory.write(stage.lead, to: "system-lead")
    #expect(try ours.finished(file, download: lead.identifier.description) == .moved)
    stage.server.withLock { $0.isOnline = false }
    let (isFull, count) = (Monitor(true), Monitor(0))
    let files = FaultyFiles { call in
      guard call.operation == .write, isFull.withLock({ $0 }) else { return nil }
      let writes = count.update { count in
        count += 1
        return count
      }
      return writes > 4 * number ? .failure(.fullDisk) : nil
    }
    let packs = try await stage.library(stage.network(), files: files)
    try? await packs.loop.bring()
    #expect(stage.place.waiting.count == 1)
    isFull.withLock { $0 = false }
    try await packs.play(PlayStage.id)
    #expect(try Array(packs.data(PlayStage.id, "a/launch.bin")) == PlayStage.files["a/launch.bin"])
    try await eventually("the lead stays") { stage.place.waiting.isEmpty }
  }

  @Test("to make room for another pack, what is here of a required one goes, but not its launch", arguments: [true, false])
  func makesRoom(_ isRequired: Bool) async throws {
    try stage.publish { if isRequired { $0.delivery = .essential } }
    stage.hold(after: stage.stream.launch + (1 << 20))
    let first = try await stage.library(stage.network(), piece: 64 << 10)
    try await first.play(PlayStage.id)
    try await eventually("it does not arrive") { try await first.loop.isHere(900_000) }
    #expect(try await !first.loop.freeParts(), "it is played")
    await first.stop()
    stage.server.withLock { $0.isOnline = false }

    let packs = try await stage.library(stage.network(), session: "two")
    #expect(try await packs.loop.freeParts())
    #expect(try await !packs.loop.freeParts(), "there is nothing more")
    let playing = Task { try await packs.play(PlayStage.id) }
    if isRequired {
      try await playing.value
      #expect(try Array(packs.data(PlayStage.id, "a/launch.bin")) == PlayStage.files["a/launch.bin"])
      #expect(try await packs.loop.isHere(0))
      #expect(try await !packs.loop.isHere(500_000))
    } else {
      try await eventually("it does not wait") {
        if case .waiting(.network) = await packs.loop.status(of: PlayStage.id) { true } else { false }
      }
      playing.cancel()
    }
    stage.server.withLock { $0.isOnline = true }
    stage.release()
    try await packs.ensure(PlayStage.id)
    try await expectFiles(packs)
    _ = try? await playing.value
  }

  @Test("a lead with wrong bytes is not taken, and the pack comes over the network", arguments: [0, 600, 30_000, -1, -5000])
  func wrongLead(_ place: Int) async throws {
    let ours = try stage.place.extension()
    let manifest = try stage.publishEssential()
    let downloads = ours.downloads(for: .install, manifestAt: try stage.place.download(manifest), allowance: nil).downloads
    var lead = stage.lead
    lead[place < 0 ? lead.count + place : place] ^= 1
    let file = try stage.place.stage.directory.write(lead, to: "system-lead")
    #expect(try ours.finished(file, download: try #require(downloads.first).identifier.description) == .moved)
    let packs = try await stage.library(stage.network())
    try await packs.play(PlayStage.id)
    try await expectFiles(packs)
    try await eventually("the lead stays") { stage.place.waiting.isEmpty }
  }

  @Test("it is opened when its launch is here, what is asked for comes next, and when all is here, it is installed")
  func plays() async throws {
    stage.hold()
    let network = stage.network()
    let packs = try await stage.library(network)
    try await packs.play(PlayStage.id)
    let status = await packs.loop.status(of: PlayStage.id)
    guard case .playable(1, let received, let size, false) = status else { return #expect(Bool(false), "\(status)") }
    #expect(size == stage.offer.entry.size && received >= stage.stream.launch && received < stage.offer.entry.size)
    #expect(try Array(packs.data(PlayStage.id, "a/launch.bin")) == PlayStage.files["a/launch.bin"])
    // Two pieces are on their way; what is asked for now is the next one.
    try await eventually("no more is asked for") {
      stage.pieces(network).count { $0.upperBound > stage.stream.launch && $0.lowerBound < stage.stream.tail } == 2
    }
    let before = stage.pieces(network).count
    let opened = try packs.opened(PlayStage.id)
    let reading = Task { try await read(opened, "d/last.bin") }
    let arriving = try #require(
      await packs.loop.service.arriving(DownloadIdentifier(id: PlayStage.id, bytes: PackBytes(stage.offer.entry)).description))
    try await eventually("nobody waits") { arriving.isAwaited }
    stage.release()
    #expect(try await reading.value == PlayStage.files["d/last.bin"])
    let next = try #require(stage.pieces(network).dropFirst(before).first)
    #expect(next.lowerBound > stage.stream.tail / 2 && next.lowerBound < stage.stream.tail, "\(next)")
    try await eventually("it is not installed") { await isReady(packs) }
    try await expectFiles(packs)
    #expect(network.calls.isEmpty)
    // Each byte once.
    let pieces = stage.pieces(network).sorted { $0.lowerBound < $1.lowerBound }
    #expect(pieces.first?.lowerBound == 0 && pieces.last?.upperBound == stage.offer.entry.size)
    for (one, other) in zip(pieces, pieces.dropFirst()) { #expect(one.upperBound == other.lowerBound) }
    #expect(network.pieces.count { $0.url == stage.leadURL } == 1)
    // From now on the installed version is read.
    try await packs.ensure(PlayStage.id)
    #expect(try packs.opened(PlayStage.id).installed.sha256 == stage.offer.entry.sha256)
    #expect(stage.place.stage.directory.names(in: "downloads") == ["downloads", "lock"])
    try await expectFiles(packs)
  }

  @Test(
    "an app that ends at any point goes on where it was, without a network, too, and fetches no byte again", arguments: [0, 1, 2, 3, 5, 8])
  func restarts(_ count: Int) async throws {
    let end = stage.stream.launch + UInt64(count) * (256 << 10)
    stage.hold(after: end)
    let network = stage.network()
    let packs = try await stage.library(network)
    try await packs.play(PlayStage.id)
    try await eventually("the pieces do not come") { stage.pieces(network).contains { $0.upperBound > end } }
    try await Task.sleep(for: .milliseconds(30))
    await packs.loop.stop()
    let first = stage.pieces(network).filter { $0.upperBound <= end || $0.lowerBound >= stage.stream.tail }
    stage.place.stage.end("one")
    stage.server.withLock { $0.isOnline = false }
    stage.release()

    let again = stage.network()
    let later = try await stage.library(again, session: "two")
    try await later.play(PlayStage.id)
    #expect(try Array(later.data(PlayStage.id, "a/launch.bin")) == PlayStage.files["a/launch.bin"])
    stage.server.withLock { $0.isOnline = true }
    try await later.refresh()
    try await eventually("it is not installed") { await isReady(later) }
    try await later.ensure(PlayStage.id)
    try await expectFiles(later)
    let pieces = (first + stage.pieces(again)).filter { _ in true }.sorted { $0.lowerBound < $1.lowerBound }
    #expect(again.pieces.allSatisfy { $0.url == stage.offer.entry.url }, "the lead is fetched once")
    var got = Set<UInt64>()
    for piece in first { for place in stride(from: piece.lowerBound, to: piece.upperBound, by: 4096) { got.insert(place) } }
    for piece in stage.pieces(again) where piece.upperBound <= end || piece.lowerBound >= stage.stream.tail {
      #expect(!got.contains(piece.lowerBound), "\(piece) is fetched again of \(pieces)")
    }
  }

  @Test("a request by tags opens what can be played, and waits for what cannot")
  func tags() async throws {
    try stage.publish { $0.tags = ["start"] }
    stage.hold()
    let packs = try await stage.library(stage.network())
    let request = TagRequest(["start"], of: packs)
    let access = try await request.play()
    #expect(request.progress.phase == .ready && access.packs.count == 1)
    #expect(try access.read("a/launch.bin") == PlayStage.files["a/launch.bin"])
    #expect(await isPlayable(packs))
    let whole = Task { try await TagRequest(["start"], of: packs).begin() }
    let reading = Task { try await read(try access.pack(PlayStage.id), "d/last.bin") }
    stage.release()
    #expect(try await reading.value == PlayStage.files["d/last.bin"])
    #expect(try await whole.value.packs.map(\.installed.version) == [1])
    access.end()
    try await eventually("it is not installed") { await isReady(packs) }
    #expect(try await request.play().packs.first?.pack?.source.isArriving == false)
  }

  @Test("a call that ends does not end the playing of another one, and one that fails leaves nothing open", arguments: [true, false])
  func players(_ isCancelled: Bool) async throws {
    try stage.publish { $0.tags = ["start"] }
    stage.server.withLock { $0.gate = { _ in false } }
    let packs = try await stage.library(stage.network())
    let first = Task { try await TagRequest(["start"], of: packs).play() }
    let second = Task { try await packs.play(PlayStage.id) }
    try await eventually("they do not wait") { await packs.loop.players[PlayStage.id] == 2 }
    if isCancelled { first.cancel() }
    stage.hold()
    try await second.value
    if isCancelled {
      await #expect(throws: PackError.self) { _ = try await first.value }
    } else {
      #expect(try await first.value.packs.count == 1)
    }
    #expect(await isPlayable(packs))
    #expect(await packs.loop.players.isEmpty)
    #expect(try Array(packs.data(PlayStage.id, "a/launch.bin")) == PlayStage.files["a/launch.bin"])
    stage.release()
    try await expectFiles(packs)
  }

  @Test("a request by tags fails if one of its packs is cancelled that could be played already")
  func tagsOfCancelled() async throws {
    let packs = try await stage.library(stage.network())
    try stage.publish { $0.tags = ["start"] }
    stage.server.withLock { $0.gate = { _ in false } }
    let request = Task { try await TagRequest(["start"], of: packs).play() }
    try await eventually("it does not wait") { await packs.loop.players[PlayStage.id] == 1 }
    try await packs.cancel(PlayStage.id)
    let error = await #expect(throws: PackError.self) { _ = try await request.value }
    #expect(error?.code == .cancelled)
    #expect(await packs.loop.playing.isEmpty)
  }

  @Test("a call that was cancelled removes nothing to make room")
  func cancelledRoom() async throws {
    try stage.publish { $0.delivery = .essential }
    stage.hold()
    let first = try await stage.library(stage.network())
    try await first.play(PlayStage.id)
    try await eventually("it is not noted") { stage.place.stage.directory.names(in: "downloads").contains { $0.hasSuffix(".map") } }
    await first.stop()
    let packs = try await stage.library(stage.network(), session: "two")
    let freeing = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await packs.loop.freeParts()
    }
    await #expect(throws: PackError.self) { _ = try await freeing.value }
    stage.server.withLock { $0.isOnline = false }
    try await packs.play(PlayStage.id)
    #expect(try Array(packs.data(PlayStage.id, "a/launch.bin")) == PlayStage.files["a/launch.bin"])
  }

  @Test("a request by tags that ends before it can be played leaves nothing behind")
  func tagsCancelled() async throws {
    try stage.publish { $0.tags = ["start"] }
    stage.server.withLock { $0.gate = { _ in false } }
    let packs = try await stage.library(stage.network())
    let request = Task { try await TagRequest(["start"], of: packs).play() }
    try await eventually("it does not wait") { await !packs.loop.playing.isEmpty }
    request.cancel()
    await #expect(throws: PackError.self) { try await request.value }
    #expect(await packs.loop.playing.isEmpty)
    stage.release()
    let access = try await TagRequest(["start"], of: packs).play()
    #expect(try access.read("a/launch.bin") == PlayStage.files["a/launch.bin"])
  }

  @Test("who waits for the whole pack does not close it for those who play it")
  func besideEnsure() async throws {
    stage.hold()
    let packs = try await stage.library(stage.network())
    try await packs.play(PlayStage.id)
    let ensuring = Task { await failure { () async throws(PackError) in try await packs.ensure(PlayStage.id) } }
    let playing = Task { await failure { () async throws(PackError) in try await packs.play(PlayStage.id) } }
    #expect(await playing.value == nil)
    for _ in 0..<20 {
      #expect(try Array(packs.data(PlayStage.id, "a/launch.bin")) == PlayStage.files["a/launch.bin"])
      try await packs.refresh()
    }
    stage.release()
    #expect(await ensuring.value == nil)
    try await expectFiles(packs)
  }

  @Test("a newer version ends the arrival of the one that is played, which says so, and the next play opens the new one")
  func newerVersion() async throws {
    stage.hold()
    let packs = try await stage.library(stage.network())
    try await packs.play(PlayStage.id)
    let old = try packs.opened(PlayStage.id)
    let reading = Task { await failure { () async throws(PackError) in _ = try await read(old, "d/last.bin") } }
    try await stage.publishOther()
    try await packs.refresh()
    #expect(await reading.value?.code == .cancelled)
    #expect(try old.read("a/launch.bin") == PlayStage.files["a/launch.bin"])
    try await packs.play(PlayStage.id)
    #expect(try packs.opened(PlayStage.id).installed.version == 2)
    try await expectFiles(packs)
  }

  @Test("reading in as many tasks as there are ends, although it blocks them all")
  func blockedTasks() async throws {
    stage.hold()
    let packs = try await stage.library(stage.network(), patience: .seconds(100))
    try await packs.play(PlayStage.id)
    let opened = try packs.opened(PlayStage.id)
    let codes = await withTaskGroup(of: PackError.Code?.self) { group in
      for _ in 0..<16 { group.addTask { code { () throws(PackError) in _ = try opened.read("d/last.bin") } } }
      return await group.reduce(into: Set<PackError.Code?>()) { $0.insert($1) }
    }
    #expect(codes == [.downloadFailed])
  }

  @Test("a pack that is played is taken from the system, which keeps the others, and stays with the app when it starts again")
  func besideSystem() async throws {
    let system = FakeService(state: try stage.place.state())
    stage.hold()
    let network = stage.network()
    let packs = try await stage.library(network, over: system)
    let ensuring = Task { await failure { () async throws(PackError) in try await packs.ensure(PlayStage.id) } }
    try await eventually("the system does not get it") { system.listed.count == 1 }
    try await packs.play(PlayStage.id)
    #expect(system.listed.isEmpty && system.dropped == 1)
    #expect(try Array(packs.data(PlayStage.id, "a/launch.bin")) == PlayStage.files["a/launch.bin"])
    await packs.loop.stop()
    ensuring.cancel()
    stage.place.stage.end("one")
    stage.release()
    // Without being played, it is not fetched again as a whole.
    let later = try await stage.library(stage.network(), session: "two", over: system)
    try await later.ensure(PlayStage.id)
    try await expectFiles(later)
    #expect(system.listed.isEmpty && network.calls.isEmpty)
  }

  @Test("a download of the whole file that is asked to be played keeps what it has")
  func fromWhole() async throws {
    let network = stage.network { _ in .stuck(at: 1_000_000) }
    let packs = try await stage.library(network)
    let ensuring = Task { await failure { () async throws(PackError) in try await packs.ensure(PlayStage.id) } }
    try await eventually("nothing comes") { await packs.loop.progress[PlayStage.id]?.received ?? 0 >= 900_000 }
    try await packs.play(PlayStage.id)
    #expect(await ensuring.value == nil)
    try await expectFiles(packs)
    #expect(stage.pieces(network).allSatisfy { $0.lowerBound > 900_000 })
  }

  @Test("64 requests whose bytes are missing wait, and one whose bytes are here is answered at once")
  @MainActor
  func parked() async throws {
    stage.hold()
    let packs = try await stage.library(stage.network())
    try await packs.play(PlayStage.id)
    let server = SchemeServer<GatheringTask> { (id) throws(PackError) in try PackResponder(packs, id) }
    var waiting: [GatheringTask] = []
    for number in 0..<64 {
      let task = GatheringTask()
      waiting.append(task)
      server.start(
        task, key: ObjectIdentifier(task), pack: PlayStage.id,
        PackRequest(target: ["/b/first.bin", "/c/second.bin", "/d/last.bin"][number % 3]))
    }
    try await Task.sleep(for: .milliseconds(50))
    let start = ContinuousClock.now
    let task = GatheringTask()
    server.start(task, key: ObjectIdentifier(task), pack: PlayStage.id, PackRequest(target: "/a/launch.bin"))
    while !task.isFinished { try await Task.sleep(for: .milliseconds(1)) }
    print("answered after \(start.duration(to: .now)) beside 64 that wait")
    #expect(task.bytes == PlayStage.files["a/launch.bin"] && waiting.allSatisfy { $0.status == nil })
    stage.release()
    while !waiting.allSatisfy(\.isFinished) { try await Task.sleep(for: .milliseconds(1)) }
    for (number, task) in waiting.enumerated() {
      #expect(task.status == 200 && task.bytes == PlayStage.files[["b/first.bin", "c/second.bin", "d/last.bin"][number % 3]])
    }
  }

  @Test("a request whose bytes do not come is answered with 503, and the app hears that nothing comes", arguments: [true, false])
  @MainActor
  func unavailable(_ isAnswered: Bool) async throws {
    stage.hold()
    let packs =
      isAnswered ? try await stage.library(stage.network(), patience: .seconds(2000)) : try await stage.library(stage.network())
    try await packs.play(PlayStage.id)
    let server = SchemeServer<GatheringTask> { (id) throws(PackError) in try PackResponder(packs, id) }
    let task = GatheringTask()
    server.start(task, key: ObjectIdentifier(task), pack: PlayStage.id, PackRequest(target: "/d/last.bin"))
    if isAnswered {
      while !task.isFinished { try await Task.sleep(for: .milliseconds(1)) }
      #expect(task.status == 503)
    } else {
      for await status in packs.status(of: PlayStage.id) { if case .playable(_, _, _, isStalled: true) = status { break } }
      #expect(task.status == nil)
    }
  }

  @Test("a library that was closed ends all waits, and records no downloads, which nobody would start")
  func closed() async throws {
    let network = stage.network { _ in .stuck(at: 4096) }
    let packs = try await stage.library(network)
    let waiting = Task { await failure { () async throws(PackError) in try await packs.ensure(PlayStage.id) } }
    try await eventually("nothing is asked for") { !stage.pieces(network).isEmpty || !network.calls.isEmpty }
    await packs.loop.stop()
    #expect(await waiting.value?.code == .cancelled)
    let before = try packs.loop.delivery.state.status(of: PlayStage.id)
    let error = await failure { () async throws(PackError) in try await packs.ensure(PlayStage.id) }
    #expect(error?.message == "the library is closed")
    #expect(try packs.loop.delivery.state.status(of: PlayStage.id) == before)
  }
}

/// The response to one request.
@MainActor
private final class GatheringTask: SchemeReceiver {
  private(set) var status: Int?
  private(set) var bytes: [UInt8] = []
  private(set) var isFinished = false
  private(set) var error: PackError?

  nonisolated static func piece(_ bytes: Span<UInt8>) -> [UInt8] { [UInt8](copying: bytes) }
  func receive(_ response: PackResponse) { status = response.status }
  func receive(_ piece: [UInt8]) { bytes += piece }
  func finish() { isFinished = true }
  func fail(_ error: PackError) { (isFinished, self.error) = (true, error) }
}

extension LibraryLoop {
  /// Whether the pack is playable, and more of it than this is here.
  fileprivate func isHere(_ size: UInt64) async throws -> Bool {
    guard case .playable(_, let received, _, _) = await status(of: PlayStage.id) else { return false }
    return received > size
  }
}

/// A download service of a system that never gets around to a download.
final class FakeService: DownloadService {
  private let state: SharedState
  private let list = Monitor<(listed: Set<String>, dropped: Int)>(([], 0))

  init(state: SharedState, listing identifiers: Set<String> = []) {
    self.state = state
    list.withLock { $0.listed = identifiers }
  }

  var listed: Set<String> { list.withLock { $0.listed } }
  var dropped: Int { list.withLock { $0.dropped } }
  var isListExact: Bool { false }

  func drop(_ identifier: String) { list.withLock { if $0.listed.remove(identifier) != nil { $0.dropped += 1 } } }
  func events() -> AsyncStream<ServiceNotice> { AsyncStream { _ in } }
  func stop() async {}
  func underWay() async -> Set<String>? { listed }
  func hand(_ plan: DeliveryPlan, asked: Set<String>) async throws(PackError) {
    list.withLock { $0.listed.formUnion(plan.downloads.map(\.identifier.description)) }
  }
  func setPriority(_ priority: Double, of identifier: String) async {}
  func cancel(_ id: String) async throws(PackError) {
    if let identifier = try state.cancel(id) { drop(identifier.description) }
  }
  func availableSpace() async -> UInt64? { nil }
  func freeSpace(keeping ids: Set<String>, launchesOf required: [PlannedDownload]) async throws(PackError) -> Bool { false }
}
