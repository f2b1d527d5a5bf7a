import TestSupport
import Testing

@testable import PackRemote

extension AssetKey where Value == String {
  fileprivate static let greeting = AssetKey("greeting")
}

extension AssetKey where Value == [Int] {
  fileprivate static let levels = AssetKey("levels")
}

@Suite("All assets of an app", .bounded)
struct RemoteAssetsTests {
  private let disk = MemoryDisk()
  private let clock = ManualClock()
  private let greeting = Source(.text("hello"))
  private let levels = Source(.text("[1, 2, 3]"))

  private func open(every interval: Duration = .seconds(60), files: MemoryFiles? = nil) throws(PackError) -> RemoteAssets {
    try RemoteAssets(cache: "/cache", appVersion: "1", files: files ?? MemoryFiles(disk), clock: clock) { assets throws(PackError) in
      try assets.declare(.greeting, bundled: .text("hi"), as: .text, from: greeting.provider.every(interval))
      try assets.declare(.levels, bundled: .text("[]"), as: .json(), from: levels.provider.every(interval))
    }
  }

  @Test("each is found by its key, with its type")
  func keys() throws {
    let assets = try open()
    #expect(assets[.greeting].value == "hi")
    #expect(assets[.levels].value == [])
    #expect(assets.statuses.map(\.name) == ["greeting", "levels"])
    #expect(assets.statuses.map(\.origin) == [.bundled, .bundled])
  }

  @Test("two assets with the same name, and an asset that cannot be created, are refused")
  func refused() {
    let files = MemoryFiles(disk)
    func make(_ declare: (inout RemoteAssets.Declarations) throws(PackError) -> Void) -> PackError.Code? {
      code { () throws(PackError) in _ = try RemoteAssets(cache: "/cache", appVersion: "1", files: files, clock: clock, declare) }
    }
    #expect(
      make { assets throws(PackError) in
        try assets.declare(.greeting, bundled: .text("hi"), as: .text, from: greeting.provider)
        try assets.declare(AssetKey<[UInt8]>("greeting"), bundled: .text("hi"), as: .bytes, from: greeting.provider)
      } == .usage)
    #expect(
      make { assets throws(PackError) in
        try assets.declare(.levels, bundled: .text("none"), as: .json(), from: levels.provider)
      } == .invalidBundledResource)
  }

  @Test("all are refreshed together, and one that fails does not affect the others")
  func refreshed() async throws {
    let assets = try open()
    levels.answer(.text("[1, "))
    let results = await assets.refresh()
    #expect(results["greeting"]?.isKept == true)
    #expect(results["levels"]?.isInvalid == true)
    #expect(assets[.greeting].value == "hello")
    #expect(assets[.levels].value == [])
    #expect(assets.statuses.map { $0.lastResult?.description.prefix(8) } == ["replaced", "invalid:"])
    #expect(try open()[.greeting].value == "hello")
  }

  @Test("all run together until the task is cancelled")
  func run() async throws {
    let assets = try open()
    let task = Task { await assets.run() }
    for count in 1...3 {
      await greeting.asked(count)
      await levels.asked(count)
      // Both sleep before the clock advances.
      while clock.sleeperCount < 2 { await Task.yield() }
      clock.advance(by: .seconds(60))
    }
    await greeting.asked(4)
    await levels.asked(4)
    task.cancel()
    await task.value
    #expect(assets[.greeting].value == "hello")
    #expect(assets[.levels].value == [1, 2, 3])
  }

  @Test("all are reset together")
  func reset() async throws {
    let assets = try open()
    await assets.refresh()
    try await assets.reset()
    #expect(assets[.greeting].value == "hi")
    #expect(assets[.levels].value == [])
    #expect(try open()[.greeting].value == "hi")
  }

  @Test("a reset that fails on disk for one asset throws, and all values are the bundled ones")
  func resetRefused() async throws {
    let assets = try open(files: MemoryFiles(disk, .failing(.inputOutput) { $0.operation == "remove" && $0.name.contains("greeting") }))
    await assets.refresh()
    #expect(await awaitedCode { () async throws(PackError) in try await assets.reset() } == .cannotWrite)
    #expect(assets[.greeting].value == "hi")
    #expect(assets[.levels].value == [])
    #expect(disk.tree(below: "/cache").keys.sorted() == ["greeting.asset"])
  }
}
