/// The place from which a key is read, as people write it: `file:PATH`, `env:NAME`, `fd:N`, `stdin`, `cmd:PROGRAM ARG…`; or for signing a program that
/// has the key, with its public half: `signer:pkp1-… PROGRAM ARG…`.
///
/// A reference is never the secret itself, because arguments are in process lists and shell histories. A text with a key in it
/// (``KeyShape``) is refused, and not repeated in the message.
package struct KeyReference: Hashable, Sendable {
  /// The kinds of places.
  enum Place: Hashable, Sendable {
    case file(String)
    case environment(String)
    case descriptor(CInt)
    case standardInput
    case command([String])
    case signer(SigningPublicKey, [String])
  }

  let place: Place

  /// The forms of references, for messages and help.
  package static let forms = "file:PATH, env:NAME, fd:N, stdin or cmd:'PROGRAM ARG…'"
  /// The start of a hint that advises to make a key. Packs that exist need the key that they were made with.
  package static let ifNone = "if there is none yet: "
  /// The form of a reference to a program that signs.
  package static let signerForm = "signer:'pkp1-… PROGRAM ARG…'"

  /// Parses a reference. A text without a known scheme is the path of a file. Programs that are started later do not inherit the descriptor of an
  /// `fd` reference.
  ///
  /// - Throws: ``PackError/Code/usage`` if the text is a secret or names nothing.
  package init(parsing text: String) throws(PackError) {
    let (scheme, rest) = Self.split(text)
    let shape = KeyShape(in: text)
    guard !shape.isKey else { throw Self.secretRefused(shape.prefixed ?? .content) }
    guard !shape.isPublic || scheme == "signer" else { throw Self.publicKeyRefused }
    switch scheme {
    case "signer":
      place = try Self.signer(rest)
    case "env":
      guard !rest.isEmpty, !rest.contains("=") else {
        throw PackError(.usage, of: "key reference \(Self.quoted(text))", "does not name an environment variable", hint: "write env:NAME")
      }
      place = .environment(rest)
    case "fd":
      guard !rest.isEmpty, rest.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = CInt(rest) else {
        throw PackError(
          .usage, of: "key reference \(Self.quoted(text))", "does not name a file descriptor", hint: "write fd:N with a number, as in fd:3")
      }
      place = .descriptor(number)
      // A program that is started before the key is read must not read it instead. Standard streams stay open for programs.
      if number > 2 { closeOnStart(number) }
    case "stdin":
      place = .standardInput
    case "cmd":
      place = .command(try CommandWords.split(rest))
    default:
      guard !rest.isEmpty else {
        throw PackError(.usage, of: "key reference \(Self.quoted(text))", "does not name a file", hint: "write one of \(Self.forms)")
      }
      place = .file(rest)
    }
  }

  /// Returns a program that signs, from its public key and the words of its command line.
  private static func signer(_ text: String) throws(PackError) -> Place {
    var words = try CommandWords.split(text)
    let key = words.removeFirst()
    guard key.hasPrefix("pkp1-"), let program = words.first, !program.isEmpty else {
      throw PackError(
        .usage, "a signer has no \(key.hasPrefix("pkp1-") ? "program" : "public key (pkp1-…) before its program")",
        hint: "write \(signerForm)")
    }
    return try attributing(to: "the public key of a signer") { () throws(PackError) in
      return .signer(try SigningPublicKey(text: key), words)
    }
  }

  /// The path of the file that has the key; nil if the key comes from elsewhere.
  package var file: String? {
    if case .file(let path) = place { path } else { nil }
  }

  /// Prevents programs from inheriting the descriptors in these references before the keys are read. Invalid references are reported when they are
  /// used.
  package static func withhold(_ references: [String]) {
    for text in references { _ = try? KeyReference(parsing: text) }
  }

  private init(_ place: Place) {
    self.place = place
  }

  /// Returns the reference in the environment: exactly one of `PACKER_KEY` (the key text), `PACKER_KEY_FILE` (a path) and `PACKER_KEY_COMMAND` (a
  /// program and its arguments), or of `PACKER_SIGN_KEY` and so on for a signing key.
  ///
  /// - Throws: ``PackError/Code/noKey`` if none is set or the one that is set is empty, ``PackError/Code/usage`` if several are set.
  package static func fromEnvironment(_ kind: KeyKind = .content) throws(PackError) -> KeyReference {
    let (variable, fileVariable, commandVariable) = (kind.variable, kind.variable + "_FILE", kind.variable + "_COMMAND")
    let signerVariable = kind.variable + "_SIGNER"
    let set = environmentNames(of: kind).filter { ProcessEnvironment.isSet($0) }
    guard let name = set.first else {
      throw PackError(
        .noKey, "no \(kind.name) was given",
        hint: """
          give one of: \(kind.option) REF (\(forms)); \(fileVariable)=PATH; \(variable) or \(commandVariable)
          \(ifNone)\(kind.making)
          """)
    }
    guard set.count == 1 else {
      let names = set.count == 2 ? "\(set[0]) and \(set[1]) are both set" : "\(set.joined(separator: ", ")) are all set"
      throw PackError(.usage, "\(names), but only one of them is allowed", hint: "unset all but one, or give \(kind.option)")
    }
    guard !ProcessEnvironment.isEmpty(name) else { throw emptyVariable(name) }
    if name == variable { return KeyReference(.environment(name)) }
    guard let value = ProcessEnvironment.text(of: name) else {
      throw PackError(.usage, of: name, "is not UTF-8")
    }
    let shape = KeyShape(in: value)
    guard !shape.isKey else {
      throw PackError(
        .usage, of: name, "contains a key itself", hint: "put the key text into \(variable), or into a file that \(name) names")
    }
    if name == signerVariable {
      return try attributing(to: name) { () throws(PackError) in
        return KeyReference(try signer(value))
      }
    }
    guard !shape.isPublic else { throw publicKeyRefused.about(name) }
    return name == fileVariable ? KeyReference(.file(value)) : KeyReference(.command(try CommandWords.split(value)))
  }

  /// Returns a text in quotation marks for a message, or a sign for it if it may be a key.
  package static func quoted(_ text: String) -> String {
    KeyShape(in: text).isHarmless ? "'\(text)'" : KeyShape.withheld
  }

  private static var publicKeyRefused: PackError {
    PackError(.usage, "a public key was given where the secret key is needed", hint: "give a key reference: \(forms)")
  }

  /// Returns the error for a secret among the arguments. It does not repeat the secret.
  package static func secretRefused(_ kind: KeyKind) -> PackError {
    PackError(
      .usage, "a key was given as an argument, which other users and the shell's history can see",
      hint: """
        treat that key as compromised, and make a new one with '\(kind.making)'
        pass a key reference: \(kind.option) \(forms)
        """)
  }

  /// Reads a key for packs.
  ///
  /// The bytes of the key text are wiped. A variable is removed from the environment once read, so call this before other threads use the
  /// environment. May block until a program, pipe or person provides the key.
  ///
  /// - Parameter warn: called with warnings about the place.
  package func resolve(files: any FileSystem = SystemFiles(), warn: (KeyWarning) -> Void) throws(PackError) -> PackKey {
    try key(.content, files, warn) { (text) throws(PackError) in try PackKey(text: text) }
  }

  /// Reads a key for signing manifests, in the same way.
  package func resolveSigner(files: any FileSystem = SystemFiles(), warn: (KeyWarning) -> Void) throws(PackError) -> ReleaseSigner {
    if case .signer(let publicKey, let words) = place { return ReleaseSigner(SigningProgram(publicKey: publicKey, words: words)) }
    return ReleaseSigner(try key(.signing, files, warn) { (text) throws(PackError) in try SigningKey(text: text) })
  }

  /// Reads a key for signing keys documents, in the same way.
  package func resolveRootSigningKey(warn: (KeyWarning) -> Void) throws(PackError) -> RootSigningKey {
    try key(.root, SystemFiles(), warn) { (text) throws(PackError) in try RootSigningKey(text: text) }
  }

  private func key<Key: ~Copyable>(
    _ kind: KeyKind, _ files: any FileSystem, _ warn: (KeyWarning) -> Void, _ parse: (Span<UInt8>) throws(PackError) -> Key
  ) throws(PackError) -> Key {
    let input = try read(kind, files)
    let key = try input.key(parse)
    if let warning = input.warning { warn(warning) }
    return key
  }

  /// Reads the text of a key without parsing it.
  private func read(_ kind: KeyKind, _ files: any FileSystem) throws(PackError) -> SecretInput {
    switch place {
    case .file(let path):
      return try KeyFile.read(path, kind, files: files)
    case .environment(let name):
      var text = try Self.take(variable: name, kind)
      defer { wipe(&text) }
      return SecretInput(text.byteSpan, from: "environment variable \(KeyShape.shown(name))")
    case .descriptor(let number):
      return try Self.stream(OpenFile(borrowing: number), name: "file descriptor \(number)", kind, files: files)
    case .standardInput:
      return try Self.stream(OpenFile(borrowing: 0), name: "standard input", kind, files: files)
    case .command(let words):
      return try KeyCommand.run(words, files: files)
    case .signer:
      throw PackError(.usage, "a signer signs manifests, and opens no packs", hint: "give a key reference: \(Self.forms)")
    }
  }

  private static func stream(
    _ file: OpenFile, name: String, _ kind: KeyKind, files: any FileSystem
  ) throws(PackError) -> SecretInput {
    guard !isTerminal(file) else {
      throw PackError(
        .noKey, of: name, "is a terminal, where a typed key would be visible",
        hint: "use a pipe, as in 'pass show game | packer … \(kind.option) stdin', or \(kind.option) file:PATH")
    }
    var text = SecretInput(from: name)
    do throws(FileFailure) {
      try text.readToEnd(of: file, files: files)
    } catch {
      throw PackError(.noKey, of: name, "cannot be read: \(error.text)")
    }
    return text
  }

  private static func take(variable name: String, _ kind: KeyKind) throws(PackError) -> [UInt8] {
    guard let text = ProcessEnvironment.take(name) else {
      throw PackError(
        .noKey, "environment variable \(KeyShape.shown(name)) is not set", hint: "export it, or give another \(kind.option): \(forms)")
    }
    guard !text.isEmpty else { throw emptyVariable(name) }
    return text
  }

  private static func emptyVariable(_ name: String) -> PackError {
    PackError(.noKey, "environment variable \(KeyShape.shown(name)) is set but empty", hint: "unset it, or check what should set it")
  }

  /// Returns the scheme of a reference and the text after it. Without a known scheme, the scheme is `file`.
  private static func split(_ text: String) -> (scheme: String, rest: String) {
    if text == "stdin" { return ("stdin", "") }
    for scheme in ["file", "env", "fd", "cmd", "signer"] where text.hasPrefix(scheme + ":") {
      return (scheme, String(text.dropFirst(scheme.count + 1)))
    }
    return ("file", text)
  }
}
