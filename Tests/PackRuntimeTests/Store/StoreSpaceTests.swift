import Foundation
import TestSupport
import Testing

@Suite("Space in a store", .bounded)
struct StoreSpaceTests {
  let stage: StoreStage

  init() throws {
    stage = try StoreStage()
  }

  /// Installs and activates packs of 40 kB each, in this order, with some time between them.
  private func fill(_ store: AssetStore, _ packs: [(String, DeliveryClass)]) async throws -> [StoreStage.Offer] {
    var offers: [StoreStage.Offer] = []
    for (number, (id, delivery)) in packs.enumerated() {
      offers.append(try await stage.offer(id, 1, size: 40_000, salt: UInt64(number), delivery: delivery))
    }
    try await store.adopt(stage.manifest(1, offers))
    for offer in offers {
      try await store.install(offer.path, as: offer.entry.id)
      try await store.activate(offer.entry.id, onTrial: false)
    }
    return offers
  }

  @Test("a preservation that is not from 0 to 1 is refused", arguments: [-0.1, 1.1, .nan, .infinity])
  func preservationRange(value: Double) async throws {
    let store = try await stage.open()
    #expect(await failure { () async throws(PackError) in try await store.setPreservation(value, of: "core") }?.code == .usage)
    #expect(await failure { () async throws(PackError) in try await store.setPreservation(0.5, of: "../x") }?.code == .usage)
    #expect(stage.directory.names(in: "store/state") == [])
  }

  @Test("an essential pack and one of preservation 1 are never purged, only removed")
  func priorityOne() async throws {
    let store = try await stage.open()
    _ = try await fill(store, [("core", .essential), ("dear", .onDemand), ("cheap", .essential)])
    try await store.setPreservation(1, of: "dear")
    try await store.setPreservation(0.2, of: "cheap")
    let report = try await store.purge(toFree: .max)
    #expect(report.removed.map(\.pack.id) == ["cheap"])
    #expect(report.missing > 0)
    try await store.remove("core")
    #expect(try await store.installed().map(\.id) == ["dear"])
    #expect(await failure { () async throws(PackError) in _ = try await store.open("cheap") }?.code == .purged)
    #expect(await failure { () async throws(PackError) in _ = try await store.open("cheap") }?.advice == .install)
    #expect(await failure { () async throws(PackError) in try await store.activate("cheap") }?.code == .purged)
    #expect(await failure { () async throws(PackError) in _ = try await store.open("core") }?.code == .notInstalled)
  }

  @Test("a pack that another process opens after it was chosen is not purged")
  func openedMeanwhile() async throws {
    let other = try await stage.open(as: "other")
    let isArmed = Monitor(false)
    let opened = Monitor<OpenedPack?>(nil)
    let files = FaultyFiles { call in
      // The size of the chosen pack is looked up.
      guard call.operation == .status, call.name.contains("packs/core@"),
        isArmed.withLock({ isArmed in
          defer { isArmed = false }
          return isArmed
        })
      else { return nil }
      Task {
        let pack = try? await other.open("core")
        opened.update { $0 = pack }
      }
      opened.waitUntil { $0 != nil }
      return nil
    }
    let store = try await stage.open(files: files)
    _ = try await fill(store, [("core", .prefetch)])
    isArmed.withLock { $0 = true }
    #expect(try await store.purge(toFree: .max).removed == [])
    #expect(!isArmed.withLock { $0 })
    #expect(try await store.installed().map(\.id) == ["core"])
    opened.withLock { $0 = nil }
    #expect(try await store.purge(toFree: .max).removed.map(\.pack.id) == ["core"])
  }

  @Test("packs with the lowest preservation are purged first, then the longest unused, and no more than requested")
  func order() async throws {
    let store = try await stage.open()
    _ = try await fill(store, [("a", .prefetch), ("b", .onDemand), ("c", .onDemand), ("d", .onDemand)])
    for id in ["b", "c"] {
      stage.clock.secondsSince1970 += 1000
      _ = try await store.open(id)
    }
    let events = store.events()
    #expect(try await store.purge(toFree: 0).removed == [])
    let first = try await store.purge(toFree: 1)
    #expect(first.removed.map(\.pack.id) == ["d"])
    #expect(first.removed[0].reason == "its preservation is 0.5, and space was short")
    #expect(first.freed == first.removed[0].pack.sizeOnDevice)
    #expect(first.missing == 0)
    #expect(try await store.purge(toFree: .max).removed.map(\.pack.id) == ["b", "c", "a"])
    #expect(await drain(events, 4).count == 4)
  }

