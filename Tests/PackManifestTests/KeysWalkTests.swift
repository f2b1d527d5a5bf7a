import Foundation
import TestSupport
import Testing

/// A publisher, a thief and devices.
///
/// The model: a thief steals signing keys at any time, and root keys as long as no published document has its threshold of them stolen; the
/// publisher takes stolen keys out with the next document. A publisher loses root keys as long as enough remain. Then
///
/// 1. a device only ever follows documents that the publisher made, and never goes back, except if it loses its record;
/// 2. a device accepts a manifest of the thief only if its newest document still lists enough stolen keys: never after the repair;
/// 3. a device that gets the publisher's manifest with the whole chain accepts it, unless a document or manifest has expired, or a thief's higher
///    version counts because the repair was not made yet.
private struct KeysWorld {
  var random: SeededGenerator
  private(set) var counts: [String: Int] = [:]

  private struct Version {
    let document: KeysDocument
    let roots: [UInt8]
    let threshold: Int
    let signers: [UInt8]
    let needed: Int
    let expires: Int64
  }

  private struct Device {
    var client: TrustClient
    /// Who signed the manifest that it accepted last.
    var signers: [UInt8] = []
    var isFooled = false
  }

  private var versions: [Version] = []
  private var devices: [Device] = []
  private var manifests: [(version: UInt64, document: SignedManifest)] = []
  private var now: Int64 = 1_800_000_000
  private var nextKey: UInt8 = 0
  private var manifestVersion: UInt64 = 0
  private var stolenSigners: Set<UInt8> = []
  private var stolenRoots: Set<UInt8> = []
  private var lostRoots: Set<UInt8> = []

  init(_ random: SeededGenerator) throws(PackError) {
    self.random = random
    try restart()
  }

  private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
  private mutating func chance(_ percent: Int) -> Bool { number(0..<100) < percent }
  private mutating func some(_ count: Int, of keys: [UInt8]) -> [UInt8] { Array(keys.shuffled(using: &random).prefix(count)) }
  private mutating func count(_ what: String) { counts[what, default: 0] += 1 }

  private mutating func newKeys(_ count: Int) -> [UInt8] {
    defer { nextKey += UInt8(count) }
    return (0..<count).map { nextKey + UInt8($0) }
  }

  private mutating func restart() throws(PackError) {
    (versions, devices, manifests) = ([], [], [])
    (nextKey, manifestVersion) = (0, 0)
    (stolenSigners, stolenRoots, lostRoots) = ([], [], [])
    let roots = newKeys(number(1..<5))
    try publish(roots: roots, threshold: number(1..<roots.count + 1), signers: newKeys(number(1..<4)), needed: 1)
    for _ in 0..<3 { devices.append(Device(client: try TrustClient(versions[0].document))) }
  }

  /// Publishes the next keys document if the publisher has enough root keys to sign it.
  private mutating func publish(roots: [UInt8], threshold: Int, signers: [UInt8], needed: Int) throws(PackError) {
    let usable = Set(roots).subtracting(lostRoots)
    var by = Set(some(threshold, of: usable.sorted()))
    if let last = versions.last {
      by.formUnion(some(last.threshold, of: last.roots.filter { !lostRoots.contains($0) }))
    }
    let expires = now + Int64(chance(15) ? number(1..<8) : number(50..<500))
    let content = try KeysSample.content(
      UInt64(versions.count + 1), roots: roots, threshold: threshold, signers: signers, needed: needed, expires: expires)
    versions.append(
      Version(
        document: try KeysSample.document(content, by: by.sorted()), roots: roots, threshold: threshold, signers: signers, needed: needed,
        expires: expires))
    manifests = []
    count("keys document")
  }

  private func manifest(_ version: UInt64, by signers: [UInt8], keys: [KeysDocument], expires: Int64) throws(PackError) -> SignedManifest {
    guard let expires = ManifestTime(secondsSince1970: expires) else { preconditionFailure("a time") }
    let manifest = Manifest(version: version, issued: nil, expires: expires, budget: nil, packs: [])
    return try KeysSample.sign(manifest, by: signers, keys: keys)
  }

