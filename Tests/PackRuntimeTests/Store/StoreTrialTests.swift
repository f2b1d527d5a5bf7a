import Foundation
import TestSupport
import Testing

@Suite("Trials of a store", .bounded)
struct StoreTrialTests {
  let stage: StoreStage

  init() throws {
    stage = try StoreStage()
  }

  /// Returns a store in which version 1 is current and version 2 is installed.
  private func ready(_ policy: StorePolicy = StorePolicy(freeSpaceMargin: 0)) async throws -> AssetStore {
    let (store, _, new) = try await stage.updatable(policy)
    try await store.install(new.path, as: "core")
    return store
  }

  private func content(_ store: AssetStore) async throws -> String {
    String(decoding: try await store.open("core").read("index.html"), as: UTF8.self)
  }

  @Test("a pack that is not installed cannot be activated, rolled back or opened")
  func notInstalled() async throws {
    let store = try await stage.open()
    #expect(await failure { () async throws(PackError) in try await store.activate("core") }?.code == .notInstalled)
    let (other, _, _) = try await stage.updatable()
    #expect(await failure { () async throws(PackError) in try await other.activate("core", version: 2) }?.code == .notInstalled)
    #expect(await failure { () async throws(PackError) in try await store.rollback("none", reason: "x") }?.code == .notInstalled)
    #expect(await failure { () async throws(PackError) in _ = try await store.open("none") }?.code == .notInstalled)
    #expect(await failure { () async throws(PackError) in _ = try await store.open("../state/core") }?.code == .notInstalled)
  }

  @Test("a version whose content is gone from the device cannot be activated")
  func missingContent() async throws {
    let store = try await stage.open()
    let offer = try await stage.offer()
    try await store.adopt(stage.manifest(1, [offer]))
    let installed = try await store.install(offer.path, as: "core")
    try FileManager.default.removeItem(atPath: installed.path)
    let error = await failure { () async throws(PackError) in try await store.activate("core") }
    #expect(error?.code == .notInstalled)
    #expect(error?.advice == .reconcileStore)
  }

  @Test("a missing input of the key provider is not reported as a missing version")
  func missingKey() async throws {
    _ = try await stage.updatable()
    let keys = FetchedKeys { (_) throws(PackError) in throw PackError(.missingInput, "game.key does not exist") }
    let store = try await AssetStore(root: stage.root, keys: keys, trusting: [try StoreStage.signer(0).publicKey])
    #expect(await failure { () async throws(PackError) in _ = try await store.open("core") }?.code == .missingInput)
  }

  @Test("a version on trial runs, and the previous version is its fallback")
  func trial() async throws {
    let store = try await ready()
    let token = try await store.activate("core")
    #expect(token.version == 2)
    #expect(try await store.trial(of: "core") == token)
    #expect(try await content(store) == "core 2 0")
    #expect(try await store.installed().map(\.state) == [.fallback, .trial])
    try await store.confirm(token)
    #expect(try await store.trial(of: "core") == nil)
    #expect(try await store.installed().map(\.state) == [.kept, .current])
    try await store.confirm(token)
  }

  @Test("a late confirmation of one version does not confirm the next")
  func lateConfirmation() async throws {
    let store = try await ready()
    let late = try await store.activate("core")
    let offer = try await stage.offer("core", 3)
    try await store.adopt(stage.manifest(3, [offer]))
    try await store.install(offer.path, as: "core")
    let token = try await store.activate("core")
    #expect(token.version == 3)
    #expect(await failure { () async throws(PackError) in try await store.confirm(late) }?.code == .staleConfirmation)
    #expect(try await store.current("core")?.state == .trial)
    #expect(await failure { () async throws(PackError) in try await store.confirmation(of: late) }?.code == .staleConfirmation)
    try await store.rollback("core", reason: "blank page")
    #expect(await failure { () async throws(PackError) in try await store.confirm(token) }?.code == .staleConfirmation)
    #expect(try await content(store) == "core 1 0")
  }

  @Test("activating the current version again ends the trial of another one")
  func currentAgain() async throws {
    let store = try await ready()
    let token = try await store.activate("core")
    try await store.activate("core", version: 1)
    #expect(try await store.trial(of: "core") == nil)
    #expect(try await store.installed().map(\.state) == [.current, .installed])
    #expect(try await content(store) == "core 1 0")
    #expect(await failure { () async throws(PackError) in try await store.confirm(token) }?.code == .staleConfirmation)
  }