  @Test("failed versions are purged before obsolete packs, these before earlier versions, these before running ones")
  func ranks() async throws {
    let store = try await stage.open()
    let offers = try await fill(store, [("a", .prefetch), ("gone", .prefetch), ("b", .essential)])
    let (a2, b2) = (try await stage.offer("a", 2, size: 40_000), try await stage.offer("b", 2, size: 40_000, delivery: .essential))
    try await store.adopt(stage.manifest(2, [a2, b2]))
    try await store.install(a2.path, as: "a")
    try await store.install(b2.path, as: "b")
    try await store.confirm(try await store.activate("a"))
    let opened = try await {
      try await store.activate("b")
      return try await store.open("b")
    }()
    try await store.rollback("b", reason: "blank page")
    #expect(try await store.installed().filter { $0.state == .failed }.count == 1)
    #expect(try await store.purge(toFree: .max).removed.map { "\($0.pack.id) \($0.pack.version)" } == ["gone 1", "a 1", "a 2"])
    #expect(try opened.read("index.html").count > 0)
    withExtendedLifetime((opened, offers)) {}
  }

  @Test("a manifest that has expired does not decide which packs are obsolete", arguments: [false, true])
  func expired(isExpired: Bool) async throws {
    let store = try await stage.open()
    let offers = try await fill(store, [("core", .essential), ("gone", .essential)])
    try await store.adopt(stage.manifest(2, [offers[0]], expires: 1_800_000_100))
    stage.clock.secondsSince1970 = 1_800_000_100 - (isExpired ? 0 : 1)
    #expect(try await store.purge(toFree: .max).removed.map(\.pack.id) == (isExpired ? [] : ["gone"]))
  }

  @Test("room for a new version never comes from the running version of the same pack", arguments: [false, true])
  func roomForUpdate(hasOther: Bool) async throws {
    let store = try await stage.open()
    let offers = try await fill(store, [("core", .onDemand)] + (hasOther ? [("other", .prefetch)] : []))
    let new = try await stage.offer("core", 2, size: 40_000)
    try await store.adopt(stage.manifest(2, [new] + offers.dropFirst()))
    let taken = try await store.usage().reduce(0) { $0 + $1.sizeOnDevice }
    // The running version of the pack would be purged first: it is the less dear one.
    let tight = try await stage.open(as: "two", StorePolicy(quota: taken + 8192, freeSpaceMargin: 0))
    let error = await failure { () async throws(PackError) in try await tight.install(new.path, as: "core") }
    #expect(error?.code == (hasOther ? nil : .quotaExceeded))
    #expect(try await tight.current("core")?.version == 1)
    #expect(try await tight.open("core").installed.version == 1)
    #expect(try await tight.current("other") == nil)
  }

  @Test("a failed version is purged first")
  func failedFirst() async throws {
    let store = try await stage.open()
    _ = try await fill(store, [("a", .prefetch), ("b", .prefetch)])
    let b2 = try await stage.offer("b", 2, size: 40_000)
    try await store.adopt(stage.manifest(2, [try await stage.offer("a", 1, size: 40_000, salt: 0), b2]))
    try await store.install(b2.path, as: "b")
    try await store.activate("b")
    do {
      let opened = try await store.open("b")
      try await store.rollback("b", reason: "blank page")
      withExtendedLifetime(opened) {}
    }
    let report = try await store.purge(toFree: 1)
    #expect(report.removed.map(\.pack.version) == [2])
    #expect(report.removed.map(\.reason) == ["it failed"])
  }

  @Test("no pack that a running process has open is purged or removed")
  func inUse() async throws {
    let store = try await stage.open()
    _ = try await fill(store, [("a", .onDemand), ("b", .onDemand)])
    let other = try await stage.open(as: "other")
    let opened = try await other.open("a")
    #expect(try await store.purge(toFree: .max).removed.map(\.pack.id) == ["b"])
    #expect(await failure { () async throws(PackError) in try await store.remove("a") }?.code == .inUse)
    // The mark of a killed process does not count.
    stage.end("other")
    #expect(try await store.reconcile().map(\.kind) == [.staleUse])
    try await store.remove("a")
    #expect(stage.directory.names(in: "store/packs") == [])
    #expect(try opened.read("index.html").count > 0)
  }

  @Test("a pack is in use until its last reference is released")
  func lastReference() async throws {
    let store = try await stage.open()
    _ = try await fill(store, [("a", .onDemand)])
    var opened = [try await store.open("a"), try await store.open("a")]
    #expect(stage.directory.names(in: "store/uses").count == 1)
    opened.removeLast()
    #expect(stage.directory.names(in: "store/uses").count == 1)
    let other = try await stage.open(as: "other")
    for process in [store, other] {
      #expect(await failure { () async throws(PackError) in try await process.remove("a") }?.code == .inUse)
    }
    opened.removeLast()
    #expect(stage.directory.names(in: "store/uses") == [])
    try await store.remove("a")
    #expect(stage.directory.names(in: "store/state") == [])
  }

