import TestSupport
import Testing

@Suite("Versions that deltas made, in a store that is damaged or full", .bounded)
struct StoreDeltaCrashTests {
  /// What is wrong on the disk.
  enum Damage: String, CaseIterable, CustomTestStringConvertible {
    case base, made, both, noBase, notMade

    var testDescription: String { rawValue }

    /// The version of the packed pack that is left.
    var left: UInt64? {
      switch self {
      case .base, .noBase: 2
      case .made, .notMade: 1
      case .both: nil
      }
    }
  }

  /// Returns a disk on which version 2 of both packs runs, made by deltas over version 1.
  private static func base(_ kind: MemoryDisk.Kind, _ sample: CrashSample) async throws -> MemoryDisk {
    let disk = MemoryDisk(kind)
    sample.fetch(to: disk)
    let session = CrashSession(disk, "before")
    let store = try await session.open()
    try await sample.release(1, to: store)
    try await sample.deliverDeltas(2, to: store)
    for id in CrashSample.ids { try await store.activate(id, onTrial: false) }
    session.files.end()
    return disk.after(.zeroedContent)
  }

  /// Changes or removes files of the packed pack.
  private static func damage(_ damage: Damage, _ disk: MemoryDisk) {
    for (name, bytes) in disk.tree(below: "/store/packs") {
      let isMade = name.contains("@2-")
      let path = "/store/packs/\(name)"
      guard name.hasSuffix(".pack"), var bytes else { continue }
      switch damage {
      case .noBase where !isMade: disk.remove(path)
      case .notMade where isMade: disk.remove(path)
      case .both,
        .base where !isMade, .made where isMade:
        bytes[bytes.count / 2] ^= 1
        disk.write(bytes, to: path)
      default: break
      }
    }
  }

  /// Returns what is wrong with the running version of the packed pack.
  private static func complaint(_ store: AssetStore, _ expected: UInt64?, _ sample: CrashSample) async throws(PackError) -> String? {
    let id = CrashSample.packed
    let version = try await store.current(id)?.version
    guard version == expected else { return "\(version.map { "\($0)" } ?? "nothing") runs" }
    guard let version, let tree = sample.trees[id]?[version] else { return nil }
    let opened = try await store.open(id)
    for (path, file) in tree.files where try opened.read(path) != file.bytes { return "\(path) differs" }
    return nil
  }

  @Test("a repair that is stopped at any change is finished by the next one, and what runs is whole", arguments: Damage.allCases)
  func repair(damage: Damage) async throws {
    let sample = try await CrashSample.shared().withDeltas
    var stops = 0
    for kind in [MemoryDisk.Kind.linux, .apple] {
      let base = try await Self.base(kind, sample)
      Self.damage(damage, base)
      let alone = MemoryFiles(base.after(.kill))
      _ = await failure { () async throws(PackError) in _ = try await CrashSession(alone, "run").open().reconcile(.thorough) }
      var changes = Effort.Operations(of: alone.changeCount, 3, for: "\(damage), \(kind)")
      var isReached = true
      while let number = changes.next(isReached: isReached) {
        let disk = base.after(.kill)
        let files = MemoryFiles(disk, .stopBeforeChange(number))
        _ = await failure { () async throws(PackError) in _ = try await CrashSession(files, "run").open().reconcile(.thorough) }
        isReached = files.struck != nil
        files.end()
        for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent] {
          stops += 1
          let disk = disk.after(crash)
          let store = try await CrashSession(disk, "next").open()
          try await store.reconcile(.thorough)
          let complaint = try await Self.complaint(store, damage.left, sample)
          #expect(complaint == nil, "stopped before change \(number), \(crash)")
          #expect(try await store.reconcile(.thorough) == [])
          #expect(try await store.plan().downloads.map(\.id) == (damage.left == 2 ? [] : [CrashSample.packed]))
          // The full pack always goes, and is enough.
          sample.fetch(to: disk)
          try await store.install(sample.download(CrashSample.packed, 2), as: CrashSample.packed)
          try await store.activate(CrashSample.packed, onTrial: false)
          #expect(try await Self.complaint(store, 2, sample) == nil)
        }
      }
    }
    #expect(stops > 12)
    print("delta repair: \(damage): \(stops) crashes looked at")
  }

  @Test(
    "on a full disk the old version runs, the error says how many bytes are missing, and with them the delta is installed",
    arguments: CrashSample.ids)
  func fullDisk(id: String) async throws {
    let sample = try await CrashSample.shared().withDeltas
    let whole = MemoryDisk(.apple)
    sample.fetch(to: whole)
    do {
      let store = try await CrashSession(whole, "before").open()
      try await sample.release(1, to: store)
      try await store.adopt(sample.manifest(2))
      for id in CrashSample.ids { try await store.setPreservation(1, of: id) }
    }
    var succeeded: UInt64?
    for blocks in 0..<UInt64(40) where succeeded == nil {
      let tight = whole.remounted(.init(syncsWhole: false, canClone: true, capacity: whole.used + blocks * 4096))
      let store = try await CrashSession(tight, "run").open(freeSpaceMargin: 0)
      let error = await failure { () throws(PackError) in
        try await store.install(sample.deltaDownload(id, 1), as: id, taking: .copying)
      }
      if error == nil { succeeded = blocks } else { #expect(error?.code == .noSpace, "\(blocks) blocks: \(error?.description ?? "")") }
      #expect(try await store.current(id)?.version == 1)
      #expect(tight.tree(below: "/store/staging").isEmpty)
      #expect(try await store.installed().count == (error == nil ? 3 : 2))
      #expect(try await store.reconcile(.thorough) == [])
    }
    // The files of a tree, its directories, and a record that is replaced. There must be room for the largest file that may be made of a delta.
    #expect(succeeded.map { $0 <= (id == CrashSample.packed ? 24 : 12) } == true)
  }
}
