import ArgumentParser

/// `packer prune`
struct Prune: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Shows which published files and kept packs are not needed any more, and deletes them with --delete.",
    discussion: """
      'packer publish' leaves a copy of each manifest at the place, which says which files the release has. These stay: the files of the \
      published manifest, and of newer ones; of the newest releases (publish: {keep: 3} in packer.yml, or --keep); of every release whose \
      manifest has not expired, because a device that was offline may still use it; and files that no copy names. Copies count if a trusted \
      key signed them, or the lock file or 'released' has them. 'validity' in packer.yml says when manifests expire. Do not run it while a release is published, unless the place is a folder, where one waits for the other.

      Of the packs in 'released', those go that the next build makes no deltas from, and that are not in the newest releases. If 'updates: {packs: …}' in \
      packer.yml is the published folder itself, the packs of all recorded releases stay there.

      Examples:
        packer prune --to games:bucket/packs
        packer prune --to games:bucket/packs --keep 5 --delete
      """)

  @OptionGroup var place: PlaceOption

  @Option(help: ArgumentHelp("How many of the newest releases keep their files.", valueName: "n"))
  var keep: UInt64?

  @Flag(name: .customLong("delete"), help: "Delete the files.")
  var deletes = false

  @OptionGroup var trust: TrustOptions

  @OptionGroup var output: OutputOptions

  var programs: ProgramUse { deletes ? .trusted : .none }

  func run(in session: Session) async throws(PackError) -> Outcome {
    let configuration = try trust.configuration.read()
    let place = try place.place(configuration, starting: session.programs, showsProgress: false)
    let lock = try configuration.map { (configuration) throws(PackError) in
      try ReleaseLock.readIfPresent(configuration.path(of: ReleaseFile.lock))
    }
    let own = OwnManifests(
      trusted: try trust.keys(configuration, isNeeded: false, in: session), lock: lock ?? ReleaseLock(),
      records: ReleasedPacks(of: configuration))
    var pruning = Pruning(of: place, own: own, now: try ManifestTime.now())
    pruning.keep = keep ?? configuration?.publish.keep ?? pruning.keep
    guard pruning.keep > 0 else { throw PackError(.usage, "--keep is 0, but the published release always stays") }
    let isSame = try configuration.map { (configuration) throws(PackError) in
      pruning.needed = try kept(configuration, place)
      return !pruning.needed.isEmpty
    }
    let scratch = try ScratchFolder()
    let plan: Pruning.Plan
    do throws(PackError) {
      plan = try pruning.plan(in: scratch.path)
    } catch {
      throw error.rewording { $0.replacing(scratch.path, with: place.title) }
    }
    withExtendedLifetime(scratch) {}
    tell(plan, at: place.title, on: session.console)
    var local: [(name: String, size: UInt64)] = []
    if let configuration, let lock, isSame == false {
      let folder = ReleasedPacks(of: configuration)
      local = try folder.unneeded(lock, configuration, keep: pruning.keep, deltas: ReleaseBuild.mostDeltas)
      tell(local, in: folder.directory, on: session.console)
      if deletes { try folder.remove(local.map(\.name)) }
    }
    guard deletes else { return .done }
    try pruning.run(plan)
    if !plan.removed.isEmpty || plan.copies.count > 0 || !local.isEmpty { session.console.note("deleted") }
    return .done
  }

  private func tell(_ kept: [(name: String, size: UInt64)], in folder: String, on console: Console) {
    guard !kept.isEmpty else { return }
    let size = kept.reduce(0 as UInt64) { $0.adding($1.size) }
    console.result(
      ["type": "keptPacks", "folder": .text(folder), "files": .number(kept.count), "size": .number(size), "isDryRun": .flag(!deletes)],
      ["\(folder): \(deletes ? "deletes" : "would delete") \(Table.count(kept.count, "file", "files")), \(ByteCount(size))"])
    console.flushOutput()
  }

  /// The names of the packs of all recorded releases, if they are kept at the place itself: for deltas, and to bring a release back.
  private func kept(_ configuration: PackerConfiguration, _ place: any PublishingPlace) throws(PackError) -> Set<String> {
    guard let folder = configuration.updates?.packs, PackerConfiguration.isDirectory(place.title),
      let kept = try? SystemFiles().canonicalPath(of: folder), kept == (try? SystemFiles().canonicalPath(of: place.title))
    else { return [] }
    var names: Set<String> = []
    try ReleasedPacks(folder).forEachRelease { release in
      for pack in release.packs { names.insert(ManifestPack.publishedName(pack.id, pack.sha256)) }
    }
    return names
  }

  private func tell(_ plan: Pruning.Plan, at place: String, on console: Console) {
    let size = plan.removed.reduce(plan.copies.size) { $0.adding($1.size) }
    let count = plan.removed.count + plan.copies.count
    for release in plan.releases {
      console.result(
        [
          "type": "release", "manifest": .number(release.version), "isKept": .flag(release.reason != nil), "reason": .text(release.reason),
        ])
    }
    for file in plan.removed {
      console.result(["type": "file", "name": .text(file.name), "size": .number(file.size)])
    }
    let stays = plan.releases.filter { $0.reason != nil }
    var lines = stays.prefix(Self.mostLines).map { "  manifest \($0.version) stays: \($0.reason ?? "")" }
    if stays.count > Self.mostLines { lines.append("  and \(stays.count - Self.mostLines) more") }
    let gone = plan.releases.filter { $0.reason == nil }
    if let newest = gone.first, let oldest = gone.last {
      lines.append(
        gone.count == 1
          ? "  manifest \(newest.version) is not needed, and its copy goes"
          : "  manifests \(oldest.version) to \(newest.version) are not needed"
      )
    }
    lines += plan.removed.prefix(Self.mostLines).map { "  \(deletes ? "deletes" : "would delete") \($0.name)  \(ByteCount($0.size))" }
    if plan.removed.count > Self.mostLines { lines.append("  and \(plan.removed.count - Self.mostLines) more") }
    if plan.unknown.count > 0 {
      lines.append("  \(Table.count(plan.unknown.count, "file", "files")) that no manifest names, \(ByteCount(plan.unknown.size)), stay")
    }
    let what = "\(Table.count(count, "file", "files")), \(ByteCount(size))"
    lines.insert("\(place): \(deletes ? "deletes" : "would delete") \(what); \(plan.kept.count) stay, \(ByteCount(plan.kept.size))", at: 0)
    console.result(
      [
        "type": "pruning", "to": .text(place), "files": .number(count), "size": .number(size),
        "kept": .number(plan.kept.count), "keptSize": .number(plan.kept.size), "unknown": .number(plan.unknown.count),
        "unknownSize": .number(plan.unknown.size), "isDryRun": .flag(!deletes),
      ], lines)
    console.flushOutput()
  }

  private static let mostLines = 100
}
