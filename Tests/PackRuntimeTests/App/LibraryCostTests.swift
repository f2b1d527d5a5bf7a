import Foundation
import TestSupport
import Testing

@testable import PackApp
@testable import PackStore

@Suite("What a library of many packs costs", .bounded)
struct LibraryCostTests {
  /// A library of which these packs are installed.
  private func library(
    _ count: Int, in place: DeliveryStage, files: any FileSystem = FaultyFiles(), openFiles: Int = 32
  ) async throws -> PackLibrary {
    let stage = place.stage
    var offers: [StoreStage.Offer] = []
    for number in 0..<count { offers.append(try await stage.offer("pack-\(number)", size: 100, delivery: .onDemand)) }
    let document = try stage.manifest(1, offers).bytes
    let app = try await place.app(
      try place.network(offers), policy: StorePolicy(lockTimeout: .seconds(1000), freeSpaceMargin: 0, openFiles: openFiles),
      storeFiles: files)
    let packs = try await PackLibrary(
      app.delivery, service: app.service, exports: FileExports(stage.directory("exports")), PackLibrary.Options(),
      sleep: { _ in try? await Task.sleep(for: .seconds(1000)) }, source: { (_) throws(PackError) in document })
    try await packs.ensure(offers.map(\.entry.id))
    return packs
  }

  #if os(Linux)
    /// The number of open files below the store's packs.
    private func openCount(_ stage: StoreStage) -> Int {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
      return names.count { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"))?.contains(stage.directory("store/packs/"))
          ?? false
      }
    }

    @Test("the files of packs that are usable are open only up to the limit, and each is opened again when it is read", arguments: [1, 4])
    func descriptors(limit: Int) async throws {
      let place = try DeliveryStage(waits: true)
      let packs = try await library(12, in: place, openFiles: limit)
      // What was decompressed for a reading keeps its file until the reading ends.
      #expect(openCount(place.stage) <= limit)
      for _ in 0..<2 {
        for number in 0..<12 { #expect(try packs.data("pack-\(number)", "index.html") == Data("pack-\(number) 1 0".utf8)) }
        #expect(openCount(place.stage) <= limit)
      }
      let first = try packs.opened("pack-0").installed.path
      packs.close("pack-1")
      #expect(throws: PackError.self) { try packs.data("pack-1", "index.html") }
      try await packs.ensure("pack-1")
      // Another file under the name of one that was closed is not read.
      for number in 2..<12 { _ = try packs.data("pack-\(number)", "index.html") }
      try FileManager.default.copyItem(atPath: first, toPath: first + ".copy")
      try FileManager.default.removeItem(atPath: first)
      try FileManager.default.moveItem(atPath: first + ".copy", toPath: first)
      let error = #expect(throws: PackError.self) { try packs.data("pack-0", "index.html") }
      #expect(error?.code == .sourceChanged)
    }
  #endif

  /// Waits until what the library does by itself has ended.
  private func rest(_ files: FaultyFiles) async {
    var before = -1
    while files.calls.count != before {
      before = files.calls.count
      try? await Task.sleep(for: .milliseconds(200))
    }
  }

  @Test("a list reads each record once, and an event of one pack reads only its own")
  func reads() async throws {
    func operations(_ count: Int) async throws -> (list: Int, status: Int) {
      let (files, place) = (FaultyFiles(), try DeliveryStage(waits: true))
      let packs = try await library(count, in: place, files: files)
      await rest(files)
      let start = files.calls.count
      #expect(await packs.offers().packs.count == count)
      let middle = files.calls.count
      _ = await packs.loop.status(of: "pack-1")
      return withExtendedLifetime(place) { (middle - start, files.calls.count - middle) }
    }
    let (few, many) = (try await operations(4), try await operations(16))
    #expect(many.list - few.list <= 12 * 8, "\(few) \(many)")
    #expect(many.status <= few.status + 2 && many.status < 20, "\(few) \(many)")
  }

  @available(macOS 14, *)
  @Test("a view's list changes one row for an event of one pack, and does not list everything again")
  func rows() async throws {
    let (files, place) = (FaultyFiles(), try DeliveryStage(waits: true))
    let packs = try await library(16, in: place, files: files)
    let mirror = await ObservedLibrary(packs)
    try await eventually("the list does not come") { await mirror.offers.count == 16 }
    try await packs.cancel("pack-3")
    let start = files.calls.count
    packs.loop.changes.tell(.pack("pack-3", .waiting(.turn)))
    try await eventually("the row does not change") {
      if case .waiting(.turn)? = await mirror.offers.first(where: { $0.id == "pack-3" })?.status { true } else { false }
    }
    #expect(files.calls.count - start < 20)
    #expect(await mirror.offers.count == 16)
    withExtendedLifetime(place) {}
  }
}