  @Test("a version on trial and its fallback are never purged")
  func trial() async throws {
    let (store, _, new) = try await stage.updatable()
    try await store.setPreservation(0, of: "core")
    try await store.install(new.path, as: "core")
    try await store.activate("core")
    #expect(try await store.purge(toFree: .max).removed == [])
    #expect(try await store.rollback("core", reason: "blank page")?.version == 1)
  }

  @Test("an installation purges packs if space is missing, but only if that is enough")
  func installationPurges() async throws {
    let store = try await stage.open()
    let offers = try await fill(store, [("a", .onDemand), ("b", .prefetch), ("c", .essential)])
    let big = try await stage.offer("big", 1, size: 60_000)
    try await store.adopt(stage.manifest(2, offers + [big]))
    let taken = try stage.sizeOnDevice()
    let needed = (big.entry.size + 4095) / 4096 * 4096
    let small = try await stage.open(as: "two", StorePolicy(quota: taken + needed - 100_000, freeSpaceMargin: 0))
    let before = try stage.snapshot()
    let error = await failure { () async throws(PackError) in try await small.install(big.path, as: "big") }
    #expect(error?.code == .quotaExceeded)
    #expect(try stage.snapshot() == before)
    let quota = taken + needed - 50_000
    let enough = try await stage.open(as: "three", StorePolicy(quota: quota, freeSpaceMargin: 0))
    try await enough.install(big.path, as: "big")
    #expect(try await store.installed().map(\.id) == ["big", "c"])
    #expect(try stage.sizeOnDevice() <= quota)
  }

  @Test("packs purged for an installation that then failed are reported")
  func purgedInVain() async throws {
    let store = try await stage.open()
    let (old, new) = (try await stage.offer("old"), try await stage.offer("new", install: .unpacked))
    try await store.adopt(stage.manifest(1, [old, new]))
    try await store.install(old.path, as: "old", taking: .copying)
    let isBroken = Monitor(false)
    let files = FaultyFiles { call in isBroken.withLock { $0 } && call.operation == .write ? .failure(.inputOutput) : nil }
    let quota = try stage.sizeOnDevice() + new.entry.installSize - 100
    let tight = try await stage.open(as: "two", StorePolicy(quota: quota, freeSpaceMargin: 0), files: files)
    let events = tight.events()
    let error = await failure { () async throws(PackError) in
      _ = try await tight.install(new.path, as: "new", taking: .copying) { _ in isBroken.withLock { $0 = true } }
    }
    #expect(error?.code == .cannotWrite)
    isBroken.withLock { $0 = false }
    #expect(try await tight.installed().isEmpty)
    try await tight.install(new.path, as: "new", taking: .copying)
    var told: [String] = []
    for await event in events {
      switch event {
      case .purged(let pack, _): told.append("purged \(pack.id)")
      case .installed(let pack, _): told.append("installed \(pack.id)")
      default: break
      }
      if told.last == "installed new" { break }
    }
    #expect(told == ["purged old", "installed new"])
  }

  @Test("two installations at the same time do not exceed the quota together")
  func quotaOfTwo() async throws {
    let (first, second) = (try await stage.offer("a", 1, size: 50_000), try await stage.offer("b", 1, size: 50_000))
    _ = try await stage.open().adopt(stage.manifest(1, [first, second]))
    let quota = try stage.sizeOnDevice() + 90_000
    let policy = StorePolicy(quota: quota, freeSpaceMargin: 0)
    let other = try await stage.open(as: "two", policy)
    let isBegun = Monitor(false)
    // The second installation runs completely after the first has found enough room, and before the first uses it.
    let files = FaultyFiles { call in
      guard call.operation == .open, call.name.hasPrefix("staging/"), call.name.hasSuffix(".pack"),
        !isBegun.withLock({ begun in
          defer { begun = true }
          return begun
        })
      else { return nil }
      let done = DispatchSemaphore(value: 0)
      Task {
        _ = try? await other.install(second.path, as: "b")
        done.signal()
      }
      done.wait()
      return nil
    }
    let store = try await stage.open(as: "three", policy, files: files)
    let error = await failure { () async throws(PackError) in try await store.install(first.path, as: "a", taking: .copying) }
    #expect(error?.code == .quotaExceeded)
    #expect(try await store.installed().map(\.id) == ["b"])
    #expect(stage.directory.names(in: "store/staging") == [])
    #expect(try stage.sizeOnDevice() <= quota)
  }

