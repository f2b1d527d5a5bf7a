import TestSupport
import Testing

@Suite("The manifest that app and extension share")
struct AcceptedManifestTests {
  private let disk = MemoryDisk()

  private func open(_ plan: MemoryFiles.Plan = .nothing) throws(PackError) -> SharedState {
    try .sample(MemoryFiles(disk, plan))
  }

  private func key(_ number: UInt8 = 0) throws(PackError) -> SigningKey {
    let seed = [UInt8](repeating: number, count: 32)
    return try SigningKey(seed: SecretBytes(copying: seed.byteSpan))
  }

  private func document(_ manifest: Manifest, by keys: [UInt8] = [0]) throws(PackError) -> [UInt8] {
    let signed = try manifest.signedBytes()
    var signatures: [ManifestSignature] = []
    for key in keys { signatures.append(try SignedManifest.signature(of: signed, by: self.key(key))) }
    return try SignedManifest(signed: signed, signatures: signatures).bytes
  }

  @discardableResult
  private func accept(_ document: [UInt8], _ state: SharedState? = nil) throws(PackError) -> Manifest {
    let keys = [try key().publicKey]
    let given = state
    let state: SharedState
    if let given { state = given } else { state = try open() }
    return try state.accept(document) { (signed) throws(PackError) in try signed.checkSignatures(trusting: TrustedKeys(keys)) }
  }

  private func last() throws(PackError) -> Manifest? {
    let keys = [try key().publicKey]
    return try open().lastManifest { (signed) throws(PackError) in try signed.checkSignatures(trusting: TrustedKeys(keys)) }
  }

  @Test("a valid manifest is stored, so that it can be used if no other is available")
  func accepted() throws {
    #expect(try last() == nil)
    let first = manifest(offer("a"), version: 7)
    #expect(try accept(document(first)) == first)
    #expect(try last() == first)
    #expect(try open().lastDocument() == document(first))
    disk.write(try document(manifest(offer("b"), version: 8)), to: "/system/manifest")
    let keys = [try key().publicKey]
    let second = try open().accept(manifestAt: "/system/manifest") { (signed) throws(PackError) in
      try signed.checkSignatures(trusting: TrustedKeys(keys))
    }
    #expect(second.head.version == 8)
    #expect(try last()?.version == 8)
  }

  @Test("an invalid manifest is refused and changes nothing: no record, no file, no earlier manifest")
  func refused() throws {
    let state = try open()
    try accept(document(manifest(offer("a"), version: 7)))
    try state.schedule(offer("a"))
    let before = disk.tree()
    let sound = try document(manifest(offer("a", 2), version: 8))
    var flipped = sound
    flipped[sound.count / 2] ^= 1
    let bad: [(document: [UInt8], code: PackError.Code)] = [
      ([], .damagedManifest), (Array("<html>offline</html>".utf8), .damagedManifest), (Array(sound.dropLast()), .damagedManifest),
      (flipped, .untrustedSignature), (try document(manifest(offer("a", 2), version: 8), by: [1]), .untrustedSignature),
      (try document(manifest(offer("a", 2), version: 8), by: []), .untrustedSignature),
      ([UInt8](repeating: 32, count: Manifest.largestSize + 1), .damagedManifest),
      (try document(manifest(offer("a"), version: 6)), .manifestRollback),
      (try document(manifest(offer("b"), version: 7)), .manifestRollback),
      (try document(manifest(offer("a", 0), version: 8)), .manifestRollback),
    ]
    for (number, item) in bad.enumerated() {
      #expect(failure { () throws(PackError) in try accept(item.document) }?.code == item.code, "\(number)")
      #expect(disk.tree() == before, "\(number)")
    }
    let error = failure { () throws(PackError) in
      _ = try state.accept(manifestAt: "/system/nothing") { (_) throws(PackError) in }
    }
    #expect(error?.code == .missingInput)
    #expect(try last()?.version == 7)
  }

  @Test("an older version of a pack is refused, also if there is no record of the pack, because the device has it")
  func olderPack() throws {
    let state = try accept(document(manifest(offer("a", 2), offer("b"), version: 7)))
    disk.hold([installed("a", 2)])
    #expect(try open().plan(for: state, facts: DeliveryFacts(.periodic, at: now)).plan.ready == ["a"])
    #expect(try open().status(of: "a") == nil)
    #expect(failure { () throws(PackError) in try accept(document(manifest(offer("a", 1), version: 8))) }?.code == .manifestRollback)
    try accept(document(manifest(offer("a", 2), offer("b", 3), version: 8)))
  }

  @Test("the same manifest may arrive again, also with other signatures")
  func again() throws {
    let same = manifest((0..<200).map { offer("pack-\($0)") }, version: 7)
    try accept(document(same))
    let before = disk.tree()
    try accept(document(same))
    try accept(document(same, by: [0, 1, 2]))
    #expect(disk.tree() == before)
    var other = same
    other.packs[199].url += "x"
    #expect(failure { () throws(PackError) in try accept(document(other, by: [0, 2])) }?.code == .manifestRollback)
    #expect(failure { () throws(PackError) in try accept(document(other, by: [0, 2])) }?.advice == .raiseManifestVersion)
    other.packs[199].url = "y"
    #expect(failure { () throws(PackError) in try accept(document(manifest(version: 7))) }?.code == .manifestRollback)
  }

