import ArgumentParser

/// `packer release record`
struct ReleaseRecord: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Records a release before its manifest is published and, with --app, the app version shipped with it.",
    discussion: """
      Run this after the packs are uploaded and before the manifest is. The recorded versions never change afterwards: anything that differs \
      gets the next version. With --app, the budgets and hosts of the app's Info.plist and the keys that the app trusts are recorded, and \
      later releases have to fit them. The Info.plist is checked as 'packer verify' does, and refused if this release does not fit it. A built \
      app given as --app has its version, its platform and its Info.plist in it.

      The packs are kept in the directory 'released' beside packer.yml, as hard links where that is possible. 'packer build' makes deltas from \
      them. 'updates' in packer.yml names another directory, or turns that off.

      Examples:
        packer release record
        packer release record --app 2.1.0 --plist App/Info.plist
        packer release record --app build/Game.ipa
      """)

  @Option(
    help: ArgumentHelp("The app version shipped with the release, or the built app: an .ipa, .xcarchive or .app.", valueName: "version"),
    completion: .file(extensions: ["ipa", "xcarchive", "app"]))
  var app: String?

  @Option(
    help: ArgumentHelp(
      "That app's Info.plist. With builds for several platforms, once for each, as in iOS=App/Info.plist.", valueName: "file"),
    completion: .file(extensions: ["plist"]))
  var plist: [String] = []

  @Option(
    help: ArgumentHelp(
      "The version of the keys document that the app embeds. (default: the oldest in 'keysFile')", valueName: "n"))
  var keysVersion: UInt64?

  @Option(
    help: ArgumentHelp("The directory that 'packer build' made. (default: dist beside the configuration)", valueName: "dir"),
    completion: .directory)
  var dist: String?

  @OptionGroup var project: ProjectOption
  @OptionGroup var output: OutputOptions

  var programs: ProgramUse { .trusted }

  func run(in session: Session) async throws(PackError) -> Outcome {
    let isBuilt = app.map(BuiltApp.isPath) ?? false
    guard !isBuilt || plist.isEmpty else {
      throw PackError(
        .usage, "--plist cannot be given with a built app, which has its own", hint: "packer release record --app build/Game.ipa")
    }
    guard isBuilt || (app == nil) == plist.isEmpty else {
      throw PackError(
        .usage, "--app and --plist go together",
        hint: """
          packer release record --app 2.1.0 --plist App/Info.plist
          packer release record --app build/Game.ipa
          for an app version that is recorded already: packer release record
          """)
    }
    let configuration = try PackerConfiguration.read(project.path, sources: .optional)
    var recording = ReleaseRecording(
      dist: dist ?? configuration.path(of: ReleaseFile.folder), lockPath: configuration.path(of: ReleaseFile.lock))
    recording.configuration = configuration
    recording.origin = RecordOrigin.current(time: try BuildTime.fromEnvironment().now) { ProcessEnvironment.text(of: $0) }
    let embedded = try embeddedVersion(configuration)
    recording.trustedKeys = try session.trustedKeys([], configuration).signingKeys
    var recorded: ReleaseRecording.App?
    if let app, isBuilt {
      recorded = try await read(app, recording, configuration, in: session)
    } else if let app {
      recorded = ReleaseRecording.App(version: app, plists: try plists(), trustedKeys: recording.trustedKeys)
      for build in recorded?.plists ?? [] { warn(of: build.plist, recordedAs: app, in: session) }
      for build in recorded?.plists ?? [] { try await check(build, recording, configuration) }
    }
    recorded?.keysVersion = embedded
    let report = try recording.record(recorded)
    if let error = report.unkept {
      session.console.warning("the packs were not kept for deltas: \(error.message)", hint: error.hint)
    }
    LockView(path: recording.lockPath, lock: report.lock).show(isUnchanged: report.isUnchanged, on: session.console)
    return .done
  }
}

