import Foundation
import TestSupport
import Testing

@Suite("A store that two sessions use at once", .bounded)
struct StoreContentionTests {
  private static let rounds = Effort.number(quick: 3, full: 60)
  private static let steps = 60

  /// The errors that an operation may throw because the other session changed the store.
  private static let expected: Set<PackError.Code> = [
    .inUse, .notInstalled, .purged, .versionFailed, .staleConfirmation, .notConfirmed, .manifestRollback,
    // The other session adopted the next manifest in between.
    .wrongPack,
  ]

  @Test("is intact after random concurrent steps, and every open pack is readable in between")
  func random() async throws {
    let sample = try await CrashSample.shared()
    var random = SeededGenerator(for: "two sessions on one store")
    for round in 0..<Self.rounds {
      let disk = MemoryDisk(round % 2 == 0 ? .linux : .apple)
      sample.fetch(to: disk)
      try await sample.release(1, to: try await store(on: disk, "one"))
      let seeds = [random.next(), random.next()]
      async let first = work(on: disk, as: "one", sample, seed: seeds[0])
      async let second = work(on: disk, as: "two", sample, seed: seeds[1])
      let complaints = try await first + second
      #expect(complaints.isEmpty, "round \(round): \(complaints.joined(separator: "; "))")
      let last = try await store(on: disk, "one")
      try await last.reconcile()
      #expect(try await last.reconcile(.thorough).isEmpty)
      for folder in ["staging", "trash", "uses"] { #expect(disk.tree(below: "/store/\(folder)").isEmpty, "\(folder)") }
    }
  }

  /// Does random steps, and returns what went wrong.
  private func work(on disk: MemoryDisk, as name: String, _ sample: CrashSample, seed: UInt64) async throws -> [String] {
    var random = SeededGenerator(seed: seed)
    let store = try await store(on: disk, name)
    var held: [OpenedPack] = []
    var token: BootToken?
    var complaints: [String] = []
    for _ in 0..<Self.steps {
      let id = CrashSample.ids[Int(random.next() % 2)]
      let version = random.next() % 3 + 1
      let number = random.next() % 14
      do throws(PackError) {
        switch number {
        case 0: try await store.adopt(sample.manifest(version))
        case 1...3:
          guard let offered = await store.manifest?.manifest.version else { continue }
          try await store.install(sample.download(id, offered), as: id, taking: .copying)
        case 4: token = try await store.activate(id)
        case 5: try await store.activate(id, onTrial: false)
        case 6: if let token { try await store.confirm(token) }
        case 7: try await store.rollback(id, reason: "a test")
        case 8: try await store.purge(toFree: 4096)
        case 9: try await store.remove(id)
        case 10: try await store.reconcile()
        case 11: _ = try await store.usage()
        case 12: held.removeAll()
        default:
          let opened = try await store.open(id)
          held.append(opened)
          if let tree = sample.trees[id]?[opened.installed.version] {
            for (path, file) in tree.files where try opened.read(path) != file.bytes { complaints.append("\(path) of \(id) differs") }
          }
        }
        // Open packs stay readable, whatever the other session does.
        for opened in held { _ = try opened.read("index.html") }
      } catch {
        if !Self.expected.contains(error.code) { complaints.append("step \(number) of \(name): \(error.code) \(error)") }
      }
    }
    return complaints
  }

  private func store(on disk: MemoryDisk, _ name: String) async throws -> AssetStore {
    let bytes = (0..<32).map { UInt8($0) }
    let keys = KeyRing(try PackKey(bytes: bytes.byteSpan))
    return try await AssetStore(
      root: "/store", keys: keys, trusting: CrashSample.trusted, lowestVersion: 0, policy: StorePolicy(), files: MemoryFiles(disk),
      clock: RunningClock(), process: StoreProcess(session: name) { $0 == "one" || $0 == "two" }, backend: CryptoBackends.standard)
  }
}

/// A clock with a constant time of day and real waits.
private struct RunningClock: DeviceClock {
  var secondsSince1970: Int64 { 1_795_000_000 }
  func pause(for duration: Duration) { SystemClock().pause(for: duration) }
}
