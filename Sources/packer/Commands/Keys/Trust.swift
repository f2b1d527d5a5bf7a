import ArgumentParser

/// The commands about keys documents. They work on one file, without a network.
struct Trust: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trust",
    abstract: "Makes, signs and shows the documents that say which keys may sign manifests.",
    discussion: """
      An app that embeds a keys document learns new signing keys from manifests, and forgets stolen ones, without an update. Each document is \
      signed by several root signing keys, which are kept on machines without a network. Documentation/TRUST.md is the guide.

      Examples:
        packer key new --root-signing -o root-1.key
        packer key trust init --root pkq1-… --signing pkp1-…
        packer key trust sign packer.keys.json --root-sign-key root-1.key
        packer key trust show
        packer key trust rotate --drop 17b6f57631a77084 --signing pkp1-…
      """,
    subcommands: [TrustInit.self, TrustAdd.self, TrustRotate.self, TrustSign.self, TrustShow.self])
}

/// The file with the keys documents.
struct KeysFileArgument: ParsableArguments {
  @Argument(help: "The file with the keys documents.", completion: .file())
  var path = KeysFile.defaultName
}

/// What a new keys document lists.
struct KeysChange: ParsableArguments {
  @Option(name: .customLong("root"), help: ArgumentHelp("A public root key (pkq1-…) to add. Repeatable.", valueName: "key"))
  var roots: [String] = []

  @Option(name: .customLong("signing"), help: ArgumentHelp("A public signing key (pkp1-…) to add. Repeatable.", valueName: "key"))
  var signers: [String] = []

  @Option(
    name: .customLong("root-threshold"),
    help: ArgumentHelp("How many root keys must sign keys documents. (default: unchanged, first a majority)", valueName: "n"))
  var rootThreshold: Int?

  @Option(
    name: .customLong("signing-threshold"),
    help: ArgumentHelp("How many signing keys must sign a manifest. (default: unchanged, first 1)", valueName: "n"))
  var signingThreshold: Int?

  @Option(help: ArgumentHelp("How long the document is valid, in hours, days or weeks.", valueName: "duration"))
  var validity = "365 days"

  /// Adds the keys, and sets the thresholds.
  func apply(to content: inout KeysDocument.Content) throws(PackError) {
    try add(roots, "root key", to: &content.rootKeys)
    try add(signers, "signing key", to: &content.signingKeys)
    content.rootThreshold = rootThreshold ?? content.rootThreshold
    content.signingThreshold = signingThreshold ?? content.signingThreshold
  }

  private func add<Role>(_ texts: [String], _ noun: String, to keys: inout [PublicKey<Role>]) throws(PackError) {
    for text in texts {
      let key = try PublicKey<Role>(text: text)
      guard !keys.contains(key) else { throw PackError(.usage, "\(noun) \(key.id) is listed already") }
      keys.append(key)
    }
  }

  /// The times of a document that is made now.
  func times() throws(PackError) -> (issued: ManifestTime, expires: ManifestTime) {
    let issued = try BuildTime.fromEnvironment().now
    guard let seconds = DurationText.seconds(validity), (3600...3650 * 86_400).contains(seconds),
      let expires = ManifestTime(secondsSince1970: issued.secondsSince1970 + Int64(seconds))
    else {
      throw PackError(
        .usage, "--validity is '\(validity)', but must be a whole number of hours, days or weeks up to 3650 days", hint: "write 365 days")
    }
    return (issued, expires)
  }
}

/// A command that makes the next keys document of a file.
protocol NextKeysVerb: OutputVerb {
  var file: KeysFileArgument { get }
  var change: KeysChange { get }
}

extension NextKeysVerb {
  /// Drafts the document, writes the file and prints it.
  func draft(_ session: Session, _ edit: (inout KeysDocument.Content) throws(PackError) -> Void) throws(PackError) -> Outcome {
    var opened = try KeysFile(reading: file.path)
    let times = try change.times()
    try opened.draftNext(issued: times.issued, expires: times.expires) { (content) throws(PackError) in
      try edit(&content)
      try change.apply(to: &content)
    }
    try opened.write()
    try KeysFileView(opened).show(on: session.console)
    return .done
  }
}

