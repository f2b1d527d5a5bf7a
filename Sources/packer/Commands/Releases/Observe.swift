import ArgumentParser

/// `packer observe`
struct Observe: OutputVerb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "observe",
    abstract: "Shows from access logs of a server or CDN what devices request of releases.",
    discussion: HelpText.text(
      """
      Reads logs in the formats Combined and Common, of CloudFront and S3, and JSON lines of Cloudflare, Fastly and Caddy, also compressed \
      with gzip. Shows requests, downloads, deltas, fall-backs to whole packs and errors for each release. Nothing is added to the app.
      """,
      more: """
        Files are known by the last component of their path: 'manifest.json', and the names that 'packer build' gives, which contain digests. Each \
        counts for the oldest known release that has it. Releases are known by their manifests, by the copies that 'packer publish' leaves beside \
        one, and by the lock file and 'released' of the project. Other names of that form are shown without a version, up to 10 000 of them.

        Requests, responses and bytes are exact, as the log has them; it counts headers in CloudFront's and Cloudflare's bytes. Devices are told \
        apart by address and agent, of which only a hash with a random salt is kept in memory, so devices behind one address may count as one. \
        Estimates that depend on that: devices, downloads in parts that are complete (as many bytes as the file has, also if some came twice), and \
        fall-backs (a delta, then the whole pack, in the order of the lines). The last million downloads and devices are remembered; how many were \
        forgotten is shown. No address is printed.

        'seen' files, which an app may have its devices request, tell what became of versions (OBSERVE.md). They are counted apart.

        Lines that cannot be read are counted: up to ten in a log, or one in a hundred. With a limit, also too few requests end with status 1.
        """,
      examples: """
        Examples:
          packer observe access.log
          packer observe logs/*.gz --release dist --since 2026-11-30T08:00:00Z
          zstdcat access.log.zst | packer observe - --max-errors 0.5
          packer observe logs/*.gz --max-errors 0.5 --max-fallbacks 5 --json
        """))

  @Argument(help: ArgumentHelp("The logs; '-' is standard input.", valueName: "log"), completion: .file())
  var logs: [String]

  @Option(
    name: .customLong("release"),
    help: ArgumentHelp(
      "A release directory or manifest. Repeatable. (default: dist beside packer.yml, if it exists)", valueName: "release"),
    completion: .file())
  var releases: [String] = []

  @Option(help: ArgumentHelp("Count only requests from this time on, as 2026-11-30T08:00:00Z.", valueName: "time"))
  var since: String?

  @Option(
    name: .customLong("max-errors"),
    help: ArgumentHelp(
      "End with status 1 if more of the requests fail: all, or those for the new files of a release.", valueName: "percent"))
  var maxErrors: String?

  @Option(
    name: .customLong("max-fallbacks"),
    help: ArgumentHelp("The same for devices that request a delta, and then fetch the whole pack.", valueName: "percent"))
  var maxFallbacks: String?

  @Option(
    name: .customLong("max-rollbacks"),
    help: ArgumentHelp(
      "The same for devices that roll the newest version of a pack back, by seen files, beyond chance.", valueName: "percent"))
  var maxRollbacks: String?

  @Option(
    name: .customLong("min-requests"),
    help: ArgumentHelp("With a limit: how many requests show enough, of all and of the newest files.", valueName: "n"))
  var minRequests: UInt64 = 100

  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let console = session.console
    let limits = ObservationLimits(
      errors: try Self.share(maxErrors, "--max-errors"), fallbacks: try Self.share(maxFallbacks, "--max-fallbacks"),
      rollbacks: try Self.share(maxRollbacks, "--max-rollbacks"),
      leastRequests: minRequests)
    if let twice = Dictionary(grouping: logs, by: \.self).first(where: { $0.value.count > 1 })?.key {
      throw PackError(.usage, "\(twice) was named twice, and would count twice")
    }
    var faults: [String] = []
    let known = try ObservedReleases.read(try targets(), faults: &faults)
    for fault in faults { console.warning(fault, hint: nil) }
    if known.versions.isEmpty {
      console.note("no release is known, so names stay unexplained; name one with --release")
    }
    let time = try time()
    let (observation, results) = try await session.withProgress { [logs, known] (progress) throws(PackError) in
      // Another salt in each run, so that nothing that it printed shows who a device was.
      var observation = Observation(of: known, since: time, salt: UInt64.random(in: 0...UInt64.max))
      var results: [AccessLog.Result] = []
      let files = logs.map { AccessLog($0) }
      let counter = ProgressCounter(.scanning, total: files.reduce(0) { $0 + $1.size }, handler: progress)
      for file in files { results.append(try observation.add(file) { counter.add($0) }) }
      return (observation, results)
    }
    for (path, result) in zip(logs, results) { show(path, result, on: console) }
    for part in ObservationText(observation).parts {
      console.result(part.records[0], part.lines)
      if console.isJSON { for record in part.records.dropFirst() { console.result(record) } }
    }
    let findings = limits.findings(observation)
    for finding in findings { console.result(["type": "finding", "message": .text(finding)], ["over the limit: \(finding)"]) }
    return findings.isEmpty ? .done : .findings(findings.joined(separator: "; "))
  }

  /// Returns the releases that were named, or the one of the project in the working directory.
  private func targets() throws(PackError) -> [String] {
    for target in releases { try ReleasePlaces.checkPresence(of: target, configuration: nil) }
    guard releases.isEmpty else { return releases }
    let usual = ReleasePlaces.place(ReleaseFile.folder, beside: nil)
    // Without it, what was recorded is known: the last release of the lock file, and those of 'released'.
    return ReleasePlaces.isDirectory(usual) || ReleasePlaces.exists(ReleaseFile.lock) ? [usual] : []
  }

  private func time() throws(PackError) -> ManifestTime? {
    guard let since else { return nil }
    guard let time = ManifestTime(since) else {
      throw PackError(.usage, "--since is '\(since)', which is not a time", hint: "write it in UTC, as 2026-11-30T08:00:00Z")
    }
    return time
  }

  private static func share(_ text: String?, _ option: String) throws(PackError) -> ShareLimit? {
    guard let text else { return nil }
    guard let share = ShareLimit(text) else {
      throw PackError(.usage, "\(option) is '\(text)', which is not a share", hint: "write percent with at most four decimals, as 0.5")
    }
    return share
  }

  private func show(_ path: String, _ result: AccessLog.Result, on console: Console) {
    let title = path == AccessLog.standardInput ? "standard input" : path
    if let first = result.firstDamaged {
      console.warning(
        "\(title): \(result.damaged) of \(Table.count(result.lines, "line", "lines")) cannot be read; the first is line \(first)", hint: nil
      )
    }
    guard console.isJSON else { return }
    console.result([
      "type": "log", "file": .text(title), "lines": .number(result.lines), "damaged": .number(result.damaged),
      "firstDamaged": result.firstDamaged.map { .number($0) },
    ])
  }
}
