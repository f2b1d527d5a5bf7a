/// `packer build --only-cache`
extension Build {
  /// Makes packs into the cache.
  func fillCache(in session: Session) async throws(PackError) -> Outcome {
    try checkOptions()
    let share = try share.map { (text) throws(PackError) in try BuildShare(parsing: text) }
    let configuration = try PackerConfiguration.read(release.project.path, sources: .optional)
    var build = try release.build(configuration, in: session)
    guard let cache = try PackCache(configuration, starting: session.programs, isRequired: true) else {
      throw PackError(
        .usage, of: configuration.path, "names no cache, and --only-cache writes nothing else", hint: "name one, as in 'cache: /srv/cache'")
    }
    build.wanted = packs
    if release.published.published != nil {
      build.published = try release.published.manifest(trusting: session.trustedKeys([], configuration))
    }
    let chosen = try build.packs(in: share)
    let (packs, work) = (try keyed(chosen, for: build, session), build)
    let report = try await session.withProgress { (progress) async throws(PackError) in
      try await work.fill(cache, with: packs, progress: progress)
    }
    Self.showParts(report, packed: "packed", on: session.console)
    let packed = report.items.count { $0.action == .packed }
    let deltas = report.updates.count { $0.action == .made }
    session.console.result(
      [
        "type": "cache", "cache": .text(report.output), "packs": .number(report.items.count), "packed": .number(packed),
        "deltas": .number(deltas),
      ],
      [
        "\(report.output): \(packed) of \(Table.count(report.items.count, "pack", "packs")) packed"
          + (deltas == 0 ? "" : ", \(Table.count(deltas, "delta", "deltas")) made")
      ])
    return .done
  }

  /// Throws if options were given that only a release has.
  private func checkOptions() throws(PackError) {
    guard !isTrial, comparedLevel == nil, !release.renews, !release.makesBAPackages, !release.isStrict, !release.leavesCache,
      release.signKey.references.isEmpty
    else {
      throw PackError(
        .usage, "--only-cache makes no release",
        hint:
          "leave out --dry-run, --compare-level and --no-cache, and give --sign-key, --renew, --ba-package and --strict to the build of the release"
      )
    }
  }

  /// Reads the keys of packs: with `perPackKeys` only their own, because a machine that makes some packs needs no key of others.
  private func keyed(
    _ packs: [PackerConfiguration.Pack], for build: ReleaseBuild, _ session: Session
  ) throws(PackError) -> [KeyedPack] {
    let configuration = build.configuration
    guard configuration.perPackKeys else {
      let resolved = try session.key(release.key, configured: configuration, makesPacks: true)
      try resolved.checkMakesPacks()
      return try build.keyed(packs, with: Shared(resolved))
    }
    let hint = "make it on the machine with the root key: packer key derive -c \(ShellWord.path(configuration.path)) -o keys"
    guard let folder = try release.key.reference().file, ReleasePlaces.isDirectory(folder) else {
      throw PackError(
        .usage, "with 'perPackKeys', --only-cache needs the keys of packs, and --key names no directory with them", hint: hint)
    }
    var keyed: [KeyedPack] = []
    for pack in packs {
      let path = ReleaseFolder.path("\(pack.id.text).key", in: folder)
      guard ReleasePlaces.exists(path) else { throw PackError(.noKey, of: path, "does not exist", hint: hint) }
      let resolved = try session.key(KeyReference(parsing: "file:\(path)"))
      try resolved.checkMakesPacks()
      keyed.append(KeyedPack(pack, key: Shared(resolved)))
    }
    return keyed
  }
}
