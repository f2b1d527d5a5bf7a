import Foundation
import TestSupport
import Testing

@testable import PackRuntime

/// The file of a pack that is read while it arrives, and its map, on a disk that crashes.
@Suite("The file of a pack that arrives in pieces", .bounded)
struct ArrivingTests {
  private let stage: PlayStage
  private var policy = TransferPolicy()

  init() async throws {
    stage = try await PlayStage()
    policy.freeSpaceMargin = 0
    policy.progressInterval = .zero
    policy.lockTimeout = .seconds(100_000)
    (policy.unnotedSize, policy.largestPiece) = (256 << 10, 64 << 10)
  }

  private var download: PlannedDownload {
    get throws { try #require(PlannedDownload(arriving: stage.offer.entry, ManifestDefaults(baseURL: StoreStage.base))) }
  }

  private func open(_ network: FaultyTransport, _ files: any FileSystem) async throws(PackError) -> Transfers {
    try await Transfers(directory: "/downloads", transport: network, policy: policy, files: files, clock: FastClock())
  }

  /// Runs a process until its download ends.
  @discardableResult
  private func run(_ network: FaultyTransport, _ files: any FileSystem) async throws -> [TransferEvent] {
    let transfers = try await open(network, files)
    guard await transfers.arrive(try download) != nil else { return [] }
    await transfers.add([try download])
    let events = await transfers.finish()
    await transfers.close()
    return events
  }

  private func content(_ files: MemoryFiles) throws -> [UInt8] {
    try files.contents(of: "/downloads/\(download.identifier).part", limit: 8 << 20)
  }

  /// The bytes of the pack that were sent.
  private func sent(_ network: FaultyTransport) -> UInt64 {
    stage.pieces(network).reduce(0) { $0 + ($1.upperBound - $1.lowerBound) }
  }

  @Test("a device takes a pack by its lead, or says that it is damaged, for every vector", arguments: LeadVector.all)
  func vector(_ name: String) async throws {
    let vector = try LeadVector(named: name)
    let digest = NumberedFile.digest(vector.pack)
    var entry = ManifestPack(
      id: "movie", version: 7, url: "https://cdn.example.com/movie.pack", size: UInt64(vector.pack.count), sha256: digest,
      contentRoot: digest, contentSize: 1, installSize: 1, files: 3, maxFrame: 1, keyID: "e545120e613dd715", delivery: .essential,
      install: .packed)
    entry.stream = vector.stream
    let download = try #require(PlannedDownload(arriving: entry, ManifestDefaults(baseURL: StoreStage.base)))
    let network = FaultyTransport(content: { $0 == download.url ? vector.pack : vector.bytes }, pieces: { _ in nil })
    let files = MemoryFiles(MemoryDisk(.linux))
    let transfers = try await open(network, files)
    guard await transfers.arrive(download) != nil else { return #expect(vector.expect == "damaged") }
    await transfers.add([download])
    let isTaken = await transfers.finish().finished.count == 1
    await transfers.close()
    // Start and end in a lead are for others: they are read from the pack.
    let isUnread = ["file-start-changed", "file-end-changed", "file-swapped"].contains(name)
    #expect(isTaken == (vector.expect == "ok" || isUnread))
    if isTaken { #expect(try files.contents(of: "/downloads/\(download.identifier).part", limit: 1 << 20) == vector.pack) }
  }

  @Test(
    "after any crash of the disk the file is right in the end, and little is fetched again", arguments: [MemoryDisk.Kind.linux, .apple])
  func everyCrash(_ kind: MemoryDisk.Kind) async throws {
    let whole = MemoryFiles(MemoryDisk(kind))
    #expect(try await run(stage.network(), whole).finished.count == 1)
    #expect(try content(whole) == stage.pack)
    var random = SeededGenerator()
    var (crashes, most) = (0, 0 as UInt64)
    for number in 0..<150 {
      let files = MemoryFiles(MemoryDisk(kind), .stopBeforeChange(number))
      let first = stage.network()
      _ = try? await run(first, files)
      files.end()
      for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent, .emptiedContent] {
        guard number % 8 == Int.random(in: 0..<8, using: &random) || Effort.isFull else { continue }
        let disk = MemoryFiles(files.disk.after(crash))
        let second = stage.network()
        let events = try await run(second, disk)
        #expect(events.finished.count == 1, "after \(crash) before change \(number)")
        #expect(try content(disk) == stage.pack, "after \(crash) before change \(number)")
        crashes += 1

        let again = (sent(first) + sent(second)).less(stage.offer.entry.size)
        if crash == .kill { most = max(most, again) }
      }
    }
    print("\(crashes) crashes, at most \(most) of \(stage.pack.count) bytes again after a kill")
    #expect(most <= 2 * policy.unnotedSize + 4 * policy.largestPiece)
  }

  @Test("what a lead has brought is noted only when it is on the disk", arguments: [MemoryDisk.Kind.linux, .apple])
  func leadCrash(_ kind: MemoryDisk.Kind) async throws {
    var random = SeededGenerator()
    // The last one is not stopped.
    for number in 0...64 {
      let files = number == 64 ? MemoryFiles(MemoryDisk(kind)) : MemoryFiles(MemoryDisk(kind), .stopBeforeChange(number))
      files.disk.write(stage.lead, to: "/lead")
      if let transfers = try? await open(stage.network(), files) {
        #expect(await transfers.take(lead: "/lead", of: try download) || number < 64)
        if number == 64 { #expect(transfers.arriving(try download.identifier.description)?.isPlayable == true) }
        if number == 64 { files.end() }
        await transfers.close()
      }
      files.end()
      for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent, .emptiedContent] {
        guard number == 64 || number % 8 == Int.random(in: 0..<8, using: &random) || Effort.isFull else { continue }
        let (disk, network) = (MemoryFiles(files.disk.after(crash)), stage.network())
        #expect(try await run(network, disk).finished.count == 1, "after \(crash) before change \(number)")
        #expect(try content(disk) == stage.pack, "after \(crash) before change \(number)")
        if number == 64, crash == .kill { #expect(sent(network) == stage.stream.tail - stage.stream.launch) }
      }
    }
  }

  @Test("of a pack that has to make room, its launch stays, whatever stops that", arguments: [MemoryDisk.Kind.linux, .apple])
  func shortenCrash(_ kind: MemoryDisk.Kind) async throws {
    var random = SeededGenerator()
    let first = MemoryFiles(MemoryDisk(kind))
    stage.hold(after: stage.stream.launch + (2 << 20))
    let transfers = try await open(stage.network(), first)
    let pack = try #require(await transfers.arrive(try download))
    await transfers.add([try download])
    try await eventually("it does not arrive") { pack.isPlayable && pack.received > 2 << 20 }
    await transfers.close()
    stage.release()
    let disk = MemoryFiles(first.disk.after(.kill)).disk
    // The last one is not stopped.
    for number in 0...24 {
      let files = number == 24 ? MemoryFiles(disk.after(.kill)) : MemoryFiles(disk.after(.kill), .stopBeforeChange(number))
      if let transfers = try? await open(stage.network(), files) {
        let isShorter = await transfers.shorten(try download)
        if number == 24 {
          #expect(isShorter == true)
          #expect(await transfers.shorten(try download) == false)
          #expect(await transfers.arrive(try download)?.isPlayable == true)
          files.end()
        }
        await transfers.close()
      }
      files.end()
      for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent, .emptiedContent] {
        guard number == 24 || number % 4 == Int.random(in: 0..<4, using: &random) || Effort.isFull else { continue }
        let (disk, network) = (MemoryFiles(files.disk.after(crash)), stage.network())
        #expect(try await run(network, disk).finished.count == 1, "after \(crash) before change \(number)")
        #expect(try content(disk) == stage.pack, "after \(crash) before change \(number)")
        #expect(sent(network) <= stage.stream.tail - stage.stream.launch, "after \(crash) before change \(number)")
        if number == 24, crash == .kill { #expect(sent(network) == stage.stream.tail - stage.stream.launch) }
      }
    }
  }

  @Test("without space at any write nothing is lost, and with space it goes on", arguments: 1..<9)
  func fullDisk(_ number: Int) async throws {
    let disk = MemoryDisk(.linux)
    let count = Monitor(0)
    let full = MemoryFiles(
      disk,
      .failing(FileFailure(number: ENOSPC)) { call in
        guard call.operation == "write" else { return false }
        return count.withLock { count in
          count += 1
          return count > number
        }
      })
    let transfers = try await open(stage.network(), full)
    #expect(await transfers.arrive(try download) != nil)
    await transfers.add([try download])
    let events = await transfers.finish()
    await transfers.close()
    let isFull = events.contains { if case .failed(_, .noSpace, _) = $0 { true } else { false } }
    #expect(isFull && events.finished.isEmpty)
    let files = MemoryFiles(disk)
    #expect(try await run(stage.network(), files).finished.count == 1)
    #expect(try content(files) == stage.pack)
  }

  @Test("a pack that could be played when its process was killed can be, without a network", arguments: [MemoryDisk.Kind.linux, .apple])
  func killed(_ kind: MemoryDisk.Kind) async throws {
    stage.hold()
    let files = MemoryFiles(MemoryDisk(kind))
    let transfers = try await open(stage.network(), files)
    let pack = try #require(await transfers.arrive(try download))
    await transfers.add([try download])
    try await eventually("it is not playable") { pack.isPlayable }
    try await eventually("it is not noted") {
      let later = try await open(stage.network(), MemoryFiles(files.disk.after(.kill)))
      let found = await later.arrive(try download)
      await later.close()
      return found?.isPlayable == true
    }
    await transfers.close()
  }

  @Test("packs that arrive at the same time do not disturb each other")
  func several() async throws {
    let files = MemoryFiles(MemoryDisk(.linux))
    let network = FaultyTransport(
      content: { [stage] in $0.hasSuffix(".lead") ? stage.lead : stage.pack }, pieces: { _ in nil })
    let transfers = try await open(network, files)
    // The same bytes under other names.
    let downloads = try (0..<6).map { number in
      var entry = stage.offer.entry
      entry.id = "game-\(number)"
      return try #require(PlannedDownload(arriving: entry, ManifestDefaults(baseURL: StoreStage.base)))
    }
    for download in downloads { _ = await transfers.arrive(download) }
    await transfers.add(downloads)
    #expect(await transfers.finish().finished.count == 6)
    for download in downloads {
      #expect(try files.contents(of: "/downloads/\(download.identifier).part", limit: 8 << 20) == stage.pack)
    }
    await transfers.close()
  }

  @Test("a later process that only downloads fetches what is missing")
  func later() async throws {
    stage.hold(after: stage.stream.launch + (256 << 10))
    let files = MemoryFiles(MemoryDisk(.linux))
    let transfers = try await open(stage.network(), files)
    let pack = try #require(await transfers.arrive(try download))
    await transfers.add([try download])
    try await eventually("nothing arrives") { pack.received > stage.stream.launch + (192 << 10) }
    await transfers.close()
    let here = pack.received
    stage.release()
    let network = stage.network()
    let others = try await open(network, files)
    await others.add([try download])
    #expect(await others.finish().finished.count == 1)
    await others.close()
    #expect(try content(files) == stage.pack)
    #expect(network.calls.isEmpty && sent(network) == stage.offer.entry.size - here)
  }

  @Test("what a download of the whole file has brought counts where its digests are right")
  func wrongPart() async throws {
    let files = MemoryFiles(MemoryDisk(.linux))
    try await open(stage.network(), files).close()
    var part = Array(stage.pack[..<1_000_000])
    part[500_000] ^= 1
    files.disk.write(part, to: try "/downloads/\(download.identifier).part")
    let network = stage.network()
    #expect(try await run(network, files).finished.count == 1)
    #expect(try content(files) == stage.pack)
    #expect(sent(network) < stage.stream.tail - 900_000 && stage.pieces(network).contains { $0.contains(500_000) })
  }

  @Test("a map, digests or part that somebody changed is not believed", arguments: ["map", "leaves", "part"])
  func changed(_ name: String) async throws {
    stage.hold(after: stage.stream.launch + (256 << 10))
    let files = MemoryFiles(MemoryDisk(.linux))
    let transfers = try await open(stage.network(), files)
    let pack = try #require(await transfers.arrive(try download))
    await transfers.add([try download])
    try await eventually("nothing arrives") { pack.received > stage.stream.launch }
    await transfers.close()
    stage.release()
    let path = try "/downloads/\(download.identifier).\(name)"
    let disk = files.disk
    var bytes = try #require(disk.bytes(of: path))
    switch name {
    case "part": bytes.removeLast(bytes.count / 2)
    case "leaves": bytes[bytes.count - 1] ^= 1
    default: bytes.append(7)
    }
    disk.write(bytes, to: path)
    #expect(try await run(stage.network(), files).finished.count == 1)
    #expect(try content(files) == stage.pack)
  }
}
