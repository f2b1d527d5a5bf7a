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

extension StoreUsage {
  fileprivate var json: JSON {
    [
      "type": "usage", "kind": .text(kind.rawValue), "id": .text(pack?.id), "version": .number(pack?.version), "path": .text(path),
      "sizeOnDevice": .number(sizeOnDevice), "reason": .text(reason),
    ]
  }
}
