import ArgumentParser

/// `packer key check`
struct KeyCheck: OutputVerb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Checks whether a key opens packs, without reading them whole, or signed manifests.",
    discussion: """
      A root key opens the packs whose keys were derived from it. The exit status is 11 if the key does not open one of the packs, and 14 if \
      it did not sign one of the manifests. 'packer verify' checks the content too.

      Examples:
        packer key check game.pack --key game.key
        packer key check dist/*.pack --key env:GAME_KEY
        packer key check dist/manifest.json --sign-key game.sign.key
      """)

  @Argument(help: "The packs; with --sign-key, the manifests.", completion: .file())
  var files: [String]

  @OptionGroup var key: KeyOptions
  @OptionGroup var signKey: SignKeyOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard !signKey.references.isEmpty else {
      let resolved = try session.key(key, for: files[0])
      return try check(session) { (file) throws(PackError) in
        let pack = try Pack.openAlone(file, key: resolved).source.stanzas
        if pack.recipientIDs.contains(resolved.id) {
          return (
            Self.record(file, "\(pack.keyID)", recipientID: "\(resolved.id)"),
            "recipient key \(resolved.id) opens it, made with key \(pack.keyID)"
          )
        }
        guard pack.keyID != resolved.id else { return (Self.record(file, "\(pack.keyID)"), "key \(pack.keyID) opens it") }
        return (
          Self.record(file, "\(pack.keyID)", rootKeyID: "\(resolved.id)"),
          "key \(pack.keyID) opens it, derived from root key \(resolved.id)"
        )
      }
    }
    guard key.references.isEmpty else {
      throw PackError(
        .usage, "--key is for packs and --sign-key for manifests, and both were given",
        hint: "check them one after the other")
    }
    let publicKey = try session.signer(signKey.reference()).publicKey
    return try check(session) { (file) throws(PackError) in
      _ = try SignedManifest.read(file).verify(trusting: [publicKey])
      return (Self.record(file, publicKey.id), "key \(publicKey.id) signed it")
    }
  }

  private func check(
    _ session: Session, _ look: (String) throws(PackError) -> (JSON, String)
  ) throws(PackError) -> Outcome {
    var outcomes = Outcomes()
    for file in files {
      try Task.checkCancelled()
      do throws(PackError) {
        let (record, text) = try naming(file) { () throws(PackError) in try look(file) }
        session.console.result(record, ["\(file): ok, \(text)"])
      } catch {
        try outcomes.add(error, of: file, to: session.console)
      }
    }
    return outcomes.worst
  }

  private static func record(_ file: String, _ keyID: String, rootKeyID: String? = nil, recipientID: String? = nil) -> JSON {
    [
      "type": "file", "file": .text(file), "ok": true, "keyID": .text(keyID), "rootKeyID": .text(rootKeyID),
      "recipientID": .text(recipientID),
    ]
  }
}

extension Outcomes {
  /// Reports an error about one file. Rethrows it if the user cancelled the command.
  mutating func add(_ error: PackError, of file: String, to console: Console) throws(PackError) {
    guard error.code != .cancelled else { throw error }
    let record: JSON = [
      "type": "file", "file": .text(file), "ok": false, "code": .text(error.code.rawValue), "message": .text(error.message),
      "hint": .text(error.hint), "details": error.details.isEmpty ? nil : .texts(error.details.sorted()),
    ]
    console.result(record, ["\(file): failed, \(error.code)"])
    console.error(error)
    add(.failed(error, isReported: true))
  }
}

/// The worst of the outcomes of several files.
struct Outcomes {
  private(set) var worst = Outcome.done

  mutating func add(_ outcome: Outcome) {
    if outcome.status > worst.status { worst = outcome }
  }
}

extension Task where Success == Never, Failure == Never {
  /// Throws if the task was cancelled.
  static func checkCancelled() throws(PackError) {
    guard !isCancelled else { throw PackError(.cancelled, "cancelled") }
  }
}