  @Test("of two installed packs with one version, the one that the manifest offers is activated", arguments: [false, true])
  func offeredBytes(isNamed: Bool) async throws {
    let (store, _, new) = try await stage.updatable()
    try await store.install(new.path, as: "core")
    for salt in [1, 2] as [UInt64] {
      let other = try await stage.offer("core", 2, salt: salt)
      try await store.adopt(stage.manifest(2 + salt, [other]))
      try await store.install(other.path, as: "core")
    }
    try await store.activate("core", version: isNamed ? 2 : nil, onTrial: false)
    #expect(try await content(store) == "core 2 2")
  }

  @Test("a token of another trial of the same bytes is stale")
  func otherNonce() async throws {
    let store = try await ready()
    let token = try await store.activate("core")
    var nonce = token.nonce
    nonce[15] ^= 1
    let forged = BootToken(id: token.id, version: token.version, sha256: token.sha256, nonce: nonce)
    let otherPack = BootToken(id: "other", version: token.version, sha256: token.sha256, nonce: token.nonce)
    for token in [forged, otherPack] {
      #expect(await failure { () async throws(PackError) in try await store.confirm(token) }?.code == .staleConfirmation)
    }
    #expect(try await store.current("core")?.state == .trial)
  }

  @Test(
    "a pack can be opened although no lock file can be made",
    arguments: [FileFailure.fullDisk, .readOnly, .notPermitted])
  func noLockFile(failure: FileFailure) async throws {
    _ = try await ready()
    try FileManager.default.removeItem(atPath: "\(stage.root)/lock")
    let files = FaultyFiles { $0.operation == .open && $0.name == "lock" ? .failure(failure) : nil }
    let store = try await stage.open(as: "two", files: files)
    #expect(try await content(store) == "core 1 0")
  }

  @Test("a token can be converted to text and back, and other texts are refused")
  func tokenText() throws {
    let token = BootToken(id: "a-b.c_D", version: 9_007_199_254_740_991, sha256: Array(0..<32), nonce: Array(100..<116))
    #expect(try BootToken(parsing: token.description) == token)
    let text = token.description
    for wrong in [
      "", "core", text + "0", String(text.dropLast()), text.uppercased(), "x" + text + "@", text.replacingOccurrences(of: "@", with: "@0"),
      "@1" + text,
    ] {
      #expect(code { () throws(PackError) in _ = try BootToken(parsing: wrong) } == .usage, "\(wrong)")
    }
  }

