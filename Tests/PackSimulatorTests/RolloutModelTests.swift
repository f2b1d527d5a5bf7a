import PackSimulator
import TestSupport
import Testing

/// Devices that follow one publisher of one pack, whose key may be stolen.
private struct RolloutModel {
  /// What the publisher offers.
  struct Offer {
    var stable: UInt64 = 1
    var candidate: UInt64?
    var rollout: Rollout?
    var manifest: UInt64 = 1
    /// The highest version of the pack that was ever used.
    var highest: UInt64 = 1
  }

  struct Device {
    var device: FleetDevice
    /// Whether its app still trusts the key that is stolen.
    var trustsStolen: Bool
  }

  /// A manifest and the time from which on edges may have it.
  struct Published {
    let verified: VerifiedManifest
    let time: Int64
    let isStolen: Bool
  }

  var devices: [Device] = []
  var offer = Offer()
  var published: [Published] = []
  var time: Int64 = 1_800_000_000
  var random: SeededGenerator
  let (ownKey, stolenKey): (SigningPublicKey, SigningPublicKey)
  /// The versions that crash.
  var bad: Set<UInt64> = []
  /// The versions that only a thief published.
  var stolen: Set<UInt64> = []
  /// How often candidates began, gave way, and failed.
  var (begun, withdrawn, failed) = (0, 0, 0)

  /// The time for which edges may serve an earlier manifest, in seconds.
  static let edgeSeconds: Int64 = 60

  init(_ count: Int, _ random: SeededGenerator) throws {
    self.random = random
    (ownKey, stolenKey) = (try KeysSample.signer(0).publicKey, try KeysSample.signer(9).publicKey)
    for number in 0..<count {
      let trusts = number % 2 == 0
      devices.append(
        Device(
          device: FleetDevice(
            RolloutChoice(installation: self.random.bytes(32), groups: number % 100 == 0 ? ["testers"] : []),
            drift: number % 10 == 0 ? Int64.random(in: -100_000...100_000, using: &self.random) : 0,
            trusting: trusts ? [ownKey, stolenKey] : [ownKey]), trustsStolen: trusts))
    }
    try publish()
  }

  private static func bytes(_ version: UInt64) -> PackRecord.Bytes {
    PackRecord.Bytes(version: version, sha256: (0..<32).map { UInt8(truncatingIfNeeded: version >> (8 * UInt64($0 % 8))) })
  }

  private static func entry(_ version: UInt64) -> ManifestPack {
    let bytes = bytes(version)
    return ManifestPack(
      id: "core", version: version, url: Self.base + ManifestPack.publishedName("core", bytes.sha256), size: 1000,
      sha256: bytes.sha256, contentRoot: bytes.sha256, contentSize: 1000, installSize: 8192, files: 1, maxFrame: 1000,
      keyID: "0123456789abcdef", delivery: .prefetch, install: .packed)
  }

  static let base = "https://cdn.example.com/packs/"

  /// Publishes what is offered.
  mutating func publish(stolen version: UInt64? = nil) throws {
    var entry = Self.entry(version ?? offer.stable)
    var manifest = Manifest(
      version: offer.manifest, issued: nil, expires: ManifestTime(secondsSince1970: 1_900_000_000)!, budget: nil,
      defaults: ManifestDefaults(baseURL: Self.base), packs: [])
    if version == nil, let rollout = offer.rollout, let candidate = offer.candidate {
      entry.candidate = ManifestCandidate(Self.entry(candidate), in: rollout.id)
      manifest.rollouts = [rollout]
    }
    manifest.packs = [entry]
    let document = try KeysSample.sign(manifest, by: [version == nil ? 0 : 9])
    let verified = try document.verify(trusting: version == nil ? [ownKey] : [stolenKey])
    published.append(Published(verified: verified, time: time, isStolen: version != nil))
  }

  // MARK: The publisher

