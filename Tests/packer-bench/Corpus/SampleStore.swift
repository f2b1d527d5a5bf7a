/// A store with many small packs, and an empty store beside it.
struct SampleStore {
  let root: String
  let emptyRoot: String
  /// The public key of the manifest's signature, as text for the command line.
  let publicKey: String

  private let place: String
  private let keyPath: String
  private let signer: SignerHolder
  private let disk = Disk()

  /// Creates an empty directory for the stores.
  ///
  /// - Parameters:
  ///   - place: The directory. Its previous content is removed.
  ///   - key: The file of the content key.
  init(in place: String, key: String) throws(PackError) {
    self.place = place
    keyPath = key
    root = "\(place)/full"
    emptyRoot = "\(place)/empty"
    signer = try SignerHolder()
    publicKey = signer.key.publicKey.text
    if disk.exists(place) { try disk.removeAll(place) }
    try disk.makeDirectories(place)
  }

  /// Opens the store.
  func open() async throws(PackError) -> AssetStore { try await open(root) }

  /// Makes the packs, and installs and activates them.
  func fill(count: Int) async throws(PackError) {
    let key = try KeyReference(parsing: keyPath).resolve { _ in }
    try disk.write("console.log('a small game')\n", to: "\(place)/source/game.js")
    var entries: [ManifestPack] = []
    for number in 0..<count {
      entries.append(try await makePack("game-\(10_000 + number)", key: key, mode: number % 2 == 0 ? .packed : .unpacked))
    }
    let store = try await open()
    try await store.adopt(manifest(entries))
    for entry in entries {
      try await store.install("\(place)/\(entry.id).pack", as: entry.id)
      try await store.activate(entry.id, onTrial: false)
    }
    try await open(emptyRoot).adopt(manifest([]))
  }

  /// Removes the directory with both stores.
  func remove() throws(PackError) { try disk.removeAll(place) }

  private func open(_ root: String) async throws(PackError) -> AssetStore {
    let key = try KeyReference(parsing: keyPath).resolve { _ in }
    let keys = KeyRing(key)
    return try await AssetStore(root: root, keys: keys, trusting: [signer.key.publicKey])
  }

  private func makePack(_ id: String, key: borrowing PackKey, mode: InstallMode) async throws(PackError) -> ManifestPack {
    let path = "\(place)/\(id).pack"
    var job = PackJob(source: "\(place)/source", output: path, name: try PackName(id))
    job.jobs = 1
    _ = try await job.run(key: key)
    let pack = try Pack.open(path, key: key)
    let bytes = try disk.read(path)
    let digest = try CryptoBackends.standard.makeDigest()
    try digest.update(bytes.byteSpan)
    return ManifestPack(
      id: id, version: 1, url: "https://a.example/\(id)", size: UInt64(bytes.count), sha256: try digest.finish(),
      contentRoot: pack.contentRoot, contentSize: pack.contentSize, installSize: 8192, files: UInt64(pack.entryCount),
      maxFrame: UInt64(pack.largestFrame), keyID: "\(pack.keyID)", delivery: .onDemand, install: mode)
  }

  private func manifest(_ packs: [ManifestPack]) throws(PackError) -> SignedManifest {
    try Manifest(sample: packs).signed(by: signer.key)
  }
}

/// Holds a key, which cannot be copied, for values that can.
private final class SignerHolder: Sendable {
  let key: SigningKey

  init() throws(PackError) {
    key = try SigningKey.random()
  }
}
