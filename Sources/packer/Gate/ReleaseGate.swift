/// The check of a release, for the commands that verify or publish one: finds its files, and prints the report in every requested format.
struct ReleaseGate {
  let options: GateOptions
  /// Whether and where the server is asked; nil for a release that is not published yet.
  var live: LiveOptions?
  /// The web portals that get the games.
  var portals: [Portal] = []
  /// How long caches may still have an earlier manifest, in seconds.
  var patience = 0
  let key: KeyOptions
  let jobs: Int?
  let isJSON: Bool
  /// The key, if it was read before: it may be in a place that can be read only once.
  var knownKey: Shared<PackKey>?
  /// The configuration with other sources than those of the file.
  var configuration: PackerConfiguration?
  /// The only rules, in place of those of the options: for a second check, which needs no key.
  var only: [String]?

  /// Checks a release and prints the report.
  ///
  /// - Parameter target: The release, or nil for the default output of `packer build`.
  func run(_ target: String?, in session: Session) async throws(PackError) -> Outcome {
    let printed = only != nil && !isJSON ? .text : try options.printed(isJSON: isJSON)
    // A second check leaves the report of the first one.
    let files = only == nil ? try options.files() : []
    do throws(PackError) {
      return try await check(target, printed: printed, files: files, in: session)
    } catch {
      if error.code != .cancelled { show(error, printed: printed, files: files, target: target, on: session.console) }
      throw error
    }
  }

  /// Shows an error that prevented the checks in every format that a program reads, so that none takes it for a release without findings.
  private func show(
    _ error: PackError, printed: GateOptions.Format, files: [(format: GateOptions.Format, path: String)], target: String?,
    on console: Console
  ) {
    func bytes(_ format: GateOptions.Format) -> [UInt8] { format.form(isStrict: options.isStrict).document(error, hint: error.hint) }
    if printed == .github || printed == .junit { console.lines(bytes(printed)) }
    let inputs =
      [
        options.inputs.configuration.path ?? PackerConfiguration.defaultPath, options.inputs.lockFile.lock ?? ReleaseFile.lock,
      ] + options.inputs.named
    let read = configuration ?? (try? options.inputs.configuration.read())
    for (format, path) in files {
      do throws(PackError) {
        try ReportFile.check(
          path, against: inputs, release: ReleasePlaces.directory(of: target ?? ReleaseFile.folder), sources: read?.packs ?? [])
        try ReportFile.write(bytes(format), to: path)
      } catch {
        console.warning(error.message, hint: error.hint)
      }
    }
  }

  private func check(
    _ target: String?, printed: GateOptions.Format, files: [(format: GateOptions.Format, path: String)], in session: Session
  ) async throws(PackError) -> Outcome {
    let required = options.require.filter { $0 != ReleaseVerification.everyRule }
    try ReleaseVerification.checkRules(only: options.only + required, ignored: options.ignore)
    let inputs = options.inputs
    var verification = try inputs.verification(of: target, for: "verify", hasKey: !key.references.isEmpty, in: session)
    if let configuration { verification.configuration = configuration }
    verification.isQuick = options.isQuick
    verification.portals = portals
    verification.only = only ?? options.only
    verification.ignored = options.ignore
    verification.required = only == nil ? options.require : []
    verification.jobs = jobs
    try live?.apply(to: &verification, patience: patience)
    // The programs that it starts are stopped, and what they wrote is removed.
    if verification.isLive { session.signals.allowAbandoning(false) }
    let read = inputs.files(verification)
    for (_, path) in files {
      try ReportFile.check(
        path, against: read, release: ReleasePlaces.directory(of: verification.target), sources: verification.configuration?.packs ?? [])
    }
    let isNeeded = !options.isQuick && !verification.isOnlyLive
    let key: Shared<PackKey>? =
      if only != nil { nil } else if let knownKey { knownKey } else {
        try inputs.contentKey(key, isNeeded: isNeeded, for: target, verification.configuration, "verify", in: session)
      }
    let report = try await session.withProgress { [verification] (progress) async throws(PackError) in
      try await verification.run(key: key, progress: progress)
    }

    let outcome = Outcome(report, isStrict: options.isStrict)
    switch printed {
    case .json:
      for finding in report.findings { session.console.result(finding.json) }
      session.console.result(report.json)
    case .text:
      session.console.result(report.json, TextReport(isStrict: options.isStrict, isQuiet: session.console.isQuiet).lines(report))
    case .github, .junit: session.console.lines(printed.form(isStrict: options.isStrict).document(report))
    }
    // After printing, so that findings are shown even if a report cannot be written. The outcome of the findings takes precedence over that error.
    var unwritten: [PackError] = []
    func attempt(_ write: () throws(PackError) -> Void) {
      do throws(PackError) { try write() } catch { unwritten.append(error) }
    }
    for (format, path) in files {
      attempt { () throws(PackError) in try ReportFile.write(format.form(isStrict: options.isStrict).document(report), to: path) }
    }
    if printed == .github || files.contains(where: { $0.format == .github }), let path = StandardStreams.variable(StepSummary.variable) {
      attempt { () throws(PackError) in
        try StepSummary.append(to: path) { limit in GitHubReport(isStrict: options.isStrict).summary(report, limit: limit) }
      }
    }
    // Not thrown: nothing prevented the checks, and a report that cannot be written is not replaced by one about that.
    if case .done = outcome, let error = unwritten.first { return .failed(error, isReported: false) }
    for error in unwritten { session.console.warning(error.message, hint: error.hint) }
    return outcome
  }
}
