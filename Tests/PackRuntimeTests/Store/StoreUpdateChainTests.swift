import TestSupport
import Testing

@testable import PackStore

@Suite("A device that installs twenty updates by deltas", .bounded)
struct StoreUpdateChainTests {
  @Test("has each release as if it came whole, in hardly more space", arguments: InstallMode.allCases)
  func twenty(mode: InstallMode) async throws {
    let chain = try await UpdateChain.shared(isLarge: true)
    let disk = MemoryDisk(mode == .packed ? .linux : .apple)
    let store = try await CrashSession(disk, "0").open()
    var taken: UInt64 = 0
    for version in 1...UpdateChain.count {
      let release = chain.release(version)
      try await store.adopt(release.manifest)
      let delta = try await store.deltas(to: [release.entry])[UpdateChain.id]
      #expect((delta == nil) == (version == 1))
      disk.write(delta.flatMap { chain.deltas[$0.sha256] } ?? release.pack, to: "/download/file")
      let installed = try await store.install("/download/file", as: UpdateChain.id, mode: mode)
      try await store.activate(UpdateChain.id, onTrial: false)
      #expect(installed.version == version && installed.mode == mode && installed.contentRoot == release.entry.contentRoot)
      try await check(store, installed, release, on: disk)
      if mode == .packed, version > 1 { taken += try Self.takenFrames(of: installed, on: disk) }
    }
    #expect(mode == .unpacked || taken > 20, "\(taken) frames were taken over")
    #expect(try await store.installed().count == 2)
    #expect(try await store.reconcile(.thorough) == [])
  }

  private func check(_ store: AssetStore, _ installed: InstalledPack, _ release: UpdateChain.Release, on disk: MemoryDisk) async throws {
    let opened = try await store.open(UpdateChain.id)
    #expect(opened.installed.version == installed.version)
    for (path, file) in release.tree.files {
      let isSame = try opened.read(path) == file.bytes
      #expect(isSame, "\(path) of version \(installed.version)")
    }
    guard let pack = opened.pack else {
      let tree = disk.tree(below: installed.path)
      #expect(Set(tree.filter { $0.value != nil }.keys) == Set(release.tree.files.keys), "version \(installed.version)")
      #expect(release.tree.emptyDirectories.allSatisfy { tree.keys.contains($0) })
      return
    }
    disk.write(release.pack, to: "/published.pack")
    let published = try PackRuntimeTests.open("/published.pack", files: MemoryFiles(disk))
    #expect(try Self.listing(pack) == Self.listing(published), "version \(installed.version)")
    try await pack.verify(jobs: 2)
    let size = UInt64(disk.bytes(of: installed.path)?.count ?? 0)
    #expect(size > 0 && size <= release.entry.size * 103 / 100 + 65_536, "version \(installed.version): \(size) bytes")
  }

  private static func listing(_ pack: Pack) throws(PackError) -> [String] {
    var lines: [String] = []
    try pack.forEachEntry { lines.append("\($0.path) \($0.kind) \($0.isExecutable) \($0.size) \($0.sha256.hex)") }
    return lines
  }

  /// Returns how many frames of a pack are those of the version before, byte for byte.
  private static func takenFrames(of installed: InstalledPack, on disk: MemoryDisk) throws -> UInt64 {
    let packs = disk.tree(below: "/store/packs").keys.map { "/store/packs/\($0)" }
    let before = try #require(packs.first { $0 != installed.path && $0.contains("@\(installed.version - 1)-") })
    let files = MemoryFiles(disk)
    let old = try PackRuntimeTests.open(before, files: files).compressedFrames()
    return UInt64(try PackRuntimeTests.open(installed.path, files: files).compressedFrames().count { old.contains($0) })
  }
}
