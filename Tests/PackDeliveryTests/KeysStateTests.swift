import TestSupport
import Testing

@Suite("Keys documents that app and extension share")
struct KeysStateTests {
  private let disk = MemoryDisk()
  private let first: KeysDocument
  private let second: KeysDocument
  private let trust: TrustedKeys

  init() throws {
    first = try KeysSample.document(KeysSample.content())
    second = try KeysSample.document(KeysSample.content(2, signers: [4]))
    trust = try TrustedKeys(first)
  }

  private func open() throws(PackError) -> SharedState { try .sample(MemoryFiles(disk)) }

  private func document(_ version: UInt64, by signer: UInt8, _ keys: [KeysDocument] = []) throws(PackError) -> [UInt8] {
    try KeysSample.sign(manifest(offer("a"), version: version), by: [signer], keys: keys).bytes
  }

  @Test("a document that follows is stored, also if its manifest is refused, and never taken back")
  func stored() throws {
    _ = try open().accept(document(1, by: 0), trusting: trust)
    #expect(try open().keysRecord() == nil)
    let refused = try document(2, by: 0, [second])
    #expect(failure { () throws(PackError) in _ = try open().accept(refused, trusting: trust) }?.code == .untrustedSignature)
    #expect(try open().keysRecord() == KeysChain.text(of: [second.bytes]))
    // The accepted manifest no longer counts, and the stolen key signs none that does.
    #expect(failure { () throws(PackError) in _ = try open().lastManifest(trusting: trust) }?.code == .untrustedSignature)
    #expect(failure { () throws(PackError) in _ = try open().accept(document(9, by: 0), trusting: trust) }?.code == .untrustedSignature)
    #expect(try open().accept(document(1, by: 4), trusting: trust).version == 1)
    #expect(try open().lastManifest(trusting: trust)?.version == 1)
  }

  @Test("the highest version of a stolen key is forgotten with the key, also for the same content with new signatures")
  func recovery() throws {
    let highest: UInt64 = 1 << 53 - 1
    _ = try open().accept(document(highest, by: 0), trusting: trust)
    #expect(failure { () throws(PackError) in _ = try open().accept(document(2, by: 0), trusting: trust) }?.code == .manifestRollback)
    _ = try open().accept(document(2, by: 4, [second]), trusting: trust)
    let third = try KeysSample.document(KeysSample.content(3, signers: [5]))
    _ = try open().accept(document(2, by: 5, [second, third]), trusting: trust)
    #expect(try open().lastManifest(trusting: trust)?.version == 2)
  }

  @Test("an expired document plans nothing new, and its successor ends that")
  func expired() throws {
    let short = try TrustedKeys(KeysSample.document(KeysSample.content(expires: now)))
    #expect(failure { () throws(PackError) in _ = try open().accept(document(1, by: 0), trusting: short) }?.code == .keysExpired)
    disk.write(try document(1, by: 0), to: "/system/manifest")
    let delivery = ExtensionDelivery(state: try open(), trusting: short)
    #expect(delivery.downloads(for: .periodic, manifestAt: "/system/manifest", allowance: nil).refusal?.code == .keysExpired)
    disk.write(try document(1, by: 0, [KeysSample.document(KeysSample.content(2))]), to: "/system/manifest")
    let answer = delivery.downloads(for: .periodic, manifestAt: "/system/manifest", allowance: nil)
    #expect(answer.refusal == nil && answer.downloads.map(\.identifier.id) == ["a"])
  }

  @Test("a damaged record counts as missing, and comes again")
  func damaged() throws {
    _ = try open().accept(document(1, by: 4, [second]), trusting: trust)
    for wrong in [[], [0, 0], [UInt8](repeating: 0, count: 5 << 20)] {
      disk.write(wrong, to: "/group/keys")
      #expect(failure { () throws(PackError) in _ = try open().accept(document(2, by: 4), trusting: trust) }?.code == .untrustedSignature)
      _ = try open().accept(document(1, by: 4, [second]), trusting: trust)
      #expect(try open().keysRecord() == KeysChain.text(of: [second.bytes]))
    }
  }

  @Test("a process that ends anywhere while it follows a document leaves a state that accepts the manifest, and no way back")
  func crashes() throws {
    let (old, new) = (try document(5, by: 0), try document(6, by: 4, [second]))
    let stolen = try document(7, by: 0)
    _ = try open().accept(old, trusting: trust)
    for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent, .luck(seed: 3)] {
      var number = 0
      while true {
        let copy = disk.after(.kill)
        let files = MemoryFiles(copy, .stopBeforeChange(number))
        _ = failure { () throws(PackError) in _ = try SharedState.sample(files).accept(new, trusting: trust) }
        guard files.struck != nil else { break }
        let state = try SharedState.sample(MemoryFiles(copy.after(crash)))
        let kept = try state.lastDocument()
        if try state.keysRecord() == nil { #expect(kept == old) }
        #expect(kept == old || kept == new)
        #expect(try state.accept(new, trusting: trust).version == 6)
        #expect(failure { () throws(PackError) in _ = try state.accept(stolen, trusting: trust) }?.code == .untrustedSignature)
        number += 1
      }
      #expect(number > 12)
    }
  }
}