extension ReleaseRecord {
  /// Returns the version of the keys document that the app embeds, or nil if it embeds plain keys.
  private func embeddedVersion(_ configuration: PackerConfiguration) throws(PackError) -> UInt64? {
    guard let path = configuration.keysFile else {
      guard keysVersion == nil else {
        throw PackError(.usage, "--keys-version needs 'keysFile' in \(configuration.path)", hint: "packer key trust init --help")
      }
      return nil
    }
    let file = try KeysFile(reading: path)
    // The oldest is always safe: the manifests then contain every document that the app may need.
    guard let version = keysVersion ?? file.documents.first?.content.version else { return try file.required().content.version }
    guard file.document(version) != nil else {
      throw PackError(.usage, of: path, "has no signed keys document \(version)", hint: "packer key trust show \(ShellWord.path(path))")
    }
    return version
  }

  /// Reads the Info.plists with their platforms.
  private func plists() throws(PackError) -> [ReleaseRecording.App.Plist] {
    var builds: [ReleaseRecording.App.Plist] = []
    for text in plist {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      let platform = parts.count == 2 ? DeviceProfile.Platform(ignoringCase: parts[0]) : nil
      guard platform != nil || plist.count == 1 else {
        throw PackError(
          .usage, "--plist is '\(text)', which does not say its platform",
          hint: "with several, write each as PLATFORM=FILE: \(DeviceProfile.Platform.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      guard !builds.contains(where: { $0.platform == platform }) else {
        throw PackError(.usage, "--plist is given twice for \(platform?.rawValue ?? "")", hint: "give it once for each platform")
      }
      let content = try InfoPlist.read(platform == nil ? text : parts[1])
      if let platform, let own = content.platform, own != platform {
        throw PackError(
          .usage, of: content.path, "is that of a build for \(own.rawValue), but --plist says \(platform.rawValue)",
          hint: "write \(own.rawValue)=\(ShellWord.path(content.path)), or name the other Info.plist")
      }
      builds.append(.init(platform: platform ?? content.platform, isImplied: platform == nil, content))
    }
    return builds
  }

  /// Warns if an Info.plist is that of another version. It may be right, because some teams change the number only when they build the app.
  private func warn(of plist: InfoPlist, recordedAs version: String, in session: Session) {
    guard let own = plist.version, own != version else { return }
    session.console.warning(
      "\(plist.path) is that of app \(own), but its sizes are recorded for app \(version)",
      hint: "give the Info.plist of app \(version), or the built app: packer release record --app build/Game.ipa")
  }

  /// Reads and checks a built app.
  private func read(
    _ path: String, _ recording: ReleaseRecording, _ configuration: PackerConfiguration, in session: Session
  ) async throws(PackError) -> ReleaseRecording.App {
    let app = try BuiltApp.read(path, isCancelled: { Task.isCancelled })
    guard let version = app.version else {
      throw PackError(
        .unreadableApp, of: app.title, "has no CFBundleShortVersionString",
        hint: "set MARKETING_VERSION in Xcode, or give --app VERSION --plist FILE")
    }
    guard !app.isForSimulator else {
      throw PackError(.releaseConflict, of: path, "is built for a simulator, so no player has it", hint: "give the app as it is uploaded")
    }
    let build = ReleaseRecording.App.Plist(platform: app.bundle.plist.platform, app.bundle.plist)
    session.console.note("\(app.title): app \(version)\(build.platform.map { " for \($0.rawValue)" } ?? "")")
    try await check(build, of: app, recording, configuration)
    return ReleaseRecording.App(version: version, plists: [build], trustedKeys: recording.trustedKeys)
  }

  /// Throws if the release does not fit the Info.plist, by the rules of `packer verify`.
  private func check(
    _ build: ReleaseRecording.App.Plist, of app: BuiltApp? = nil, _ recording: ReleaseRecording, _ configuration: PackerConfiguration
  ) async throws(PackError) {
    let plist = build.plist
    var verification = ReleaseVerification.ofPlist(plist.path, for: recording.dist, configuration, now: try ManifestTime.now())
    verification.app = app
    verification.platform = build.platform
    verification.wording = { $0.hint }
    let errors = try await verification.run(key: nil).findings.filter { $0.level == .error && !$0.isAccepted }
    guard let first = errors.first else { return }
    throw PackError(
      .releaseConflict, of: app?.path ?? plist.path, "does not fit this release: \(first.rule.id): \(first.message)",
      details: errors.count > 1 ? errors.map { "\($0.rule.id): \($0.message)" } : [],
      hint: first.hint
        ?? (app.map { "packer verify --app \(ShellWord.path($0.path))" } ?? "packer verify --quick --plist \(ShellWord.path(plist.path))"))
  }
}

/// `packer release list`
struct ReleaseList: OutputVerb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Shows the recorded releases and app versions.",
    discussion: """
      Of earlier releases, it says how many of their packs are kept in 'released'. 'packer release rollback' takes others from the place.

      Examples:
        packer release list
        packer release list --json
      """)

  @OptionGroup var project: ProjectOption
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let path = try ReleaseLock.path(besides: project.path)
    let lock = try ReleaseLock.read(path)
    LockView(path: path, lock: lock).showAll(on: session.console)
    let configuration = ReleasePlaces.exists(project.path) ? try ReleasePlaces.configuration(at: project.path) : nil
    let records = ReleasedPacks(of: configuration)
    try records.forEachRelease { release in
      guard release.signedDigest != lock.released?.signedDigest else { return }
      let packs = release.packs.filter { !$0.isRemoved }
      let kept = packs.count { ReleasePlaces.exists(records.path(of: $0)) }
      let recorded = release.recorded.map { ", recorded \($0.summary)" } ?? ""
      session.console.result(
        [
          "type": "earlierRelease", "manifestVersion": .number(release.manifestVersion), "issued": .text(release.issued.description),
          "expires": .text(release.expires.description), "packs": .number(packs.count), "kept": .number(kept),
          "recorded": release.recorded?.json,
        ],
        [
          "manifest \(release.manifestVersion), valid until \(release.expires), "
            + "\(kept) of \(Table.count(packs.count, "pack", "packs")) kept\(recorded)"
        ])
    }
    return .done
  }
}