  // MARK: Steps

  mutating func step() throws {
    if versions.count > 28 || nextKey > 200 { try restart() }
    now += Int64(number(0..<4))
    switch number(0..<14) {
    case 0: try rotate()
    case 1: try repair()
    case 2: try publish(roots: newest.roots, threshold: newest.threshold, signers: newest.signers, needed: newest.needed)
    case 3: steal()
    case 4: lose()
    case 5: try disturb()
    case 6, 7, 8: try attack()
    case 9: try replay()
    default: try fetch()
    }
  }

  private var newest: Version { versions[versions.count - 1] }

  private mutating func rotate() throws(PackError) {
    var (roots, signers) = (newest.roots, newest.signers)
    if chance(50) { signers = Array(signers.dropFirst(number(0..<2))) + newKeys(1) }
    if chance(50), roots.count < 6 { roots += newKeys(1) }
    if chance(30), roots.count > newest.threshold { roots.remove(at: number(0..<roots.count)) }
    let usable = roots.filter { !lostRoots.contains($0) }
    let threshold = min(usable.count, max(1, newest.threshold + number(0..<3) - 1))
    // A stolen root key that stays must not become enough.
    guard threshold > 0, stolenRoots.intersection(roots).count < threshold else { return }
    try publish(roots: roots, threshold: threshold, signers: signers, needed: number(1..<min(3, signers.count + 1)))
  }

  /// Takes out everything that was stolen or lost.
  private mutating func repair() throws(PackError) {
    let gone = stolenRoots.union(lostRoots)
    let roots = newest.roots.filter { !gone.contains($0) } + newKeys(newest.roots.count { gone.contains($0) })
    let kept = newest.signers.filter { !stolenSigners.contains($0) }
    let signers = kept.isEmpty ? newKeys(1) : kept
    try publish(roots: roots, threshold: newest.threshold, signers: signers, needed: min(newest.needed, signers.count))
    count("repair")
  }

  private mutating func steal() {
    if chance(70) {
      let version = versions[number(0..<versions.count)]
      stolenSigners.insert(version.signers[number(0..<version.signers.count)])
      return count("theft of a signing key")
    }
    let version = versions[number(0..<versions.count)]
    let more = stolenRoots.union([version.roots[number(0..<version.roots.count)]])
    guard versions.allSatisfy({ more.intersection($0.roots).count < $0.threshold }) else { return }
    stolenRoots = more
    count("theft of a root key")
  }

  private mutating func lose() {
    let more = lostRoots.union([newest.roots[number(0..<newest.roots.count)]])
    guard newest.roots.count - more.intersection(newest.roots).count >= newest.threshold else { return }
    lostRoots = more
    count("loss of a root key")
  }

  private mutating func disturb() throws(PackError) {
    let place = number(0..<devices.count)
    switch number(0..<3) {
    case 0:
      devices[place].client.restart()
      count("restart")
    case 1:
      devices[place].client.loseRecord()
      count("lost record")
    default:
      let version = Int(devices[place].client.embedded.newest?.content.version ?? 1)
      try devices[place].client.update(embedding: versions[number(version - 1..<versions.count)].document)
      count("app update")
    }
  }

  /// The publisher's manifest with the whole chain that a device needs.
  private mutating func fetch() throws {
    if manifests.isEmpty || chance(60) {
      manifestVersion += 1
      let document = try manifest(
        manifestVersion, by: some(newest.needed, of: newest.signers), keys: versions.dropFirst().map(\.document), expires: now + 1000)
      manifests.append((manifestVersion, document))
    }
    let place = number(0..<devices.count)
    let before = devices[place]
    let current = manifests[manifests.count - 1]
    let code = devices[place].client.attempt(current.document, at: now)
    try check(place, before: before)
    #expect(devices[place].client.keysVersion == UInt64(versions.count), "a device does not follow the publisher's chain")
    switch code {
    case nil:
      devices[place].isFooled = false
      devices[place].signers = newest.signers
      count("accepted")
    case .keysExpired?:
      #expect(now >= newest.expires)
      count("expired")
    case .manifestRollback?:
      // Only a thief's version that still counts.
      let counting = Set(before.signers).intersection(newest.signers).count >= newest.needed
      #expect(before.isFooled && counting, "a device is locked out of manifest \(current.version)")
      count("held by a thief")
    case let code?:
      Issue.record("a device refuses the publisher's manifest: \(code)")
    }
  }

