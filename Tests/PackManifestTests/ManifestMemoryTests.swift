import Testing

@Suite("The manifest memory of a client")
struct ManifestMemoryTests {
  private func verified(
    _ version: UInt64, packs: [ManifestPack] = [.sample()], by keys: [UInt8] = [0]
  ) throws(PackError) -> VerifiedManifest {
    var trusted: [SigningPublicKey] = []
    for key in keys { trusted.append(try signingKey(key).publicKey) }
    return try sign(.sample(version: version, packs: packs), by: keys).verify(trusting: trusted)
  }

  private func keys(_ numbers: UInt8...) throws(PackError) -> [SigningPublicKey] {
    var keys: [SigningPublicKey] = []
    for number in numbers { keys.append(try signingKey(number).publicKey) }
    return keys
  }

  @Test("a version below the highest is refused, and both are named")
  func rollback() throws {
    var memory = ManifestMemory(trusting: try keys(0))
    try memory.accept(verified(5))
    let before = memory
    let old = try verified(4)
    let error = failure { () throws(PackError) in try memory.accept(old) }
    #expect(error?.code == .manifestRollback)
    #expect(error?.message == "manifest has version 4, but version 5 was accepted before")
    #expect(memory == before)
    try memory.accept(verified(6))
    #expect(memory.accepted?.version == 6)
  }

  @Test("another text under the same version is refused, the same text is not")
  func sameVersion() throws {
    var memory = ManifestMemory(trusting: try keys(0))
    try memory.accept(verified(5))
    try memory.accept(verified(5))
    let other = try verified(5, packs: [])
    let error = failure { () throws(PackError) in try memory.check(other) }
    #expect(error?.code == .manifestRollback)
  }

  @Test("a lower version of a pack is refused, a removed pack is forgotten")
  func packVersions() throws {
    var memory = ManifestMemory(trusting: try keys(0))
    try memory.accept(verified(1, packs: [.sample("a", version: 3), .sample("b", version: 9)]))
    let lower = try verified(2, packs: [.sample("a", version: 2)])
    let error = failure { () throws(PackError) in try memory.accept(lower) }
    #expect(error?.code == .manifestRollback)
    #expect(error?.message == "manifest has version 2 of pack 'a', but version 3 was accepted before")
    try memory.accept(verified(2, packs: [.sample("a", version: 3)]))
    #expect(memory.accepted?.packVersions == ["a": 3])
  }

  // MARK: Packs in the catalogue

  /// A manifest that has a catalogue, in which a pack may be.
  private func catalogued(_ version: UInt64, packs: [ManifestPack] = [], by keys: [UInt8] = [0]) throws -> VerifiedManifest {
    var manifest = Manifest.sample(version: version, packs: packs)
    manifest.defaults.baseURL = "https://cdn.example.com/packs/"
    manifest.catalogue = [Shard(size: 9, contentSize: 9, maxCount: 1, sha256: [UInt8](repeating: 7, count: 32))]
    var trusted: [SigningPublicKey] = []
    for key in keys { trusted.append(try signingKey(key).publicKey) }
    return try sign(manifest, by: keys).verify(trusting: trusted)
  }

  private func isRefused(_ pack: ManifestPack, by memory: ManifestMemory) -> Bool {
    let error = failure { () throws(PackError) in try memory.check(pack) }
    return error.map { $0.code == .manifestRollback && $0.advice == .fetchManifestAgain } ?? false
  }