  @Test("a trial that is not confirmed in time fails, and its bytes are not tried again")
  func timeout() async throws {
    let store = try await ready(StorePolicy(trialTimeout: .milliseconds(200), freeSpaceMargin: 0))
    let events = store.events()
    let token = try await store.activate("core")
    let error = await failure { () async throws(PackError) in try await store.confirmation(of: token) }
    #expect(error?.code == .notConfirmed)
    #expect(stage.clock.ticks == 4)
    #expect(try await content(store) == "core 1 0")
    #expect(await failure { () async throws(PackError) in try await store.activate("core", version: 2) }?.code == .versionFailed)
    #expect(await failure { () async throws(PackError) in try await store.activate("core", version: 2) }?.advice == .publishNewVersion)
    #expect(await failure { () async throws(PackError) in try await store.confirm(token) }?.code == .staleConfirmation)
    #expect(try await store.plan().failed.map(\.version) == [2])
    #expect(try await store.plan().downloads == [])
    let again = try await stage.offer("core", 2)
    #expect(await failure { () async throws(PackError) in _ = try await store.install(again.path, as: "core") }?.code == .versionFailed)
    // Without a version, the newest one that has not failed is activated.
    #expect(try await store.activate("core").version == 1)
    let heard = await drain(events, 3)
    #expect(heard.count == 3)
    if case .rolledBack("core", from: 2, let current, _) = heard[1] { #expect(current?.version == 1) } else { Issue.record("\(heard)") }
  }

  @Test("after a failure, the same version may come again with other bytes")
  func otherBytes() async throws {
    let store = try await ready()
    try await store.activate("core")
    try await store.rollback("core", reason: "blank page")
    let offer = try await stage.offer("core", 2, salt: 5)
    try await store.adopt(stage.manifest(3, [offer]))
    #expect(try await store.plan().downloads.map(\.version) == [2])
    try await store.install(offer.path, as: "core")
    let token = try await store.activate("core")
    #expect(token.version == 2)
    try await store.confirm(token)
    #expect(try await content(store) == "core 2 5")
  }

  @Test("a confirmation by another process ends the wait", arguments: [0, 1, 3])
  func confirmationComes(tick: Int) async throws {
    let store = try await ready()
    let token = try await store.activate("core")
    let other = try await stage.open(as: "other")
    if tick == 0 { try await other.confirm(token) }
    stage.clock.onTick { number in if number == tick { try? await other.confirm(token) } }
    try await store.confirmation(of: token)
    #expect(stage.clock.ticks == tick)
    #expect(try await store.current("core")?.state == .current)
  }

  @Test("a confirmation counts that comes while the end of the trial waits for the lock")
  func confirmedAtTheEnd() async throws {
    _ = try await ready()
    let other = try await stage.open(as: "other")
    let token = Monitor<BootToken?>(nil)
    let files = FaultyFiles { call in
      guard call.operation == .open, call.name.hasSuffix("lock"),
        let token = token.withLock({ token in
          defer { token = nil }
          return token
        })
      else { return nil }
      let isDone = Monitor(false)
      Task {
        try? await other.confirm(token)
        isDone.update { $0 = true }
      }
      isDone.waitUntil { $0 }
      return nil
    }
    let store = try await stage.open(StorePolicy(trialTimeout: .milliseconds(200), freeSpaceMargin: 0), files: files)
    let begun = try await store.activate("core")
    // The last tick before the time is over.
    stage.clock.onTick { number in if number == 4 { token.withLock { $0 = begun } } }
    try await store.confirmation(of: begun)
    #expect(token.withLock { $0 } == nil)
    #expect(try await store.current("core")?.version == 2)
    #expect(try await store.current("core")?.state == .current)
  }

  @Test("cancelling the wait does not end the trial")
  func cancelledWait() async throws {
    let store = try await ready()
    let token = try await store.activate("core")
    let task = Task { () async throws -> Void in
      withUnsafeCurrentTask { $0?.cancel() }
      try await store.confirmation(of: token)
    }
    #expect(((await task.result).failure as? PackError)?.code == .cancelled)
    #expect(try await store.trial(of: "core") == token)
  }

  @Test("if the process ends during a trial, the previous version runs, and the failure is recorded", arguments: [false, true])
  func crashed(isReconciled: Bool) async throws {
    let store = try await ready()
    let token = try await store.activate("core")
    stage.end("one")
    let next = try await stage.open(as: "two")
    if isReconciled {
      let findings = try await next.reconcile()
      #expect(findings.map(\.kind).contains(.crashedTrial))
      #expect(try await next.reconcile() == [])
      #expect(stage.directory.names(in: "store/packs").count == 1)
    }
    #expect(try await next.current("core")?.version == 1)
    #expect(try await next.current("core")?.state == .current)
    #expect(try await next.trial(of: "core") == nil)
    #expect(try await content(next) == "core 1 0")
    #expect(await failure { () async throws(PackError) in try await next.confirm(token) }?.code == .staleConfirmation)
    #expect(await failure { () async throws(PackError) in try await next.activate("core", version: 2) }?.code == .versionFailed)
  }

  @Test("no other process may decide or replace the trial of a running process")
  func livingTrial() async throws {
    let store = try await ready()
    let token = try await store.activate("core")
    let other = try await stage.open(as: "other")
    #expect(try await other.reconcile(.thorough) == [])
    #expect(await failure { () async throws(PackError) in try await other.activate("core") }?.code == .inUse)
    #expect(await failure { () async throws(PackError) in try await other.activate("core", version: 1) }?.code == .inUse)
    #expect(try await content(other) == "core 2 0")
    try await store.confirm(token)
    #expect(try await other.activate("core") == token)
  }

  @Test("a trial with several starts ends with the last, and activating again adds none")
  func severalStarts() async throws {
    let policy = StorePolicy(trialStarts: 3, freeSpaceMargin: 0)
    let store = try await ready(policy)
    let token = try await store.activate("core")
    stage.end("one")
    for session in ["two", "three"] {
      let next = try await stage.open(as: session, policy)
      #expect(try await next.reconcile().map(\.kind) == [.trialContinues])
      #expect(try await next.reconcile() == [])
      #expect(try await next.trial(of: "core") == token)
      #expect(try await next.activate("core") == token)
      #expect(try await content(next) == "core 2 0")
      stage.end(session)
    }
    let last = try await stage.open(as: "four", policy)
    #expect(try await last.reconcile().map(\.kind).contains(.crashedTrial))
    #expect(try await content(last) == "core 1 0")
  }

  @Test("if the first version fails, no version is left to run")
  func firstFalls() async throws {
    let store = try await stage.open()
    let offer = try await stage.offer()
    try await store.adopt(stage.manifest(1, [offer]))
    try await store.install(offer.path, as: "core")
    try await store.activate("core")
    #expect(try await store.rollback("core", reason: "blank page") == nil)
    #expect(try await store.current("core") == nil)
    #expect(await failure { () async throws(PackError) in _ = try await store.open("core") }?.code == .notInstalled)
    #expect(stage.directory.names(in: "store/packs") == [])
  }

  @Test("a current version is rolled back to the one that was confirmed before it")
  func rollback() async throws {
    let store = try await ready()
    try await store.confirm(try await store.activate("core"))
    let back = try await store.rollback("core", reason: "saved games are lost")
    #expect(back?.version == 1)
    #expect(back?.state == .current)
    #expect(try await content(store) == "core 1 0")
    #expect(stage.directory.names(in: "store/packs").count == 1)
  }

  @Test("a version that never ran does not take the place of one that is rolled back")
  func unproven() async throws {
    let store = try await ready()
    #expect(try await store.rollback("core", reason: "blank page") == nil)
    #expect(try await store.current("core") == nil)
    #expect(try await store.activate("core").version == 2)
  }

  @Test("the policy decides how many versions are kept, and versions in use are not removed")
  func keptVersions() async throws {
    let store = try await stage.open(StorePolicy(keepVersions: 2, freeSpaceMargin: 0))
    var opened: [OpenedPack] = []
    for version in 1...5 as ClosedRange<UInt64> {
      let offer = try await stage.offer("core", version, install: version == 2 ? .unpacked : .packed)
      try await store.adopt(stage.manifest(version, [offer]))
      try await store.install(offer.path, as: "core")
      try await store.confirm(try await store.activate("core"))
      if version == 2 { opened.append(try await store.open("core")) }
    }
    #expect(try await store.installed().map(\.version) == [2, 4, 5])
    #expect(try opened[0].read("index.html") == Array("core 2 0".utf8))
    let other = try await stage.open(as: "other")
    #expect(try await other.reconcile() == [])
    opened = []
    #expect(try await other.reconcile().map(\.kind) == [.surplus])
    #expect(try await store.installed().map(\.version) == [4, 5])
    #expect(stage.directory.names(in: "store/packs").count == 2)
  }

  @Test("the number of recorded failures is limited")
  func failureLimit() async throws {
    let (store, _, _) = try await stage.updatable()
    for version in 2...20 as ClosedRange<UInt64> {
      let offer = try await stage.offer("core", version, size: 10)
      try await store.adopt(stage.manifest(version + 1, [offer]))
      try await store.install(offer.path, as: "core")
      try await store.activate("core")
      try await store.rollback("core", reason: String(repeating: "ü", count: 500))
    }
    let record = String(decoding: try #require(stage.directory.bytes(of: "store/state/core")), as: UTF8.self)
    #expect(record.components(separatedBy: "\"reason\"").count == 17)
    #expect(record.utf8.count < 8000)
    #expect(try await content(store) == "core 1 0")
  }

  @Test("an invalid policy is refused")
  func policy() async throws {
    for policy in [StorePolicy(keepVersions: 0), StorePolicy(trialStarts: 0)] {
      #expect(await failure { () async throws(PackError) in _ = try await stage.open(policy) }?.code == .usage)
    }
  }
}