/// `packer release retire`
struct ReleaseRetire: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "retire",
    abstract: "Marks an app version as out of use.",
    discussion: """
      Later releases need not fit it. Its entry stays in the lock file.

      Examples:
        packer release retire 1.8.2
      """)

  @Argument(help: "The app version.")
  var version: String

  @OptionGroup var project: ProjectOption
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let path = try ReleaseLock.path(besides: project.path)
    let report = try ReleaseRecording.retire(version, lockPath: path)
    let own = report.lock.apps.filter { $0.version == version }.map(\.firstManifest).min() ?? 0
    let oldest = report.lock.apps.filter { !$0.isRetired }.map(\.firstManifest).min() ?? own
    if own < oldest, !report.isUnchanged {
      session.console.note(
        "no more deltas are made from manifests \(own) to \(oldest - 1): players who update app \(version) later download whole packs, unless "
          + "\(project.path) says 'updates: {from: \(own)}'")
    }
    session.console.result(
      ["type": "app", "version": .text(version), "isUnchanged": .flag(report.isUnchanged)],
      [
        "\(path): app \(version) \(report.isUnchanged ? "was retired already" : "is retired; to undo it, bring its file in \(ReleaseFile.apps) back")"
      ])
    return .done
  }
}

/// `packer release resolve`
struct ReleaseResolve: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "Resolves the conflicts that a merge left in packer.lock.json and packer.apps.",
    discussion: """
      Of the manifest and of each pack, the higher version stays. What both branches released under one version is listed: 'packer build' \
      then gives it the next version, which replaces both on every device. Without conflicts, nothing is changed.

      Examples:
        packer release resolve
        packer release resolve --take theirs
        packer release resolve --take 2.1.0=ours --take 2.1.1=theirs
      """)

  @Option(
    help: ArgumentHelp(
      "The side that counts where both recorded an app version differently: ours or theirs, for one version 2.1.0=theirs.",
      valueName: "[app=]side"))
  var take: [String] = []

  @OptionGroup var project: ProjectOption
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let path = try ReleaseLock.path(besides: project.path)
    var resolution = ReleaseResolution(lockPath: path)
    for text in take {
      let parts = text.split(separator: "=", maxSplits: 1)
      guard let side = parts.last.flatMap({ ReleaseResolution.Side(rawValue: String($0)) }) else {
        throw PackError(.usage, "--take is '\(text)'", hint: "write ours or theirs, or for one app version 2.1.0=theirs")
      }
      if parts.count == 2 { resolution.sides[String(parts[0])] = side } else { resolution.side = side }
    }
    let report = try resolution.run()
    let console = session.console
    guard !report.resolved.isEmpty else {
      console.result(report.json, ["\(path): there is nothing to resolve"])
      return .done
    }
    for remark in report.remarks where remark.wentOutTwice { console.warning(remark.message, hint: nil) }
    let others = report.remarks.filter { !$0.wentOutTwice }.map { "  \($0.message)" }
    let paths = report.files.map(ShellWord.path).joined(separator: " ")
    console.result(
      report.json, ["\(report.resolved.joined(separator: ", ")): resolved"] + others + ["next: git add \(paths) && packer build"]
    )
    return .done
  }
}

