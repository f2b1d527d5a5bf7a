import ArgumentParser

/// The options of the commands that make a release.
struct ReleaseOptions: ParsableArguments {
  @OptionGroup var project: ProjectOption

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("The directory to make. (default: dist beside the configuration)", valueName: "dir"), completion: .directory)
  var path: String?

  @OptionGroup var key: KeyOptions
  @OptionGroup var signKey: SignKeyOptions

  @OptionGroup(visibility: .hidden) var published: PublishedOption

  @Flag(name: .customLong("renew"), help: "Sign the manifest with a new expiry date, even if nothing else changed.")
  var renews = false

  @Flag(
    name: .customLong("ba-package"),
    help: ArgumentHelp("Also write the input of Apple's ba-package, into the directory ba-package.", visibility: .hidden))
  var makesBAPackages = false

  @Flag(name: .customLong("strict"), help: "End with status 1 if there are warnings. The release is made all the same.")
  var isStrict = false

  @Flag(name: .customLong("no-cache"), help: ArgumentHelp("Neither use nor fill the cache that packer.yml names.", visibility: .hidden))
  var leavesCache = false

  @OptionGroup(visibility: .hidden) var threads: JobsOption
  @OptionGroup var output: OutputOptions

  /// The output without slashes at the end, because a path that ends in a slash follows a symbolic link.
  var outputPath: String? {
    guard var path = path?[...] else { return nil }
    while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path = path.dropLast() }
    return String(path)
  }

  /// Returns the build that the options describe.
  func build(_ configuration: PackerConfiguration, in session: Session) throws(PackError) -> ReleaseBuild {
    var build = ReleaseBuild(configuration, time: try .fromEnvironment())
    if let outputPath { build.output = outputPath }
    build.renews = renews
    build.makesBAPackages = makesBAPackages
    build.jobs = try threads.count()
    if !leavesCache { build.cache = try PackCache(configuration, starting: session.programs) }
    return build
  }

  /// Builds, and returns the report.
  ///
  /// - Parameter needsKey: false for a trial run that names only what changed.
  func report(_ build: inout ReleaseBuild, needsKey: Bool = true, in session: Session) async throws(PackError) -> ReleaseBuildReport {
    let configuration = build.configuration
    let resolved = try contentKey(&build, isNeeded: needsKey, in: session)
    try resolved.checkMakesPacks()
    // A trial run signs nothing.
    let signers = build.isTrial ? [] : try session.signers(signKey, configured: configuration)
    // Read once, because the file may change meanwhile.
    build.keysFile = try configuration.keysFile.map { (path) throws(PackError) in try KeysFile(reading: path) }
    let trusted =
      if let keys = build.keysFile { try keys.trusted() } else if signers.isEmpty { try session.trustedKeys([], configuration) } else {
        TrustedKeys(signers.map(\.publicKey))
      }
    build.published = try published.manifest(trusting: trusted)
    let work = build
    return try await session.withProgress { (progress) async throws(PackError) in
      try await work.run(key: resolved, signers: signers, progress: progress)
    }
  }

  /// Returns the key; if there is none and it is not needed, one that opens nothing.
  private func contentKey(_ build: inout ReleaseBuild, isNeeded: Bool, in session: Session) throws(PackError) -> PackKey {
    do throws(PackError) {
      return try session.key(key, configured: build.configuration, makesPacks: true)
    } catch {
      guard !isNeeded, key.references.isEmpty, error.code == .noKey || error.code == .missingInput else { throw error }
      session.console.note("there is no key, so it is taken to be the one of the last release")
      build.assumesKeys = true
      return try .random()
    }
  }

  /// Builds, and shows the report.
  func run(_ build: ReleaseBuild, comparing compared: PackLevel? = nil, named level: String? = nil, in session: Session)
    async throws(PackError) -> Outcome
  {
    var build = build
    // A pull request from a fork has no secrets.
    let report = try await report(&build, needsKey: !build.isTrial || compared != nil, in: session)
    Build.show(report, on: session.console)
    if let compared, let level, session.console.isJSON || !output.isQuiet {
      let sizes = Dictionary(uniqueKeysWithValues: report.items.compactMap { item in item.entry.map { (item.id, $0.size) } })
      let estimates = try await build.compare(with: compared, sizes: sizes, share: 8, limit: 64 << 20)
      LevelEstimateText(level: level, estimates: estimates).show(on: session.console)
    }
    let warnings = report.remarks.count { $0.isWarning }
    guard isStrict, warnings > 0 else { return .done }
    let verdict = "\(report.output): \(Table.count(warnings, "warning counts", "warnings count")) because of --strict"
    if !session.console.isJSON { session.console.output(lines: [verdict]) }
    return .findings(verdict)
  }
}

extension PackCache {
  /// Returns the cache that a configuration names; nil if it names none, or one that needs a program and none is started.
  convenience init?(_ configuration: PackerConfiguration, starting use: ProgramUse, isRequired: Bool = false) throws(PackError) {
    guard let place = configuration.cache else { return nil }
    if PackerConfiguration.startsProgram(place) {
      guard use == .trusted else { return nil }
      try configuration.checkProgram("cache", for: use, else: .usage, other: "build with --no-cache")
    }
    self.init(try PlaceName.place(place, isPatient: false), maker: PackCache.maker(Version.number), isRequired: isRequired)
  }
}
