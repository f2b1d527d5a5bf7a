import ArgumentParser

/// `packer release rollback`
struct ReleaseRollback: Verb {
  static let configuration = CommandConfiguration(
    commandName: "rollback",
    abstract: "Publishes the contents of an earlier release again, under new versions.",
    discussion: """
      Takes its packs from the folder of released packs or from the place, builds a release from them, and checks, uploads, records and publishes \
      that as 'packer publish' does. Delivery, install mode, tags, language and platforms come back, too, from the copy of its manifest at the place. Packs \
      that it did not have stay as they are. Sources and packer.yml do not change: mend them before the next 'packer build'. \
      If the content key was replaced since, --old-key names the earlier one, which only opens packs.

      Examples:
        packer release rollback 12 --dry-run
        packer release rollback 12
        packer release rollback 12 --to games:bucket/packs --live
      """)

  @Argument(help: "The version of its manifest.")
  var version: UInt64

  @Flag(name: .customLong("dry-run"), help: "Show the release that would be built, and change nothing.")
  var isTrial = false

  @Option(name: .customLong("old-key"), help: ArgumentHelp("A key that the earlier packs were made with. Repeatable.", valueName: "ref"))
  var oldKeys: [String] = []

  @OptionGroup var options: PublicationOptions
  @OptionGroup var signKey: SignKeyOptions

  var isQuiet: Bool { options.output.isQuiet }
  var programs: ProgramUse { isTrial ? .none : .trusted }

  func validate() { KeyReference.withhold(oldKeys) }

  func run(in session: Session) async throws(PackError) -> Outcome {
    try options.checkLive(publishes: !isTrial)
    guard let configuration = try options.configuration() else {
      throw PackError(.missingInput, of: PackerConfiguration.defaultPath, "does not exist", hint: "name it with -c")
    }
    let place = try options.place(for: nil, configuration, in: session)
    let scratch = try ScratchFolder()
    var gate = try options.releaseGate()
    (gate.knownKey, gate.configuration) = try await restore(configuration, from: place, scratch.path, in: session)
    guard !isTrial else { return .done }
    let outcome = try await gate.run(nil, in: session)
    // It has the contents of packs, and the upload may take long.
    try? SystemFiles().removeTree(scratch.path, in: nil)
    withExtendedLifetime(scratch) {}
    guard case .done = outcome else { return outcome }
    return try await options.publish(nil, configuration, to: place, .whole, checkedBy: gate, in: session)
  }

  /// Builds a release with the contents of an earlier one.
  ///
  /// - Parameter scratch: an empty directory, which gets the contents.
  /// - Returns: the key, which may come from a place that can be read only once, and the configuration with those contents as its sources.
  private func restore(
    _ configuration: PackerConfiguration, from place: any PublishingPlace, _ scratch: String, in session: Session
  ) async throws(PackError) -> (Shared<PackKey>, PackerConfiguration) {
    let jobs = try options.threads.count()
    let lockPath = options.lockPath(configuration)
    let shared = Shared(try session.key(options.key, configured: configuration))
    var earlier: [Shared<PackKey>] = []
    for text in oldKeys { earlier.append(Shared(try session.key(KeyReference(parsing: text)))) }
    let restoration = try await Restoration.run(
      version, of: configuration, lockPath: lockPath, from: place, key: shared, earlierKeys: earlier, in: scratch, isTrial: isTrial,
      jobs: jobs)
    if !restoration.others.isEmpty {
      session.console.note("not in manifest \(version), and unchanged: \(restoration.others.listed())")
    }
    if !restoration.unreleased.isEmpty { session.console.note("never released, and left out: \(restoration.unreleased.listed())") }
    for change in restoration.changes {
      session.console.note("as in manifest \(version), and not as packer.yml says now: \(change)")
    }
    var build = ReleaseBuild(restoration.configuration, time: try .fromEnvironment())
    (build.lockPath, build.jobs, build.isTrial, build.bringsBack) = (lockPath, jobs, isTrial, true)
    if !isTrial { build.cache = try PackCache(configuration, starting: programs) }
    build.keysFile = try configuration.keysFile.map { (path) throws(PackError) in try KeysFile(reading: path) }
    let signers = isTrial ? [] : try session.signers(signKey, configured: configuration)
    let work = build
    let report = try await session.withProgress { (progress) async throws(PackError) in
      try await work.run(key: shared.key, signers: signers, progress: progress)
    }
    if isTrial {
      Build.show(report, on: session.console)
      session.console.note(
        "manifest \(restoration.replaced + 1), with the contents of manifest \(version), would replace manifest \(restoration.replaced) at \(place.title)"
      )
    } else {
      for remark in report.remarks where remark.isWarning { session.console.warning(remark.message, hint: remark.hint) }
      session.console.note(
        "\(report.output): has the contents of manifest \(version); the sources are unchanged, and until they are mended, --quick verifies and publishes it without them"
      )
    }
    return (shared, restoration.configuration)
  }
}
