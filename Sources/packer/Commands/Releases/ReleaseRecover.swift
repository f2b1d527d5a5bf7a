import ArgumentParser

/// `packer release recover`
struct ReleaseRecover: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "recover",
    abstract: "Makes a lost or outdated packer.lock.json again, and the records in 'released', from the place of the releases.",
    discussion: """
      The place has a copy of each manifest that was published and not pruned. They say which versions are used up. Copies that no trusted key \
      signed do not count. Versions in a lock file that is there are only raised. Packs from which the next build makes deltas are copied \
      back. App versions are in no manifest: what is in packer.apps stays; record others again with 'packer release record --app'.

      Examples:
        packer release recover
        packer release recover --to games:bucket/packs
      """)

  @OptionGroup var place: PlaceOption
  @OptionGroup var trust: TrustOptions
  @OptionGroup var output: OutputOptions

  var programs: ProgramUse { .trusted }

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard let configuration = try trust.configuration.read() else {
      throw PackError(.missingInput, of: PackerConfiguration.defaultPath, "does not exist", hint: "name it with -c")
    }
    let place = try place.place(configuration, starting: session.programs, showsProgress: false)
    let path = configuration.path(of: ReleaseFile.lock)
    let scratch = try ScratchFolder()
    defer { withExtendedLifetime(scratch) {} }
    var history = try PlaceHistory(of: place, trusting: try trust.keys(configuration, in: session), in: scratch.path)
    let kept = ReleasedPacks(of: configuration)
    var recovery = try ReleaseRecovery(path, kept)
    try history.visit { (manifest) throws(PackError) in try recovery.add(manifest) }
    for fault in history.faults { session.console.warning("\(place.title): \(fault)", hint: nil) }
    let report = try recovery.finish()
    try Restoration.bringBases(of: configuration, report.lock, kept, from: place, scratch.path)
    tell(report, path, at: place.title, on: session.console)
    return .done
  }

  private func tell(_ report: ReleaseRecovery.Report, _ path: String, at place: String, on console: Console) {
    let version = report.lock.released?.manifestVersion ?? 0
    var lines = ["\(path): manifest \(version)\(report.isUnchanged ? ", as before" : ", recovered from \(place)")"]
    if let first = report.recorded.first, let last = report.recorded.last {
      lines.append("  \(Table.count(report.recorded.count, "record", "records")) made again, of manifests \(first) to \(last)")
    }
    if report.lock.apps.isEmpty {
      lines.append("  no app version is recorded; if players have one: packer release record --app build/Game.ipa")
    }
    if !report.isUnchanged || !report.recorded.isEmpty { lines.append("next: commit them, then packer build") }
    console.result(
      [
        "type": "recovery", "lock": .text(path), "from": .text(place), "manifestVersion": .number(version),
        "isUnchanged": .flag(report.isUnchanged), "records": .list(report.recorded.map { .number($0) }),
      ], lines)
  }
}
