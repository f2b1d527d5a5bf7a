import Foundation
import TestSupport
import Testing

@testable import PackStore

@Suite("A version that opens later, on a device that is stopped", .bounded)
struct StoreOpenerCrashTests {
  /// Version 1, and version 2, which is sealed.
  private struct Sample {
    let old: SealedOffer
    let new: SealedOffer
    let manifests: [SignedManifest]
    let files: [String: [UInt8]]
  }

  private static func sample() async throws -> Sample {
    let stage = try StoreStage()
    let (old, new) = (try await stage.offer("core", 1, isSealed: false), try await stage.offer("core", 2, isSealed: true))
    let files = try ["1": old, "2": new].mapValues { try SystemFiles().contents(of: $0.offer.path, limit: 1 << 20) }
    return Sample(old: old, new: new, manifests: [try stage.manifest(1, of: [old]), try stage.manifest(2, of: [new])], files: files)
  }

  private static func install(_ name: String, _ sample: Sample, on disk: MemoryDisk, by store: AssetStore) async throws(PackError) {
    disk.write(sample.files[name] ?? [], to: "/downloads/\(name)")
    try await store.install("/downloads/\(name)", as: "core", taking: .copying)
  }

  /// A disk on which version 1 runs, and version 2 is sealed.
  private static func base(_ sample: Sample, _ kind: MemoryDisk.Kind) async throws -> MemoryDisk {
    let disk = MemoryDisk(kind)
    let session = CrashSession(disk, "before")
    let store = try await session.open()
    try await store.adopt(sample.manifests[0])
    try await install("1", sample, on: disk, by: store)
    try await store.activate("core", onTrial: false)
    try await store.adopt(sample.manifests[1])
    try await install("2", sample, on: disk, by: store)
    session.files.end()
    return disk.after(.zeroedContent)
  }

  private static func unseal(_ sample: Sample, by files: MemoryFiles) async -> PackError? {
    await failure { () throws(PackError) in
      let store = try await CrashSession(files, "run").open()
      try await store.unseal("core", with: sample.new.opener)
      try await store.activate("core", onTrial: false)
    }
  }

  @Test("runs as it is or opened, and opens again without a download, wherever opening it was stopped")
  func everyStop() async throws {
    let sample = try await Self.sample()
    var random = SeededGenerator()
    var (stops, runs) = (0, 0)
    for kind in [MemoryDisk.Kind.linux, .apple] {
      let base = try await Self.base(sample, kind)
      let alone = MemoryFiles(base.after(.kill))
      #expect(await Self.unseal(sample, by: alone) == nil)
      alone.end()
      stops += alone.changeCount
      var changes = Effort.Operations(of: alone.changeCount, 20, for: "opening, \(kind)")
      var isReached = true
      while let number = changes.next(isReached: isReached) {
        let disk = base.after(.kill)
        let files = MemoryFiles(disk, .stopBeforeChange(number))
        _ = await Self.unseal(sample, by: files)
        files.end()
        isReached = files.struck != nil
        guard let struck = files.struck else { break }
        var crashes: [MemoryDisk.Crash] = [.powerCut, .kill, .zeroedContent, .emptiedContent]
        for _ in 0..<Effort.number(quick: 1, full: 8) { crashes.append(.luck(seed: random.next())) }
        for crash in crashes {
          runs += 1
          try await Self.inspect(disk.after(crash), sample, "\(kind), stopped before \(struck), \(crash)")
        }
      }
    }
    #expect(stops > 2)
    print("crash points: opening: \(stops) stops, \(runs) crashes looked at")
  }

  /// Checks that the version before runs or the new one does, and that the new one opens.
  private static func inspect(_ disk: MemoryDisk, _ sample: Sample, _ place: Comment) async throws {
    let store = try await CrashSession(disk, "next").open()
    try await store.reconcile()
    let version = try await store.current("core")?.version
    #expect(version == 1 || version == 2, place)
    let tree = version == 1 ? sample.old.offer.tree : sample.new.offer.tree
    #expect(try await store.open("core").read("index.html") == tree.files["index.html"]?.bytes, place)
    if try await !store.sealed().isEmpty { #expect(version == 1, place) }
    try await store.unseal("core", with: sample.new.opener)
    try await store.activate("core", onTrial: false)
    #expect(try await store.open("core").read("index.html") == sample.new.offer.tree.files["index.html"]?.bytes, place)
    #expect(try await store.sealed().isEmpty, place)
  }

  @Test("stays sealed or opens if any single operation fails, and opens after that")
  func everyFailure() async throws {
    let sample = try await Self.sample()
    for failing in FileFailure.samples {
      let base = try await Self.base(sample, .linux)
      let alone = MemoryFiles(base.after(.kill))
      _ = await Self.unseal(sample, by: alone)
      alone.end()
      var calls = Effort.Operations(of: alone.callCount, 10, for: "opening, \(failing.text)")
      var isReached = true
      while let number = calls.next(isReached: isReached) {
        let disk = base.after(.kill)
        let files = MemoryFiles(disk, .fail(number, failing))
        let error = await Self.unseal(sample, by: files)
        files.end()
        isReached = files.struck != nil
        guard let struck = files.struck else { break }
        if let error { #expect([.cannotRead, .cannotWrite, .noSpace, .missingInput].contains(error.code), "\(struck): \(error)") }
        try await Self.inspect(disk.after(.kill), sample, "\(failing.text) at \(struck)")
      }
    }
  }
}
