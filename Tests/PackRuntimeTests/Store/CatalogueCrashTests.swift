import TestSupport
import Testing

@testable import PackStore

@Suite("A catalogue on a device that is stopped, fails, or is used by two processes", .bounded)
struct CatalogueCrashTests {
  private static let ids = ["arena", "b", "core", "level", "zoo"]

  /// Returns a release in which every pack has the version of the manifest. No pack is ever downloaded.
  private static func release(_ version: UInt64, count: Int) throws(PackError) -> CatalogueRelease {
    var packs: [ManifestPack] = []
    for id in ids {
      let digest = try CryptoBackends.standard.digest(of: Array("\(id) \(version)".utf8).byteSpan)
      packs.append(
        ManifestPack(
          id: id, version: version, url: "https://cdn.example.com/\(id)-\(version).pack", size: 100, sha256: digest, contentRoot: digest,
          contentSize: 100, installSize: 4096, files: 1, maxFrame: 100, keyID: "0123456789abcdef", delivery: .onDemand, install: .packed))
    }
    return try CatalogueRelease(version, [], SmallCatalogue(packs, count: count, defaults: CatalogueRelease.defaults).files)
  }

  private static func catalogue(_ files: MemoryFiles) -> Catalogue {
    Catalogue("/store/catalogue", files: files, backend: CryptoBackends.standard)
  }

  private static func names(on disk: MemoryDisk) -> [String] { disk.tree(below: "/store/catalogue").keys.sorted() }

  /// Returns a disk on which the second manifest was accepted, and has only the shards of the first one.
  private static func base(_ kind: MemoryDisk.Kind, _ old: CatalogueRelease, _ new: CatalogueRelease) async throws -> MemoryDisk {
    let disk = MemoryDisk(kind)
    let session = CrashSession(disk, "before")
    let store = try await session.open()
    try await store.adopt(old.document)
    try old.deliver(to: store)
    try await store.adopt(new.document)
    session.files.end()
    return disk.after(.zeroedContent)
  }

