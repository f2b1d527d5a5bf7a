import ArgumentParser

/// `packer store purge`
struct StorePurge: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "purge",
    abstract: "Frees space: removes the least important packs first, and never one that is in use.",
    discussion: """
      Failed versions are removed first, then packs that are no longer offered, then earlier versions, then packs by priority and last use. \
      Essential packs stay, and so do versions on trial and their predecessors. The exit status is 1 if less could be freed than requested.

      Examples:
        packer store purge --free 200MB --store phone
      """)

  @Option(name: .customLong("free"), help: ArgumentHelp("The bytes to free.", valueName: "size"))
  var size: String

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let bytes = try Bounds.size(size, "--free", in: 1...UInt64(Int64.max), isPowerOfTwo: false)
    let report = try await store.open(decidesByManifest: true, in: session).purge(toFree: bytes)
    for removal in report.removed {
      let pack = removal.pack
      session.console.result(
        [
          "type": "removal", "id": .text(pack.id), "version": .number(pack.version), "sizeOnDevice": .number(pack.sizeOnDevice),
          "reason": .text(removal.reason),
        ], ["  \(pack.id) \(pack.version)  \(Table.grouped(pack.sizeOnDevice))  \(removal.reason)"])
    }
    session.console.result(
      ["type": "purge", "freed": .number(report.freed), "missing": .number(report.missing)],
      ["\(store.directory): \(report.freed) bytes freed by \(Table.count(report.removed.count, "removal", "removals"))"])
    guard report.missing > 0 else { return .done }
    let message = "\(store.directory): \(report.missing) more bytes were requested, but nothing else may be removed"
    session.console.warning(message, hint: "packer store usage --store \(ShellWord.quoted(store.directory))")
    return .findings(message)
  }
}

/// `packer store remove`
struct StoreRemove: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Removes all versions of packs.",
    discussion: """
      Failed versions stay recorded. A pack that is open in a process is not removed.

      Examples:
        packer store remove game-puzzle --store phone
      """)

  @Argument(help: "The names of the packs.")
  var ids: [String]

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let opened = try await store.open(decidesByManifest: false, in: session)
    for id in ids {
      guard try await opened.remove(id) else {
        session.console.note("\(id): was not installed")
        continue
      }
      session.console.result(["type": "removed", "id": .text(id)], ["\(id): removed"])
    }
    return .done
  }
}
