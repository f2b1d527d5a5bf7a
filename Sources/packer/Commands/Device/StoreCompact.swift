import ArgumentParser

/// `packer store compact`
struct StoreCompact: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Rewrites packs that are read over deltas as one file each, as an app does when the device has time.",
    discussion: """
      Packs with three deltas, or with deltas of more than 30 % of the pack below them, are rewritten; with names, those packs, whatever their deltas. \
      Such a pack opens as quickly as a full one, and takes further deltas. The file is read back before it replaces the deltas. What is \
      interrupted changes nothing. A pack with a version on trial is left as it is.

      Examples:
        packer store compact --store phone
        packer store compact game-puzzle --store phone --key game.key
      """)

  @Argument(help: "The names of the packs. Default: all that are due.")
  var ids: [String] = []

  @OptionGroup var store: StoreOptions
  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  static var leavesNothingBehind: Bool { false }

  func run(in session: Session) async throws(PackError) -> Outcome {
    try StorePlace.require(store.directory)
    let opened = try await store.open(key: key, quota: nil, in: session)
    if !ids.isEmpty {
      let known = try await Set(opened.installed().map(\.id) + opened.damagedRecords())
      for id in ids where !known.contains(id) { throw PackError(.notInstalled, of: "pack '\(id)'", "is not installed", advice: .install) }
    }
    let report = try await session.withProgress { (progress) async throws(PackError) in
      try await opened.compact(ids.isEmpty ? nil : ids, progress: progress)
    }
    let lines = InstalledPack.lines(report.rewritten)
    for (pack, line) in zip(report.rewritten, lines) { session.console.result(pack.json, [line]) }
    for failure in report.failures.dropFirst() { session.console.warning(failure.error.message, hint: failure.error.hint) }
    if let failure = report.failures.first { throw failure.error }
    for (id, reason) in report.unchanged.sorted(by: { $0.key < $1.key }) { session.console.note("\(id): \(Self.text(reason))") }
    if report.rewritten.isEmpty, report.unchanged.isEmpty { session.console.note("\(store.directory): no pack needs to be rewritten") }
    return .done
  }

  private static func text(_ reason: CompactionReport.Reason) -> String {
    switch reason {
    case .noDeltas: "was not rewritten: its current version is not read over deltas"
    case .onTrial: "was not rewritten: a version is on trial"
    case .changed: "was not rewritten: it changed meanwhile"
    }
  }
}
