/// The console and the signals of the process, for a command to use.
struct Session: Sendable {
  let console: Console
  let signals: SignalWatch
  /// Which programs that the configuration names are started.
  var programs = ProgramUse.none
  /// The signing key of the environment, once it was read: the variable is gone then.
  private let environmentSigner = Monitor<ReleaseSigner?>(nil)

  init(console: Console, signals: SignalWatch) { (self.console, self.signals) = (console, signals) }

  /// Runs a command. A signal ends the process at once if the command leaves nothing half-done on disk.
  func run(_ verb: some Verb) async throws(PackError) -> Outcome {
    console.isQuiet = verb.isQuiet
    CryptoLibrary.startForSuite()
    signals.allowAbandoning(type(of: verb).leavesNothingBehind)
    var session = self
    session.programs = verb.programs
    let outcome = try await verb.run(in: session)
    signals.allowAbandoning(false)
    return outcome
  }

  /// Reads the key that the options or the environment name, and prints its warnings.
  func key(_ options: KeyOptions) throws(PackError) -> PackKey {
    try key(options.reference())
  }

  /// Reads the key for a pack that exists: the one that the options or the environment name, or else packer.yml above the pack. If there is none, the
  /// error has the id of the pack's key.
  func key(_ options: KeyOptions, for pack: String) throws(PackError) -> PackKey {
    let isGiven =
      !options.references.isEmpty || KeyReference.environmentNames(of: .content).contains { StandardStreams.variable($0) != nil }
    let configured = isGiven ? nil : ReleasePlaces.configuration(besides: pack)
    if let configured, let named = configured.key { console.note("the key is that of \(configured.path): \(named)") }
    do throws(PackError) {
      return try key(options, configured: configured)
    } catch {
      guard error.code == .noKey, !ReleasePlaces.isDirectory(pack) else { throw error }
      let summary = try naming(pack) { () throws(PackError) in try PackSummary.read(pack) }
      throw PackError(
        .noKey, "\(error.message), and \(pack) was made with key \(summary.stanzas.keyID)",
        hint: "give that key with --key REF (\(KeyReference.forms)), PACKER_KEY_FILE=PATH, PACKER_KEY or PACKER_KEY_COMMAND")
    }
  }

  /// Reads the key that a reference names, and prints its warnings.
  func key(_ reference: KeyReference) throws(PackError) -> PackKey {
    // A program, a pipe or a person may take long to give the key, and no work has started yet.
    try signals.whileAbandonable { () throws(PackError) in try reference.resolve(warn: warn) }
  }

  /// Reads a key that signs manifests, and prints its warnings.
  func signer(_ reference: KeyReference) throws(PackError) -> ReleaseSigner {
    try signals.whileAbandonable { () throws(PackError) in try reference.resolveSigner(warn: warn) }
  }

  /// Reads a root signing key, and prints its warnings.
  func rootSigningKey(_ reference: KeyReference) throws(PackError) -> RootSigningKey {
    try signals.whileAbandonable { () throws(PackError) in try reference.resolveRootSigningKey(warn: warn) }
  }

  private func warn(_ warning: KeyWarning) { console.warning(warning.message, hint: warning.hint, once: true) }

  /// Reads the key that the options, the environment or the configuration name.
  ///
  /// - Parameter makesPacks: whether new packs are made, for which a new key will do.
  func key(_ options: KeyOptions, configured: PackerConfiguration?, makesPacks: Bool = false) throws(PackError) -> PackKey {
    do throws(PackError) {
      guard options.references.isEmpty else { return try key(options) }
      return try key(KeyReference.unlessGiven(of: configured, starting: programs)[0])
    } catch {
      guard !makesPacks, let lines = error.hint?.split(separator: "\n"), lines.count > 1 else { throw error }
      let kept = lines.filter { !$0.hasPrefix(KeyReference.ifNone) }
      throw error.advising(.developer(kept.joined(separator: "\n")))
    }
  }

  /// Reads all keys that the options name, as an app holds them over a change of keys, or the one of the environment or the configuration.
  func keyRing(_ options: KeyOptions, configured: PackerConfiguration?) throws(PackError) -> KeyRing {
    guard options.references.count > 1 else { return KeyRing(try key(options, configured: configured)) }
    let ring = KeyRing()
    for text in options.references { ring.add(try key(KeyReference(parsing: text))) }
    return ring
  }

