import TestSupport

/// A clock that the test sets, and that records how long it was waited for.
final class TestClock: DeviceClock {
  private let state: Monitor<(time: Int64, paused: Duration)>

  init(_ time: Int64 = 1_790_000_000) {
    state = Monitor((time, .zero))
  }

  var secondsSince1970: Int64 { state.withLock { $0.time } }
  var pausedMilliseconds: UInt64 { state.withLock { $0.paused.microseconds / 1000 } }

  func pause(for duration: Duration) {
    state.withLock { $0.paused += duration }
  }

  func set(_ time: Int64) {
    state.withLock { $0.time = time }
  }

  func advance(_ seconds: Int64) {
    state.withLock { $0.time += seconds }
  }
}

/// Returns the error that `body` throws, or nil if it does not throw.
func failure(_ body: () throws(PackError) -> Void) -> PackError? {
  do throws(PackError) {
    try body()
    return nil
  } catch {
    return error
  }
}

/// Returns the digest that the tests use for a version's bytes.
func digest(_ id: String, _ version: UInt64) -> [UInt8] {
  var random = SeededGenerator(seed: id.utf8.reduce(version &* 1_000_003) { $0 &* 31 &+ UInt64($1) })
  return random.bytes(32)
}

func bytes(_ id: String, _ version: UInt64, size: UInt64 = 1000) -> PackBytes {
  PackBytes(version: version, size: size, sha256: digest(id, version))
}

func offer(_ id: String, size: UInt64 = 1000, _ delivery: DeliveryClass = .prefetch, _ install: InstallMode = .packed) -> ManifestPack {
  offer(id, 1, size: size, delivery, install)
}

func offer(
  _ id: String, _ version: UInt64, size: UInt64 = 1000, _ delivery: DeliveryClass = .prefetch, _ install: InstallMode = .packed
) -> ManifestPack {
  ManifestPack(
    id: id, version: version, url: "https://cdn.example.com/\(id)-\(version).pack", size: size, sha256: digest(id, version),
    contentRoot: digest("root \(id)", version), contentSize: 2 &* size, installSize: 3 &* size, files: 3, maxFrame: 32_768,
    keyID: "e545120e613dd715", delivery: delivery, install: install)
}

func manifest(_ packs: ManifestPack..., version: UInt64 = 1, expires: Int64 = 2_000_000_000) -> Manifest {
  manifest(packs, version: version, expires: expires)
}

func manifest(_ packs: [ManifestPack], version: UInt64 = 1, expires: Int64 = 2_000_000_000) -> Manifest {
  Manifest(version: version, issued: nil, expires: ManifestTime(secondsSince1970: expires)!, budget: nil, packs: packs)
}

func installed(_ id: String, _ version: UInt64 = 1, _ mode: InstallMode = .packed, isRejected: Bool = false) -> DevicePack {
  DevicePack(id: id, version: version, sha256: digest(id, version), mode: mode, isRejected: isRejected)
}

let now: Int64 = 1_790_000_000

/// Delays that are the same in every run.
let exact = {
  var policy = DeliveryPolicy()
  policy.firstDelaySeconds = 60
  policy.jitter = 0
  return policy
}()

/// Returns a status after these events.
func status(_ id: String, at time: Int64 = now, _ events: PackEvent...) -> PackStatus {
  status(id, 1, at: time, events)
}

func status(_ id: String, _ version: UInt64, _ events: PackEvent...) -> PackStatus {
  status(id, version, at: now, events)
}

private func status(_ id: String, _ version: UInt64, at time: Int64, _ events: [PackEvent]) -> PackStatus {
  var status = PackStatus(id: id, bytes: bytes(id, version), at: time)
  for event in events {
    guard let next = status.after(event, at: time, policy: exact) else {
      preconditionFailure("\(event) leads nowhere from \(status.state)")
    }
    status = next
  }
  return status
}

