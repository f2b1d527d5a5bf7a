import ArgumentParser

/// `packer store list`
struct StoreList: OutputVerb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists every version of every pack in a store.",
    discussion: """
      Each line has the name, the version, the state (current, trial, fallback, kept, installed or failed), the install mode, and the size on \
      the device.

      Examples:
        packer store list --store phone
        packer store list --store phone --json
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    try StorePlace.require(store.directory)
    let opened = try await store.open(decidesByManifest: false, in: session)
    let packs = try await opened.installed()
    for (pack, line) in zip(packs, InstalledPack.lines(packs)) { session.console.result(pack.json, [line]) }
    let damaged = try await opened.damagedRecords()
    for id in damaged {
      session.console.warning(
        "the record of '\(id)' cannot be read, so it is not listed", hint: "packer store reconcile --store \(store.directory)"
      )
    }
    if packs.isEmpty, damaged.isEmpty { session.console.note("\(store.directory): nothing is installed") }
    return .done
  }
}

/// `packer store usage`
struct StoreUsageVerb: OutputVerb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "usage",
    abstract: "Shows what takes space in a store, and why.",
    discussion: """
      The parts add up to the size of the directory on the device, in whole blocks.

      Examples:
        packer store usage --store phone
        packer store usage --store phone --json
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    try StorePlace.require(store.directory)
    let parts = try await store.open(decidesByManifest: false, in: session).usage()
    guard !session.console.isJSON else {
      for part in parts { session.console.result(part.json) }
      return .done
    }
    session.console.output(
      lines: Table.sizes(
        parts.map { ($0.pack.map { "\($0.id) \($0.version)" } ?? $0.path, Int64(clamping: $0.sizeOnDevice), $0.reason) }, total: "total"))
    return .done
  }
}

/// Checks of a store's directory, for commands that must not create it.
enum StorePlace {
  /// Throws if the path is empty.
  static func checkName(_ path: String) throws(PackError) {
    guard !path.isEmpty else {
      throw PackError(.usage, "--store names no directory", hint: "name the directory of the store")
    }
  }

  /// Throws if the path is not an existing directory.
  static func require(_ path: String) throws(PackError) {
    try checkName(path)
    guard !ReleasePlaces.exists(path) || ReleasePlaces.isDirectory(path) else {
      throw PackError(.notAStore, of: path, "is not a store: it is not a directory", hint: "name the directory of the store")
    }
    guard ReleasePlaces.isDirectory(path) else {
      throw PackError(
        .missingInput, of: path, "does not exist", hint: "the first 'packer store install' makes a store")
    }
  }
}

extension StoreUsage {
  fileprivate var json: JSON {
    [
      "type": "usage", "kind": .text(kind.rawValue), "id": .text(pack?.id), "version": .number(pack?.version), "path": .text(path),
      "sizeOnDevice": .number(sizeOnDevice), "reason": .text(reason),
    ]
  }
}
