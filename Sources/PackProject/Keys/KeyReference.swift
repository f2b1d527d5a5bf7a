import PackCrypto
package import PackFiles
package import PackFormat

/// Where a key is to be read from, as people write it: `file:PATH`, `env:NAME`, `fd:N`, `stdin`, `cmd:PROGRAM ARG…`.
///
/// A reference is never the secret itself: arguments stand in process lists and shell histories. A text that looks like a key is
/// refused, and not repeated in the message.
package struct KeyReference: Hashable, Sendable {
  /// The kinds of places.
  enum Place: Hashable, Sendable {
    case file(String)
    case environment(String)
    case descriptor(CInt)
    case standardInput
    case command([String])
  }

  let place: Place

  /// The references that are understood, for messages and help.
  package static let forms = "file:PATH, env:NAME, fd:N, stdin or cmd:'PROGRAM ARG…'"

  /// Takes a reference apart. A text without a known word and colon in front is the path of a file. A descriptor that is named is not inherited by programs
  /// that are started from now on.
  ///
  /// - Throws: ``PackError/Code/usage`` where it is a secret, or says nothing.
  package init(parsing text: String) throws(PackError) {
    let (scheme, rest) = Self.split(text)
    guard !Self.isSecret(text), !Self.isSecret(rest) else { throw Self.secretRefused(Self.kind(ofSecret: rest, unlessSaid: .content)) }
    switch scheme {
    case "env":
      guard !rest.isEmpty, !rest.contains("=") else {
        throw PackError(.usage, of: "key reference '\(text)'", "names no environment variable", hint: "write env:NAME")
      }
      place = .environment(rest)
    case "fd":
      guard !rest.isEmpty, rest.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = CInt(rest) else {
        throw PackError(
          .usage, of: "key reference '\(text)'", "names no file descriptor", hint: "write fd:N with a number, as in fd:3")
      }
      place = .descriptor(number)
      // A program that is started before the key is read must not read it instead. The standard streams are for everybody.
      if number > 2 { closeOnStart(number) }
    case "stdin":
      place = .standardInput
    case "cmd":
      place = .command(try CommandWords.split(rest))
    default:
      guard !rest.isEmpty else {
        throw PackError(.usage, of: "key reference '\(text)'", "names no file", hint: "write one of \(Self.forms)")
      }
      place = .file(rest)
    }
  }

  /// Keeps the descriptors among some references from programs that are started before their turn comes. What is wrong with one is told then.
  package static func withhold(_ references: [String]) {
    for text in references { _ = try? KeyReference(parsing: text) }
  }

  private init(_ place: Place) {
    self.place = place
  }

  /// The reference that the environment gives: exactly one of `PACKER_KEY` (the key text), `PACKER_KEY_FILE` (a path) and
  /// `PACKER_KEY_COMMAND` (a program and its arguments); for a signing key the same of `PACKER_SIGN_KEY`.
  ///
  /// - Throws: ``PackError/Code/noKey`` where none is set or the one is empty, ``PackError/Code/usage`` where several are: which
  ///   one was meant cannot be known.
  package static func fromEnvironment(_ kind: KeyKind = .content) throws(PackError) -> KeyReference {
    let (variable, fileVariable, commandVariable) = (kind.variable, kind.variable + "_FILE", kind.variable + "_COMMAND")
    let set = [variable, fileVariable, commandVariable].filter { ProcessEnvironment.isSet($0) }
    guard let name = set.first else {
      throw PackError(
        .noKey, "no \(kind.name) was given",
        hint: """
          give one of: \(kind.option) REF (\(forms)); \(fileVariable)=PATH; \(variable) or \(commandVariable)
          make a key with '\(kind.making)'
          """)
    }
    guard set.count == 1 else {
      let names = set.count == 2 ? "\(set[0]) and \(set[1]) are both set" : "\(set.joined(separator: ", ")) are all set"
      throw PackError(.usage, "\(names), and only one of them can be meant", hint: "unset all but one, or give \(kind.option)")
    }
    guard !ProcessEnvironment.isEmpty(name) else { throw emptyVariable(name) }
    if name == variable { return KeyReference(.environment(name)) }
    guard let value = ProcessEnvironment.text(of: name) else {
      throw PackError(.usage, of: name, "is not UTF-8")
    }
    guard !isSecret(value) else {
      throw PackError(
        .usage, of: name, "holds a key itself", hint: "put the key text into \(variable), or into a file that \(name) names")
    }
    return name == fileVariable ? KeyReference(.file(value)) : KeyReference(.command(try CommandWords.split(value)))
  }

  /// Whether an argument is a secret that has no business in a process list: a key text, or 64 hexadecimal digits.
  package static func isSecret(_ text: String) -> Bool {
    isKeyText(text) || text.utf8.count == 64 && text.allSatisfy(\.isHexDigit)
  }

  /// Whether a text starts like a typed key, content or signing.
  package static func isKeyText(_ text: String) -> Bool {
    keyStarts.contains(text.prefix(5).lowercased())
  }

  /// What a typed key begins with, content and signing.
  static let keyStarts = ["pkk1-", "pks1-"]

  /// What a secret is for, as it says itself.
  ///
  /// - Parameter kind: what it is where it is bare digits, which say nothing.
  package static func kind(ofSecret text: String, unlessSaid kind: KeyKind) -> KeyKind {
    switch text.prefix(5).lowercased() {
    case "pkk1-": .content
    case "pks1-": .signing
    default: kind
    }
  }

  /// The refusal of a secret among the arguments. It does not repeat it.
  package static func secretRefused(_ kind: KeyKind) -> PackError {
    PackError(
      .usage, "a key was given as an argument, where other users and the shell's history see it",
      hint: """
        treat that key as known to others, and make a new one with '\(kind.making)'
        refer to a key with \(kind.option) \(forms)
        """)
  }

  /// Reads a key for packs.
  ///
  /// The bytes it came in are wiped. A variable is removed from the environment once read; call this before other threads use the
  /// environment. May wait for the program, pipe or person at the other end.
  package func resolve() throws(PackError) -> ResolvedKey {
    try resolve(files: SystemFiles())
  }

  /// Reads a key for signing manifests, in the same manner.
  package func resolveSigningKey() throws(PackError) -> ResolvedSigningKey {
    try resolveSigningKey(files: SystemFiles())
  }

  package func resolve(files: any FileSystem) throws(PackError) -> ResolvedKey {
    let input = try read(.content, files: files)
    let key = try input.key { (text) throws(PackError) in try PackKey(text: text) }
    return ResolvedKey(key, warnings: input.warnings)
  }

  package func resolveSigningKey(files: any FileSystem) throws(PackError) -> ResolvedSigningKey {
    let input = try read(.signing, files: files)
    let key = try input.key { (text) throws(PackError) in try SigningKey(text: text) }
    return ResolvedSigningKey(key, warnings: input.warnings)
  }

  /// Reads the text of a key, which is not looked at.
  private func read(_ kind: KeyKind, files: any FileSystem) throws(PackError) -> KeyInput {
    switch place {
    case .file(let path):
      return try KeyFile.read(path, kind, files: files)
    case .environment(let name):
      var text = try Self.take(variable: name, kind)
      defer { wipe(&text) }
      return KeyInput(SecretInput(text.span), from: "environment variable \(name)")
    case .descriptor(let number):
      return try Self.stream(OpenFile(borrowing: number), name: "file descriptor \(number)", kind, files: files)
    case .standardInput:
      return try Self.stream(OpenFile(borrowing: 0), name: "standard input", kind, files: files)
    case .command(let words):
      return try KeyCommand.run(words, files: files)
    }
  }

  private static func stream(
    _ file: OpenFile, name: String, _ kind: KeyKind, files: any FileSystem
  ) throws(PackError) -> KeyInput {
    guard !isTerminal(file) else {
      throw PackError(
        .noKey, of: name, "is a terminal, and a key typed there would be seen",
        hint: "use a pipe, as in 'pass show game | packer … \(kind.option) stdin', or \(kind.option) file:PATH")
    }
    var text = SecretInput()
    do throws(FileFailure) {
      try text.readToEnd(of: file, files: files)
    } catch {
      throw PackError(.noKey, of: name, "cannot be read: \(error.text)")
    }
    return KeyInput(text, from: name)
  }

  private static func take(variable name: String, _ kind: KeyKind) throws(PackError) -> [UInt8] {
    guard let text = ProcessEnvironment.take(name) else {
      throw PackError(
        .noKey, "environment variable \(name) is not set", hint: "export it, or give another \(kind.option): \(forms)")
    }
    guard !text.isEmpty else { throw emptyVariable(name) }
    return text
  }

  private static func emptyVariable(_ name: String) -> PackError {
    PackError(.noKey, "environment variable \(name) is set but empty", hint: "unset it, or check what was to fill it")
  }

  /// The word before the first colon where it is one of ours, and what follows.
  private static func split(_ text: String) -> (scheme: String, rest: String) {
    if text == "stdin" { return ("stdin", "") }
    for scheme in ["file", "env", "fd", "cmd"] where text.hasPrefix(scheme + ":") {
      return (scheme, String(text.dropFirst(scheme.count + 1)))
    }
    return ("file", text)
  }
}
