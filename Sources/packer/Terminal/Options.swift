import ArgumentParser

/// The option that names the source of the key.
struct KeyOptions: ParsableArguments {
  @Option(
    name: .customLong("key"),
    help: ArgumentHelp(
      "The key: a file's path, file:PATH, env:NAME, fd:N, stdin, or cmd:'PROGRAM ARG…'.", valueName: "ref"),
    completion: .file())
  var references: [String] = []

  func validate() { KeyReference.withhold(references) }

  func reference() throws(PackError) -> KeyReference {
    guard let text = references.first else { return try .fromEnvironment() }
    guard references.count == 1 else {
      throw PackError(.usage, "--key was given \(references.count) times", hint: "give one key")
    }
    return try KeyReference(parsing: text)
  }
}

/// The option that names the sources of signing keys.
struct SignKeyOptions: ParsableArguments {
  @Option(
    name: .customLong("sign-key"),
    help: ArgumentHelp(
      "The signing key, named as --key names a pack's, or the program that has it: signer:'pkp1-… PROGRAM ARG…'.", valueName: "ref"),
    completion: .file())
  var references: [String] = []

  func validate() { KeyReference.withhold(references) }

  /// Returns the one key that the option or the environment names.
  func reference() throws(PackError) -> KeyReference {
    guard let text = references.first else { return try .fromEnvironment(.signing) }
    guard references.count == 1 else {
      throw PackError(.usage, "--sign-key was given \(references.count) times", hint: "give one key")
    }
    return try KeyReference(parsing: text)
  }

  /// Returns all keys that the option names, or the environment's key if it names none.
  func keyReferences() throws(PackError) -> [KeyReference] {
    guard !references.isEmpty else { return [try .fromEnvironment(.signing)] }
    return try references.map { (text) throws(PackError) in try KeyReference(parsing: text) }
  }
}

/// The option that names trusted public keys.
struct TrustedKeysOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A public key (pkp1-…) to trust instead of those in the configuration, repeatable; or a file of keys documents.",
      valueName: "key|file"))
  var trust: [String] = []
}

/// The option that names a configuration. The file may be missing.
struct ConfigurationOption: ParsableArguments {
  @Option(
    name: [.customShort("c"), .customLong("config")],
    help: ArgumentHelp("The configuration. (default: packer.yml, if it exists)", valueName: "file"), completion: .file())
  var path: String?

  /// Reads it. Returns nil if there is none.
  func read() throws(PackError) -> PackerConfiguration? { try ReleasePlaces.configuration(at: path) }
}

/// The options that name trusted public keys and the configuration.
struct TrustOptions: ParsableArguments {
  @OptionGroup var configuration: ConfigurationOption
  @OptionGroup var keyTexts: TrustedKeysOption

  /// Returns the trusted public keys.
  ///
  /// - Parameters:
  ///   - others: The keys to use if `--trust` names none. They take precedence over those of the configuration.
  ///   - isNeeded: Whether to throw if no key is trusted.
  func keys(
    _ configuration: PackerConfiguration?, or others: [String] = [], isNeeded: Bool = true, in session: Session
  ) throws(PackError) -> TrustedKeys {
    let keys = try session.trustedKeys(keyTexts.trust.isEmpty ? others : keyTexts.trust, configuration)
    guard !keys.signingKeys.isEmpty || !isNeeded else {
      throw PackError(
        .untrustedSignature, "no trusted public key was given, so no manifest can be verified",
        hint: "give --trust KEY as 'packer key public' prints it, or --config with a packer.yml that names keys")
    }
    return keys
  }
}

/// The option that names the lock file.
struct LockOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("The lock file. (default: packer.lock.json beside the configuration, if it exists)", valueName: "file"),
    completion: .file())
  var lock: String?
}

/// The option that leaves paths of a directory out.
struct ExcludeOption: ParsableArguments {
  @Option(
    name: .customLong("exclude"),
    help: ArgumentHelp("Exclude the paths of the directory that match, as 'exclude' in packer.yml does. Repeatable.", valueName: "glob"))
  var globs: [String] = []

  func patterns() throws(PackError) -> [String] {
    try Glob.check(globs)
    return globs
  }
}

/// The option that sets the number of threads.
struct JobsOption: ParsableArguments {
  @Option(help: ArgumentHelp("Number of threads, from 1 to 1024. (default: one per core)", valueName: "n"))
  var jobs: Int?

  func count() throws(PackError) -> Int? {
    if let jobs { try Bounds.check(jobs, "--jobs", in: 1...1024) }
    return jobs
  }
}

/// The options for checking a pack.
struct CheckOptions: ParsableArguments {
  @Option(name: .customLong("name"), help: "Refuse a pack whose name is not this one.")
  var nameText: String?

  @Flag(name: .customLong("allow-unportable-paths"), help: "Accept file names that some platforms cannot store.")
  var allowsUnportablePaths = false

  /// Whether such names are accepted in a pack: because of the option, or because packer.yml, above the pack, allows them.
  func allowsUnportablePaths(in file: String) throws(PackError) -> Bool {
    if allowsUnportablePaths { return true }
    return ReleasePlaces.allowsUnportablePaths(file, id: try PackSummary.read(file).header.packID)
  }

  func name() throws(PackError) -> PackName? {
    guard let nameText else { return nil }
    return try PackName(nameText)
  }
}

/// The options that control what is printed, and in which form.
struct OutputOptions: ParsableArguments {
  @Flag(name: .customLong("json"), help: "Print JSON Lines; the last record has the type result.")
  var isJSON = false

  @Flag(name: [.customShort("q"), .customLong("quiet")], help: "Show no progress and no notes.")
  var isQuiet = false
}

/// Checks of numbers on the command line.
enum Bounds {
  static func check<Number: Comparable>(
    _ value: Number, _ option: String, in range: ClosedRange<Number>
  ) throws(PackError) {
    guard range.contains(value) else {
      throw PackError(
        .usage, "\(option) is \(value), but must be from \(range.lowerBound) to \(range.upperBound)",
        hint: "see the verb's --help")
    }
  }

  /// Parses a compression level.
  static func level(_ text: String, _ option: String) throws(PackError) -> PackLevel {
    guard let level = PackLevel(text) else {
      throw PackError(
        .usage, "\(option) is \(text), which is neither a number from 1 to 19 nor one of \(PackLevel.names.joined(separator: ", "))")
    }
    return level
  }

  /// Parses a size such as `64KiB`.
  static func size(_ text: String, _ option: String, in range: ClosedRange<UInt64>, isPowerOfTwo: Bool) throws(PackError)
    -> UInt64
  {
    let legal =
      isPowerOfTwo
      ? "a power of two from \(range.lowerBound) to \(range.upperBound) bytes"
      : "from \(range.lowerBound) to \(range.upperBound) bytes"
    guard let count = ByteCount(parsing: text) else {
      throw PackError(
        .usage, "\(option) is '\(text)', which is not a size", hint: "write bytes, or KiB and MiB as in 64KiB; it must be \(legal)"
      )
    }
    guard range.contains(count.bytes), !isPowerOfTwo || count.bytes.nonzeroBitCount == 1 else {
      throw PackError(.usage, "\(option) is \(count.bytes) bytes, but must be \(legal)", hint: "see the verb's --help")
    }
    return count.bytes
  }
}

extension InstallMode {
  /// - Parameter text: The value of `--mode`.
  init(option text: String) throws(PackError) {
    guard let known = Self(rawValue: text) else { throw PackError(.usage, "--mode is '\(text)'", hint: "use packed or unpacked") }
    self = known
  }
}
