import Foundation
import TestSupport
import Testing

@Suite("Repair of a store", .bounded)
struct StoreRepairTests {
  let stage: StoreStage

  init() throws {
    stage = try StoreStage()
  }

  private func kinds(_ store: AssetStore, _ depth: ReconcileDepth = .quick) async throws -> [StoreFinding.Kind] {
    let findings = try await store.reconcile(depth)
    #expect(findings.allSatisfy { $0.isRepaired && !$0.text.isEmpty })
    #expect(try await store.reconcile(depth) == [], "it finds something again")
    return findings.map(\.kind)
  }

  private func item(_ offer: StoreStage.Offer, _ mode: InstallMode = .packed) -> String {
    "\(offer.entry.id)@\(offer.entry.version)-\(offer.entry.sha256.prefix(8).hex)\(mode == .packed ? ".pack" : "")"
  }

  @Test("a directory with other content is refused and not changed")
  func notAStore() async throws {
    try stage.directory.write([1], to: "store/letter.txt")
    #expect(await failure { () async throws(PackError) in _ = try await stage.open() }?.code == .notAStore)
    #expect(await failure { () async throws(PackError) in _ = try await stage.open() }?.advice == .chooseDirectory)
    #expect(stage.directory.names(in: "store") == ["letter.txt"])
    try FileManager.default.removeItem(atPath: stage.directory("store"))
    try stage.directory.write([1], to: "store")
    #expect(await failure { () async throws(PackError) in _ = try await stage.open() }?.code == .cannotWrite)
  }

  @Test(
    "a store of a later release and an invalid marker are refused",
    arguments: [("packer-store/2\n", PackError.Code.unsupported), ("", .notAStore), ("hello", .notAStore)])
  func marker(text: String, code: PackError.Code) async throws {
    _ = try await stage.open()
    try stage.directory.write(Array(text.utf8), to: "store/store")
    #expect(await failure { () async throws(PackError) in _ = try await stage.open() }?.code == code)
  }

  @Test("a damaged version that another process installs again during a thorough repair stays")
  func replacedMeanwhile() async throws {
    let (_, old, _) = try await stage.updatable()
    let place = "store/packs/\(item(old))"
    let sound = try #require(stage.directory.bytes(of: place))
    try stage.directory.write(sound.reversed(), to: place)
    let directory = stage.directory
    let reads = Monitor(0)
    let files = FaultyFiles { call in
      if call.operation == .open, call.name.contains("packs/core@") { reads.withLock { $0 += 1 } }
      // The content was found to be damaged, and the record is about to be changed.
      guard call.operation == .lock, reads.withLock({ $0 }) > 1 else { return nil }
      _ = try? directory.write(sound, to: "new")
      try? FileManager.default.removeItem(atPath: directory(place))
      try? FileManager.default.moveItem(atPath: directory("new"), toPath: directory(place))
      return nil
    }
    let store = try await stage.open(as: "repairing", files: files)
    #expect(try await store.reconcile(.thorough) == [])
    #expect(reads.withLock { $0 } > 1)
    #expect(stage.directory.bytes(of: place) == sound)
    #expect(try await store.current("core")?.version == 1)
  }

  @Test("a store that lost its marker gets it back, and what only looks like one is refused")
  func lostMarker() async throws {
    let (store, _, _) = try await stage.updatable()
    let before = try stage.snapshot()
    try FileManager.default.removeItem(atPath: stage.directory("store/store"))
    let again = try await stage.open(as: "again")
    #expect(try stage.snapshot() == before)
    #expect(try await again.current("core")?.version == 1)
    #expect(try await again.reconcile(.thorough) == [])
    for (name, text) in [("state/core", "not a record"), ("packs/letter.txt", "Dear"), ("manifest", "{}"), ("memory", "")] {
      try FileManager.default.removeItem(atPath: stage.root)
      for part in ["state", "packs", "staging", "trash", "uses"] { try stage.directory.makeDirectory("store/\(part)") }
      try stage.directory.write(Array(text.utf8), to: "store/\(name)")
      #expect(await failure { () async throws(PackError) in _ = try await stage.open() }?.code == .notAStore, "\(name)")
    }
    withExtendedLifetime(store) {}
  }

