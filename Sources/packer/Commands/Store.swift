import ArgumentParser
import PackBuild
import PackFormat
import PackManifest
import PackProject
import PackReading
import PackStore

/// The commands about a store, the directory in which an app keeps its packs on a device.
struct Store: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store",
    abstract: "Installs, tries, rolls back and removes packs as an app on a device does.",
    discussion: """
      A store is one directory. It accepts only packs that a signed manifest lists. A version is installed whole or not at all, runs on trial, \
      and becomes current once it is confirmed. A version that is not confirmed is rolled back, and not used again until its bytes change.

      Each command is a separate process. 'packer store reconcile' counts a trial whose process has ended as crashed, as the app does when it \
      starts again.

      Examples:
        packer store install dist --store phone
        packer store activate game-puzzle --store phone > token
        packer store confirm "$(cat token)" --store phone
        packer store list --store phone
        packer store rollback game-puzzle --reason 'black screen' --store phone
        packer store usage --store phone
        packer store reconcile --store phone
        packer store compact --store phone
      """,
    subcommands: [
      StoreAdopt.self, StoreInstall.self, StoreActivate.self, StoreConfirm.self, StoreRollback.self, StoreList.self, StoreUsageVerb.self,
      StorePurge.self, StoreRemove.self, StoreReconcile.self, StoreCompact.self,
    ])
}

/// The options that name the store and the trusted keys.
struct StoreOptions: ParsableArguments {
  @Option(name: .customLong("store"), help: ArgumentHelp("The directory of the store.", valueName: "dir"), completion: .directory)
  var directory: String

  @OptionGroup var trust: TrustOptions

  /// Opens the store for a command that needs no pack keys.
  ///
  /// - Parameter decides: Whether the command depends on the accepted manifest. If so, throws if no key is trusted, because the manifest could
  ///   not be authenticated.
  func open(decidesByManifest decides: Bool, in session: Session) async throws(PackError) -> AssetStore {
    try StorePlace.checkName(directory)
    let trusted = try trust.keys(try trust.readConfiguration(), isNeeded: decides, in: session)
    return try await AssetStore(root: directory, keys: KeyRing(), trusting: trusted, device: .any)
  }

  /// Opens the store for a command that reads packs.
  ///
  /// - Parameter quota: The number of bytes that the store may occupy, or nil for no limit.
  func open(key: KeyOptions, quota: UInt64?, in session: Session) async throws(PackError) -> AssetStore {
    try StorePlace.checkName(directory)
    let configuration = try trust.readConfiguration()
    // Errors about trusted keys are reported before a key is read.
    let trusted = try trust.keys(configuration, in: session)
    let resolved = try session.key(key, configured: configuration?.key)
    return try await AssetStore(
      root: directory, keys: KeyRing(resolved.key), trusting: trusted, policy: StorePolicy(quota: quota), device: .any)
  }
}

/// A record of one version of a pack in a store.
struct StoredPackRecord: Encodable {
  let type = "pack"
  let id: String
  let version: UInt64
  let state: String
  let install: String
  let deltas: Int
  let sizeOnDevice: UInt64
  let sha256: String
  let path: String
  /// The size in bytes of the files that an installation took; nil if nothing was installed.
  var downloadSize: UInt64?
  /// The number of deltas among them.
  var downloadDeltas: Int?

  init(_ arrival: ReleaseInstallation.Arrival) {
    self.init(arrival.pack)
    (downloadSize, downloadDeltas) = (arrival.size, arrival.deltas)
  }

  init(_ pack: InstalledPack) {
    id = pack.id
    version = pack.version
    state = pack.state.rawValue
    install = pack.mode.rawValue
    deltas = pack.deltaCount
    sizeOnDevice = pack.sizeOnDevice
    sha256 = pack.sha256.hex
    path = pack.path
  }

  private static func install(_ pack: InstalledPack) -> String {
    pack.mode.rawValue + (pack.deltaCount > 0 ? ", \(Table.count(pack.deltaCount, "delta", "deltas"))" : "")
  }

  /// Formats packs in columns: name, version, state, install mode and deltas, bytes on the device.
  static func lines(_ packs: [InstalledPack]) -> [String] {
    let rows = packs.map { [$0.id, "\($0.version)", $0.state.rawValue, install($0), Table.grouped(Int64(clamping: $0.sizeOnDevice))] }
    return Table.columns(rows, numbers: [1, 4])
  }
}
