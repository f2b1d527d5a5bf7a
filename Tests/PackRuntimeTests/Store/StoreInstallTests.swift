import Foundation
import TestSupport
import Testing

@Suite("Installing into a store", .bounded)
struct StoreInstallTests {
  let stage: StoreStage

  init() throws {
    stage = try StoreStage()
  }

  @Test("nothing is installed without a manifest")
  func noManifest() async throws {
    let store = try await stage.open()
    let offer = try await stage.offer()
    #expect(await failure { () async throws(PackError) in _ = try await store.install(offer.path, as: "core") }?.code == .noManifest)
    #expect(await failure { () async throws(PackError) in _ = try await store.install(offer.path, as: "core") }?.advice == .acceptManifest)
    #expect(await failure { () async throws(PackError) in _ = try await store.plan() }?.code == .noManifest)
    #expect(await store.manifest == nil)
    #expect(FileManager.default.fileExists(atPath: offer.path))
  }

  @Test("a pack that the manifest does not name is refused")
  func unknownPack() async throws {
    let store = try await stage.open()
    let (core, other) = (try await stage.offer(), try await stage.offer("other"))
    try await store.adopt(stage.manifest(1, [core]))
    #expect(await failure { () async throws(PackError) in _ = try await store.install(other.path, as: "other") }?.code == .unknownPack)
    #expect(await failure { () async throws(PackError) in _ = try await store.install(other.path, as: "other") }?.advice == .acceptManifest)
    let error = await failure { () async throws(PackError) in _ = try await store.install(other.path, as: "core") }
    #expect(error?.code == .wrongPack)
    #expect(error?.advice == .fetchAgain)
    #expect(stage.directory.names(in: "store/packs") == [])
  }

  @Test(
    "a file that does not match the manifest is refused before anything is in the store, and stays in place", arguments: Taking.allCases)
  func wrongFiles(taking: Taking) async throws {
    let store = try await stage.open()
    let offer = try await stage.offer(size: 20_000)
    try await store.adopt(stage.manifest(1, [offer]))
    let before = try stage.snapshot()
    let bytes = try #require(stage.directory.bytes(of: "core-1-0.pack"))
    var middle = bytes
    middle[bytes.count / 2] ^= 1
    // Of another content, and not shorter.
    var other = try await stage.offer("core", 1, size: 20_000, salt: 1)
    for salt in 2...100 as ClosedRange<UInt64> where other.entry.size < UInt64(bytes.count) {
      other = try await stage.offer("core", 1, size: 20_000, salt: salt)
    }
    let files: [(String, PackError.Code)] = [
      (try stage.directory.write(middle, to: "middle"), .digestMismatch),
      (try stage.directory.write(bytes.dropLast(10_000), to: "short"), .truncated),
      (try stage.directory.write(bytes.prefix(50), to: "shorter"), .truncated),
      (try stage.directory.write([], to: "empty"), .truncated),
      (try stage.directory.write(Array("<html>404".utf8), to: "page"), .truncated),
      (try stage.directory.write([UInt8](repeating: 60, count: bytes.count), to: "long page"), .notAPack),
      (try stage.directory.write(bytes + [0], to: "long"), .wrongPack),
      (other.path, .wrongPack), (stage.directory("none"), .missingInput),
    ]
    for (path, code) in files {
      for mode in InstallMode.allCases {
        let existed = FileManager.default.fileExists(atPath: path)
        let error = await failure { () async throws(PackError) in _ = try await store.install(path, as: "core", taking: taking, mode: mode)
        }
        #expect(error?.code == code, "\(path): \(error?.code.rawValue ?? "no error")")
        #expect(FileManager.default.fileExists(atPath: path) == existed)
      }
    }
    #expect(try stage.snapshot() == before)
  }

