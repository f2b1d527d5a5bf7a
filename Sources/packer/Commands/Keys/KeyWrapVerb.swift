import ArgumentParser

/// `packer key wrap`
struct KeyWrapVerb: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "wrap",
    abstract: "Writes a copy of a pack that opens with further keys, without packing again.",
    discussion: """
      Only the header differs, so the copy opens with its usual key, too. It has another size and SHA-256 than the manifest says: hand it over, \
      and never publish it in the place of the original. A recipient who has the copy can open it for ever, and can open the original.

      --to takes the public key that the recipient made with 'packer key new --recipient'. --to-key takes a reference to a key (pkk1-) that both \
      sides have.

      Examples:
        packer key new --recipient -o review.key
        packer key wrap game.pack -o review.pack --to pkw1-… --key game.key
        packer key wrap game.pack -o partner.pack --to-key partner.key --key game.key
        packer ls review.pack --key review.key
      """)

  @Argument(help: "The pack.", completion: .file())
  var file: String

  @Option(name: [.customShort("o"), .customLong("output")], help: "The copy to write.", completion: .file())
  var path: String

  @Option(name: .customLong("to"), help: ArgumentHelp("A recipient's public key (pkw1-…). Repeatable.", valueName: "key"))
  var recipients: [String] = []

  @Option(
    name: .customLong("to-key"),
    help: ArgumentHelp("A key that the recipient has, too, named as --key names one.", valueName: "ref"), completion: .file())
  var shared: String?

  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let shared { KeyReference.withhold([shared]) }
  }

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard !recipients.isEmpty || shared != nil else {
      throw PackError(.usage, "no recipient was given", hint: "give a public key with --to, or a shared key with --to-key")
    }
    let publicKeys = try recipients.map { (text) throws(PackError) in try RecipientPublicKey(text: text) }
    try PackOutput.check(path, isNot: file)
    let resolved = try session.key(key, for: file)
    let copy: WrappedCopy
    if let shared {
      let other = try session.key(KeyReference(parsing: shared))
      copy = try await write(publicKeys, resolved, session) { (rewrite) throws(PackError) in try rewrite.add(other) }
    } else {
      copy = try await write(publicKeys, resolved, session) { (_) throws(PackError) in }
    }
    session.console.result(copy.json(at: path), copy.lines(at: path))
    return .done
  }

  private func write(
    _ publicKeys: [RecipientPublicKey], _ resolved: borrowing PackKey, _ session: Session,
    _ change: (inout HeaderRewrite) throws(PackError) -> Void
  ) async throws(PackError) -> WrappedCopy {
    do throws(PackError) {
      return try await WrappedCopy.write(file, to: path, key: resolved) { (rewrite) throws(PackError) in
        for publicKey in publicKeys { try rewrite.add(publicKey) }
        try change(&rewrite)
      }
    } catch {
      throw error.naming(file)
    }
  }
}

/// `packer key unwrap`
struct KeyUnwrap: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "unwrap",
    abstract: "Writes a copy of a pack that no longer opens with the keys of some recipients.",
    discussion: """
      This takes nothing back: a recipient who had the earlier copy keeps what it holds, and can open every copy of the pack. To lock a recipient \
      out, build a new version with another key.

      The last copy without recipients has the bytes of the original. The key that the pack was made with cannot be removed.

      Examples:
        packer key unwrap review.pack -o game.pack --all --key game.key
        packer key unwrap both.pack -o one.pack --from 6f0d51c3a7e84b92 --key game.key
      """)

  @Argument(help: "The pack.", completion: .file())
  var file: String

  @Option(name: [.customShort("o"), .customLong("output")], help: "The copy to write.", completion: .file())
  var path: String

  @Option(
    name: .customLong("from"),
    help: ArgumentHelp("A recipient to remove: the id of the key, or its public key (pkw1-…). Repeatable.", valueName: "key"))
  var recipients: [String] = []

  @Flag(name: .customLong("all"), help: "Remove all recipients.")
  var isForAll = false

  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard isForAll != !recipients.isEmpty else {
      throw PackError(
        .usage, isForAll ? "--all and --from were both given" : "no recipient was given",
        hint: "give each with --from, as 'packer inspect' prints them, or all with --all")
    }
    let ids = try recipients.map { (text) throws(PackError) in try Self.id(text) }
    try PackOutput.check(path, isNot: file)
    let resolved = try session.key(key, for: file)
    let copy: WrappedCopy
    do throws(PackError) {
      copy = try await WrappedCopy.write(file, to: path, key: resolved) { (rewrite) throws(PackError) in
        for id in isForAll ? Set(rewrite.stanzas.recipientIDs) : Set(ids) { try rewrite.remove(id) }
      }
    } catch {
      throw error.naming(file)
    }
    session.console.result(copy.json(at: path), copy.lines(at: path))
    return .done
  }

  /// Returns the id that a text names.
  private static func id(_ text: String) throws(PackError) -> KeyID {
    if let id = KeyID(text) { return id }
    guard text.hasPrefix("pkw1-") else {
      throw PackError(
        .usage, "--from is \(KeyReference.quoted(text)), which is neither the id of a key nor a recipient's public key",
        hint: "give 16 hexadecimal digits, as 'packer inspect' prints them")
    }
    return try RecipientPublicKey(text: text).id
  }
}

extension WrappedCopy {
  fileprivate func lines(at path: String) -> [String] {
    let recipients = recipientIDs.map(\.description).joined(separator: ", ")
    return ["\(path): \(packSize) bytes"]
      + Table.fields([
        ("key id", "\(keyID)"), ("recipients", recipients.isEmpty ? "none" : recipients), ("SHA-256", sha256.hex),
      ])
  }
}