  mutating func act() throws {
    guard var rollout = offer.rollout else {
      offer.highest += 1
      if Bool.random(using: &random) {
        offer.stable = offer.highest
      } else {
        if Int.random(in: 0..<3, using: &random) == 0 { bad.insert(offer.highest) }
        offer.candidate = offer.highest
        offer.rollout = Rollout(
          id: "r\(offer.highest)", salt: random.bytes(16), share: UInt64.random(in: 0...10_000, using: &random),
          groups: Bool.random(using: &random) ? ["testers"] : [], state: .running, until: ManifestTime(secondsSince1970: time + 86_400)!)
      }
      offer.manifest += 1
      return try publish()
    }
    switch (rollout.state, Int.random(in: 0..<6, using: &random)) {
    case (.halted, _):
      // The mended release, for everybody.
      offer.highest += 1
      (offer.stable, offer.candidate, offer.rollout) = (offer.highest, nil, nil)
    case (_, 0): rollout.state = .halted
    case (_, 1) where offer.candidate.map({ !bad.contains($0) }) ?? false:
      (offer.stable, offer.candidate, offer.rollout) = (offer.candidate ?? 0, nil, nil)
    case (.running, 2): rollout.state = .paused
    case (.paused, _): (rollout.state, rollout.until) = (.running, ManifestTime(secondsSince1970: time + 86_400)!)
    default:
      rollout.share = min(10_000, rollout.share + UInt64.random(in: 0...3000, using: &random))
      rollout.until = ManifestTime(secondsSince1970: time + 86_400)!
    }
    if offer.rollout != nil { offer.rollout = rollout }
    offer.manifest += 1
    try publish()
  }

  /// A thief publishes a version of his own over everything else. The next publication follows it.
  mutating func steal() throws {
    offer.highest += 1
    offer.manifest += 1
    stolen.insert(offer.highest)
    try publish(stolen: offer.highest)
    offer.highest += 1
    offer.manifest += 1
    if offer.rollout == nil { offer.stable = offer.highest }
    try publish()
  }

  // MARK: A device

  /// A device starts its app: it asks for the manifest if it has a network, downloads, activates, and confirms or crashes.
  mutating func start(_ number: Int, isOnline: Bool, isStale: Bool) throws {
    let trusts = devices[number].trustsStolen
    var device = devices[number].device
    defer { devices[number].device = device }
    if isOnline {
      let last = published.last { !isStale || $0.time <= time - Self.edgeSeconds } ?? published[0]
      if !last.isStolen || trusts { device.follow(last.verified) }
    }
    let rollout = device.manifest?.rollouts.first
    if isOnline {
      for download in try device.install(at: time) where rollout?.state == .halted {
        #expect(!download.isCandidate, "nobody downloads for what is halted")
      }
    }
    let wasCandidate = device.records["core"]?.running?.isCandidate == true
    let activations = try device.activate(at: time) { bad.contains($0.version) }
    if activations.isEmpty, wasCandidate, device.manifest != nil { #expect(device.records["core"]?.wayBack == nil) }
    for activation in activations {
      let content = activation.content
      if content.isCandidate { try check(activation, device, rollout) }
      guard activation.isChange else { continue }
      if content.isCandidate { begun += 1 }
      if wasCandidate, !content.isCandidate, content.isProven { withdrawn += 1 }
      if bad.contains(content.bytes.version) { failed += 1 }
    }
    if let running = device.records["core"]?.running, !trusts {
      #expect(!stolen.contains(running.bytes.version), "nobody follows a thief")
    }
  }

  /// Checks that a device may run a candidate.
  private func check(_ activation: FleetDevice.Activation, _ device: FleetDevice, _ rollout: Rollout?) throws {
    let rollout = try #require(rollout, "a candidate runs only as long as there is a rollout of it")
    #expect(rollout.state != .halted, "what is halted does not run")
    guard activation.isChange else { return }
    let now = ManifestTime(secondsSince1970: time + device.drift)!
    let place = try device.choice.place(in: rollout)
    #expect(rollout.state == .running, "what is paused does not begin")
    #expect(now < rollout.until, "nothing begins when the time is over")
    #expect(place < rollout.share || !device.choice.groups.isDisjoint(with: rollout.groups), "only who is picked begins")
  }
}

@Suite("Many devices and one publisher", .bounded)
struct RolloutModelTests {
  private static let rollout = Rollout(
    id: "winter", salt: Array(repeating: 7, count: 16), share: Rollout.wholeShare, state: .running,
    until: ManifestTime(secondsSince1970: 1_800_003_600)!)