  /// Checks that a store says nothing wrong, and is whole after the shards were delivered again.
  private static func inspect(_ disk: MemoryDisk, _ old: CatalogueRelease, _ new: CatalogueRelease, _ place: Comment) async throws {
    new.publish(on: disk)
    let store = try await CrashSession(disk, "next").open()
    try await store.reconcile()
    let listing = try await store.listing()
    #expect(listing.refusal == nil, place)
    for pack in listing.packs {
      let release = listing.outdated.contains(pack.id) ? old : new
      #expect(pack.version == release.manifest.version, place)
    }
    // The predecessor of each shard stays until the shard is there.
    if old.files.count == new.files.count { #expect(listing.packs.map(\.id) == ids, place) }
    let lookup = try await store.lookUp(Set(ids))
    #expect(lookup.missing == listing.missing && Set(lookup.packs.keys).union(lookup.unknown) == Set(ids), place)
    for pack in lookup.packs.values { #expect(pack.version == 2, place) }
    try await store.takeShards(from: CrashSample.published)
    let last = try await store.listing()
    #expect(last.isComplete && last.packs.map(\.id) == ids && last.packs.allSatisfy { $0.version == 2 }, place)
    #expect(names(on: disk) == new.names, place)
  }

  @Test("wherever keeping shards is stopped, what is there is whole, and the rest is kept again", arguments: [1, 2, 4])
  func keeping(count: Int) async throws {
    let (old, new) = (try Self.release(1, count: 4), try Self.release(2, count: count))
    var stops = 0
    for kind in [MemoryDisk.Kind.linux, .apple] {
      let base = try await Self.base(kind, old, new)
      new.publish(on: base)
      let alone = MemoryFiles(base.after(.kill))
      try await CrashSession(alone, "run").open().takeShards(from: CrashSample.published)
      var changes = Effort.Operations(of: alone.changeCount, 10, for: "keeping \(count) shards")
      var isReached = true
      while let number = changes.next(isReached: isReached) {
        let disk = base.after(.kill)
        let files = MemoryFiles(disk, .stopBeforeChange(number))
        _ = await failure { () async throws(PackError) in
          try await CrashSession(files, "run").open().takeShards(from: CrashSample.published)
        }
        files.end()
        isReached = files.struck != nil
        for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent, .emptiedContent, .luck(seed: UInt64(number))] {
          stops += 1
          try await Self.inspect(disk.after(crash), old, new, "stopped before change \(number), \(crash)")
        }
      }
    }
    #expect(stops > 20)
    print("keeping of \(count) shards: \(stops) crashes looked at")
  }

  /// The errors that a failing operation may throw.
  private static let expected: Set<PackError.Code> = [.cannotRead, .cannotWrite, .noSpace, .missingInput]

  @Test("if any single operation fails while shards are kept, the error says so, and the same process goes on")
  func failures() async throws {
    let (old, new) = (try Self.release(1, count: 4), try Self.release(2, count: 4))
    let base = try await Self.base(.linux, old, new)
    new.publish(on: base)
    let alone = MemoryFiles(base.after(.kill))
    try await CrashSession(alone, "run").open().takeShards(from: CrashSample.published)
    for failed in FileFailure.samples {
      var calls = Effort.Operations(of: alone.callCount, 10, for: "keeping shards, \(failed.text)")
      var isReached = true
      while let number = calls.next(isReached: isReached) {
        let disk = base.after(.kill)
        let files = MemoryFiles(disk, .fail(number, failed))
        func work() async throws(PackError) { try await CrashSession(files, "run").open().takeShards(from: CrashSample.published) }
        let error = await failure(work)
        isReached = files.struck != nil
        guard isReached else { break }
        let place = "operation \(number): \(failed.text)"
        if let error { #expect(Self.expected.contains(error.code), "\(place): \(error)") }
        try await work()
        files.end()
        try await Self.inspect(disk.after(.powerCut), old, new, "\(place)")
      }
    }
  }

  @Test("wherever freeing is stopped or fails, no shard of the manifest is lost, and the next time frees the rest", arguments: [1, 4])
  func freeing(count: Int) throws {
    let (old, new) = (try Self.release(1, count: count), try Self.release(2, count: 4))
    let base = MemoryDisk()
    for release in [old, new] {
      for (number, file) in release.files.enumerated() { base.write(file.bytes, to: "/store/catalogue/\(release.name(number))") }
    }
    base.write([1, 2, 3], to: "/store/catalogue/.\(new.name(0)).packer-0123456789abcdef")
    let alone = MemoryFiles(base.after(.kill))
    try Self.catalogue(alone).free(for: new.manifest)
    #expect(alone.changeCount >= old.files.count + 1)
    for number in 0..<alone.callCount {
      for plan in [MemoryFiles.Plan.stop(before: number), .fail(number, .inputOutput)] {
        let disk = base.after(.kill)
        let files = MemoryFiles(disk, plan)
        _ = code { () throws(PackError) in try Self.catalogue(files).free(for: new.manifest) }
        files.end()
        let next = Self.catalogue(MemoryFiles(disk))
        #expect(try next.lookUp(Set(Self.ids), in: new.manifest).unknown == [], "\(plan)")
        try next.free(for: new.manifest)
        #expect(Self.names(on: disk) == new.names, "\(plan)")
      }
    }
  }

  @Test(
    "two processes that keep shards at the same time, of one release or of two, disturb each other nowhere", arguments: [true, false])
  func twoProcesses(isSame: Bool) async throws {
    let (old, new) = (try Self.release(1, count: 2), try Self.release(2, count: 2))
    let releases = [isSame ? new : old, new]
    let base = MemoryDisk()
    base.write([], to: "/store/lock")
    var point = 0
    var isReached = true
    while isReached {
      let disk = base.after(.kill)
      let switches = Interleaving(first: point)
      let errors = await withTaskGroup(of: PackError?.self) { group in
        for (process, release) in releases.enumerated() {
          let files = MemoryFiles(disk, before: { switches.step(process) })
          group.addTask {
            await failure { () async throws(PackError) in
              try await WorkerPool.settled { () throws(PackError) in
                defer { switches.end(process) }
                for (number, file) in release.files.enumerated() {
                  try Self.catalogue(files).keep(file.bytes, number, of: release.manifest)
                }
              }
            }
          }
        }
        var errors: [PackError] = []
        for await error in group { if let error { errors.append(error) } }
        return errors
      }
      #expect(errors.isEmpty, "switched before operation \(point): \(errors)")
      for release in releases {
        let lookup = try Self.catalogue(MemoryFiles(disk)).lookUp(Set(Self.ids), in: release.manifest)
        // What one process has kept, the other one may have freed. It is missing then, and never wrong.
        #expect(lookup.refusal == nil && (!isSame || lookup.missing.isEmpty), "switched before operation \(point)")
        for pack in lookup.packs.values { #expect(pack.version == release.manifest.version) }
      }
      let last = Self.catalogue(MemoryFiles(disk))
      for (number, file) in new.files.enumerated() { try last.keep(file.bytes, number, of: new.manifest) }
      #expect(Self.names(on: disk) == new.names, "switched before operation \(point)")
      isReached = switches.counts[0] > point
      point += 1
    }
    #expect(point > 10)
  }

  @Test("wherever an installation from a catalogue is stopped, a version on the disk is remembered")
  func installing() async throws {
    let sample = try await CrashSample.shared().inCatalogue
    var stops = 0
    for kind in [MemoryDisk.Kind.linux, .apple] {
      let base = MemoryDisk(kind)
      sample.fetch(to: base)
      let before = CrashSession(base, "before")
      try await sample.release(1, to: try await before.open())
      try await sample.adopt(2, by: try await before.open())
      before.files.end()
      while true {
        let disk = base.after(.kill)
        let files = MemoryFiles(disk, .stopBeforeChange(stops))
        _ = await failure { () async throws(PackError) in
          try await CrashSession(files, "run").open().install(
            sample.download(CrashSample.packed, 2), as: CrashSample.packed, taking: .copying)
        }
        files.end()
        for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent, .emptiedContent] {
          let tree = disk.after(crash).tree(below: "/store")
          let record = try PackRecord(parsing: #require(tree["state/\(CrashSample.packed)"] ?? nil), id: CrashSample.packed)
          let memory = try ManifestMemory.Accepted(parsing: #require(tree["memory"] ?? nil))
          let highest = record.contents.map(\.bytes.version).max() ?? 0
          let remembered = memory.installed.compactMap { $0.versions[CrashSample.packed] }.max() ?? 0
          #expect(remembered >= highest, "stopped before change \(stops), \(crash)")
        }
        guard files.struck != nil else { break }
        stops += 1
      }
      #expect(stops > 8)
      stops = 0
    }
  }
}