func identifier(_ id: String, _ version: UInt64 = 1) -> String {
  DownloadIdentifier(id: id, bytes: bytes(id, version)).description
}

/// Returns the names of the plan's lists that contain a pack. A result other than one name is a fault of the plan.
func lists(of id: String, in plan: DeliveryPlan) -> [String] {
  var lists: [String] = []
  lists += plan.downloads.filter { $0.id == id }.map { _ in "downloads" }
  lists += plan.underWay.filter { $0 == id }.map { _ in "underWay" }
  lists += plan.handOver.filter { $0.id == id }.map { _ in "handOver" }
  lists += plan.ready.filter { $0 == id }.map { _ in "ready" }
  lists += plan.postponed.filter { $0.id == id }.map { _ in "postponed" }
  lists += plan.obsolete.filter { $0.id == id }.map { _ in "obsolete" }
  return lists
}

extension DeliveryPlan {
  func reason(of id: String) -> Postponement.Reason? { postponed.first { $0.id == id }?.reason }
}

extension SharedState {
  /// Creates the shared state of a test, in a directory of a disk in memory.
  static func sample(_ files: any FileSystem, _ clock: any DeviceClock = TestClock()) throws(PackError) -> SharedState {
    try SharedState(directory: "/group", store: "/store", policy: exact, files: files, clock: clock)
  }

  /// Follows the keys documents of a manifest, and then accepts it, as the extension does.
  @discardableResult
  func accept(_ document: [UInt8], trusting keys: TrustedKeys) throws(PackError) -> Manifest {
    try accept(document) { (signed) throws(PackError) in
      try follow(signed, trusting: keys)
      try keys.check(signed, record: keysRecord(), at: time)
    }
  }

  /// Returns the last accepted manifest, checked like a new one.
  func lastManifest(_ check: ManifestCheck) throws(PackError) -> Manifest? {
    guard let document = try lastDocument() else { return nil }
    let signed = try SignedManifest(document)
    try check(signed)
    return try Manifest(parsingSigned: signed.bytes.byteSpan.extracting(signed.signedBytes))
  }

  func lastManifest(trusting keys: TrustedKeys) throws(PackError) -> Manifest? {
    try lastManifest { (signed) throws(PackError) in try keys.check(signed, record: keysRecord(), at: time) }
  }

  /// Records downloads as handed to the system.
  func schedule(_ packs: ManifestPack..., event: DeliveryEvent = .periodic) throws(PackError) {
    _ = try plan(for: manifest(packs), facts: DeliveryFacts(event, at: time))
  }
}

extension [DevicePack] {
  /// The records of a store with these versions, by their file names.
  var storeRecords: [String: [UInt8]] {
    var records: [String: [UInt8]] = [:]
    for (id, packs) in Dictionary(grouping: self, by: \.id) {
      var record = PackRecord(id: id)
      for pack in packs {
        let bytes = PackRecord.Bytes(version: pack.version, sha256: pack.sha256)
        let root = pack.contentRoot ?? (pack.mode == .unpacked ? digest("root", pack.version) : nil)
        record.contents.append(
          PackRecord.Content(bytes: bytes, mode: pack.mode, size: 1, sizeOnDevice: 4096, contentRoot: root, isProven: false))
        if pack.isRejected { record.fail(bytes, reason: "its trial") }
      }
      records[PackName.fileName(of: id)] = record.text
    }
    return records
  }
}

extension MemoryDisk {
  /// Makes the store contain exactly these versions, and reject those that are marked so.
  func hold(_ device: [DevicePack]) {
    remove("/store/state")
    for (name, record) in device.storeRecords { write(record, to: "/store/state/\(name)") }
  }

  /// Writes a file as the system leaves it after a download.
  func downloaded(size: Int = 1000, _ name: String = "/system/download", filling: UInt8 = 7) -> String {
    write([UInt8](repeating: filling, count: size), to: name)
    return name
  }
}
