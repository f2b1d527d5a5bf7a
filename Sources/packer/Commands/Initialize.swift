import ArgumentParser
import PackBuild
import PackCrypto
import PackFormat
import PackGate
import PackManifest
import PackProject
import PackStore
import PackTrust

/// `packer init`
struct Initialize: Verb {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Writes a packer.yml with proposed packs, or an Xcode project for a release.",
    discussion: """
      Every folder in games, levels, chapters and the like becomes a pack, and so does every other folder with an index.html; the rest \
      becomes one more pack. The result is a proposal: review it. No question is asked, and no file is moved or replaced.

      With --app, writes an app for the release that 'packer build' made: a project.yml for XcodeGen, Info.plists and entitlements of app and \
      extension, and Swift code with the public keys that may sign the manifest. The directory must be new or empty, and appears whole or \
      not at all. Secrets are not written. After the next build, 'packer plist merge' updates the Info.plist.

      Examples:
        packer init build
        packer init build -o arcade.yml
        packer init . --json
        packer init --app ios --package ../packer
      """)

  @Argument(help: "The directory to scan.", completion: .directory)
  var directory = "."

  @Option(
    name: [.customShort("o"), .customLong("output")], help: "The configuration to write. Paths in it are relative to its directory.",
    completion: .file())
  var path = PackerConfiguration.defaultPath

  @OptionGroup(title: "An app") var app: AppOptions
  @OptionGroup var threads: JobsOption
  @OptionGroup var output: OutputOptions

  static var leavesNothingBehind: Bool { false }
  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    if let project = app.directory {
      guard directory == ".", path == PackerConfiguration.defaultPath else {
        throw PackError(
          .usage, "--app makes an app for a packer.yml that exists, and scans no directory",
          hint: "name the configuration with --config, and the release with --dist")
      }
      return try await writeApp(project, in: session)
    }
    try app.checkAbsent()
    let jobs = try threads.count()
    let proposal = try await session.withProgress { (progress) async throws(PackError) in
      try await ConfigurationProposal.make(for: directory, configuration: path, jobs: jobs, progress: progress)
    }
    try proposal.write()
    let lock = try ReleaseLock.path(besides: path)
    let isLockNew = try ReleaseLock.createIfMissing(lock)
    let console = session.console
    if console.isJSON { showRecords(proposal, on: console) }
    console.result(ProposalRecord(proposal), lines(proposal, lock: isLockNew ? lock : nil))
    return .done
  }

  // MARK: An app

  private func writeApp(_ directory: String, in session: Session) async throws(PackError) -> Outcome {
    guard let package = app.package else {
      throw PackError(
        .usage, "--app needs --package: where the project finds the packer package",
        hint: "give the folder of a checkout, or the https address of its repository")
    }
    guard let configuration = try ReleasePlaces.configuration(at: app.configuration, sources: .optional) else {
      throw PackError(
        .missingInput, of: PackerConfiguration.defaultPath, "does not exist",
        hint: "make one with 'packer init DIRECTORY', or name another with --config")
    }
    let dist = app.dist ?? ReleasePlaces.place(ReleaseFile.folder, beside: configuration)
    try ReleasePlaces.checkPresence(of: dist, configuration: configuration)
    try await checkFreshness(of: dist, configuration)
    let project = try AppProject(
      directory, for: configuration, dist: dist, package: package, version: Version.number,
      trusting: try trustedKeys(configuration, dist, in: session))
    try project.write()
    let notes = notes(about: project)
    let fields = [("next", "cd \(ShellWord.path(directory)) && \(project.command)")] + notes.map { ("note", $0) }
    session.console.result(
      AppRecord(directory: directory, files: project.files.map(\.path), command: project.command, notes: notes),
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
      for reference in try app.signKey.keyReferences() { keys.append(try session.signingKey(reference).key.publicKey) }
    }
    if keys.isEmpty { keys = try session.trustedKeys([], configuration) }
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

  // MARK: For people

  /// The largest number of paths listed for one kind of secret.
  private static let mostNamed = 3

  private func lines(_ proposal: ConfigurationProposal, lock: String?) -> [String] {
    var rows = proposal.packs.map { pack -> (name: String, bytes: Int64, remark: String) in
      let count = pack.isEach ? "\(Table.count(pack.count, "pack", "packs")), " : ""
      return (
        pack.id.replacing("${name}", with: "*"), Int64(clamping: pack.contentSize),
        "\(pack.delivery.rawValue), \(count)\(Table.count(pack.files, "file", "files"))"
      )
    }
    let excluded = proposal.omitted.filter { !$0.isSkipped }
    let size = excluded.reduce(0 as UInt64) { $0 + ($1.size ?? 0) }
    if size > 0 { rows.append(("excluded", Int64(clamping: size), Table.count(excluded.count, "file", "files"))) }
    var lines = ["\(directory): \(Table.count(proposal.packCount, "pack", "packs")) proposed"] + Table.sizes(rows, total: "found")
    var fields: [(String, String)] = []
    let kinds = (excluded: Self.kinds(excluded), skipped: Self.kinds(proposal.omitted.filter(\.isSkipped)))
    if !kinds.excluded.isEmpty { fields.append(("excluded", kinds.excluded.joined(separator: ", "))) }
    if !kinds.skipped.isEmpty { fields.append(("skipped", kinds.skipped.joined(separator: ", "))) }
    if let shared = proposal.shared {
      fields.append(
        (
          "note",
          "\(Table.count(shared.files, "file is", "files are")) in several packs; moved to a shared pack, they would save "
            + "\(ByteCount(shared.savedSize)) before compression"
        ))
    }
    for problem in proposal.problems { fields.append(("cannot be packed", "\(problem.path) \(problem.message)")) }
    fields.append(("wrote", lock.map { "\(path), \($0)" } ?? path))
    fields.append(("next", "review \(path), then: packer key new -o \(proposal.title).key"))
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

  // MARK: For programs

  private func showRecords(_ proposal: ConfigurationProposal, on console: Console) {
    for path in proposal.omitted {
      console.result(OmissionRecord(path), [])
    }
    for problem in proposal.problems {
      console.result(ProblemRecord(path: problem.path, message: problem.message), [])
    }
    for pack in proposal.packs {
      console.result(ProposedPackRecord(pack), [])
    }
    if let shared = proposal.shared {
      console.result(SharedRecord(shared), [])
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
    name: [.customShort("c"), .customLong("config")],
    help: ArgumentHelp("The configuration of the release. (default: packer.yml)", valueName: "file"), completion: .file())
  var configuration: String?

  @Option(
    help: ArgumentHelp("The directory that 'packer build' made. (default: dist beside the configuration)", valueName: "dir"),
    completion: .directory)
  var dist: String?

  @OptionGroup var keyTexts: TrustedKeysOption
  @OptionGroup var signKey: SignKeyOptions

  /// Throws if an option was given that has a meaning only with `--app`.
  func checkAbsent() throws(PackError) {
    let given = [
      package.map { _ in "--package" }, configuration.map { _ in "--config" }, dist.map { _ in "--dist" },
      keyTexts.trust.isEmpty ? nil : "--trust", signKey.references.isEmpty ? nil : "--sign-key",
    ].compactMap { $0 }
    guard let first = given.first else { return }
    throw PackError(.usage, "\(first) needs --app", hint: "packer init --app DIR …")
  }
}

private struct AppRecord: Encodable {
  let type = "app"
  let directory: String
  let files: [String]
  let command: String
  let notes: [String]
}

private struct ProblemRecord: Encodable {
  let type = "problem"
  let path: String
  let message: String
}

private struct ProposedPackRecord: Encodable {
  let type = "proposed-pack"
  let id: String
  let root: String?
  let each: String?
  let delivery: String
  let packs: Int
  let files: Int
  let contentSize: UInt64

  init(_ pack: ConfigurationProposal.Pack) {
    id = pack.id
    root = pack.isEach ? nil : pack.root
    each = pack.isEach ? pack.root : nil
    delivery = pack.delivery.rawValue
    packs = pack.count
    files = pack.files
    contentSize = pack.contentSize
  }
}

private struct SharedRecord: Encodable {
  let type = "shared"
  let files: Int
  let contentSize: UInt64
  let savedSize: UInt64
  let largest: [[String]]

  init(_ shared: ConfigurationProposal.Shared) {
    files = shared.files
    contentSize = shared.contentSize
    savedSize = shared.savedSize
    largest = shared.largest
  }
}

private struct ProposalRecord: Encodable {
  let type = "proposal"
  let directory: String
  let output: String
  let packs: Int
  let files: Int
  let contentSize: UInt64

  init(_ proposal: ConfigurationProposal) {
    directory = proposal.directory
    output = proposal.path
    packs = proposal.packCount
    files = proposal.packs.reduce(0) { $0 + $1.files }
    contentSize = proposal.packs.reduce(0) { $0 + $1.contentSize }
  }
}

extension ConfigurationProposal {
  fileprivate var packCount: Int { packs.reduce(0) { $0 + $1.count } }
}