  /// Returns the public keys of the signing keys that the environment or the configuration names, as far as those can be read.
  private func publicKeys(ofSigning configured: PackerConfiguration?) throws(PackError) -> [SigningPublicKey] {
    var keys: [SigningPublicKey] = []
    do throws(PackError) {
      if let signer = try signerOfEnvironment() { return [signer.publicKey] }
      for reference in try KeyReference.unlessGiven(.signing, of: configured, starting: programs, signs: false) {
        keys.append(try signer(reference).publicKey)
      }
    } catch {
      // Verifying needs no signing key. The caller uses other trusted keys, or reports that there are none.
      guard error.code == .noKey || error.code == .missingInput || error.code == .cannotRead else { throw error }
    }
    return keys
  }

  /// Returns the trusted public keys: those given, else those of the configuration, else those of its signing keys, if those can be read.
  ///
  /// With a file of keys documents, those are the keys of its newest document, as for an app that embeds it.
  func trustedKeys(_ given: [String], _ configuration: PackerConfiguration?) throws(PackError) -> TrustedKeys {
    if given.count == 1, !given[0].hasPrefix("pkp1-"), KeyShape(in: given[0]).isHarmless, ReleasePlaces.exists(given[0]) {
      return try KeysFile(reading: given[0]).trusted()
    }
    if given.isEmpty, let path = configuration?.keysFile { return try KeysFile(reading: path).trusted() }
    let texts = given.isEmpty ? configuration?.trustedKeys ?? [] : given
    guard texts.isEmpty else { return try TrustedKeys(texts: texts) }
    return TrustedKeys(try publicKeys(ofSigning: configuration))
  }

  /// Reads the signing key of the environment once; nil if it has none.
  private func signerOfEnvironment() throws(PackError) -> ReleaseSigner? {
    if let known = environmentSigner.withLock({ $0 }) { return known }
    guard KeyReference.environmentNames(of: .signing).contains(where: { ProcessEnvironment.isSet($0) }) else { return nil }
    let signer = try signer(KeyReference.fromEnvironment(.signing))
    environmentSigner.update { $0 = signer }
    return signer
  }

  /// Reads the signing keys that the options, the environment or the configuration name.
  func signers(_ options: SignKeyOptions, configured: PackerConfiguration) throws(PackError) -> [ReleaseSigner] {
    var signers: [ReleaseSigner] = []
    if options.references.isEmpty, let signer = try signerOfEnvironment() {
      signers = [signer]
    } else {
      let references =
        options.references.isEmpty
        ? try KeyReference.unlessGiven(.signing, of: configured, starting: programs) : try options.keyReferences()
      for reference in references { signers.append(try signer(reference)) }
    }
    if options.references.isEmpty, signers.count < configured.signKeys.count {
      console.warning(
        "the configuration names \(configured.signKeys.count) signing keys, and the environment gives one: the manifest is signed with that one only",
        hint: "give each with --sign-key, or unset \(KeyReference.environmentNames(of: .signing).joined(separator: ", "))")
    }
    return signers
  }

  /// Runs work that reports its progress, and removes the progress display afterwards.
  func withProgress<Result: Sendable>(
    _ body: (ProgressHandler?) async throws(PackError) -> Result
  ) async throws(PackError) -> Result {
    let meter = ProgressMeter(console: console)
    var isComplete = false
    defer { meter?.end(isComplete: isComplete) }
    let result = try await body(meter?.handler)
    isComplete = true
    return result
  }
}

extension PackError {
  /// Returns the error with the path as its subject, unless the error is about an output.
  func naming(_ path: String) -> PackError {
    Self.aboutOutputs.contains(code) ? self : about(path)
  }

  private static let aboutOutputs: Set<Code> = [.cannotWrite, .noSpace, .outputExists, .outputClosed]
}

/// Runs `body` and has its errors name the file at fault.
func naming<Result>(_ path: String, _ body: () throws(PackError) -> Result) throws(PackError) -> Result {
  do throws(PackError) {
    return try body()
  } catch {
    throw error.naming(path)
  }
}

/// Runs `body` and has its errors name the file at fault.
func naming<Result: Sendable>(
  _ path: String, _ body: () async throws(PackError) -> Result
) async throws(PackError) -> Result {
  do throws(PackError) {
    return try await body()
  } catch {
    throw error.naming(path)
  }
}