  @Test("a pack in the catalogue is refused if a higher version was installed, and forgotten when the device no longer has it")
  func installedVersions() throws {
    var memory = ManifestMemory(trusting: try keys(0))
    try memory.accept(catalogued(1))
    #expect(!isRefused(.sample("a", version: 1), by: memory))
    memory.note([.sample("a", version: 3)])
    memory.note([.sample("a", version: 2)])
    #expect(isRefused(.sample("a", version: 2), by: memory))
    #expect(!isRefused(.sample("a", version: 3), by: memory) && !isRefused(.sample("b", version: 1), by: memory))
    try memory.accept(catalogued(2), keeping: ["a", "b"])
    #expect(isRefused(.sample("a", version: 2), by: memory))
    // A manifest that lists it itself does not change that, and needs no such record of its own packs.
    try memory.accept(catalogued(3, packs: [.sample("a", version: 2)]), keeping: ["a"])
    #expect(isRefused(.sample("a", version: 2), by: memory))
    memory.note([.sample("a", version: 9)])
    #expect(!isRefused(.sample("a", version: 8), by: memory))
    try memory.accept(catalogued(4), keeping: ["b"])
    #expect(!isRefused(.sample("a", version: 1), by: memory))
    #expect(memory.accepted?.installed == [])
  }

  @Test("a pack that moves from the manifest into its catalogue keeps its version if the device has it")
  func moved() throws {
    var memory = ManifestMemory(trusting: try keys(0))
    try memory.accept(catalogued(1, packs: [.sample("a", version: 5), .sample("b", version: 5)]))
    var other = memory
    try memory.accept(catalogued(2), keeping: ["a"])
    #expect(isRefused(.sample("a", version: 4), by: memory) && !isRefused(.sample("b", version: 4), by: memory))
    // Without a catalogue, a pack that is no longer listed was dropped.
    try other.accept(verified(2, packs: []), keeping: ["a"])
    #expect(!isRefused(.sample("a", version: 4), by: other))
  }