  @Test("manifests accepted under a stolen key are ignored once the key is no longer trusted, and not before")
  func stolenKey() throws {
    let highest: UInt64 = 1 << 53 - 1
    let theirs = try document(manifest(offer("a", highest), version: highest), by: [1])
    let (stolen, next) = (try key(1).publicKey, try key().publicKey)
    func take(_ document: [UInt8], trusting keys: [SigningPublicKey]) throws(PackError) -> UInt64 {
      let check: SharedState.ManifestCheck = { (signed) throws(PackError) in try signed.checkSignatures(trusting: TrustedKeys(keys)) }
      let state = try open()
      let manifest = try state.accept(document, verify: check)
      _ = try state.plan(for: manifest, facts: DeliveryFacts(.periodic, at: state.time))
      return manifest.version
    }
    #expect(try take(theirs, trusting: [stolen, next]) == highest)
    let ours = try document(manifest(offer("a"), version: 2))
    #expect(failure { () throws(PackError) in _ = try take(ours, trusting: [stolen, next]) }?.code == .manifestRollback)
    #expect(try take(ours, trusting: [next]) == 2)
    #expect(try last()?.version == 2)
    for old in [manifest(offer("a"), version: 1), manifest(offer("a", 0), version: 3)] {
      let old = try document(old)
      #expect(failure { () throws(PackError) in _ = try take(old, trusting: [next]) }?.code == .manifestRollback)
    }
  }

  @Test("if the stored version is damaged, the document is used; if both are damaged, the next valid manifest is accepted")
  func damaged() throws {
    try accept(document(manifest(offer("a"), version: 7)))
    disk.write([0, 0], to: "/group/accepted")
    #expect(failure { () throws(PackError) in try accept(document(manifest(version: 6))) }?.code == .manifestRollback)
    disk.write([0, 0], to: "/group/manifest")
    try accept(document(manifest(version: 6)))
    #expect(try last()?.version == 6)
  }

  @Test("a process that ends anywhere while it accepts a manifest leaves the old or the new one, and the new one can be accepted")
  func crashes() throws {
    let (old, new) = (try document(manifest(offer("a"), version: 7)), try document(manifest(offer("b"), version: 8)))
    try accept(old)
    for crash in [MemoryDisk.Crash.kill, .powerCut, .zeroedContent, .luck(seed: 3)] {
      var number = 0
      while true {
        let copy = disk.after(.kill)
        let files = MemoryFiles(copy, .stopBeforeChange(number))
        _ = failure { () throws(PackError) in try accept(new, SharedState.sample(files)) }
        guard files.struck != nil else { break }
        let left = copy.after(crash)
        let kept = try SharedState.sample(MemoryFiles(left)).lastDocument()
        #expect(kept == old || kept == new)
        #expect(try accept(new, SharedState.sample(MemoryFiles(left))).version == 8)
        #expect(failure { () throws(PackError) in try accept(old, SharedState.sample(MemoryFiles(left))) }?.code == .manifestRollback)
        number += 1
      }
      #expect(number > 8)
    }
  }

  @Test("a manifest is refused while the lock is busy, and accepted the next time")
  func busy() throws {
    let state = try open()
    let other = MemoryFiles(disk)
    let lock = try other.open("/group/lock", .readUnlinked, in: nil)
    #expect(try other.tryLock(lock))
    #expect(failure { () throws(PackError) in try accept(document(manifest(version: 7)), state) }?.code == .stateBusy)
    other.end()
    try accept(document(manifest(version: 7)), state)
  }

  @Test("a later manifest that arrived during the wait for the lock is not overwritten")
  func overtaken() throws {
    try accept(document(manifest(version: 4)))
    let other = MemoryFiles(disk)
    let lock = try other.open("/group/lock", .readUnlinked, in: nil)
    #expect(try other.tryLock(lock))
    let later = try document(manifest(version: 6))
    let clock = InterruptingClock { [self] in
      other.end()
      _ = try? accept(later)
    }
    let state = try SharedState(directory: "/group", files: MemoryFiles(disk), clock: clock)
    #expect(failure { () throws(PackError) in try accept(document(manifest(version: 5)), state) }?.code == .manifestRollback)
    #expect(try open().lastDocument() == later)
    #expect(failure { () throws(PackError) in try accept(document(manifest(version: 5))) }?.code == .manifestRollback)
  }
}

/// A clock that runs a closure while a caller waits.
private struct InterruptingClock: DeviceClock {
  let happen: @Sendable () -> Void

  var secondsSince1970: Int64 { TestClock().secondsSince1970 }

  func pause(for duration: Duration) { happen() }
}
