import ArgumentParser

/// `packer init`
struct Initialize: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Writes a packer.yml with proposed packs, or an Xcode project or a web player for a release.",
    discussion: HelpText.text(
      """
      Every folder with an index.html becomes a pack, and so does every folder in games, levels, chapters and the like. Of a web project, \
      the built files are taken, not the sources. What does not look like a part of an app is in no pack, and listed. The result is a \
      proposal: review it. No question is asked, and no file is moved or replaced.
      """,
      more: """
        Also makes an empty packer.lock.json, and a .gitignore for the keys and the release, if there is none. With -o -, the proposal is \
        printed, and nothing is written.

        With --app, writes an app for the release that 'packer build' made: a project.yml for XcodeGen, Info.plists and entitlements of app and \
        extension, and Swift code with the public keys that may sign the manifest. The directory must be new or empty, and appears whole or \
        not at all. Secrets are not written. After the next build, 'packer plist merge' updates the Info.plist.

        With --web, writes the player that plays the packs in browsers: a page, a service worker, the reader of packs, and player.json with \
        the addresses and the public keys. The key of the packs is not written: Documentation/WEB.md says how a page gets it.

        The schema of --schema covers every key of packer.yml and the form of every value, not the directories that are named.
        """,
      examples: """
        Examples:
          packer init build
          packer init build -o arcade.yml
          packer init . --json
          packer init --app ios --package ../packer
          packer init --web site
          packer init --schema > packer.schema.json
        """))

  @Argument(help: "The directory to scan.", completion: .directory)
  var directory = "."

  @Option(
    name: [.customShort("o"), .customLong("output")], help: "The configuration to write. Paths in it are relative to its directory.",
    completion: .file())
  var path = PackerConfiguration.defaultPath

  @Flag(name: .customLong("schema"), help: "Only print the JSON Schema of packer.yml, for editors and checks.")
  var printsSchema = false

  @OptionGroup(title: "An app or a web player") var app: AppOptions
  @OptionGroup var threads: JobsOption
  @OptionGroup var output: OutputOptions

  var programs: ProgramUse { .trusted }

  func run(in session: Session) async throws(PackError) -> Outcome {
    if printsSchema {
      session.console.output(PackerConfiguration.jsonSchema)
      return .done
    }
    if app.directory != nil || app.site != nil {
      guard directory == ".", path == PackerConfiguration.defaultPath, app.directory == nil || app.site == nil else {
        throw PackError(
          .usage, "--app and --web each write files for a packer.yml that exists, and scan no directory",
          hint: "give one of them, and name the configuration with --config and the release with --dist")
      }
      return try await writeFiles(in: session)
    }
    try app.checkAbsent()
    let jobs = try threads.count()
    let console = session.console
    let isPrinted = path == "-"
    let place = isPrinted ? PackerConfiguration.defaultPath : path
    let proposal = try await session.withProgress { (progress) async throws(PackError) in
      try await ConfigurationProposal.make(for: directory, configuration: place, isPrinted: isPrinted, jobs: jobs, progress: progress)
    }
    guard !isPrinted else {
      console.output(lines: proposal.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init))
      return outcome(of: proposal, on: console)
    }
    // The configuration is the last, so that a run that ended in the middle is repeated.
    var written: [String] = []
    let lock = try ReleaseLock.path(besides: path)
    if try ReleaseLock.createIfMissing(lock) { written.append(lock) }
    let ignore: (written: String?, missing: [String])
    do throws(PackError) {
      ignore = try proposal.writeIgnoreFile()
      if let file = ignore.written { written.append(file) }
      try proposal.write()
    } catch {
      for file in written { try? SystemFiles().remove(file, .file, in: nil) }
      throw error
    }
    written.insert(path, at: 0)
    if console.isJSON { for record in proposal.details { console.result(record) } }
    let levels = await estimates(proposal, jobs: jobs, on: console)
    console.result(proposal.json, lines(proposal, written: written, unignored: ignore.missing, levels: levels))
    return outcome(of: proposal, on: console)
  }

  /// Returns what the smallest level would bring. The proposal is complete without it, so failures are left to the build.
  private func estimates(_ proposal: ConfigurationProposal, jobs: Int?, on console: Console) async -> [String] {
    guard !isQuiet, proposal.problems.isEmpty, proposal.packs.contains(where: { $0.contentSize >= ReleaseBuild.smallestForEstimate }),
      let configuration = try? PackerConfiguration.read(path), let now = try? BuildTime.fromEnvironment()
    else { return [] }
    var build = ReleaseBuild(configuration, time: now)
    build.jobs = jobs
    guard let estimates = try? await build.compare(with: .smallest, share: 8, limit: 4 << 20) else { return [] }
    let text = LevelEstimateText(level: PackLevel.smallestName, estimates: estimates)
    if console.isJSON { text.show(on: console) }
    return text.lines(limit: Self.mostNamed)
  }

  /// The outcome has findings if a build would refuse the packs of the proposal, or lack something.
  private func outcome(of proposal: ConfigurationProposal, on console: Console) -> Outcome {
    guard !proposal.problems.isEmpty else { return .done }
    let paths = Table.count(proposal.problems.count, "path", "paths")
    for problem in proposal.problems { console.warning("\(problem.path) \(problem.message)", hint: nil) }
    let verdict = "\(directory) holds \(paths) that cannot be packed"
    console.warning(
      verdict, hint: path == "-" ? "rename or remove them" : "\(path) is written; rename or remove them before 'packer build'")
    return .findings(verdict)
  }

  // MARK: An app

  /// Writes what plays a release: an app, or a player for browsers.
  private func writeFiles(in session: Session) async throws(PackError) -> Outcome {
    try app.checkPair()
    guard let configuration = try ReleasePlaces.configuration(at: app.configuration) else {
      throw PackError(
        .missingInput, of: PackerConfiguration.defaultPath, "does not exist",
        hint: "make one with 'packer init DIRECTORY', or name another with --config")
    }
    let dist = app.dist ?? ReleasePlaces.place(ReleaseFile.folder, beside: configuration)
    try ReleasePlaces.checkPresence(of: dist, configuration: configuration)
    try await checkFreshness(of: dist, configuration)
    let trusted = try trustedKeys(configuration, dist, in: session)
    if let site = app.site { return try writePlayer(site, configuration, trusted, on: session.console) }
    let project = try AppProject(
      app.directory ?? "", for: configuration, dist: dist, package: app.package ?? "", version: Version.number, trusting: trusted)
    return try write(project, on: session.console)
  }

  private func writePlayer(
    _ directory: String, _ configuration: PackerConfiguration, _ trusted: [String], on console: Console
  ) throws(PackError) -> Outcome {
    guard configuration.hosting == .unmanaged else {
      throw PackError(
        .invalidConfiguration, of: configuration.path,
        "has 'hosting: \(configuration.hosting.rawValue)', for which no manifest is published",
        hint: "set 'hosting: unmanaged' for what browsers play")
    }
    let player = try WebPlayer(directory, reader: app.reader, manifest: configuration.serve.manifestURL, trusting: trusted)
    try player.write()
    var notes = ["give \(WebPlayer.configuration) the key of the packs as \"key\", or have the page ask your server for it"]
    if !configuration.isForBrowsers {
      notes.append("set 'web: true' in \(configuration.path), so that 'packer verify' checks what browsers need")
    }
    console.result(
      [
        "type": "web", "directory": .text(directory), "files": .texts(player.files.map(\.path)), "notes": .texts(notes),
      ],
      player.files.map { "\(directory)/\($0.path)" } + Table.fields(notes.map { ("note", $0) }))
    return .done
  }

  private func write(_ project: AppProject, on console: Console) throws(PackError) -> Outcome {
    let directory = project.directory
    try project.write()
    let notes = notes(about: project)
    let fields = [("next", "cd \(ShellWord.path(directory)) && \(project.command)")] + notes.map { ("note", $0) }
    console.result(
      [
        "type": "app", "directory": .text(directory), "files": .texts(project.files.map(\.path)), "command": .text(project.command),
        "notes": .texts(notes),
      ],
      project.files.map { "\(directory)/\($0.path)" } + Table.fields(fields))
    return .done
  }

  private func notes(about project: AppProject) -> [String] {
    var notes: [String] = []
    if !project.hasKeyFile {
      notes.append("set the variable PACKER_KEY to the key of the packs for this command, so that a debug build can open them")
    }
    if !project.unplayable.isEmpty {
      let named = project.unplayable.prefix(Self.mostNamed) + (project.unplayable.count > Self.mostNamed ? ["…"] : [])
      let list = named.joined(separator: ", ")
      notes.append("the app shows the files of unpacked packs, but not their index.html: for \(list), set 'install: packed' and build")
    }
    return notes
  }

  /// Throws if the release is not the one that the configuration describes now: rule PK1004.
  private func checkFreshness(of dist: String, _ configuration: PackerConfiguration) async throws(PackError) {
    var verification = ReleaseVerification(dist, now: try ManifestTime.now())
    verification.configuration = configuration
    verification.isQuick = true
    verification.only = ["PK1004"]
    guard let finding = try await verification.run(key: nil).findings.first(where: { $0.acceptedBecause == nil }) else { return }
    let pack = finding.pack.map { "pack '\($0)': " } ?? ""
    let difference = "does not match \(configuration.path): \(pack)\(finding.message)"
    throw PackError(.invalidConfiguration, of: dist, difference, hint: finding.hint ?? "packer build")
  }

  /// Returns the public keys that may sign the manifest, as texts.
  private func trustedKeys(_ configuration: PackerConfiguration, _ dist: String, in session: Session) throws(PackError) -> [String] {
    // The system checks managed asset packs, and the app reads no manifest.
    guard configuration.hosting == .unmanaged else { return [] }
    var keys = try app.keyTexts.trust.map { (text) throws(PackError) in try SigningPublicKey(text: text) }
    if keys.isEmpty, !app.signKey.references.isEmpty {
      for reference in try app.signKey.keyReferences() { keys.append(try session.signer(reference).publicKey) }
    }
    if keys.isEmpty, configuration.keysFile != nil { return try documentTexts(configuration, dist, in: session) }
    if keys.isEmpty { keys = try session.trustedKeys([], configuration).signingKeys }
    guard !keys.isEmpty else {
      let missing = configuration.signKeys.compactMap { (try? KeyReference(parsing: $0))?.file }.first { !ReleasePlaces.exists($0) }
      let reason = missing.map { ": the signing key '\($0)' of \(configuration.path) does not exist" } ?? ", and the app needs one"
      throw PackError(
        .noKey, "no public key is known that may sign the manifest\(reason)",
        hint: "give --trust KEY as 'packer key public' prints it, or name the signing key with --sign-key")
    }
    let manifest = "\(dist)/\(ReleaseFile.manifest)"
    try naming(manifest) { () throws(PackError) in _ = try SignedManifest.read(manifest).verify(trusting: keys) }
    return keys.map(\.text)
  }

  /// Returns the newest keys document as the only text that the app embeds.
  private func documentTexts(_ configuration: PackerConfiguration, _ dist: String, in session: Session) throws(PackError) -> [String] {
    let keys = try session.trustedKeys([], configuration)
    let manifest = "\(dist)/\(ReleaseFile.manifest)"
    try naming(manifest) { () throws(PackError) in _ = try SignedManifest.read(manifest).verify(trusting: keys) }
    return [String(decoding: keys.newest?.bytes ?? [], as: UTF8.self)]
  }

  // MARK: For people

  /// The largest number of paths listed for one kind of secret.
  private static let mostNamed = 3
  /// The largest number of entries that are listed.
  private static let mostPacks = 30
  /// The largest number of paths in no pack that are listed.
  private static let mostUnassigned = 5

  private func lines(_ proposal: ConfigurationProposal, written: [String], unignored: [String], levels: [String]) -> [String] {
    var rows = proposal.packs.map { pack -> (name: String, bytes: Int64, remark: String) in
      let count = pack.isEach ? "\(Table.count(pack.count, "pack", "packs")), " : ""
      return (
        pack.id.replacing("${name}", with: "*"), Int64(clamping: pack.contentSize),
        "\(pack.delivery.rawValue), \(count)\(Table.count(pack.files, "file", "files"))"
      )
    }
    if rows.count > Self.mostPacks {
      let rest = rows.sorted { ($1.bytes, $0.name) < ($0.bytes, $1.name) }[(Self.mostPacks - 1)...]
      let names = Set(rest.map(\.name))
      rows.removeAll { names.contains($0.name) }
      rows.append(("…", rest.reduce(0) { $0 + $1.bytes }, "\(rest.count) more, smaller"))
    }
    let excluded = proposal.omitted.filter { !$0.isSkipped }
    let size = excluded.reduce(0 as UInt64) { $0 + ($1.size ?? 0) }
    if size > 0 { rows.append(("excluded", Int64(clamping: size), Table.count(excluded.count, "file", "files"))) }
    let unassigned = proposal.unassigned.reduce(0 as UInt64) { $0 + $1.contentSize }
    if unassigned > 0 {
      rows.append(
        ("in no pack", Int64(clamping: unassigned), Table.count(proposal.unassigned.reduce(0) { $0 + $1.files }, "file", "files")))
    }
    var lines = ["\(directory): \(Table.count(proposal.packCount, "pack", "packs")) proposed"] + Table.sizes(rows, total: "found")
    var fields: [(String, String)] = []
    let kinds = (excluded: Self.kinds(excluded), skipped: Self.kinds(proposal.omitted.filter(\.isSkipped)))
    if !kinds.excluded.isEmpty { fields.append(("excluded", kinds.excluded.joined(separator: ", "))) }
    if !kinds.skipped.isEmpty { fields.append(("skipped", kinds.skipped.joined(separator: ", "))) }
    if let shared = proposal.shared {
      fields.append(
        (
          "note",
          "\(Table.count(shared.files, "file is", "files are")) in several packs; copied to a pack that is their 'base', they would save "
            + "\(ByteCount(shared.savedSize)) of downloads before compression: \(path) has the lines"
        ))
    }
    for hub in proposal.hubs.prefix(Self.mostNamed) {
      fields.append(("note", "\(hub)/ is in the pack of the page that refers to it, because each pack is an origin of its own"))
    }
    if !proposal.loadsExcluded.isEmpty {
      let pages = proposal.loadsExcluded.listed(most: Self.mostNamed) + (proposal.loadsExcluded.count == 1 ? " loads" : " load")
      fields.append(("note", "\(pages) from node_modules/, which is excluded: bundle the game, or copy what it loads to another folder"))
    }
    if let page = proposal.unnamedPage {
      fields.append(
        ("note", "\(page) is a page, and there is no index.html, with which a game starts: rename it, or add one that leads to it"))
    }
    if !proposal.precompressed.isEmpty {
      let files = proposal.precompressed.listed(most: Self.mostNamed)
      fields.append(("note", "no web view decompresses \(files): in Unity, set 'Compression Format: Disabled' and build the game again"))
    }
    if !proposal.unassigned.isEmpty {
      let named = proposal.unassigned.prefix(Self.mostUnassigned).map { $0.path + ($0.isDirectory ? "/" : "") }
      let more = proposal.unassigned.count - named.count
      fields.append(("in no pack", named.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "") + ": add what the app needs"))
    }
    for project in proposal.unbuilt.prefix(Self.mostNamed) { fields.append(("not built", project.reason)) }
    if proposal.unbuilt.count > Self.mostNamed {
      fields.append(("", "and \(proposal.unbuilt.count - Self.mostNamed) more, which \(path) lists"))
    }
    let renamed = proposal.packs.compactMap { pack in pack.differingName.map { "'\($0)' is \(pack.id)" } }
    if !renamed.isEmpty {
      let more = renamed.count > Self.mostNamed ? " and \(renamed.count - Self.mostNamed) more" : ""
      fields.append(("ids", renamed.prefix(Self.mostNamed).joined(separator: ", ") + more + "; an id must not change once it was released"))
    }
    for (number, line) in levels.enumerated() { fields.append((number == 0 ? "levels" : "", line)) }
    if !unignored.isEmpty { fields.append(("note", "add to .gitignore: \(unignored.joined(separator: "  "))")) }
    if proposal.outside != nil {
      fields.append(("note", "a build takes only packs below \(path)'s folder or its git repository, and those that PACKER_ROOTS allows"))
    }
    fields.append(("wrote", written.joined(separator: ", ")))
    let keys = PathParts(path).map { $0.directory == "." ? proposal.title : "\($0.directory)/\(proposal.title)" } ?? proposal.title
    fields.append(("next", "review \(path), then:"))
    fields.append(("", "packer key new -o \(ShellWord.path(keys + ".key"))"))
    fields.append(("", "packer key new --signing -o \(ShellWord.path(keys + ".sign.key"))"))
    let roots = proposal.outside.map { "PACKER_ROOTS=\(ShellWord.path($0)) " } ?? ""
    fields.append(("", roots + "packer build" + (path == PackerConfiguration.defaultPath ? "" : " -c \(ShellWord.path(path))")))
    lines += Table.fields(fields)
    return lines
  }

  /// Describes the omitted paths by kind: their number and size, and for possible secrets the paths.
  private static func kinds(_ omitted: [ConfigurationProposal.OmittedPath]) -> [String] {
    var order: [String] = []
    var groups: [String: [ConfigurationProposal.OmittedPath]] = [:]
    // Secrets first, because the user has to act on them.
    for path in omitted.filter(\.isSecret) + omitted.filter({ !$0.isSecret }) {
      let name = path.isSkipped ? path.path.split(separator: "/").last.map(String.init) ?? path.path : path.reason
      // All metadata files (._NAME) are one kind.
      let kind = path.isSecret ? "secrets" : name.hasPrefix("._") ? "._*" : name
      if groups[kind] == nil { order.append(kind) }
      groups[kind, default: []].append(path)
    }
    return order.map { kind in
      let group = groups[kind] ?? []
      let size = group.reduce(0 as UInt64) { $0 + ($1.size ?? 0) }
      let isSecret = group.contains { $0.isSecret }
      guard isSecret else { return "\(kind) ×\(group.count)" + (size > 0 ? " (\(ByteCount(size)))" : "") }
      let named = group.prefix(mostNamed).map(\.path) + (group.count > mostNamed ? ["…"] : [])
      return "\(Table.count(group.count, "possible secret", "possible secrets")) (\(named.joined(separator: ", ")))"
    }
  }
}