/// Prints a lock file, as text or as records.
private struct LockView {
  let path: String
  let lock: ReleaseLock

  /// Prints the release that was recorded.
  func show(isUnchanged: Bool, on console: Console) {
    guard let released = lock.released else { return }
    let offered = released.packs.filter { !$0.isRemoved }
    let what = "manifest \(released.manifestVersion), \(Table.count(offered.count, "pack", "packs")), valid until \(released.expires)"
    let apps = lock.apps.filter { !$0.isRetired }.map(\.title)
    var lines = ["\(path): \(what)\(isUnchanged ? ", as recorded before" : "")"]
    if !apps.isEmpty { lines.append("  releases have to fit app \(apps.joined(separator: ", "))") }
    console.result(
      json(of: released, apps: apps, isUnchanged: isUnchanged),
      lines)
  }

  private func json(of released: ReleaseLock.Release, apps: [String], isUnchanged: Bool) -> JSON {
    [
      "type": "release", "lock": .text(path), "manifestVersion": .number(released.manifestVersion),
      "packs": .number(released.packs.count { !$0.isRemoved }), "apps": .texts(apps), "rootKeyID": .text(released.rootKeyID),
      "isUnchanged": .flag(isUnchanged),
    ]
  }

  func showAll(on console: Console) {
    if let released = lock.released {
      console.result(
        json(of: released, apps: lock.apps.filter { !$0.isRetired }.map(\.version), isUnchanged: true),
        ["manifest \(released.manifestVersion), issued \(released.issued), valid until \(released.expires)"]
          + (released.rootKeyID.map { ["  each pack has its own key, derived from root key \($0)"] } ?? []))
      let names = released.packs.map(\.id.count).max() ?? 0
      if let recorded = released.recorded { console.result(recorded.json, ["  recorded \(recorded.summary)"]) }
      for pack in released.packs {
        let size = pack.size.map { "  \(ByteCount($0))" } ?? ""
        let line = "  \(Table.left(pack.id, names))  \(pack.version)  key \(pack.keyID)\(size)\(pack.isRemoved ? "  removed" : "")"
        console.result(pack.json, [line])
      }
    } else {
      console.note("\(path): no release is recorded")
    }
    for app in lock.apps {
      let numbers = (app.budget?.named ?? []).map { "  \($0.key) \(Table.grouped($0.bytes))" }
      let state = app.isRetired ? ", retired" : ""
      console.result(
        app.json,
        ["app \(app.title)\(state), since manifest \(app.firstManifest), format \(app.format)"] + numbers
          + (app.recorded.map { ["  recorded \($0.summary)"] } ?? []))
    }
  }
}
