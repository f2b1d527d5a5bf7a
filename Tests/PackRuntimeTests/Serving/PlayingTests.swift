import TestSupport
import Testing

/// A web view's task that only collects.
@MainActor
private final class GatheringTask: SchemeReceiver {
  private(set) var bytes: [UInt8] = []
  private(set) var error: PackError?
  private(set) var isOver = false

  nonisolated static func piece(_ bytes: Span<UInt8>) -> [UInt8] { [UInt8](copying: bytes) }

  func receive(_ response: PackResponse) {}
  func receive(_ piece: [UInt8]) { bytes += piece }
  func finish() { isOver = true }

  func fail(_ error: PackError) {
    self.error = error
    isOver = true
  }
}

@Suite("Serving packs from a store", .bounded)
@MainActor
struct PlayingTests {
  /// Returns what a page receives for a file.
  private func load(_ server: SchemeServer<GatheringTask>, _ path: String, of id: String = "core") async throws -> GatheringTask {
    let task = GatheringTask()
    server.start(task, key: ObjectIdentifier(task), pack: id, PackRequest(target: "pack://\(id)/\(path)"))
    while !task.isOver { try await Task.sleep(for: .milliseconds(1)) }
    return task
  }

  private func server(of store: AssetStore) -> SchemeServer<GatheringTask> {
    SchemeServer { (id) async throws(PackError) in try PackResponder(try await store.open(id)) }
  }

  @Test("a loaded page keeps its version while another one is activated, and the next page has the new version")
  func update() async throws {
    let stage = try StoreStage()
    let (store, old, new) = try await stage.updatable()
    let server = server(of: store)
    #expect(try await load(server, "").bytes == old.tree.files["index.html"]?.bytes)
    try await store.install(new.path, as: "core")
    let token = try await store.activate("core")
    #expect(try await load(server, "js/data.bin").bytes == old.tree.files["js/data.bin"]?.bytes)
    server.forget("core")
    #expect(try await load(server, "").bytes == new.tree.files["index.html"]?.bytes)
    // The page returns the token that it was served, as text.
    try await store.confirm(try BootToken(parsing: "\(token)"))
    #expect(try await store.current("core")?.version == 2)
  }

  @Test("an unconfirmed version is rolled back, and a page that confirms it too late changes nothing")
  func fallingBack() async throws {
    let stage = try StoreStage()
    let (store, old, new) = try await stage.updatable()
    let server = server(of: store)
    try await store.install(new.path, as: "core")
    let token = try await store.activate("core")
    #expect(try await load(server, "").bytes == new.tree.files["index.html"]?.bytes)
    let given = await failure { @Sendable () async throws(PackError) in try await store.confirmation(of: token) }
    #expect(given?.code == .notConfirmed)
    server.forget("core")
    #expect(try await load(server, "").bytes == old.tree.files["index.html"]?.bytes)
    let late = await failure { @Sendable () async throws(PackError) in try await store.confirm(token) }
    #expect(late?.code == .staleConfirmation)
    #expect(try await load(server, "js/data.bin").bytes == old.tree.files["js/data.bin"]?.bytes)
  }

  @Test("a pack is in use until the handler forgets it")
  func inUse() async throws {
    let stage = try StoreStage()
    let (store, old, _) = try await stage.updatable()
    let server = server(of: store)
    #expect(try await load(server, "").error == nil)
    let refused = await failure { @Sendable () async throws(PackError) in try await store.remove("core") }
    #expect(refused?.code == .inUse)
    #expect(refused?.advice == .closePack)
    #expect(try await load(server, "js/data.bin").bytes == old.tree.files["js/data.bin"]?.bytes)
    server.forget("core")
    try await store.remove("core")
    #expect(try await load(server, "").error?.code == .notInstalled)
  }

  @Test("a pack that was installed unpacked cannot be served, and the error says what to do")
  func unpacked() async throws {
    let stage = try StoreStage()
    let (store, _, _) = try await stage.updatable(install: .unpacked)
    let task = try await load(server(of: store), "")
    #expect(task.error?.code == .usage)
    #expect(task.error?.advice?.description.contains(".packed") == true)
  }

  @Test("a name without a pack is not opened", arguments: ["other", "", "..", "core/../x", "CORE"])
  func unknown(id: String) async throws {
    let stage = try StoreStage()
    let (store, _, _) = try await stage.updatable()
    #expect(try await load(server(of: store), "", of: id).error != nil)
  }

  @Test("a pack of a store that another one shares is in use with it, and if it is missing, neither is served")
  func shared() async throws {
    let stage = try StoreStage()
    let (store, _, _) = try await stage.updatable()
    let engine = try await stage.offer("engine-2")
    try await store.adopt(stage.manifest(3, [try await stage.offer("core", 2), engine]))
    let missing = await failure { @Sendable () async throws(PackError) in
      _ = try await PackResponder(store, "core", mounts: ["engine": "engine-2"])
    }
    #expect(missing?.code == .notInstalled)
    try await store.install(engine.path, as: "engine-2", taking: .copying)
    try await store.activate("engine-2", onTrial: false)
    let server = SchemeServer<GatheringTask> { (id) async throws(PackError) in
      try await PackResponder(store, id, mounts: ["engine": "engine-2"])
    }
    let wanted = try #require(engine.tree.files["js/data.bin"]?.bytes)
    #expect(try await load(server, "engine/js/data.bin").bytes == wanted)
    let refused = await failure { @Sendable () async throws(PackError) in try await store.remove("engine-2") }
    #expect(refused?.code == .inUse)
    server.forget("core")
    try await store.remove("engine-2")
  }
}