/// The options for an app.
struct AppOptions: ParsableArguments {
  @Option(
    name: .customLong("app"), help: ArgumentHelp("Write an app for the release into this directory.", valueName: "dir"),
    completion: .directory)
  var directory: String?

  @Option(
    help: ArgumentHelp("The packer package: the folder of a checkout, or the https address of its repository.", valueName: "place"),
    completion: .directory)
  var package: String?

  @Option(
    name: .customLong("web"), help: ArgumentHelp("Write a player for browsers into this directory.", valueName: "dir"),
    completion: .directory)
  var site: String?

  @Option(
    help: ArgumentHelp("The folder with the player for browsers. (default: share/packer/web beside packer)", valueName: "dir"),
    completion: .directory)
  var reader: String?

  @Option(
    name: [.customShort("c"), .customLong("config")],
    help: ArgumentHelp("The configuration of the release. (default: packer.yml)", valueName: "file"), completion: .file())
  var configuration: String?

  @Option(
    help: ArgumentHelp("The directory that 'packer build' made. (default: dist beside the configuration)", valueName: "dir"),
    completion: .directory)
  var dist: String?

  @OptionGroup var keyTexts: TrustedKeysOption
  @OptionGroup var signKey: SignKeyOptions

  /// Throws if an option is missing, or was given that has a meaning only with the other of `--app` and `--web`.
  func checkPair() throws(PackError) {
    guard directory != nil else {
      if package != nil { throw PackError(.usage, "--package needs --app", hint: "packer init --app DIR …") }
      return
    }
    if reader != nil { throw PackError(.usage, "--reader needs --web", hint: "packer init --web DIR …") }
    guard package == nil else { return }
    throw PackError(
      .usage, "--app needs --package: where the project finds the packer package",
      hint: "give the folder of a checkout, or the https address of its repository")
  }

  /// Throws if an option was given that has a meaning only with `--app` or `--web`.
  func checkAbsent() throws(PackError) {
    let given = [
      package.map { _ in "--package" }, reader.map { _ in "--reader" }, configuration.map { _ in "--config" }, dist.map { _ in "--dist" },
      keyTexts.trust.isEmpty ? nil : "--trust", signKey.references.isEmpty ? nil : "--sign-key",
    ].compactMap { $0 }
    guard let first = given.first else { return }
    let needed = first == "--reader" ? "--web" : "--app"
    throw PackError(.usage, "\(first) needs \(needed)", hint: "packer init \(needed) DIR …")
  }
}
