import ArgumentParser

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
      """,
    shouldDisplay: HelpText.isWhole,
    subcommands: [
      StoreAdopt.self, StoreInstall.self, StoreActivate.self, StoreConfirm.self, StoreRollback.self, StoreList.self, StoreUsageVerb.self,
      StorePurge.self, StoreRemove.self, StoreReconcile.self,
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
  /// - Parameter mayCreate: Whether a directory that does not exist becomes a store.
  func open(decidesByManifest decides: Bool, mayCreate: Bool = false, in session: Session) async throws(PackError) -> AssetStore {
    try checkDirectory(mayCreate: mayCreate)
    let trusted = try trust.keys(try trust.configuration.read(), isNeeded: decides, in: session)
    return try await AssetStore(root: directory, keys: KeyRing(), trusting: trusted, device: .any)
  }

  /// Opens the store for a command that reads packs.
  ///
  /// - Parameter quota: The number of bytes that the store may occupy, or nil for no limit.
  func open(key: KeyOptions, quota: UInt64?, in session: Session) async throws(PackError) -> AssetStore {
    try checkDirectory(mayCreate: true)
    let configuration = try trust.configuration.read()
    // Errors about trusted keys are reported before a key is read.
    let trusted = try trust.keys(configuration, in: session)
    let ring = try session.keyRing(key, configured: configuration)
    return try await AssetStore(
      root: directory, keys: ring, trusting: trusted, policy: StorePolicy(quota: quota), device: .any)
  }

  /// Throws if the option names no directory, or one that must exist and does not.
  private func checkDirectory(mayCreate: Bool) throws(PackError) {
    guard !directory.isEmpty else { throw PackError(.usage, "--store names no directory", hint: "name the directory of the store") }
    guard !mayCreate, !ReleasePlaces.isDirectory(directory) else { return }
    guard !ReleasePlaces.exists(directory) else {
      throw PackError(.notAStore, of: directory, "is not a store: it is not a directory", hint: "name the directory of the store")
    }
    throw PackError(.missingInput, of: directory, "does not exist", hint: "the first 'packer store install' makes a store")
  }
}

extension InstalledPack {
  var json: JSON { json(after: nil) }

  /// - Parameter arrival: what an installation of the pack took; nil if nothing was installed.
  fileprivate func json(after arrival: ReleaseInstallation.Arrival?) -> JSON {
    [
      "type": "pack", "id": .text(id), "version": .number(version), "state": .text(state.rawValue), "install": .text(mode.rawValue),
      "sizeOnDevice": .number(sizeOnDevice), "sha256": .text(sha256.hex), "path": .text(path), "downloadSize": .number(arrival?.size),
      "downloadIsDelta": arrival.map { .flag($0.isDelta) },
    ]
  }

  /// Formats packs in columns: name, version, state, install mode, bytes on the device.
  static func lines(_ packs: [InstalledPack]) -> [String] {
    let rows = packs.map { pack in
      [pack.id, "\(pack.version)", pack.state.rawValue, pack.mode.rawValue, Table.grouped(pack.sizeOnDevice)]
    }
    return Table.columns(rows, numbers: [1, 4])
  }
}

extension ReleaseInstallation.Arrival {
  var json: JSON { pack.json(after: self) }
}