  @Test("no version goes for a wrong file, also if the right one would displace it", arguments: Taking.allCases)
  func nothingGoesForWrongFile(taking: Taking) async throws {
    let policy = StorePolicy(keepVersions: 1, lockTimeout: .seconds(1000), freeSpaceMargin: 0)
    let (store, _, new) = try await stage.updatable(policy)
    try await store.install(new.path, as: "core", taking: .copying)
    let (last, other) = (try await stage.offer("core", 3), try await stage.offer("other", delivery: .onDemand))
    try await store.adopt(stage.manifest(3, [last, other]))
    try await store.install(other.path, as: "other", taking: .copying)
    let before = try stage.snapshot()
    var wrong = try #require(stage.directory.bytes(of: "core-3-0.pack"))
    wrong[wrong.count / 2] ^= 1
    let path = try stage.directory.write(wrong, to: "wrong")
    let full = try await stage.open(
      as: "two", StorePolicy(keepVersions: 1, quota: stage.sizeOnDevice() + 100, lockTimeout: .seconds(1000), freeSpaceMargin: 0))
    for store in [store, full] {
      let error = await failure { () async throws(PackError) in _ = try await store.install(path, as: "core", taking: taking) }
      #expect(error?.code == .digestMismatch)
      #expect(try stage.snapshot() == before)
    }
    try await full.install(last.path, as: "core", taking: .copying)
    #expect(try await full.installed("core").map(\.version) == [1, 3])
  }

  @Test("a file is read once, with what tells what it is, and a copy is written once", arguments: Taking.allCases)
  func readOnce(taking: Taking) async throws {
    let offer = try await stage.offer(size: 3 << 20)
    let files = FaultyFiles()
    let store = try await stage.open(files: files)
    try await store.adopt(stage.manifest(1, [offer]))
    let before = files.bytesRead
    try await store.install(offer.path, as: "core", taking: taking)
    #expect(files.bytesRead - before >= offer.entry.size)
    #expect(files.bytesRead - before < offer.entry.size + offer.entry.size / 4)
  }

  @Test("if any byte of the header differs, the error is about the file, not about its key or version", arguments: InstallMode.allCases)
  func wrongHeader(mode: InstallMode) async throws {
    let store = try await stage.open()
    let offer = try await stage.offer()
    try await store.adopt(stage.manifest(1, [offer]))
    let bytes = try #require(stage.directory.bytes(of: "core-1-0.pack"))
    let size = try PackStart(offer.path, files: FaultyFiles()).bytes.count
    var codes: Set<PackError.Code> = []
    for offset in 0..<size {
      var changed = bytes
      changed[offset] ^= 0x10
      let path = try stage.directory.write(changed, to: "changed")
      let error = try #require(await failure { () async throws(PackError) in _ = try await store.install(path, as: "core", mode: mode) })
      codes.insert(error.code)
      // An app that waited for a key or for another release would wait for ever.
      #expect(AppDelivery.outcome(of: error) != .putOff, "byte \(offset): \(error.message)")
    }
    #expect(codes.contains(.digestMismatch) && codes.isDisjoint(with: [.wrongKey, .noKey, .noUsableKey, .unsupported]))
    #expect(stage.directory.names(in: "store/packs") == [])
    try await store.install(offer.path, as: "core", mode: mode)
  }

  @Test("a wrong key is reported as such, and nothing is written")
  func wrongKey() async throws {
    _ = try await stage.open()
    let offer = try await stage.offer()
    let store = try await AssetStore(
      root: stage.root, keys: KeyRing(try key(filledFrom: 7)), trusting: [StoreStage.signer(0).publicKey],
      policy: StorePolicy(freeSpaceMargin: 0))
    try await store.adopt(stage.manifest(1, [offer]))
    #expect(await failure { () async throws(PackError) in _ = try await store.install(offer.path, as: "core") }?.code == .wrongKey)
    #expect(stage.directory.names(in: "store/packs") == [])
    #expect(stage.directory.names(in: "store/staging") == [])
  }

  @Test("an expired manifest installs nothing and erases nothing")
  func expired() async throws {
    let (store, _, new) = try await stage.updatable()
    stage.clock.secondsSince1970 = 1_900_000_000
    let before = try stage.snapshot()
    #expect(await failure { () async throws(PackError) in _ = try await store.install(new.path, as: "core") }?.code == .manifestExpired)
    #expect(await failure { () async throws(PackError) in _ = try await store.install(new.path, as: "core") }?.advice == .renewManifest)
    #expect(try await store.reconcile(.thorough) == [])
    #expect(try await store.plan().downloads.map(\.id) == ["core"])
    #expect(try stage.snapshot() == before)
    #expect(try await store.open("core").read("index.html") == Array("core 1 0".utf8))
  }

