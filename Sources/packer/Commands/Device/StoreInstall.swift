import ArgumentParser

/// `packer store adopt`
struct StoreAdopt: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "adopt",
    abstract: "Adopts a manifest, and prints what it requires.",
    discussion: """
      The manifest must be signed by a trusted key, and must not be older than the current one. No pack is fetched or removed.

      Examples:
        packer store adopt dist --store phone
        packer store adopt manifest.json --store phone --trust pkp1-…
      """)

  @Argument(help: "A release's directory, or its manifest.", completion: .file())
  var release: String

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let folder = ReleaseFolder(release)
    let document = try SignedManifest.read(folder.manifestPath)
    let opened = try await store.open(decidesByManifest: true, mayCreate: true, in: session)
    var plan = try await opened.adopt(document)
    if !plan.missingShards.isEmpty {
      try await opened.takeShards(from: ReleasePlaces.directory(of: release))
      plan = try await opened.plan()
    }
    let version = await opened.manifest?.manifest.version ?? 0
    session.console.result(plan.json(manifest: version), Self.lines(plan, store.directory, manifest: version))
    return .done
  }

  private static func lines(_ plan: UpdatePlan, _ store: String, manifest version: UInt64) -> [String] {
    var lines = ["\(store): manifest \(version)"]
    lines += Table.fields(
      [
        ("to fetch", plan.downloads.map(\.id)), ("installed", plan.installed), ("failed before", plan.failed.map(\.id)),
        ("no longer offered", Array(Set(plan.obsolete.map(\.id))).sorted()), ("missing shards", plan.missingShards),
      ]
      .filter { !$0.1.isEmpty }.map { ($0.0, "\($0.1.count): \($0.1.joined(separator: ", "))") })
    if !plan.downloads.isEmpty { lines.append("  \(plan.downloadSize) bytes to fetch, \(plan.peakSize) bytes must be free for all of it") }
    return lines
  }
}