  @Test("an installed version counts as long as enough of the keys that vouched for it")
  func vouching() throws {
    var memory = ManifestMemory(trusting: try keys(0, 1))
    try memory.accept(catalogued(1, by: [0]))
    memory.note([.sample("a", version: 2)])
    try memory.accept(catalogued(2, by: [1]), keeping: ["a"])
    memory.note([.sample("a", version: 9)])
    #expect(
      memory.accepted?.installed.map(\.versions) == [["a": 9], ["a": 2]]
        || memory.accepted?.installed.map(\.versions) == [["a": 2], ["a": 9]])
    #expect(isRefused(.sample("a", version: 8), by: memory))
    // The thief's version is forgotten with the key, the publisher's is not, although the accepted manifest is forgotten.
    var repaired = ManifestMemory(memory.accepted, trusting: try keys(0))
    #expect(repaired.accepted == nil)
    #expect(isRefused(.sample("a", version: 1), by: repaired) && !isRefused(.sample("a", version: 2), by: repaired))
    try repaired.accept(catalogued(1, by: [0]), keeping: ["a"])
    #expect(isRefused(.sample("a", version: 1), by: repaired))
    #expect(repaired.accepted?.installed.map(\.versions) == [["a": 2]])
    let fresh = ManifestMemory(memory.accepted, trusting: try keys(2))
    #expect(!isRefused(.sample("a", version: 1), by: fresh))
  }

  @Test("the memory of installed versions has a limit, and known ones still get higher")
  func limit() throws {
    var memory = ManifestMemory(trusting: try keys(0))
    try memory.accept(catalogued(1))
    for number in 0...ManifestMemory.Accepted.installedLimit { memory.note([.sample("p\(number)", version: 2)]) }
    #expect(memory.accepted?.installed.first?.versions.count == ManifestMemory.Accepted.installedLimit)
    #expect(isRefused(.sample("p0", version: 1), by: memory))
    memory.note([.sample("p0", version: 4)])
    #expect(isRefused(.sample("p0", version: 3), by: memory))
  }

  @Test("a fresh install accepts no manifest older than its release")
  func lowestVersion() throws {
    let memory = ManifestMemory(lowestVersion: 10, trusting: try keys(0))
    let old = try verified(9)
    let error = failure { () throws(PackError) in try memory.check(old) }
    #expect(error?.code == .manifestRollback)
    #expect(error?.message == "manifest has version 9, but this app accepts no version below 10")
    try memory.check(verified(10))
  }

  @Test("without trusted keys no manifest is accepted, and the advice is to give some")
  func noKeys() throws {
    let document = try sign(.sample(version: 1, packs: []), by: [0])
    let error = failure { () throws(PackError) in _ = try document.verify(trusting: []) }
    #expect(error?.code == .untrustedSignature)
    #expect(error?.advice == .giveTrustedKeys)
  }

  @Test("the highest version of a stolen key is forgotten with the key, not earlier")
  func forgetting() throws {
    var memory = ManifestMemory(trusting: try keys(0, 1))
    try memory.accept(verified(9_007_199_254_740_991, packs: [.sample(version: 9_007_199_254_740_991)], by: [0]))
    let good = try verified(6, by: [1])
    #expect(failure { () throws(PackError) in try memory.check(good) }?.code == .manifestRollback)
    let kept = ManifestMemory(memory.accepted, trusting: try keys(1, 0))
    #expect(kept.accepted == memory.accepted)
    var fresh = ManifestMemory(memory.accepted, lowestVersion: 5, trusting: try keys(1, 2))
    #expect(fresh.accepted == nil)
    try fresh.accept(good)
    #expect(fresh.accepted?.signers == [try signingKey(1).publicKey.id])
  }

  @Test("a version signed by two keys is remembered while one of them is trusted")
  func twoSigners() throws {
    var memory = ManifestMemory(trusting: try keys(0, 1))
    try memory.accept(verified(7, by: [0]))
    try memory.accept(verified(7, by: [1]))
    #expect(memory.accepted?.signers.count == 2)
    #expect(ManifestMemory(memory.accepted, trusting: try keys(1)).accepted?.version == 7)
    #expect(ManifestMemory(memory.accepted, trusting: try keys(0)).accepted?.version == 7)
    #expect(ManifestMemory(memory.accepted, trusting: try keys(2)).accepted == nil)
  }

  @Test("a manifest is reported as expired from the exact second, and nothing is forgotten")
  func expiry() throws {
    let manifest = try verified(1).manifest
    let end = manifest.expires.secondsSince1970
    let before = try #require(ManifestTime(secondsSince1970: end - 1))
    let after = try #require(ManifestTime(secondsSince1970: end + 1))
    #expect(manifest.state(at: before) == .current(secondsLeft: 1))
    #expect(manifest.state(at: manifest.expires) == .expired(manifest.expires))
    #expect(manifest.state(at: after) == .expired(manifest.expires))
    #expect(failure { () throws(PackError) in try manifest.checkExpiry(at: before) } == nil)
    #expect(failure { () throws(PackError) in try manifest.checkExpiry(at: manifest.expires) }?.code == .manifestExpired)
    // It is still known and still counts. Nothing is erased.
    var memory = ManifestMemory(trusting: try keys(0))
    try memory.accept(verified(1))
    #expect(memory.accepted?.version == 1)
  }

  @Test("a manifest is refused unless a trusted key signed it and no signature by a trusted key is wrong", arguments: 0..<27)
  func trustMatrix(_ number: Int) throws {
    // For two trusted keys and an untrusted one: no signature, a valid one, a wrong one.
    let states = [number % 3, number / 3 % 3, number / 9]
    let signed = try Manifest.sample().signedBytes()
    var signatures: [ManifestSignature] = []
    for (key, state) in states.enumerated() where state > 0 {
      var signature = try SignedManifest.signature(of: signed, by: signingKey(UInt8(key)))
      if state == 2 { signature.signature[40] ^= 1 }
      signatures.append(signature)
    }
    let document = try SignedManifest(signed: signed, signatures: signatures)
    let trusted = try keys(0, 1)
    let error = failure { () throws(PackError) in _ = try document.verify(trusting: trusted) }
    let mayPass = !states[0...1].contains(2) && states[0...1].contains(1)
    #expect(error?.code == (mayPass ? nil : .untrustedSignature), "\(states)")
  }
}