  /// A manifest of the thief, with any published and forged documents.
  private mutating func attack() throws {
    guard !stolenSigners.isEmpty else { return }
    var keys = versions.map(\.document)
    switch number(0..<4) {
    case 0: keys = []
    case 1: keys = Array(keys.prefix(number(0..<keys.count + 1)))
    case 2: keys = Array(keys.suffix(number(0..<keys.count + 1)))
    default: keys.removeAll { _ in chance(30) }
    }
    let signers = some(3, of: stolenSigners.sorted())
    if chance(50) {
      // A forged document that lists the thief's keys, after any version.
      let version = number(0..<versions.count)
      let content = try KeysSample.content(
        UInt64(version + 2), roots: chance(50) ? versions[version].roots : [250, 251], threshold: 1, signers: signers)
      keys = Array(keys.prefix(version + 1)) + [try KeysSample.document(content, by: (stolenRoots.prefix(6) + [250, 251]).sorted())]
    }
    let highest: UInt64 = 1 << 53 - 1
    let document = try manifest(
      chance(30) ? highest : manifestVersion + UInt64(number(0..<3)), by: signers, keys: Array(keys.suffix(32)), expires: now + 1000)
    let place = number(0..<devices.count)
    let before = devices[place]
    let code = devices[place].client.attempt(document, at: now)
    try check(place, before: before)
    guard code == nil else { return count("attack refused") }
    let counts = versions[Int(devices[place].client.keysVersion) - 1]
    #expect(Set(signers).intersection(counts.signers).count >= counts.needed, "a device follows a thief past the repair")
    devices[place].isFooled = true
    // A device remembers those whose signatures counted.
    devices[place].signers = signers.filter(counts.signers.contains)
    count("attack before the repair")
  }

  /// An old manifest of the publisher.
  private mutating func replay() throws {
    guard !manifests.isEmpty else { return }
    let old = manifests[number(0..<manifests.count)]
    let place = number(0..<devices.count)
    let before = devices[place]
    let accepted = before.client.accepted?.version ?? 0
    guard devices[place].client.attempt(old.document, at: now) == nil else { return count("replay refused") }
    try check(place, before: before)
    let isForgotten = Set(before.signers).intersection(newest.signers).count < newest.needed
    #expect(old.version >= accepted || isForgotten, "a device goes back from manifest \(accepted) to \(old.version)")
    devices[place].isFooled = false
    devices[place].signers = newest.signers
  }

  private func check(_ place: Int, before: Device) throws {
    let client = devices[place].client
    #expect(client.keysVersion >= before.client.keysVersion, "a device goes back")
    #expect(
      client.keys.newest == versions[Int(client.keysVersion) - 1].document, "a device follows a document that the publisher did not make")
  }

  /// Checks that records lead to the same keys.
  mutating func settle() {
    for device in devices {
      var restarted = device.client
      restarted.restart()
      #expect(restarted.keys == device.client.keys)
    }
  }
}

@Suite("Random walks of keys documents")
struct KeysWalkTests {
  @Test("no device follows a thief past the repair, and none is locked out that gets the whole chain")
  func walk() throws {
    let steps = Effort.number(quick: 500, full: 100_000)
    var world = try KeysWorld(SeededGenerator())
    for step in 1...steps {
      try world.step()
      if step % 100 == 0 { world.settle() }
    }
    print("\(steps) steps: " + world.counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    for what in [
      "accepted", "attack before the repair", "attack refused", "expired", "held by a thief", "keys document", "loss of a root key",
      "lost record",
      "app update", "repair", "replay refused", "theft of a root key", "theft of a signing key",
    ] {
      #expect(world.counts[what, default: 0] > 0, "\(what) never happened")
    }
  }
}