/// `packer key trust init`
struct TrustInit: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Writes a new file with a first keys document, to be signed.",
    discussion: """
      Examples:
        packer key trust init --root pkq1-… --root pkq1-… --signing pkp1-…
      """)

  @OptionGroup var file: KeysFileArgument
  @OptionGroup var change: KeysChange
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let times = try change.times()
    var content = KeysDocument.Content(
      version: 1, issued: times.issued, expires: times.expires, rootKeys: [], rootThreshold: change.roots.count / 2 + 1, signingKeys: [],
      signingThreshold: 1)
    try change.apply(to: &content)
    let sorted = KeysDocument.Content(
      version: 1, issued: content.issued, expires: content.expires, rootKeys: content.rootKeys, rootThreshold: content.rootThreshold,
      signingKeys: content.signingKeys, signingThreshold: content.signingThreshold)
    let made = try KeysFile(path: file.path, sorted)
    try made.write(isNew: true)
    try KeysFileView(made).show(on: session.console)
    return .done
  }
}

/// `packer key trust add`
struct TrustAdd: NextKeysVerb {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Makes the next keys document with more keys, to be signed.",
    discussion: """
      Examples:
        packer key trust add --signing pkp1-…
        packer key trust add keys.json --root pkq1-… --root-threshold 3
      """)

  @OptionGroup var file: KeysFileArgument
  @OptionGroup var change: KeysChange
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard !change.roots.isEmpty || !change.signers.isEmpty else {
      throw PackError(.usage, "no key was given to add", hint: "give --signing pkp1-… or --root pkq1-…")
    }
    return try draft(session) { _ in }
  }
}

/// `packer key trust rotate`
struct TrustRotate: NextKeysVerb {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Makes the next keys document: with other keys, other thresholds, or only a later expiry; to be signed.",
    discussion: """
      Devices that follow the document stop trusting a dropped key, and forget the manifest versions that only dropped keys signed.

      Examples:
        packer key trust rotate
        packer key trust rotate --drop 17b6f57631a77084 --signing pkp1-…
        packer key trust rotate --drop 9f2a… --root pkq1-… --root-threshold 2
      """)

  @OptionGroup var file: KeysFileArgument

  @Option(help: ArgumentHelp("The id of a signing key or root key to drop. Repeatable.", valueName: "id"))
  var drop: [String] = []

  @OptionGroup var change: KeysChange
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    try draft(session) { (content) throws(PackError) in
      for id in drop {
        let count = content.rootKeys.count + content.signingKeys.count
        content.rootKeys.removeAll { $0.id == id }
        content.signingKeys.removeAll { $0.id == id }
        guard content.rootKeys.count + content.signingKeys.count < count else {
          throw PackError(
            .usage, of: file.path, "lists no key '\(KeyShape.shown(id))'", hint: "packer key trust show \(ShellWord.path(file.path))")
        }
      }
    }
  }
}

/// `packer key trust sign`
struct TrustSign: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "sign",
    abstract: "Signs the last keys document of a file with a root signing key, and prints what was signed.",
    discussion: """
      Run it on a machine without a network, after 'packer key trust show'. With --from, takes the signatures of a copy of the file instead, which \
      was signed at the same time on another machine.

      Examples:
        packer key trust sign packer.keys.json --root-sign-key root-1.key
        packer key trust sign packer.keys.json --from /media/stick/packer.keys.json
      """)

  @OptionGroup var file: KeysFileArgument

  @Option(
    name: .customLong("root-sign-key"), help: ArgumentHelp("The root signing key, named as --key names a pack's.", valueName: "ref"),
    completion: .file())
  var reference: String?

  @Option(help: ArgumentHelp("A copy of the file with more signatures.", valueName: "file"), completion: .file())
  var from: String?

  @OptionGroup var output: OutputOptions

  func validate() { KeyReference.withhold([reference].compactMap { $0 }) }

  func run(in session: Session) async throws(PackError) -> Outcome {
    var opened = try KeysFile(reading: file.path)
    if let from {
      guard reference == nil else { throw PackError(.usage, "--from and --root-sign-key were both given", hint: "do one after the other") }
      try opened.merge(try KeysFile(reading: from))
    } else {
      let key: KeyReference = if let reference { try KeyReference(parsing: reference) } else { try .fromEnvironment(.root) }
      let resolved = try session.rootSigningKey(key)
      _ = try opened.sign(with: resolved)
    }
    try opened.write()
    try KeysFileView(opened).show(on: session.console)
    return .done
  }
}