  @Test("no device begins, keeps or downloads what it should not, whatever the publisher, a thief, stale edges and wrong clocks do")
  func walk() throws {
    let (count, steps) = Effort.isFull ? (10_000, 1_000_000) : (1000, 40_000)
    var model = try RolloutModel(count, SeededGenerator())
    for step in 0..<steps {
      model.time += Int64.random(in: 0...60, using: &model.random)
      switch Int.random(in: 0..<1000, using: &model.random) {
      case 0..<4: try model.act()
      case 4 where step % 7 == 0: try model.steal()
      case 5:
        // An app update that trusts only the publisher's key: what the thief had it remember is forgotten.
        let number = Int.random(in: 0..<count, using: &model.random)
        guard model.devices[number].trustsStolen else { break }
        model.devices[number].trustsStolen = false
        model.devices[number].device.trust([model.ownKey])
        for version in model.stolen {
          for content in model.devices[number].device.records["core"]?.contents ?? [] where content.bytes.version == version {
            model.devices[number].device.records["core"]?.forget(content.bytes)
          }
        }
      default:
        let kind = Int.random(in: 0..<10, using: &model.random)
        try model.start(Int.random(in: 0..<count, using: &model.random), isOnline: kind < 8, isStale: kind < 2)
      }
    }
    #expect(model.begun > steps / 100 && model.withdrawn > 20 && model.failed > 20, "the walk reaches what it is about")
  }

  @Test("the share of devices that take a candidate is what was asked for, within three standard deviations, for each rollout anew")
  func shares() throws {
    var random = SeededGenerator()
    let count = 10_000
    let choices = (0..<count).map { _ in RolloutChoice(installation: random.bytes(32)) }
    var earlier: Set<Int> = []
    for share in [0, 1, 100, 500, 2500, 5000, 9999, 10_000] as [UInt64] {
      var rollout = Self.rollout
      (rollout.salt, rollout.share) = (random.bytes(16), share)
      let time = ManifestTime(secondsSince1970: 1_800_000_000)!
      var takers: Set<Int> = []
      for (index, choice) in choices.enumerated() where try choice.takes(.other, of: rollout, at: time) { takers.insert(index) }
      let part = Double(share) / 10_000
      let deviation = (Double(count) * part * (1 - part)).squareRoot()
      #expect(abs(Double(takers.count) - Double(count) * part) <= 3 * deviation, "\(takers.count) of \(count) for \(share)")
      // A larger share only adds.
      rollout.share = min(10_000, share + 1000)
      for index in takers { #expect(try choices[index].takes(.other, of: rollout, at: time)) }
      if share == 5000 {
        // The first of one rollout are not the first of the next.
        let common = Double(takers.intersection(earlier).count)
        #expect(abs(common - 1250) <= 3 * (10_000 * 0.125 * 0.875).squareRoot())
      }
      earlier = takers
    }
  }

  @Test("eight rollouts add at most one and a half kibibytes to the root")
  func sizes() throws {
    let packs = (0..<8).map { number -> ManifestPack in
      var pack = ManifestPack(
        id: "pack-\(number)", version: 1, url: "", size: 1_000_000, sha256: Array(repeating: UInt8(number), count: 32),
        contentRoot: Array(repeating: 1, count: 32), contentSize: 2_000_000, installSize: 2_000_000, files: 10, maxFrame: 1 << 20,
        keyID: "0123456789abcdef", delivery: .prefetch, install: .packed)
      pack.url = RolloutModel.base + ManifestPack.publishedName(pack.id, pack.sha256)
      return pack
    }
    func size(_ rollouts: [Rollout]) throws -> Int {
      var manifest = Manifest(
        version: 1, issued: nil, expires: ManifestTime(secondsSince1970: 1_900_000_000)!, budget: nil,
        defaults: ManifestDefaults(baseURL: RolloutModel.base, keyID: "0123456789abcdef"), packs: packs)
      manifest.rollouts = rollouts
      return try manifest.signedBytes().count
    }
    let eight = (0..<8).map { number in
      var rollout = Self.rollout
      rollout.id = "rollout-\(number)"
      return rollout
    }
    let added = try size(eight) - size([])
    #expect(added <= 1536, "eight controls take \(added) bytes")
  }
}
