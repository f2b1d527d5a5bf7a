import ArgumentParser
import PackRuntime
import PackerKit

/// The commands about a store, which is what an app keeps on a device.
struct Store: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store",
    abstract: "Installs, tries, rolls back and frees packs as an app on a device does.",
    discussion: """
      A store is one directory. It takes what a signed manifest names, and nothing else; a version is installed whole or not at all, runs on trial, \
      and becomes the current one once it is confirmed. One that is not goes, and is not chosen again until its bytes change.

      Each command is a process of its own. A trial whose process has ended counts as crashed when 'packer store reconcile' looks, as it would when \
      the app starts again.

      Examples:
        packer store install dist --store phone
        packer store activate game-puzzle --store phone > token
        packer store confirm "$(cat token)" --store phone
        packer store list --store phone
        packer store rollback game-puzzle --reason 'black screen' --store phone
        packer store usage --store phone
        packer store reconcile --store phone
      """,
    subcommands: [
      StoreAdopt.self, StoreInstall.self, StoreActivate.self, StoreConfirm.self, StoreRollback.self, StoreList.self, StoreUsageVerb.self,
      StorePurge.self, StoreRemove.self, StoreReconcile.self,
    ])
}

/// Which store is meant, and whose manifests it takes.
struct StoreOptions: ParsableArguments {
  @Option(name: .customLong("store"), help: ArgumentHelp("The directory of the store.", valueName: "dir"), completion: .directory)
  var directory: String

  @Option(
    name: [.customShort("c"), .customLong("config")],
    help: ArgumentHelp(
      "The configuration, for the keys it names and trusts. (default: packer.yml, where there is one)", valueName: "file"),
    completion: .file())
  var configuration: String?

  @Option(
    help: ArgumentHelp(
      "A public key (pkp1-…) whose manifests the store takes, in the place of those of the configuration. Repeatable.", valueName: "key"))
  var trust: [String] = []

  /// Opens the store for a command to which keys of packs mean nothing.
  ///
  /// - Parameter decides: whether what the command does depends on the accepted manifest, which nobody vouches for where no key is trusted.
  func open(decidesByManifest decides: Bool, in session: Session) async throws(PackError) -> AssetStore {
    try StorePlace.checkName(directory)
    let configuration = try ReleaseVerification.configuration(at: configuration)
    return try await open(configuration, keys: KeyRing(), decides: decides, in: session)
  }

  /// Opens the store for a command that reads packs.
  ///
  /// - Parameter quota: the bytes that the store may take; nil for as many as there are.
  func open(key: KeyOptions, quota: UInt64?, in session: Session) async throws(PackError) -> AssetStore {
    try StorePlace.checkName(directory)
    let configuration = try ReleaseVerification.configuration(at: configuration)
    // Whose manifests count is told before anybody is asked for a key.
    let trusted = try trusted(configuration, decides: true, in: session)
    let resolved = try session.key(key, configured: configuration?.key)
    return try await AssetStore(root: directory, keys: KeyRing(resolved.key), trusting: trusted, policy: StorePolicy(quota: quota))
  }

  private func open(
    _ configuration: PackerConfiguration?, keys: KeyRing, decides: Bool, in session: Session
  ) async throws(PackError) -> AssetStore {
    try await AssetStore(root: directory, keys: keys, trusting: try trusted(configuration, decides: decides, in: session))
  }

  private func trusted(
    _ configuration: PackerConfiguration?, decides: Bool, in session: Session
  ) throws(PackError) -> [SigningPublicKey] {
    let keys = try session.trustedKeys(trust, configuration)
    guard !keys.isEmpty || !decides else {
      throw PackError(
        .untrustedSignature, "no public key is trusted, so no manifest can be",
        hint: "give --trust KEY as 'packer key public' prints it, or --config with a packer.yml that names keys")
    }
    return keys
  }
}

/// One version of a pack in a store, for people and programs.
struct StoredPackRecord: Encodable {
  let type = "pack"
  let id: String
  let version: UInt64
  let state: String
  let install: String
  let sizeOnDevice: UInt64
  let sha256: String
  let path: String

  init(_ pack: InstalledPack) {
    id = pack.id
    version = pack.version
    state = pack.state.rawValue
    install = pack.mode.rawValue
    sizeOnDevice = pack.sizeOnDevice
    sha256 = pack.sha256.hex
    path = pack.path
  }

  /// Packs in columns: name, version, what they are to the store, how they are kept, bytes on the device.
  static func lines(_ packs: [InstalledPack]) -> [String] {
    let rows = packs.map { [$0.id, "\($0.version)", $0.state.rawValue, $0.mode.rawValue, Table.grouped(Int64(clamping: $0.sizeOnDevice))] }
    func width(_ column: Int) -> Int { rows.map { $0[column].count }.max() ?? 0 }
    let widths = (0..<5).map(width)
    return rows.map { row in
      "  \(Table.left(row[0], widths[0]))  \(Table.right(row[1], widths[1]))  \(Table.left(row[2], widths[2]))  "
        + "\(Table.left(row[3], widths[3]))  \(Table.right(row[4], widths[4]))"
    }
  }
}
