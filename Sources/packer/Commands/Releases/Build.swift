import ArgumentParser

/// `packer build`
struct Build: Verb {
  static let configuration = CommandConfiguration(
    commandName: "build",
    abstract: "Builds a release: packs, a signed manifest, and the numbers for the app's Info.plist.",
    discussion: HelpText.text(
      """
      Reads packer.yml and makes a directory that is ready to upload. A pack is reused from the last build if its content, key and settings \
      did not change. Every file is opened with the client library before the directory appears, and it appears whole or not at all.
      """,
      more: """
        If packer.lock.json has a release, deltas are made from its packs, and from those of earlier releases that players may have, so that an \
        update downloads what changed. 'updates' in packer.yml sets from which, or turns that off.

        Versions come from packer.lock.json, which 'packer release record' writes. With SOURCE_DATE_EPOCH set, the same sources, \
        configuration, keys and lock file give the same files on every machine.

        On several machines, each with the same packer.yml and lock file, 'packer build --share N/M --only-cache' makes a share of the packs, and the \
        deltas to them, into the cache that packer.yml names. 'packer build' then makes the release from there. Shares need no signing key, and with \
        'perPackKeys' not the root key: --key names a directory with the key of each pack, from 'packer key derive -c packer.yml -o keys'.

        Keys come from --key and --sign-key, else from PACKER_KEY and PACKER_SIGN_KEY (or _FILE, _COMMAND), else from packer.yml.
        """,
      examples: """
        Examples:
          packer build
          packer build core --dry-run
          packer build --strict
          packer build -c game/packer.yml -o public --key env:GAME_KEY
          packer build --share 2/10 --only-cache --key keys
        """))

  @Argument(
    help: ArgumentHelp("The packs to build; the others are reused from the last build. (default: all)", valueName: "pack"))
  var packs: [String] = []

  @OptionGroup var release: ReleaseOptions

  @Flag(name: .customLong("dry-run"), help: "Print what would be packed, and write nothing.")
  var isTrial = false

  @Option(
    name: .customLong("compare-level"),
    help: ArgumentHelp(
      "Also estimate from samples what this compression level would save in each pack of 1 MB and more, and its time.", valueName: "level",
      visibility: .hidden),
    completion: .list(PackLevel.names))
  var comparedLevel: String?

  @Flag(
    name: .customLong("only-cache"),
    help: ArgumentHelp("Make packs and deltas into the cache that packer.yml names, and no release.", visibility: .hidden))
  var fillsCache = false

  @Option(
    name: .customLong("share"),
    help: ArgumentHelp("With --only-cache: make one of several shares of the packs, as 2/10.", valueName: "n/m", visibility: .hidden))
  var share: String?

  var isQuiet: Bool { release.output.isQuiet }
  var programs: ProgramUse { isTrial ? .none : .trusted }

  func run(in session: Session) async throws(PackError) -> Outcome {
    let compared = try comparedLevel.map { (text) throws(PackError) in try Bounds.level(text, "--compare-level") }
    guard !fillsCache else { return try await fillCache(in: session) }
    guard share == nil else {
      throw PackError(
        .usage, "--share makes only some packs, and a release needs all", hint: "add --only-cache, and run 'packer build' afterwards")
    }
    var build = try release.build(try PackerConfiguration.read(release.project.path), in: session)
    build.wanted = packs
    build.isTrial = isTrial
    return try await release.run(build, comparing: compared, named: comparedLevel, in: session)
  }

  /// The largest number of lines about single paths of a pack.
  private static let mostSingle = 5
  /// The largest number of lines about packs that are reused or from the cache.
  private static let mostReused = 3

  private static func showOmitted(_ item: ReleaseBuildReport.Item, on console: Console) {
    if console.isJSON {
      for path in item.omitted { console.result(path.json(pack: item.id)) }
    } else if item.omitted.count <= Self.mostSingle {
      for path in item.omitted { console.note("\(item.id): \(path.line)") }
    } else {
      // By reason, each with the first path.
      for (reason, paths) in Dictionary(grouping: item.omitted, by: \.skippedBecause).sorted(by: { $0.key ?? "" < $1.key ?? "" }) {
        let more = paths.count > 1 ? " and \(paths.count - 1) more" : ""
        console.note("\(item.id): \(reason.map { "skipped (\($0))" } ?? "excluded") \(paths[0].path)\(more)")
      }
    }
  }

