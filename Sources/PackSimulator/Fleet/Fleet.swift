/// Many devices that follow one publisher through a rollout, with the code of devices and virtual time.
///
/// The devices know nothing of each other, so one after the other is simulated from the beginning to the end. Memory grows with the number of intervals and
/// publications, and not with that of the devices.
package struct Fleet {
  /// What the devices and their networks are like.
  package struct Settings: Hashable, Sendable {
    package var devices = 10_000
    /// How many times a day the app is started, on average. One device in two is at most half as diligent, or at least one and a half times.
    package var startsPerDay = 4
    /// The share of times without a network.
    package var offline = 0.1
    /// The share of devices whose clock is up to three days wrong.
    package var wrongClocks = 0.02
    /// The share of devices on which the candidates crash before they are confirmed.
    package var crashes = 0.0
    /// The share of devices in the groups of the rollout.
    package var testers = 0.0
    /// How old the manifest may be that an edge of the CDN has, in seconds.
    package var edgeSeconds: Int64 = 60
    package var seed: UInt64 = 1

    package init() {}
  }

  /// A manifest that is published.
  package struct Publication: Sendable {
    /// Seconds after the beginning.
    package let time: Int64
    let verified: VerifiedManifest
    /// Whether it takes candidates back.
    let isHalt: Bool
    /// The bytes of the document.
    let size: UInt64

    /// Signs a manifest with a key of the simulation's own.
    package init(_ manifest: Manifest, at time: Int64) throws(PackError) {
      let key = try Publication.key()
      let signed = try manifest.signedBytes()
      let document = try SignedManifest(signed: signed, signatures: [try SignedManifest.signature(of: signed, by: key)])
      (self.time, size) = (time, UInt64(document.bytes.count))
      verified = try document.verify(trusting: [key.publicKey])
      isHalt = manifest.rollouts.contains { $0.state == .halted }
    }

    static func key() throws(PackError) -> SigningKey {
      try SigningKey(seed: SecretBytes(copying: [UInt8](repeating: 1, count: 32).byteSpan))
    }
  }

  /// What a device has.
  package enum State: Int, Hashable, Sendable, CaseIterable {
    /// It runs a candidate, or what was one.
    case runs
    /// It has one that does not run, or no longer.
    case has
    /// One failed on it.
    case failed
    /// None of these.
    case before
  }

  /// What became of the devices.
  package struct Result: Sendable {
    /// The number of devices in each state of ``State``, at the beginning and after each interval.
    package fileprivate(set) var counts: [[Int]]
    /// The bytes of packs and deltas in each interval.
    package fileprivate(set) var packBytes: [UInt64]
    /// The bytes of manifests that were not the same as before.
    package fileprivate(set) var manifestBytes: UInt64 = 0
    /// The devices that ran a candidate when it was taken back.
    package fileprivate(set) var ranAtHalt = 0
    /// After how many seconds each of these went back, in ascending order.
    package fileprivate(set) var returns: [Int64] = []
    /// How often a candidate began after it was taken back: with a manifest that an edge still had, and without a network.
    package fileprivate(set) var lateByEdge = 0
    package fileprivate(set) var lateOffline = 0
    /// The bytes of candidates that were downloaded after they were taken back.
    package fileprivate(set) var bytesAfterHalt: UInt64 = 0
  }

  private let settings: Settings
  private let publications: [Publication]
  private let candidates: Set<PackRecord.Bytes>
  private let groups: Set<String>
  /// The time at the beginning, in seconds since 1970.
  private let start: Int64
  private let duration: Int64
  private let interval: Int64
  private let halt: Int64?
  private let key: SigningPublicKey

  /// - Parameters:
  ///   - publications: In the order of their times. The first one is that of the time 0, which all devices have.
  ///   - duration: The seconds to simulate.
  ///   - interval: The seconds between two counts.
  package init(
    _ settings: Settings, _ publications: [Publication], startingAt start: Int64, duration: Int64, countingEvery interval: Int64
  ) throws(PackError) {
    (self.settings, self.publications, self.start) = (settings, publications, start)
    (self.duration, self.interval) = (duration, interval)
    var candidates: Set<PackRecord.Bytes> = []
    var groups: Set<String> = []
    for publication in publications {
      candidates.formUnion(publication.verified.manifest.packs.compactMap { $0.candidate?.bytes })
      groups.formUnion(publication.verified.manifest.rollouts.flatMap(\.groups))
    }
    (self.candidates, self.groups) = (candidates, groups)
    halt = publications.first(where: \.isHalt)?.time
    key = try Publication.key().publicKey
  }

  /// Simulates all devices.
  package func run() throws(PackError) -> Result {
    let intervals = Int((duration + interval - 1) / interval)
    var result = Result(
      counts: Array(repeating: Array(repeating: 0, count: State.allCases.count), count: intervals + 1),
      packBytes: Array(repeating: 0, count: intervals + 1))
    for number in 0..<settings.devices {
      try simulate(number, &result)
    }
    // What was added are changes.
    for place in result.counts.indices.dropFirst() {
      for state in State.allCases { result.counts[place][state.rawValue] += result.counts[place - 1][state.rawValue] }
    }
    result.returns.sort()
    return result
  }

  // MARK: A device

  /// What happens on a device.
  private struct Visit {
    let time: Int64
    /// Whether the app is started. If not, the system asks for new packs in the background.
    let isStart: Bool
  }

  private func simulate(_ number: Int, _ result: inout Result) throws(PackError) {
    // Of its own, so that the number of visits of one device changes nothing for the others.
    var mixer = SplitMix64(seed: settings.seed ^ UInt64(number) &* 0xD134_2543_DE82_EF95)
    var random = SplitMix64(seed: mixer.next())
    let installation = (0..<RolloutChoice.size).map { _ in UInt8(truncatingIfNeeded: random.next() >> 32) }
    let isTester = random.fraction() < settings.testers
    let drift = random.fraction() < settings.wrongClocks ? Int64(random.fraction() * 518_400) - 259_200 : 0
    let crashes = random.fraction() < settings.crashes
    var device = FleetDevice(RolloutChoice(installation: installation, groups: isTester ? groups : []), drift: drift, trusting: [key])
    device.follow(publications[0].verified)
    _ = try device.install(at: start)
    _ = try device.activate(at: start) { _ in false }
    var state = State.before
    result.counts[0][state.rawValue] += 1
    var ranAtHalt: Bool?
    var asked: Int64?
    for visit in visits(&random) {
      if let halt, ranAtHalt == nil, visit.time >= halt {
        ranAtHalt = state == .runs
        if state == .runs { result.ranAtHalt += 1 }
      }
      let isOnline = random.fraction() >= settings.offline
      let edge = Int64(random.fraction() * Double(settings.edgeSeconds))
      let time = start + visit.time
      func ask() {
        let last = publications.last { $0.time <= max(0, visit.time - edge) } ?? publications[0]
        let before = device.manifest?.version
        device.follow(last.verified)
        if device.manifest?.version != before { result.manifestBytes = result.manifestBytes.adding(last.size) }
        asked = visit.time
      }
      if visit.isStart {
        // As a library does before it opens a candidate.
        let isFresh = asked.map { visit.time - $0 <= 60 } ?? false
        if isOnline, !isFresh, try device.offered(at: time).contains(where: \.isCandidate) { ask() }
        let activations = try device.activate(at: time) { crashes && candidates.contains($0) }
        if let halt, visit.time >= halt {
          let late = activations.filter { $0.isChange && candidates.contains($0.content.bytes) }.count
          if isOnline { result.lateByEdge += late } else { result.lateOffline += late }
        }
      }
      if isOnline {
        ask()
        let place = Int(visit.time / interval)
        for download in try device.install(at: time) {
          result.packBytes[place] = result.packBytes[place].adding(download.size)
          if let halt, visit.time >= halt, candidates.contains(download.bytes) {
            result.bytesAfterHalt = result.bytesAfterHalt.adding(download.size)
          }
        }
      }
      let next = self.state(of: device)
      if next != state {
        let place = Int(visit.time / interval) + 1
        result.counts[place][state.rawValue] -= 1
        result.counts[place][next.rawValue] += 1
        if let halt, ranAtHalt == true, state == .runs, next != .runs {
          result.returns.append(visit.time - halt)
          ranAtHalt = false
        }
        state = next
      }
    }
    if halt != nil, ranAtHalt == nil, state == .runs { result.ranAtHalt += 1 }
  }

  /// The times at which something happens on a device: it is started, and asks once a day in the background.
  private func visits(_ random: inout SplitMix64) -> [Visit] {
    let diligence = 0.1 + 1.8 * random.fraction()
    let pause = 86_400 / (Double(settings.startsPerDay) * diligence)
    var visits: [Visit] = []
    var time = random.fraction() * pause
    while time < Double(duration) {
      visits.append(Visit(time: Int64(time), isStart: true))
      time += max(60, 2 * pause * random.fraction())
    }
    time = random.fraction() * 86_400
    while time < Double(duration) {
      visits.append(Visit(time: Int64(time), isStart: false))
      time += 86_400
    }
    return visits.sorted { $0.time < $1.time }
  }

  private func state(of device: FleetDevice) -> State {
    var state = State.before
    for record in device.records.values {
      if let running = record.running, candidates.contains(running.bytes) { return .runs }
      if record.failures.contains(where: { candidates.contains($0.bytes) }) {
        state = .failed
      } else if state == .before, record.contents.contains(where: { candidates.contains($0.bytes) }) {
        state = .has
      }
    }
    return state
  }
}