  @Test("purging makes room on a full disk", arguments: [0, 30_000 as UInt64])
  func roomOnDisk(free: UInt64) async throws {
    let store = try await stage.open()
    let offers = try await fill(store, [("a", .onDemand), ("b", .onDemand)])
    let new = try await stage.offer("new", 1, size: 40_000)
    try await store.adopt(stage.manifest(2, offers + [new]))
    // The free space grows by the number of bytes that the store freed.
    let whole = try stage.sizeOnDevice()
    let files = FaultyFiles { [stage] call in
      guard call.operation == .freeSpace else { return nil }
      return .freeSpace(free + whole - min(whole, (try? stage.sizeOnDevice()) ?? whole))
    }
    let tight = try await stage.open(as: "two", files: files)
    try await tight.install(new.path, as: "new", taking: .copying)
    #expect(try await tight.installed().map(\.id) == ["b", "new"])
  }

  @Test("content that the system has already removed does not count as freed space", arguments: [true, false])
  func missingContent(isEnough: Bool) async throws {
    let store = try await stage.open()
    let offers = try await fill(store, [("a", .onDemand), ("b", isEnough ? .onDemand : .essential), ("c", .essential)])
    let new = try await stage.offer("new", 1, size: 40_000)
    try await store.adopt(stage.manifest(2, offers + [new]))
    try FileManager.default.removeItem(atPath: try #require(try await store.current("a")).path)
    let whole = try stage.sizeOnDevice()
    let files = FaultyFiles { [stage] call in
      guard call.operation == .freeSpace else { return nil }
      return .freeSpace(30_000 + whole - min(whole, (try? stage.sizeOnDevice()) ?? whole))
    }
    let tight = try await stage.open(as: "two", files: files)
    let before = try stage.snapshot()
    if isEnough {
      try await tight.install(new.path, as: "new", taking: .copying)
      #expect(try await tight.installed().map(\.id) == ["c", "new"])
    } else {
      let error = await failure { () async throws(PackError) in
        try await tight.install(new.path, as: "new", taking: .copying)
      }
      #expect(error?.code == .noSpace)
      #expect(try stage.snapshot() == before)
    }
  }

  @Test("the sizes in the usage add up to the size of the directory, each with a reason")
  func usage() async throws {
    let store = try await stage.open()
    let offers = try await fill(store, [("a", .prefetch), ("b", .onDemand), ("c", .essential)])
    let b2 = try await stage.offer("b", 2, size: 30_000, install: .unpacked)
    try await store.adopt(stage.manifest(2, [offers[0], b2, offers[2]]))
    try await store.install(b2.path, as: "b")
    try await store.activate("b")
    let opened = try await store.open("b")
    try stage.directory.write([UInt8](repeating: 1, count: 10_000), to: "store/staging/gone-1/x/y")
    try stage.directory.write([UInt8](repeating: 1, count: 10_000), to: "store/trash/gone-2")
    try stage.directory.write([UInt8](repeating: 1, count: 10_000), to: "store/packs/orphan@1-0123456789abcdef.pack")
    let usage = try await store.usage()
    #expect(usage.reduce(0) { $0 + $1.sizeOnDevice } == (try stage.sizeOnDevice()))
    #expect(Set(usage.map(\.kind)) == Set(StoreUsage.Kind.allCases))
    #expect(usage.allSatisfy { !$0.reason.isEmpty })
    for item in usage { if let pack = item.pack { #expect(pack.sizeOnDevice == item.sizeOnDevice) } }
    #expect(usage.first { $0.pack?.id == "b" && $0.pack?.version == 2 }?.reason == "is on trial, and is in use")
    withExtendedLifetime(opened) {}
  }

  @Test("removing a pack that is not installed is harmless, and removing a pack keeps its record of failures")
  func remove() async throws {
    let (store, _, new) = try await stage.updatable()
    try await store.remove("none")
    try await store.remove("../state")
    try await store.install(new.path, as: "core")
    try await store.activate("core")
    try await store.rollback("core", reason: "blank page")
    try await store.remove("core")
    #expect(try await store.installed() == [])
    let again = try await stage.offer("core", 2)
    #expect(await failure { () async throws(PackError) in try await store.install(again.path, as: "core") }?.code == .versionFailed)
  }

  @Test("a store that cannot be written still opens installed packs", arguments: [FileFailure.fullDisk, .readOnly, .notPermitted])
  func unwritable(failure: FileFailure) async throws {
    _ = try await stage.updatable()
    let files = FaultyFiles { call in
      switch call.operation {
      case .write, .makeDirectory, .remove, .rename, .link, .setMode: .failure(failure)
      case .open where call.name.hasPrefix("uses/") || call.name.hasPrefix("staging/"): .failure(failure)
      default: nil
      }
    }
    let store = try await stage.open(as: "two", files: files)
    let opened = try await store.open("core")
    #expect(try opened.read("index.html") == Array("core 1 0".utf8))
    #expect(await PackRuntimeTests.failure { () async throws(PackError) in try await store.remove("core") }?.code == .inUse)
  }
}