  @Test("a symbolic link is not moved", arguments: InstallMode.allCases)
  func link(mode: InstallMode) async throws {
    let store = try await stage.open()
    let offer = try await stage.offer()
    try await store.adopt(stage.manifest(1, [offer]))
    try FileManager.default.createSymbolicLink(atPath: stage.directory("link"), withDestinationPath: offer.path)
    #expect(
      await failure { () async throws(PackError) in _ = try await store.install(stage.directory("link"), as: "core", mode: mode) }?.code
        == .usage)
    try await store.install(stage.directory("link"), as: "core", taking: .copying, mode: mode)
    #expect(FileManager.default.fileExists(atPath: offer.path))
    #expect(FileManager.default.fileExists(atPath: stage.directory("link")))
  }

  @Test("an installed pack is complete, has its name, and waits for activation", arguments: InstallMode.allCases, Taking.allCases)
  func install(mode: InstallMode, taking: Taking) async throws {
    let store = try await stage.open()
    let events = store.events()
    let offer = try await stage.offer(install: mode)
    try await store.adopt(stage.manifest(1, [offer]))
    let installed = try await store.install(offer.path, as: "core", taking: taking)
    #expect(installed.state == .installed)
    #expect(installed.mode == mode)
    #expect(installed.sha256 == offer.entry.sha256)
    #expect(FileManager.default.fileExists(atPath: offer.path) == (taking == .copying))
    #expect(stage.directory.names(in: "store/staging") == [])
    #expect(try await store.current("core") == nil)
    #expect(try await store.installed() == [installed])
    #expect(await failure { () async throws(PackError) in _ = try await store.open("core") }?.code == .notInstalled)
    #expect(await failure { () async throws(PackError) in _ = try await store.open("core") }?.advice == .activate)
    let item = "core@1-\(offer.entry.sha256.prefix(8).hex)\(mode == .packed ? ".pack" : "")"
    #expect(stage.directory.names(in: "store/packs") == [item])
    if mode == .unpacked { #expect(try SampleTree(reading: installed.path) == offer.tree) }
    try await store.activate("core", onTrial: false)
    let opened = try await store.open("core")
    #expect(try opened.read("js/data.bin") == offer.tree.files["js/data.bin"]?.bytes)
    #expect(try opened.read("index.html", range: 2..<4) == Array("re".utf8))
    #expect((opened.pack != nil) == (mode == .packed))
    #expect((opened.directory != nil) == (mode == .unpacked))
    #expect(try await store.reconcile(.thorough) == [])
    let written = mode == .unpacked ? offer.entry.contentSize : taking == .copying ? offer.entry.size : 0
    #expect(await drain(events, 3).dropFirst().first == .installed(installed, InstallCost(written: written)))
  }

  @Test("a cancelled call stops waiting for another installation of the pack, and the others continue in turn")
  func cancelledWait() async throws {
    let isHeld = Monitor(true)
    let isBegun = Monitor(false)
    let files = FaultyFiles { call in
      guard call.name.hasPrefix("staging/"), call.name.hasSuffix(".pack") else { return nil }
      isBegun.update { $0 = true }
      isHeld.waitUntil { !$0 }
      return nil
    }
    let store = try await stage.open(files: files)
    let offer = try await stage.offer()
    try await store.adopt(stage.manifest(1, [offer]))
    func install() -> Task<PackError?, Never> {
      Task { await failure { () async throws(PackError) in try await store.install(offer.path, as: "core", taking: .copying) } }
    }
    let first = install()
    try await eventually("it does not begin") { isBegun.withLock { $0 } }
    let others = [install(), install()]
    others[0].cancel()
    #expect(await others[0].value?.code == .cancelled)
    isHeld.update { $0 = false }
    #expect(await first.value == nil)
    #expect(await others[1].value == nil)
    #expect(try await store.installed().count == 1)
  }

  @Test("no path leads out of an unpacked tree, or to anything that is not a file")
  func paths() async throws {
    let store = try await stage.open()
    let offer = try await stage.offer(install: .unpacked)
    try await store.adopt(stage.manifest(1, [offer]))
    try await store.install(offer.path, as: "core")
    try await store.activate("core", onTrial: false)
    let opened = try await store.open("core")
    for path in [
      "", "/", ".", "..", "../../store", "js", "js/", "/index.html", "js/../index.html", "index.html/x", "none", "js-saves", "a\0b",
    ] {
      #expect(await failure { () async throws(PackError) in _ = try opened.read(path) }?.code == .noSuchEntry, "\(path)")
    }
    #expect(await failure { () async throws(PackError) in _ = try opened.read("run", range: 0..<2) }?.code == .rangeNotSatisfiable)
  }

  @Test("an installed pack is not installed again, but its file is still removed", arguments: InstallMode.allCases)
  func again(mode: InstallMode) async throws {
    let store = try await stage.open()
    let offer = try await stage.offer(install: mode)
    try await store.adopt(stage.manifest(1, [offer]))
    let first = try await store.install(offer.path, as: "core", taking: .copying)
    let before = try stage.snapshot()
    #expect(try await store.install(offer.path, as: "core", taking: .copying) == first)
    #expect(FileManager.default.fileExists(atPath: offer.path))
    let other = try stage.directory.write([1, 2, 3], to: "something else")
    #expect(await failure { () async throws(PackError) in _ = try await store.install(other, as: "core") } != nil)
    #expect(FileManager.default.fileExists(atPath: other))
    #expect(try await store.install(offer.path, as: "core") == first)
    #expect(!FileManager.default.fileExists(atPath: offer.path))
    #expect(try await store.install(offer.path, as: "core") == first)
    #expect(try stage.snapshot() == before)
  }

  @Test("a file inside the store is not removed, and a file with a second hard link is copied")
  func ownFile() async throws {
    let store = try await stage.open()
    let offer = try await stage.offer()
    try await store.adopt(stage.manifest(1, [offer]))
    try FileManager.default.linkItem(atPath: offer.path, toPath: stage.directory("second name"))
    let first = try await store.install(offer.path, as: "core")
    #expect(!FileManager.default.fileExists(atPath: offer.path))
    try Data([1]).write(to: URL(fileURLWithPath: stage.directory("second name")))
    #expect(try await store.install(first.path, as: "core") == first)
    #expect(try await store.reconcile(.thorough) == [])
    #expect(FileManager.default.fileExists(atPath: first.path))
  }

  @Test("the same pack may be installed by many tasks at once", arguments: InstallMode.allCases)
  func atOnce(mode: InstallMode) async throws {
    let stores = [try await stage.open(), try await stage.open(as: "other")]
    let offer = try await stage.offer(install: mode)
    try await stores[0].adopt(stage.manifest(1, [offer]))
    try await withThrowingTaskGroup(of: InstalledPack.self) { group in
      for number in 0..<8 { group.addTask { try await stores[number % 2].install(offer.path, as: "core") } }
      for try await installed in group { #expect(installed.version == 1) }
    }
    #expect(stage.directory.names(in: "store/packs").count == 1)
    #expect(stage.directory.names(in: "store/staging") == [])
    #expect(stage.directory.names(in: "store/trash") == [])
    #expect(try await stores[1].reconcile(.thorough) == [])
  }

  @Test("the same bytes in the other mode replace the first installation, and open packs stay open")
  func otherMode() async throws {
    let store = try await stage.open()
    let old = try await stage.offer()
    try await store.adopt(stage.manifest(1, [old]))
    try await store.install(old.path, as: "core", taking: .copying)
    try await store.activate("core", onTrial: false)
    let opened = try await store.open("core")
    let installed = try await store.install(old.path, as: "core", taking: .copying, mode: .unpacked)
    #expect(installed.state == .current)
    #expect(try await store.open("core").directory != nil)
    #expect(try opened.read("index.html") == Array("core 1 0".utf8))
    #expect(stage.directory.names(in: "store/packs").count == 2)
    #expect(try await store.reconcile() == [])
    withExtendedLifetime(opened) {}
  }

  @Test(
    "content that is too large for the disk is refused before anything is written, with the number of missing bytes",
    arguments: InstallMode.allCases)
  func noSpace(mode: InstallMode) async throws {
    let free = 1000 as UInt64
    let files = FaultyFiles { $0.operation == .freeSpace ? .freeSpace(free) : nil }
    let store = try await stage.open(StorePolicy(freeSpaceMargin: 24), files: files)
    let offer = try await stage.offer(install: mode)
    try await store.adopt(stage.manifest(1, [offer]))
    let before = try stage.snapshot()
    let error = await failure { () async throws(PackError) in _ = try await store.install(offer.path, as: "core", taking: .copying) }
    #expect(error?.code == .noSpace)
    let needed = mode == .unpacked ? offer.entry.installSize : (offer.entry.size + 4095) / 4096 * 4096
    #expect(error?.message.contains(" \(needed + 24 - free) bytes are missing") == true, "\(error?.message ?? "")")
    #expect(error?.advice == .freeSpace(bytes: needed + 24 - free))
    #expect(error?.message.contains(" plus 24 bytes that must stay free; ") == true, "\(error?.message ?? "")")
    #expect(try stage.snapshot() == before)
  }

  @Test("a pack that takes more than its manifest says is refused before anything is written or removed", arguments: [1, 4096] as [UInt64])
  func largerThanPromised(by excess: UInt64) async throws {
    let store = try await stage.open(StorePolicy(quota: 1 << 20, freeSpaceMargin: 0))
    var offer = try await stage.offer(install: .unpacked)
    offer.entry.installSize -= excess
    try await store.adopt(stage.manifest(1, [offer]))
    let before = try stage.snapshot()
    let error = await failure { () async throws(PackError) in _ = try await store.install(offer.path, as: "core", taking: .copying) }
    #expect(error?.code == .limitExceeded)
    #expect(error?.message.contains("but the manifest says \(offer.entry.installSize)") == true, "\(error?.message ?? "")")
    #expect(error?.advice == .publishNewVersion)
    #expect(try stage.snapshot() == before)
    // A pack that stays packed makes no tree.
    #expect(try await store.install(offer.path, as: "core", taking: .copying, mode: .packed).mode == .packed)
  }

  @Test("content that fits only after the system has purged other files is installed", arguments: InstallMode.allCases)
  func purgeableSpace(mode: InstallMode) async throws {
    let files = FaultyFiles { $0.operation == .freeSpace ? .freeSpace($0.name == FaultyFiles.available ? 1 << 30 : 0) : nil }
    let store = try await stage.open(StorePolicy(freeSpaceMargin: 24), files: files)
    let offer = try await stage.offer(install: mode)
    try await store.adopt(stage.manifest(1, [offer]))
    #expect(try await store.install(offer.path, as: "core", taking: .copying).mode == mode)
  }

  @Test("a file on the same volume is moved even when the disk is full")
  func movedOnFullDisk() async throws {
    let files = FaultyFiles { $0.operation == .freeSpace ? .freeSpace(0) : nil }
    let store = try await stage.open(files: files)
    let offer = try await stage.offer()
    try await store.adopt(stage.manifest(1, [offer]))
    let installed = try await store.install(offer.path, as: "core")
    #expect(try await store.installed() == [installed])
    #expect(!FileManager.default.fileExists(atPath: offer.path))
  }

  @Test("a file that is replaced during its installation is never taken for the one that was checked", arguments: 0..<8)
  func replacedFile(turn: Int) async throws {
    let offer = try await stage.offer()
    let bytes = try #require(FileManager.default.contents(atPath: offer.path))
    let (turns, isReplaced) = (Monitor(Int.min), Monitor(false))
    let files = FaultyFiles { call in
      guard call.operation == .open, call.name.hasSuffix("lock") else { return nil }
      let now = turns.withLock { turns in
        defer { turns += 1 }
        return turns
      }
      guard now == turn else { return nil }
      try? FileManager.default.removeItem(atPath: offer.path)
      isReplaced.withLock { $0 = FileManager.default.createFile(atPath: offer.path, contents: Data(count: bytes.count)) }
      return nil
    }
    let store = try await stage.open(files: files)
    try await store.adopt(stage.manifest(1, [offer]))
    turns.withLock { $0 = 0 }
    let installed = try? await store.install(offer.path, as: "core", taking: .moving)
    turns.withLock { $0 = .min }
    #expect(try await store.installed().count == (installed == nil ? 0 : 1))
    if let installed { #expect(FileManager.default.contents(atPath: installed.path) == bytes) }
    // Otherwise no turn would come between check and move.
    #expect(turn > 0 || isReplaced.withLock { $0 })
  }

  @Test("content that no record names is replaced, but not while another process has it open")
  func unrecordedInUse() async throws {
    let store = try await stage.open()
    let offer = try await stage.offer()
    try await store.adopt(stage.manifest(1, [offer]))
    let item = "core@1-\(offer.entry.sha256.prefix(8).hex).pack"
    try stage.directory.write([1, 2, 3], to: "store/packs/\(item)")
    try stage.directory.write([], to: "store/uses/\(item)~other")
    let error = await failure { () async throws(PackError) in try await store.install(offer.path, as: "core") }
    #expect(error?.code == .inUse)
    #expect(stage.directory.bytes(of: "store/packs/\(item)") == [1, 2, 3])
    #expect(FileManager.default.fileExists(atPath: offer.path))
    stage.end("other")
    try await store.install(offer.path, as: "core")
    #expect(try await store.reconcile(.thorough).map(\.kind) == [.staleUse])
  }

  @Test("a file that only seems to be on the same volume is copied and then removed")
  func acrossVolumes() async throws {
    let offer = try await stage.offer()
    let across = FaultyFiles {
      $0.operation == .rename && $0.name.hasSuffix(".pack") && $0.name.hasPrefix("/") ? .failure(.acrossVolumes) : nil
    }
    let store = try await stage.open(files: across)
    try await store.adopt(stage.manifest(1, [offer]))
    try await store.install(offer.path, as: "core")
    #expect(!FileManager.default.fileExists(atPath: offer.path))
    #expect(stage.directory.names(in: "store/staging") == [])
  }

  @Test("the quota is respected, and the error has the number of missing bytes")
  func quota() async throws {
    let probe = try await stage.open()
    let offer = try await stage.offer(size: 50_000)
    try await probe.adopt(stage.manifest(1, [offer]))
    let taken = try stage.sizeOnDevice()
    let needed = (offer.entry.size + 4095) / 4096 * 4096
    let store = try await stage.open(StorePolicy(quota: taken + needed - 1, freeSpaceMargin: 0))
    let error = await failure { () async throws(PackError) in _ = try await store.install(offer.path, as: "core") }
    #expect(error?.code == .quotaExceeded)
    #expect(error?.advice == .makeRoom(bytes: 1))
    #expect(error?.message.contains(" 1 bytes are missing") == true, "\(error?.message ?? "")")
    #expect(FileManager.default.fileExists(atPath: offer.path))
    let enough = try await stage.open(StorePolicy(quota: taken + needed, freeSpaceMargin: 0))
    try await enough.install(offer.path, as: "core")
  }

  @Test("if the disk becomes full during an installation, the old version runs and nothing is left behind", arguments: InstallMode.allCases)
  func fullInTheMiddle(mode: InstallMode) async throws {
    let (_, _, new) = try await stage.updatable(install: mode)
    let files = FaultyFiles { $0.operation == .write ? .failure(.fullDisk) : nil }
    let store = try await stage.open(files: files)
    let before = try stage.snapshot()
    let error = await failure { () async throws(PackError) in _ = try await store.install(new.path, as: "core", taking: .copying) }
    #expect(error?.code == .noSpace)
    #expect(try stage.snapshot() == before)
    #expect(try await store.open("core").read("index.html") == Array("core 1 0".utf8))
  }

  @Test("a cancelled installation leaves nothing behind")
  func cancelled() async throws {
    let (store, _, new) = try await stage.updatable(install: .unpacked)
    let before = try stage.snapshot()
    let task = Task { () async throws -> Void in
      withUnsafeCurrentTask { $0?.cancel() }
      try await store.install(new.path, as: "core")
    }
    let result = await task.result
    #expect((result.failure as? PackError)?.code == .cancelled)
    #expect(try stage.snapshot() == before)
  }

  @Test("ids that differ only in letter case do not conflict")
  func capitals() async throws {
    let store = try await stage.open()
    let (small, large) = (try await stage.offer("core"), try await stage.offer("Core.X_y-1", 1, salt: 3))
    let other = try await stage.offer("CORE", 1, salt: 4)
    try await store.adopt(stage.manifest(1, [small, large, other]))
    for offer in [small, large, other] { try await store.install(offer.path, as: offer.entry.id) }
    let names = stage.directory.names(in: "store/state")
    #expect(Set(names.map { $0.lowercased() }).count == 3)
    #expect(names == ["+c+o+r+e", "+core.+x_y-1", "core"])
    #expect(try await store.installed().map(\.id).sorted() == ["CORE", "Core.X_y-1", "core"])
    #expect(try await store.reconcile(.thorough) == [])
  }
}

extension Result {
  /// The error if the result is a failure, otherwise nil.
  var failure: Failure? {
    guard case .failure(let failure) = self else { return nil }
    return failure
  }
}