/// `packer store install`
struct StoreInstall: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "install",
    abstract: "Installs packs from the manifest of the store, each whole or not at all.",
    discussion: """
      For a release (a directory), the manifest is adopted first, then every pack that is not installed yet is installed. A pack file is found in \
      the manifest by its file name, or by --as; a file may be a delta to a pack. Of a release, deltas are taken over installed versions where \
      they are smaller, and openers of packs that are installed already. A pack's digest is checked before it is in the store. Files are copied unless --move is \
      given. Installed packs are not used until 'packer store activate'.

      Examples:
        packer store install dist --store phone
        packer store install dist --store phone --key game.key --trust pkp1-…
        packer store install download.tmp --as game-puzzle --move --store phone
      """)

  @Argument(help: "A release directory, or pack files.", completion: .file())
  var sources: [String]

  @Option(name: .customLong("as"), help: ArgumentHelp("The name of the pack, if its file has another name.", valueName: "id"))
  var name: String?

  @Option(help: ArgumentHelp("Keep it 'packed' or 'unpacked', regardless of the manifest.", valueName: "mode"))
  var mode: String?

  @Flag(name: .customLong("move"), help: "Move the files into the store instead of copying them.")
  var isMoving = false

  @Option(
    help: ArgumentHelp(
      "The most that the store may occupy on the device. Packs that may be purged are purged to make room; a pack that does not fit is refused.",
      valueName: "size"))
  var quota: String?

  @OptionGroup var store: StoreOptions
  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let mode = if let mode { try InstallMode(option: mode) } else { InstallMode?.none }
    let quota = try quota.map { (text) throws(PackError) in
      try Bounds.size(text, "--quota", in: 1...UInt64(Int64.max), isPowerOfTwo: false)
    }
    let releases = sources.filter(ReleasePlaces.isDirectory)
    guard releases.isEmpty || sources.count == 1 else {
      throw PackError(.usage, "'\(releases[0])' is a release, and another path was given", hint: "install one release at a time")
    }
    guard name == nil || releases.isEmpty && sources.count == 1 else {
      throw PackError(.usage, "--as needs exactly one pack file", hint: "give one pack file")
    }
    // Errors about missing files and invalid releases are reported before a key is read.
    if let missing = sources.first(where: { !ReleasePlaces.exists($0) }) {
      throw PackError(.missingInput, of: missing, "does not exist")
    }
    let installation =
      if let release = releases.first { try ReleaseInstallation(release: release) } else { ReleaseInstallation(files: sources, as: name) }
    let opened = try await store.open(key: key, quota: quota, in: session)
    let outcome = try await installed(by: installation, in: opened, mode, session)
    for pack in outcome.failed {
      session.console.warning(
        "version \(pack.version) of pack '\(pack.id)' was not installed: it failed on this device", hint: "publish a new version")
    }
    for fallback in outcome.fallbacks {
      session.console.warning(
        "pack '\(fallback.id)' was installed whole, because a delta to it could not be used: \(fallback.reason.message)",
        hint: fallback.reason.hint)
    }
    let unsealed = try await unsealed(from: releases.first, in: opened)
    for pack in unsealed { session.console.note("\(store.directory): version \(pack.version) of pack '\(pack.id)' can be opened now") }
    guard !(outcome.installed.isEmpty && outcome.removed.isEmpty) else {
      guard unsealed.isEmpty else { return .done }
      session.console.note("\(store.directory): everything \(outcome.failed.isEmpty ? "" : "else ")is installed already")
      return .done
    }
    for pack in outcome.removed {
      session.console.warning(
        "version \(pack.version) of pack '\(pack.id)' was removed to make room", hint: quota == nil ? nil : "raise --quota")
    }
    let lines = InstalledPack.lines(outcome.installed.map(\.pack))
    for (arrival, line) in zip(outcome.installed, lines) { session.console.result(arrival.json, [line]) }
    if let saving = Self.saving(outcome.installed) { session.console.note("\(store.directory): \(saving)") }
    guard !outcome.displaced.isEmpty else { return .done }
    throw PackError(
      quota == nil ? .noSpace : .quotaExceeded, of: store.directory,
      "has no room for all packs; without any version now: \(outcome.displaced.joined(separator: ", "))",
      hint: quota == nil ? "free space on the volume, and install again" : "raise --quota, and install again")
  }

  /// Opens what is sealed and of which the release has the opener, as devices do that fetch it.
  private func unsealed(from release: String?, in opened: AssetStore) async throws(PackError) -> [InstalledPack] {
    guard let release else { return [] }
    var unsealed: [InstalledPack] = []
    for pack in try await opened.sealed() {
      let name = pack.openerURL.split(separator: "/").last.map(String.init) ?? ""
      let path = ReleaseFolder.path(name, in: ReleasePlaces.directory(of: release))
      guard ReleasePlaces.exists(path) else { continue }
      unsealed.append(try await opened.unseal(pack.id, with: try SystemFiles().contents(of: path, limit: Int(clamping: pack.openerSize))))
    }
    return unsealed
  }

  /// Returns how many packs came as deltas, and what that saved; nil if none did.
  private static func saving(_ arrivals: [ReleaseInstallation.Arrival]) -> String? {
    let updated = arrivals.filter(\.isDelta)
    guard !updated.isEmpty else { return nil }
    let size = updated.reduce(0 as UInt64) { $0.adding($1.size) }
    let full = updated.reduce(0 as UInt64?) { sum, arrival in sum.flatMap { sum in arrival.fullSize.map(sum.adding) } }
    let number =
      arrivals.count == 1 ? "the pack" : updated.count == arrivals.count ? "all packs" : "\(updated.count) of \(arrivals.count) packs"
    return "\(number) came as deltas: \(ByteCount(size))\(full.map { " instead of \(ByteCount($0))" } ?? "")"
  }

  private func installed(
    by installation: ReleaseInstallation, in opened: AssetStore, _ mode: InstallMode?, _ session: Session
  ) async throws(PackError) -> ReleaseInstallation.Outcome {
    do throws(PackError) {
      return try await installation.run(in: opened, taking: isMoving ? .moving : .copying, mode: mode) {
        (file, install) async throws(PackError) in
        try await naming(file) { () async throws(PackError) in
          try await session.withProgress { (progress) async throws(PackError) in try await install(progress) }
        }
      }
    } catch {
      guard error.code == .noManifest else { throw error }
      throw PackError(
        .noManifest, of: store.directory, "has adopted no manifest yet",
        hint: "packer store adopt dist --store \(ShellWord.quoted(store.directory))")
    }
  }
}

extension UpdatePlan {
  fileprivate func json(manifest version: UInt64) -> JSON {
    [
      "type": "plan", "manifestVersion": .number(version), "downloads": .texts(downloads.map(\.id)), "installed": .texts(installed),
      "failed": .texts(failed.map(\.id)), "obsolete": .texts(Set(obsolete.map(\.id)).sorted()),
      "missingShards": .texts(missingShards), "downloadSize": .number(downloadSize), "peakSize": .number(peakSize),
    ]
  }
}