  /// Shows the packs and deltas of a report.
  ///
  /// - Parameter packed: the word for packs that were packed.
  static func showParts(_ report: ReleaseBuildReport, packed: String, on console: Console) {
    for item in report.items where item.action == .packed {
      showOmitted(item, on: console)
    }
    let large = report.items.filter { $0.action == .packed && $0.entry?.maxFrame ?? 0 > UInt64(Limits.defaultFrameSize) }
    if let most = large.compactMap(\.entry?.maxFrame).max(), !console.isJSON {
      let packs = large.count > 3 ? "\(large[0].id) and \(large.count - 1) more packs" : large.map(\.id).joined(separator: ", ")
      console.note(
        "\(packs): a client needs \((most + (1 << 20) - 1) >> 20) MiB of memory for each thread that reads \(large.count > 1 ? "them" : "it")"
      )
    }
    show(report.remarks, on: console)
    let reused = report.items.count { $0.action == .reused }
    let cached = report.items.count { $0.action == .cached }
    let folds = console.isQuiet || reused + cached > Self.mostReused
    for (item, row) in zip(report.items, Self.packRows(report, packed: packed)) {
      console.result(item.json, folds && item.action != .packed && item.action != .kept ? [] : [row])
    }
    // Of a project with many releases, most deltas are as before.
    let made = Set(report.items.filter { $0.action == .packed }.map(\.id))
    func isOld(_ update: ReleaseBuildReport.Update) -> Bool {
      update.action == .reused || update.action == .cached || update.action == .omitted && !made.contains(update.id)
    }
    let old = report.updates.count(where: isOld)
    for (update, row) in zip(report.updates, Self.updateRows(report)) {
      console.result(update.json, console.isQuiet || old > Self.mostReused && isOld(update) ? [] : [row])
    }
    if old > Self.mostReused, !console.isJSON, !console.isQuiet {
      let none = report.updates.count { isOld($0) && $0.action == .omitted }
      console.output(lines: ["  \(old - none) deltas as before" + (none > 0 ? ", \(none) left out as before" : "")])
    }
    if folds, !console.isJSON, !console.isQuiet {
      for (count, place) in [(reused, "reused"), (cached, "from the cache")] where count > 0 {
        console.output(lines: ["  \(Table.count(count, "pack", "packs")) \(place)"])
      }
    }
  }

  static func show(_ report: ReleaseBuildReport, on console: Console) {
    showParts(report, packed: report.release == nil ? "would be packed" : "packed", on: console)
    let packed = report.items.count { $0.action == .packed }
    guard let release = report.release else {
      console.result(
        report.json,
        ["\(report.output): nothing was written, \(packed) of \(Table.count(report.items.count, "pack", "packs")) would be packed"])
      return
    }
    for download in report.downloads { console.result(download.json) }
    for room in report.room { console.result(room.json) }
    let summary = Self.summary(report, release, packed: packed)
    // With -q only the line with the counts.
    console.result(
      report.json,
      console.isQuiet
        ? Array(summary.suffix(3).prefix(1))
        : summary + Self.changeLines(report) + Self.downloadLines(report.downloads) + Self.roomLines(report.room))
  }

  static func show(_ remarks: [ReleaseBuildReport.Remark], on console: Console) {
    for remark in remarks {
      if remark.isWarning || console.isJSON {
        console.warning(remark.message, hint: remark.hint)
      } else {
        console.note(remark.message + (remark.hint.map { " (hint: \($0))" } ?? ""))
      }
    }
  }

  private static func packRows(_ report: ReleaseBuildReport, packed: String) -> [String] {
    let names = report.items.map(\.id.count).max() ?? 0
    let versions = report.items.map { "\($0.version)".count }.max() ?? 0
    let sizes = report.items.map { item in item.entry.map { Table.grouped($0.size) } ?? "" }
    let digits = sizes.map(\.count).max() ?? 0
    return zip(report.items, sizes).map { item, size in
      let action = item.action == .packed ? packed : item.action.rawValue
      let done = item.reason.map { "\(action): \($0)" } ?? action
      let version = Table.right("\(item.version)", versions)
      return ["  " + Table.left(item.id, names), version, Table.right(size, digits), done].filter { !$0.isEmpty }.joined(separator: "  ")
    }
  }

  /// One row for each delta, and for each edition that gets none.
  private static func updateRows(_ report: ReleaseBuildReport) -> [String] {
    let rows = report.updates.map { update in
      let share = update.permille.map { "\($0 / 10).\($0 % 10) % of the pack" } ?? ""
      let done =
        switch update.action {
        case .made: share
        case .reused, .cached: "\(share), \(update.action.rawValue)"
        case .omitted: "no delta: \(update.reason ?? "")"
        case .planned: "a delta would be made"
        }
      let size = update.action == .omitted ? "" : update.size.map { Table.grouped($0) } ?? ""
      return [update.id, "from \(update.basePack.map { "\($0) " } ?? "")\(update.version)", size, done]
    }
    return Table.columns(rows, numbers: [2])
  }

  /// Returns what a new player downloads, if that is less than the packs.
  private static func firstLines(_ report: ReleaseBuildReport) -> [String] {
    guard let first = report.firstDownload, first.sizeWithApp < first.packSize else { return [] }
    return ["  a new player downloads \(ByteCount(first.sizeWithApp)) instead of \(ByteCount(first.packSize)), because packs name a base"]
  }

