import Foundation
import TestSupport
import Testing

@testable import PackApp
@testable import PackReading
@testable import PackRuntime
@testable import PackStore

@Suite("A request by tags that is stopped at any operation", .bounded)
struct TagCrashTests {
  private func live(as session: String, on files: MemoryFiles, _ transport: FaultyTransport) async throws(PackError) -> PackLibrary {
    let bytes = (0..<32).map { UInt8($0) }
    let store = try await AssetStore(
      root: "/store", keys: KeyRing(try PackKey(bytes: bytes.byteSpan)), trusting: CrashSample.trusted, lowestVersion: 0,
      policy: StorePolicy(freeSpaceMargin: 0), files: files, clock: StageClock(), process: StoreProcess(session: session) { $0 == session },
      backend: CryptoBackends.standard)
    var limits = TransferPolicy()
    limits.freeSpaceMargin = 0
    let transfers = try await Transfers(directory: "/downloads", transport: transport, policy: limits, files: files, clock: FastClock())
    let clock = DeliveryStageClock(waits: true)
    let state = try SharedState(directory: "/shared", files: files, clock: clock)
    do throws(PackError) {
      return try await PackLibrary(
        AppDelivery(state: state, store: store), service: TransferService(state, transfers), exports: FileExports("/exports", files: files),
        PackLibrary.Options(),
        sleep: { seconds in
          try? await Task.sleep(for: .milliseconds(1))
          clock.advance(Int64(clamping: seconds))
        },
        source: { (_) throws(PackError) in throw PackError(.offline, "there is no network") })
    } catch {
      await transfers.close()
      throw error
    }
  }

  /// Does the work of a process until its files stop working.
  private func work(_ files: MemoryFiles, _ transport: FaultyTransport, _ manifest: SignedManifest) async {
    guard let packs = try? await live(as: "one", on: files, transport) else { return }
    let task = Task {
      try await packs.store.adopt(manifest)
      try await packs.store.setPreservation(0, tags: ["level"])
      let access = try await TagRequest(["level"], of: packs).begin()
      withExtendedLifetime(access) {}
    }
    // Ends the waiting when the process is stopped.
    let watch = Task {
      while files.struck == nil, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
      task.cancel()
    }
    _ = await task.result
    watch.cancel()
    await packs.loop.stop()
  }

  /// Returns two packs with one tag, their manifest, and the content of a server.
  private func release() async throws -> (sample: CrashSample, manifest: SignedManifest, content: @Sendable (String) -> [UInt8]) {
    let sample = try await CrashSample.shared()
    var entries = CrashSample.ids.compactMap { sample.entries[$0]?[1] }
    for index in entries.indices { entries[index].tags = ["level"] }
    let signed = try Manifest(
      version: 1, issued: nil, expires: ManifestTime(secondsSince1970: 1_900_000_000)!, budget: nil, packs: entries
    ).signedBytes()
    let manifest = try SignedManifest(signed: signed, signatures: [try SignedManifest.signature(of: signed, by: StoreStage.signer(0))])
    let files = Dictionary(uniqueKeysWithValues: entries.map { ($0.url, sample.packs[$0.id]?[1] ?? []) })
    return (sample, manifest, { files[$0] ?? [] })
  }

  @Test("if any single file operation fails, the request throws its error, and the next one gets access")
  func everyFailure() async throws {
    let (sample, manifest, content) = try await release()
    let alone = MemoryFiles(MemoryDisk())
    await work(alone, FaultyTransport(content: content), manifest)
    #expect(alone.callCount > 200)
    var operations = Effort.Operations(of: alone.callCount, 40)
    var isReached = true
    while let number = operations.next(isReached: isReached) {
      let place: Comment = "operation \(number)"
      let files = MemoryFiles(MemoryDisk(), .fail(number, number % 3 == 0 ? .fullDisk : .inputOutput))
      let transport = FaultyTransport(content: content)
      var access: TagAccess?
      for _ in 0..<3 where access == nil {
        guard let packs = try? await live(as: "one", on: files, transport) else { continue }
        if (try? await packs.store.adopt(manifest)) == nil { _ = try? await packs.store.adopt(manifest) }
        let request = TagRequest(["level"], of: packs)
        do throws(PackError) {
          access = try await request.begin()
        } catch {
          #expect(files.struck != nil, place)
          access = try? await request.begin()
        }
        await packs.loop.stop()
      }
      #expect(access?.packs.map(\.installed.id) == CrashSample.ids, place)
      for pack in access?.packs ?? [] {
        // The injected failure may occur in this read.
        let bytes = try (try? pack.read("index.html")) ?? pack.read("index.html")
        #expect(bytes == sample.trees[pack.installed.id]?[1]?.files["index.html"]?.bytes, place)
      }
      isReached = files.struck != nil
    }
  }

  @Test("wherever a process stops, the next one gets access, and no mark of the ended process counts")
  func everyChange() async throws {
    let (sample, manifest, content) = try await release()
    let alone = MemoryFiles(MemoryDisk())
    await work(alone, FaultyTransport(content: content), manifest)
    #expect(alone.changeCount > 50)
    var changes = Effort.Operations(of: alone.changeCount, 12)
    var isReached = true
    while let number = changes.next(isReached: isReached) {
      let stopped = MemoryFiles(MemoryDisk(), .stopBeforeChange(number))
      await work(stopped, FaultyTransport(content: content), manifest)
      isReached = stopped.struck != nil
      stopped.end()
      for crash in [MemoryDisk.Crash.kill, .powerCut] {
        let place: Comment = "after \(crash) before change \(number)"
        let disk = stopped.disk.after(crash)
        let transport = FaultyTransport(content: content)
        let packs = try await live(as: "two", on: MemoryFiles(disk), transport)
        try await packs.store.adopt(manifest)
        try await packs.store.setPreservation(0, tags: ["level"])
        let access = try await TagRequest(["level"], of: packs).begin()
        #expect(access.packs.map(\.installed.id) == CrashSample.ids, place)
        for pack in access.packs {
          #expect(try pack.read("index.html") == sample.trees[pack.installed.id]?[1]?.files["index.html"]?.bytes, place)
        }
        access.end()
        // A plan removes what the ended process left of packs that it had installed, and the first one may not have come to that.
        await packs.resume()
        // A plan that begins after the purge brings again what is gone: none begins, and one that has begun ends.
        await packs.loop.stop()
        await packs.resume()
        #expect(try await packs.store.purge(toFree: .max).removed.count == 2, place)
        #expect(disk.tree(below: "/store/uses").isEmpty, place)
        #expect(disk.tree(below: "/store/packs").isEmpty, place)
        #expect(disk.tree(below: "/shared/incoming").isEmpty, place)
        #expect(disk.tree(below: "/downloads").filter { $0.key.hasSuffix(".part") || $0.key.hasSuffix(".tag") }.isEmpty, place)
      }
    }
  }
}
