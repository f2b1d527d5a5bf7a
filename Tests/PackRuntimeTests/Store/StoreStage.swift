import Foundation
import TestSupport

/// A directory with a store and packs to install. The clock changes only if a test sets it, and processes run until a test ends them.
final class StoreStage: Sendable {
  let directory: TemporaryDirectory
  let clock = StageClock()
  private let ended = Monitor<Set<String>>([])

  init() throws {
    directory = try TemporaryDirectory()
  }

  var root: String { directory("store") }

  /// The URL of the directory with the files of a release.
  static let base = "https://cdn.example.com/packs/"

  /// An offered pack, with its file in the directory.
  struct Offer: Sendable {
    let path: String
    let tree: SampleTree
    var entry: ManifestPack
  }

  /// A long lock timeout: whoever holds the lock may wait for the processor while other tests run.
  static let patient = StorePolicy(lockTimeout: .seconds(1000), freeSpaceMargin: 0)

  /// Opens the store as a running process with this session name.
  func open(
    as session: String = "one", _ policy: StorePolicy = StoreStage.patient, files: any FileSystem = FaultyFiles(),
    trusting signers: [UInt8] = [0], embedding embedded: TrustedKeys? = nil, lowestVersion: UInt64 = 0, logger: (any PackLogger)? = nil,
    keys provider: (any KeyProvider)? = nil
  ) async throws(PackError) -> AssetStore {
    let process = StoreProcess(session: session) { [ended] session in !ended.withLock { $0.contains(session) } }
    var trusted: [SigningPublicKey] = []
    for key in signers { trusted.append(try Self.signer(key).publicKey) }
    let bytes = (0..<32).map { UInt8($0) }
    let keys: any KeyProvider
    if let provider { keys = provider } else { keys = KeyRing(try PackKey(bytes: bytes.byteSpan)) }
    return try await AssetStore(
      root: root, keys: keys, trusting: embedded ?? TrustedKeys(trusted), lowestVersion: lowestVersion, policy: policy,
      files: files,
      clock: clock,
      process: process, backend: CryptoBackends.standard, logger: logger)
  }

  /// Marks a process as ended.
  func end(_ session: String) {
    ended.withLock { _ = $0.insert(session) }
  }

  /// Creates a pack.
  ///
  /// - Parameter salt: A different value gives different bytes.
  func offer(
    _ id: String = "core", _ version: UInt64 = 1, size: Int = 5000, salt: UInt64 = 0, delivery: DeliveryClass = .prefetch,
    install: InstallMode = .packed
  ) async throws -> Offer {
    var random = SeededGenerator(seed: version &* 1000 &+ salt)
    let tree = SampleTree(
      [
        "index.html": .init(Array("\(id) \(version) \(salt)".utf8)), "js/data.bin": .init(random.bytes(size)),
        "run": .init([1], isExecutable: true),
      ],
      emptyDirectories: ["js-saves"])
    let name = "\(id)-\(version)-\(salt)"
    if !FileManager.default.fileExists(atPath: directory("\(name).source")) { try tree.write(to: "\(name).source", in: directory) }
    var job = PackJob(source: directory("\(name).source"), output: directory("\(name).pack"), name: try PackName(id))
    job.packVersion = version
    job.settings.segmentSize = 4096
    job.jobs = 1
    job.files = FaultyFiles()
    _ = try await job.run(key: try knownKey())
    let pack = try PackRuntimeTests.open(directory("\(name).pack"))
    let bytes = directory.bytes(of: "\(name).pack") ?? []
    let entry = ManifestPack(
      id: id, version: version, url: "https://cdn.example.com/\(name).pack", size: UInt64(bytes.count),
      sha256: try CryptoBackends.standard.digest(of: bytes.byteSpan), contentRoot: pack.contentRoot, contentSize: pack.contentSize,
      installSize: try PackCensus(pack).installSize, files: UInt64(pack.entryCount), maxFrame: UInt64(pack.largestFrame),
      keyID: "\(pack.keyID)",
      delivery: delivery, install: install)
    return Offer(path: directory("\(name).pack"), tree: tree, entry: entry)
  }

  /// Returns a signed manifest.
  func manifest(
    _ version: UInt64, _ offers: [Offer], expires: Int64 = 1_900_000_000, signedBy key: UInt8 = 0, keys: [KeysDocument] = []
  ) throws(PackError) -> SignedManifest {
    let manifest = Manifest(
      version: version, issued: nil, expires: ManifestTime(secondsSince1970: expires) ?? ManifestTime("2030-01-01T00:00:00Z")!, budget: nil,
      packs: offers.map(\.entry))
    return try KeysSample.sign(manifest, by: [key], keys: keys)
  }

  static func signer(_ first: UInt8) throws(PackError) -> SigningKey {
    let seed = (0..<32).map { first &+ $0 }
    return try SigningKey(seed: SecretBytes(copying: seed.byteSpan))
  }

  /// Returns a store in which version 1 of `core` is current and version 2 is offered.
  func updatable(
    _ policy: StorePolicy = StoreStage.patient, install: InstallMode = .packed
  ) async throws -> (store: AssetStore, old: Offer, new: Offer) {
    let store = try await open(policy)
    let old = try await offer("core", 1, install: install)
    let new = try await offer("core", 2, install: install)
    try await store.adopt(manifest(1, [old]))
    try await store.install(old.path, as: "core", taking: .copying)
    try await store.activate("core", onTrial: false)
    try await store.adopt(manifest(2, [new]))
    return (store, old, new)
  }

  /// Returns every file in the store except the lock, with its content.
  func snapshot() throws -> [String: [UInt8]] {
    var result: [String: [UInt8]] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: root) {
      var isDirectory: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: "\(root)/\(name)", isDirectory: &isDirectory)
      if !isDirectory.boolValue { result[name] = directory.bytes(of: "store/\(name)") }
    }
    return result
  }

  /// Returns the number of bytes that the store's directory takes, as reported by the system.
  func sizeOnDevice() throws -> UInt64 {
    let output = try ChildProcess.run("/usr/bin/du", ["-s", "--block-size=1", root])
    return UInt64(String(decoding: output, as: UTF8.self).prefix { $0.isNumber }) ?? 0
  }
}

/// A clock that changes only if a test sets it, and whose waits end almost at once.
final class StageClock: DeviceClock {
  private struct State {
    var now: Int64 = 1_800_000_000
    var ticks = 0
    var onTick: (@Sendable (Int) async -> Void)?
  }

  private let state = Monitor(State())

  var secondsSince1970: Int64 {
    get { state.withLock { $0.now } }
    set { state.withLock { $0.now = newValue } }
  }

  /// The number of waits between checks of a trial.
  var ticks: Int { state.withLock { $0.ticks } }

  /// Calls `body` at each tick with its number.
  func onTick(_ body: @escaping @Sendable (Int) async -> Void) {
    state.withLock { $0.onTick = body }
  }

  func pause(for duration: Duration) {
    usleep(100)
  }

  func sleep(for duration: Duration) async {
    guard !Task.isCancelled else { return }
    let (number, body) = state.withLock { state in
      state.ticks += 1
      return (state.ticks, state.onTick)
    }
    await body?(number)
    await Task.yield()
  }
}

/// Returns the next events of a stream.
func drain(_ events: AsyncStream<StoreEvent>, _ count: Int) async -> [StoreEvent] {
  var result: [StoreEvent] = []
  guard count > 0 else { return [] }
  for await event in events {
    result.append(event)
    if result.count == count { break }
  }
  return result
}