/// `packer key trust show`
struct TrustShow: OutputVerb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Prints what a file of keys documents says, or one document of it for an app to embed.",
    discussion: """
      Examples:
        packer key trust show
        packer key trust show packer.keys.json --document 3 > App/keys.json
      """)

  @OptionGroup var file: KeysFileArgument

  @Option(help: ArgumentHelp("Print only the signed document with this version, as its bytes.", valueName: "n"))
  var document: UInt64?

  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let opened = try KeysFile(reading: file.path)
    guard let version = document else {
      try KeysFileView(opened).show(on: session.console)
      return .done
    }
    guard let found = opened.document(version) else {
      throw PackError(
        .usage, of: file.path, "has no signed keys document \(version)", hint: "packer key trust show \(ShellWord.path(file.path))")
    }
    guard !session.console.isJSON else {
      throw PackError(.usage, "--json and --document exclude each other", hint: "leave out --json")
    }
    try session.console.stream(found.bytes.byteSpan, remaining: UInt64(found.bytes.count))
    return .done
  }
}

/// Prints a file of keys documents.
private struct KeysFileView {
  let file: KeysFile

  init(_ file: KeysFile) { self.file = file }

  func show(on console: Console) throws(PackError) {
    for document in file.documents {
      let content = document.content
      console.result(
        document.json(isSigned: true),
        ["\(file.path): keys document \(content.version), from \(content.issued) to \(content.expires)"]
          + (document == file.newest ? Self.lines(content) : []))
    }
    guard let draft = file.draft, let progress = try file.progress() else { return }
    var missing: [String] = []
    if progress.own < progress.ownNeeded { missing.append("\(progress.ownNeeded - progress.own) of its own root keys") }
    if progress.before < progress.beforeNeeded {
      missing.append("\(progress.beforeNeeded - progress.before) of the root keys of document \(draft.content.version - 1)")
    }
    console.result(
      draft.json(isSigned: false),
      ["\(file.path): keys document \(draft.content.version), from \(draft.content.issued) to \(draft.content.expires), NOT YET SIGNED"]
        + Self.lines(draft.content) + Table.fields([("missing", "signatures by \(missing.joined(separator: " and "))")]))
  }

  private static func lines(_ content: KeysDocument.Content) -> [String] {
    Table.fields(
      content.signingKeys.map { ("signing", "\($0.id)  \($0.text)") } + [
        ("needed", "\(content.signingThreshold) of \(content.signingKeys.count)")
      ]
        + content.rootKeys.map { ("root", "\($0.id)  \($0.text)") } + [("needed", "\(content.rootThreshold) of \(content.rootKeys.count)")])
  }
}

extension KeysDocument {
  fileprivate func json(isSigned: Bool) -> JSON {
    [
      "type": "keys", "version": .number(content.version), "issued": .text(content.issued.description),
      "expires": .text(content.expires.description), "signed": .flag(isSigned), "signatures": .texts(signatures.map(\.keyID)),
      "signingKeys": .list(content.signingKeys.map { ["keyID": .text($0.id), "publicKey": .text($0.text)] }),
      "signingThreshold": .number(content.signingThreshold),
      "rootKeys": .list(content.rootKeys.map { ["keyID": .text($0.id), "publicKey": .text($0.text)] }),
      "rootThreshold": .number(content.rootThreshold),
    ]
  }
}