  /// Puts something else in the place of a file or directory of the store.
  private func replace(_ name: String, with other: String) throws {
    let path = stage.directory("store/\(name)")
    try FileManager.default.removeItem(atPath: path)
    switch other {
    case "a directory": try stage.directory.write([1], to: "store/\(name)/inside")
    case "a pipe": #expect(mkfifo(path, 0o644) == 0)
    case "a link": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: stage.directory("elsewhere"))
    default: try stage.directory.write([1], to: "store/\(name)")
    }
  }

  @Test(
    "a directory, a pipe or a link in the place of a record is moved out of the way, and the record is rebuilt",
    arguments: ["a directory", "a pipe", "a link"])
  func otherKindOfRecord(other: String) async throws {
    let (store, _, _) = try await stage.updatable()
    try stage.directory.write([7], to: "elsewhere")
    try replace("state/core", with: other)
    #expect(try await store.damagedRecords() == ["core"])
    #expect(await failure { () async throws(PackError) in _ = try await store.open("core") }?.advice == .reconcileStore)
    #expect(try await kinds(store) == [.damagedRecord])
    #expect(try await store.current("core")?.version == 1)
    #expect(try await store.open("core").installed.version == 1)
    #expect(stage.directory.bytes(of: "elsewhere") == [7], "the target of the link stays")
  }

  @Test("the same for a record of a pack without content", arguments: ["a directory", "a pipe", "a link"])
  func otherKindOfEmptyRecord(other: String) async throws {
    let (store, _, _) = try await stage.updatable()
    try stage.directory.write([7], to: "store/state/nobody")
    try replace("state/nobody", with: other)
    #expect(try await kinds(store) == [.damagedRecord])
    #expect(stage.directory.names(in: "store/state") == ["core"])
  }

  @Test(
    "the same for the manifest, the memory, and the store's directories",
    arguments: [
      ("manifest", "a directory"), ("manifest", "a pipe"), ("memory", "a directory"), ("memory", "a pipe"), ("uses", "a file"),
      ("staging", "a file"), ("trash", "a file"), ("trash", "a pipe"), ("staging", "a link"),
    ])
  func otherKind(name: String, other: String) async throws {
    let (store, _, new) = try await stage.updatable()
    try replace(name, with: other)
    _ = try await store.reconcile()
    #expect(try await store.reconcile() == [], "it finds something again")
    #expect(try await store.open("core").installed.version == 1)
    try await store.adopt(stage.manifest(3, [new]))
    try await store.install(new.path, as: "core", taking: .copying)
    #expect(try await store.reconcile(.thorough) == [])
  }

  @Test("a store whose creation was interrupted is completed")
  func halfMade() async throws {
    for names in [[], ["state"], ["state", "packs", "staging", "trash", "uses", "lock"]] {
      try? FileManager.default.removeItem(atPath: stage.root)
      for name in names { try stage.directory.makeDirectory("store/\(name)") }
      if names.contains("lock") {
        try FileManager.default.removeItem(atPath: stage.directory("store/lock"))
        try stage.directory.write([], to: "store/lock")
        try stage.directory.write([1], to: "store/staging/gone-1")
        stage.end("gone")
      }
      let store = try await stage.open()
      #expect(try await kinds(store) == (names.contains("lock") ? [.unfinished] : []))
      #expect(stage.directory.bytes(of: "store/store") == Array("packer-store/1\n".utf8))
    }
  }

  @Test("nothing is found if nothing is wrong", arguments: ReconcileDepth.allCases)
  func nothing(depth: ReconcileDepth) async throws {
    let (store, _, new) = try await stage.updatable(install: .unpacked)
    try await store.install(new.path, as: "core")
    let before = try stage.snapshot()
    #expect(try await store.reconcile(depth) == [])
    #expect(try stage.snapshot() == before)
  }

  @Test("leftovers of ended processes are removed, those of running processes stay")
  func leftovers() async throws {
    let (store, _, _) = try await stage.updatable()
    let before = try stage.snapshot()
    stage.end("gone")
    for name in [
      "staging/gone-1", "staging/gone-2.pack", "staging/gone-3/a/b", "trash/gone-4/c", "trash/gone-5",
      "uses/core@1-0123456789abcdef.pack~gone",
    ] {
      try stage.directory.write([1], to: "store/\(name)")
    }
    try stage.directory.write([1], to: "store/staging/busy-1/a")
    let found = try await kinds(store)
    #expect(found == [.unfinished, .unfinished, .unfinished, .halfRemoved, .halfRemoved, .staleUse])
    #expect(stage.directory.names(in: "store/staging") == ["busy-1"])
    try FileManager.default.removeItem(atPath: stage.directory("store/staging/busy-1"))
    #expect(try stage.snapshot() == before)
  }

  @Test("files that do not belong in a store are removed")
  func foreign() async throws {
    let (store, _, _) = try await stage.updatable()
    let before = try stage.snapshot()
    for name in ["packs/.DS_Store", "packs/core@1", "state/UPPER", "state/.x", "packs/core@01-0123456789abcdef.pack"] {
      try stage.directory.write([1], to: "store/\(name)")
    }
    #expect(Set(try await kinds(store)) == [.foreign])
    #expect(try stage.snapshot() == before)
  }

  @Test("directories that the system removed are created again")
  func parts() async throws {
    let (store, _, new) = try await stage.updatable()
    for name in ["staging", "trash", "uses"] { try FileManager.default.removeItem(atPath: stage.directory("store/\(name)")) }
    #expect(try await kinds(store) == [])
    try await store.install(new.path, as: "core")
    _ = try await store.open("core")
  }

  @Test("complete content without a record is installed if the manifest names it, otherwise removed", arguments: InstallMode.allCases)
  func orphans(mode: InstallMode) async throws {
    let (store, old, new) = try await stage.updatable(install: mode)
    try await store.install(new.path, as: "core", taking: .copying)
    let record = try #require(stage.directory.bytes(of: "store/state/core"))
    try await store.remove("core")
    #expect(stage.directory.names(in: "store/packs") == [])
    // As after a crash between the two steps.
    for offer in [old, new] {
      let scratch = try await StoreStage().open()
      _ = scratch
      if mode == .packed {
        try FileManager.default.copyItem(atPath: offer.path, toPath: stage.directory("store/packs/\(item(offer))"))
      } else {
        try await PackRuntimeTests.open(offer.path).unpack(to: stage.directory("store/packs/\(item(offer, .unpacked))"))
      }
    }
    let findings = try await store.reconcile()
    #expect(findings.map(\.kind) == [.orphaned, .adopted])
    #expect(try await store.reconcile(.thorough) == [])
    #expect(try await store.installed().map(\.version) == [2])
    #expect(try await store.current("core") == nil)
    try await store.activate("core", onTrial: false)
    #expect(try await store.open("core").read("index.html") == Array("core 2 0".utf8))
    withExtendedLifetime(record) {}
  }

  @Test("content without a record that is damaged is removed", arguments: InstallMode.allCases)
  func damagedOrphan(mode: InstallMode) async throws {
    let (store, _, new) = try await stage.updatable(install: mode)
    if mode == .packed {
      var bytes = try #require(stage.directory.bytes(of: "core-2-0.pack"))
      bytes[bytes.count / 2] ^= 1
      try stage.directory.write(bytes, to: "store/packs/\(item(new))")
    } else {
      let name = "store/packs/\(item(new, .unpacked))"
      try await PackRuntimeTests.open(new.path).unpack(to: stage.directory(name))
      try stage.directory.write([2], to: "\(name)/run", mode: 0o755)
    }
    #expect(try await kinds(store) == [.orphaned])
    #expect(try await store.installed().map(\.version) == [1])
  }

  @Test("failed content is not adopted again")
  func failedOrphan() async throws {
    let (store, _, new) = try await stage.updatable()
    try await store.install(new.path, as: "core", taking: .copying)
    try await store.activate("core")
    try await store.rollback("core", reason: "blank page")
    try FileManager.default.copyItem(atPath: new.path, toPath: stage.directory("store/packs/\(item(new))"))
    #expect(try await kinds(store) == [.orphaned])
  }

  @Test("content that the system removed is detected, and the previous version runs if there is one", arguments: InstallMode.allCases)
  func missing(mode: InstallMode) async throws {
    let (store, old, new) = try await stage.updatable(install: mode)
    try await store.install(new.path, as: "core", taking: .copying)
    try await store.confirm(try await store.activate("core"))
    try FileManager.default.removeItem(atPath: stage.directory("store/packs/\(item(new, mode))"))
    #expect(await failure { () async throws(PackError) in _ = try await store.open("core") }?.code == .purged)
    #expect(try await kinds(store) == [.missing])
    #expect(try await store.open("core").read("index.html") == Array("core 1 0".utf8))
    try FileManager.default.removeItem(atPath: stage.directory("store/packs/\(item(old, mode))"))
    #expect(try await kinds(store) == [.missing])
    #expect(await failure { () async throws(PackError) in _ = try await store.open("core") }?.code == .purged)
    #expect(try await store.plan().downloads.map(\.version) == [2])
    try await store.install(new.path, as: "core")
    try await store.activate("core", onTrial: false)
    #expect(try await store.open("core").read("index.html") == Array("core 2 0".utf8))
  }

  @Test("a trial whose content is gone ends without being recorded as failed")
  func missingTrial() async throws {
    let (store, _, new) = try await stage.updatable()
    try await store.install(new.path, as: "core", taking: .copying)
    try await store.activate("core")
    try FileManager.default.removeItem(atPath: stage.directory("store/packs/\(item(new))"))
    #expect(try await kinds(store) == [.missing])
    #expect(try await store.current("core")?.version == 1)
    #expect(try await store.plan().failed == [])
  }

  @Test("a truncated pack is detected by its size, one with a flipped bit by its digest", arguments: InstallMode.allCases)
  func damaged(mode: InstallMode) async throws {
    let (store, old, _) = try await stage.updatable(install: mode)
    let name = "store/packs/\(item(old, mode))"
    if mode == .packed {
      var bytes = try #require(stage.directory.bytes(of: name))
      bytes[bytes.count / 2] ^= 1
      try stage.directory.write(bytes, to: name)
      #expect(try await store.reconcile() == [])
    } else {
      try stage.directory.write(Array("core 1 1".utf8), to: "\(name)/index.html")
      #expect(try await store.reconcile() == [])
    }
    #expect(try await kinds(store, .thorough) == [.damaged])
    #expect(stage.directory.names(in: "store/packs") == [])
    if mode == .packed {
      try await store.adopt(stage.manifest(3, [try await stage.offer("core", 3)]))
      try await store.install(stage.directory("core-3-0.pack"), as: "core")
      let third = try await store.activate("core", onTrial: false)
      let path = try #require(try await store.current("core")?.path)
      try FileManager.default.removeItem(atPath: path)
      try Data([1]).write(to: URL(fileURLWithPath: path))
      #expect(third.version == 3)
      #expect(try await kinds(store) == [.damaged])
    }
  }

  @Test("an extra file, a missing file, another mode or a link in an unpacked tree is detected as damage", arguments: 0..<5)
  func changedTree(kind: Int) async throws {
    let (store, old, _) = try await stage.updatable(install: .unpacked)
    let name = "store/packs/\(item(old, .unpacked))"
    #expect(try await store.reconcile(.thorough) == [])
    switch kind {
    case 0: try stage.directory.write([1], to: "\(name)/js/more")
    case 1: try FileManager.default.removeItem(atPath: stage.directory("\(name)/run"))
    case 2: try stage.directory.write([1], to: "\(name)/run", mode: 0o644)
    case 3: try FileManager.default.removeItem(atPath: stage.directory("\(name)/js-saves"))
    default: try FileManager.default.createSymbolicLink(atPath: stage.directory("\(name)/link"), withDestinationPath: "/etc/passwd")
    }
    #expect(try await kinds(store, .thorough) == [.damaged])
  }

  @Test("a record that cannot be read is refused, and rebuilt from the installed content", arguments: 0..<8, InstallMode.allCases)
  func damagedRecord(kind: Int, mode: InstallMode) async throws {
    let (store, _, new) = try await stage.updatable(install: mode)
    try await store.install(new.path, as: "core", taking: .copying)
    let good = try #require(stage.directory.bytes(of: "store/state/core"))
    let text = String(decoding: good, as: UTF8.self)
    let damaged: [UInt8] =
      switch kind {
      case 0: []
      case 1: Array(good.dropLast())
      case 2: good + [10]
      case 3: [UInt8](repeating: 0, count: good.count)
      case 4: [UInt8](repeating: UInt8(ascii: "["), count: 300_000)
      case 5: Array(text.replacingOccurrences(of: "\"id\":\"core\"", with: "\"id\":\"other\"").utf8)
      case 6: Array(text.replacingOccurrences(of: "\"mode\":\"\(mode.rawValue)\"", with: "\"mode\":\"other\"").utf8)
      default: Array(text.replacingOccurrences(of: "packer-store-state/1", with: "packer-store-state/9").utf8)
      }
    try stage.directory.write(damaged, to: "store/state/core")
    #expect(await failure { () async throws(PackError) in _ = try await store.open("core") }?.code == .damagedStore)
    #expect(await failure { () async throws(PackError) in _ = try await store.open("core") }?.advice == .reconcileStore)
    #expect(await failure { () async throws(PackError) in try await store.activate("core") }?.code == .damagedStore)
    #expect(await failure { () async throws(PackError) in _ = try await store.current("core") }?.code == .damagedStore)
    #expect(await failure { () async throws(PackError) in try await store.remove("core") }?.code == .damagedStore)
    #expect(try await store.installed() == [])
    _ = try await store.usage()
    _ = try await store.plan()
    let findings = try await store.reconcile()
    // Only the manifest can prove that an unpacked tree is complete.
    #expect(findings.map(\.kind) == (mode == .packed ? [.damagedRecord] : [.damagedRecord, .orphaned]))
    #expect(try await store.reconcile(.thorough) == [])
    #expect(try await store.open("core").read("index.html") == Array("core \(mode == .packed ? 1 : 2) 0".utf8))
    try await store.confirm(try await store.activate("core"))
    #expect(try await store.current("core")?.version == 2)
  }

  @Test("a record full of nonsense never ends the process", arguments: 0..<60)
  func nonsense(seed: Int) async throws {
    let (store, _, _) = try await stage.updatable()
    var random = SeededGenerator(seed: UInt64(seed))
    var bytes = try #require(stage.directory.bytes(of: "store/state/core"))
    for _ in 0...(seed % 4) {
      let place = Int(random.next() % UInt64(bytes.count))
      switch random.next() % 3 {
      case 0: bytes[place] ^= UInt8(1 << (random.next() % 8))
      case 1: bytes.remove(at: place)
      default: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
      }
    }
    try stage.directory.write(bytes, to: "store/state/core")
    _ = try? await store.open("core")
    _ = try await store.usage()
    _ = try await store.purge(toFree: 1)
    _ = try await store.reconcile(.thorough)
    #expect(try await store.reconcile(.thorough) == [])
  }

  @Test("a change that waits for a lock ends when its task is cancelled, and changes nothing", arguments: [true, false])
  func cancelledWait(removes: Bool) async throws {
    _ = try await stage.updatable()
    let store = try await stage.open(as: "two", StorePolicy(lockTimeout: .seconds(3600), freeSpaceMargin: 0))
    let files = SystemFiles()
    let lock = try files.open(stage.directory("store/lock"), .read, in: nil)
    #expect(try files.tryLock(lock))
    let task = Task {
      await failure { () async throws(PackError) in
        if removes { _ = try await store.remove("core") } else { try await store.activate("core") }
      }
    }
    task.cancel()
    #expect(await task.value?.code == .cancelled)
    #expect(try await store.current("core")?.version == 1)
    withExtendedLifetime(lock) {}
  }

  @Test("waiting for a lock that another process holds ends with a timeout")
  func busy() async throws {
    _ = try await stage.updatable()
    let store = try await stage.open(as: "two", StorePolicy(lockTimeout: .milliseconds(50), freeSpaceMargin: 0))
    let files = SystemFiles()
    let lock = try files.open(stage.directory("store/lock"), .read, in: nil)
    #expect(try files.tryLock(lock))
    #expect(await failure { () async throws(PackError) in try await store.activate("core") }?.code == .storeBusy)
    #expect(await failure { () async throws(PackError) in _ = try await store.open("core") }?.code == .storeBusy)
    // Reading needs no lock.
    #expect(try await store.current("core")?.version == 1)
    #expect(try await store.reconcile() == [])
    withExtendedLifetime(lock) {}
  }

  @Test("a lock file that was removed while it was locked does not block others")
  func lockRemoved() async throws {
    let (store, _, _) = try await stage.updatable()
    let files = SystemFiles()
    let lock = try files.open(stage.directory("store/lock"), .read, in: nil)
    #expect(try files.tryLock(lock))
    try FileManager.default.removeItem(atPath: stage.directory("store/lock"))
    try await store.activate("core")
    withExtendedLifetime(lock) {}
  }
}