  /// The largest number of earlier releases that the summary names.
  private static let mostDownloads = 3

  /// Returns what players who have all packs of earlier releases download.
  private static func downloadLines(_ downloads: [ReleaseUpdate]) -> [String] {
    var lines = downloads.prefix(mostDownloads).map { download in
      let (size, whole) = ("\(ByteCount(download.size))", "\(ByteCount(download.packSize))")
      let saved = size == whole ? "" : " instead of \(whole)"
      let more = download.sizeWithApp > download.size ? ", \(ByteCount(download.sizeWithApp)) with a new app" : ""
      return "  players with all packs of manifest \(download.manifest) download \(size)\(saved)\(more)"
    }
    let others = downloads.dropFirst(mostDownloads)
    if let most = others.map(\.size).max() {
      lines.append(
        "  players with all packs of \(Table.count(others.count, "earlier release", "earlier releases")) download up to \(ByteCount(most))")
    }
    return lines
  }

  /// Returns how many packs differ from the last release.
  private static func changeLines(_ report: ReleaseBuildReport) -> [String] {
    guard let change = report.change else { return [] }
    let counts = [
      (change.changed, "changed"), (change.added, "added"), (change.removed, "removed"), (change.repacked, "packed again without changes"),
    ].filter { $0.0 > 0 }
    guard let first = counts.first else { return [] }
    let words = ["\(Table.count(first.0, "pack", "packs")) \(first.1)"] + counts.dropFirst().map { "\($0.0) \($0.1)" }
    return ["  since manifest \(change.manifest): \(words.joined(separator: ", ")); 'packer diff' shows the files"]
  }

  /// The largest number of app versions that the summary names.
  private static let mostApps = 3

  /// Returns what is left of the budgets of the app versions with the least room.
  private static func roomLines(_ room: [AppRoom]) -> [String] {
    let tight = room.compactMap { app in app.tightest.map { (title: app.title, amount: $0) } }.sorted {
      $0.amount.isTighter(than: $1.amount)
    }
    var lines = tight.prefix(mostApps).map { title, amount in
      amount.fits
        ? "  app \(title): \(ByteCount(amount.difference)) of \(amount.key) left"
        : "  app \(title): \(ByteCount(amount.difference)) more than \(amount.key) allows"
    }
    let rest = tight.dropFirst(mostApps)
    let exceeded = rest.count { !$0.amount.fits }
    if exceeded > 0 {
      lines.append("  \(Table.count(exceeded, "other app version allows", "other app versions allow")) less than the release needs")
    }
    let others = rest.count - exceeded
    if others > 0 { lines.append("  \(Table.count(others, "other app version has", "other app versions have")) more left") }
    return lines
  }

  private static func summary(_ report: ReleaseBuildReport, _ release: ReleaseBuildReport.Release, packed: Int) -> [String] {
    let budget = release.budget
    let amounts = [
      ("essential download", budget.essentialDownload, "BAEssentialDownloadAllowance"),
      ("other download", budget.download, "BADownloadAllowance"),
      ("essential on the device", budget.essentialInstalled, "BAEssentialMaxInstallSize"),
      ("other on the device", budget.installed, "BAMaxInstallSize"),
    ]
    var cells = [["", "packs", "reserved", "headroom", "total", ""]]
    for (name, amount, key) in amounts {
      let numbers = [amount.packs, amount.reserved, amount.headroom, amount.total].map { Table.grouped($0) }
      cells.append([name] + numbers + [key])
    }
    let total = report.items.compactMap(\.entry).reduce(0 as UInt64) { $0 + $1.size }
    let counts = "\(Table.count(report.items.count, "pack", "packs")), \(ByteCount(total)), \(packed) packed"
    let manifest = release.manifest
    let shards = release.shards == 0 ? "" : ", \(Table.count(release.shards, "shard", "shards"))"
    let state = release.isManifestUnchanged ? "unchanged" : "signed by \(release.signers.joined(separator: " and "))"
    return Table.columns(cells, numbers: [1, 2, 3, 4]) + [
      "\(report.output): \(counts)",
      "  manifest \(manifest.version), \(release.manifestSize) of \(release.manifestCeiling) bytes\(shards), \(state), valid until \(manifest.expires)",
    ] + firstLines(report) + [
      "  at most \(ByteCount(budget.peakDisk)) on the device, while all packs are updated (\(StorePolicy().keepVersions) earlier versions of each are kept)"
    ]
  }
}

/// The option that names the configuration.
struct ProjectOption: ParsableArguments {
  @Option(
    name: [.customShort("c"), .customLong("config")], help: ArgumentHelp("The configuration.", valueName: "file"), completion: .file())
  var path = PackerConfiguration.defaultPath
}
