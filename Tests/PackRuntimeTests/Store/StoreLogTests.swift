import Foundation
import TestSupport
import Testing

@Suite("The log of a store", .bounded)
struct StoreLogTests {
  let stage: StoreStage
  let logger = RecordingLogger()

  init() throws {
    stage = try StoreStage()
  }

  @Test("a refused manifest, a failed installation and a pack that cannot be opened are errors with their codes")
  func failures() async throws {
    let store = try await stage.open(logger: logger)
    let offer = try await stage.offer()
    _ = await failure { () async throws(PackError) in try await store.adopt(stage.manifest(1, [offer], signedBy: 9)) }
    #expect(logger.take() == ["error store: manifest refused code=untrusted-signature error=<private>"])
    try await store.adopt(stage.manifest(1, [offer]))
    _ = logger.take()
    _ = await failure { () async throws(PackError) in try await store.install(stage.directory("none.pack"), as: "core") }
    #expect(logger.events.last?.values.contains { $0.isPrivate && $0.text.contains("none.pack") } == true)
    #expect(logger.take() == ["error store: installation failed pack=core code=missing-input error=<private>"])
    _ = await failure { () async throws(PackError) in try await store.activate("core") }
    #expect(logger.take() == ["error store: activation failed pack=core code=not-installed error=<private>"])
    _ = await failure { () async throws(PackError) in _ = try await store.open("core") }
    #expect(logger.take() == ["error store: pack cannot be opened pack=core code=not-installed error=<private>"])
  }

  @Test("installation, trial, rollback, purge and removal are in the log, each once")
  func life() async throws {
    let store = try await stage.open(logger: logger)
    let (old, new) = (try await stage.offer("core", 1), try await stage.offer("core", 2))
    try await store.adopt(stage.manifest(1, [old]))
    let size = try await store.install(old.path, as: "core").sizeOnDevice
    try await store.activate("core", onTrial: false)
    let pack = "pack=core version=1 mode=packed bytes=\(size)"
    #expect(
      logger.take() == [
        "notice store: manifest accepted version=1", "notice store: installed \(pack) written=0", "notice store: confirmed \(pack)",
      ])
    try await store.adopt(stage.manifest(2, [new]))
    let newSize = try await store.install(new.path, as: "core").sizeOnDevice
    _ = logger.take()
    let next = "pack=core version=2 mode=packed bytes=\(newSize)"
    try await store.activate("core")
    #expect(logger.take() == ["notice store: trial began \(next)"])
    try await store.rollback("core", reason: "blank page")
    #expect(
      logger.take() == [
        "error store: rolled back pack=core from=2 to=1 reason=blank page", "notice store: purged \(next) reason=it failed",
      ])
    _ = try await store.open("core")
    #expect(try await store.purge(toFree: .max).removed.count == 1)
    #expect(logger.take().map { $0.hasPrefix("notice store: purged \(pack) reason=its preservation is ") } == [true])
    #expect(try await !store.remove("core"))
    #expect(logger.take() == [])
  }

  @Test("a repair is in the log with its kind, and names of files are private")
  func repair() async throws {
    let store = try await stage.open()
    let offer = try await stage.offer()
    try await store.adopt(stage.manifest(1, [offer]))
    try await store.install(offer.path, as: "core")
    try stage.directory.write([1, 2, 3], to: "store/packs/foreign file")
    let again = try await stage.open(as: "two", logger: logger)
    #expect(try await again.reconcile().count == 1)
    let event = try #require(logger.events.first)
    #expect(logger.take() == ["notice store: repair finding=foreign pack=none repaired=yes text=<private>"])
    #expect(event.fullText.contains("'packs/foreign file'"))
    #expect(try await again.reconcile() == [])
    #expect(logger.take() == [])
  }

  @Test("a store without a logger logs nothing, and one with a logger never logs keys, content or its own directory")
  func secrets() async throws {
    let store = try await stage.open(logger: logger)
    for (version, size) in [(1, 5000), (2, 50_000)] as [(UInt64, Int)] {
      let offer = try await stage.offer("core", version, size: size)
      try await store.adopt(stage.manifest(version, [offer]))
      try await store.install(offer.path, as: "core", mode: version == 1 ? .packed : .unpacked)
      try await store.confirm(try await store.activate("core"))
      _ = try await store.open("core").read("index.html")
    }
    _ = await failure { () async throws(PackError) in _ = try await store.install(stage.directory("none"), as: "core") }
    try await store.reconcile(.thorough)
    let texts = logger.events.map(\.fullText)
    #expect(texts.count > 5)
    let key = (0..<32).map { UInt8($0) }
    let forms = [key.hex, Data(key).base64EncodedString(), "\(try StoreStage.signer(0).publicKey)", "core 1 0", "core 2 0"]
    #expect(!texts.contains { text in forms.contains { text.contains($0) } })
    #expect(!logger.events.contains { "\($0)".contains(stage.root) || "\($0)".contains(stage.directory("")) })
  }
}
