import ArgumentParser

/// What the command line requests: a command, or text to print.
enum Invocation: Sendable {
  case verb(any Verb)
  /// Help, the version, or a completion script.
  case text(String)

  init(_ arguments: [String]) throws(PackError) {
    try Self.refuseSecrets(in: arguments)
    do throws(PackError) {
      try self.init(harmless: arguments)
    } catch {
      // Digits without a prefix may be a digest, or a key in a place where none belongs.
      guard KeyShape(in: error.description).isKey else { throw error }
      throw PackError(.usage, "the arguments are not valid; they are not shown, because one may be a key", hint: "see 'packer --help'")
    }
  }

  private init(harmless arguments: [String]) throws(PackError) {
    // A shortcut: the argument parser would build the options of every verb first.
    if arguments == ["--version"] {
      self = .text(Version.text)
      return
    }
    let (type, name, rest) = try Self.command(arguments)
    do {
      if arguments.first == "help" {
        self = .text(Packer.helpMessage(for: type))
      } else if let type = type as? any Verb.Type {
        // Half the time of parsing with the tree of all commands.
        self = .verb(try type.parsed(rest))
      } else {
        var command = try Packer.parseAsRoot(arguments)
        // A request for help is a command too.
        if Swift.type(of: command).configuration.subcommands.isEmpty { try command.run() }
        throw ValidationError("no command was given")
      }
    } catch {
      let asked = rest.prefix { $0 != "--" }
      if asked.contains("--version") {
        self = .text(Version.text)
      } else if !Packer.exitCode(for: error).isSuccess {
        throw Self.usage(error, type, name, arguments)
      } else if type is any Verb.Type {
        self = .text(Packer.helpMessage(for: type, includeHidden: HelpText.isWhole))
      } else {
        self = .text(Packer.fullMessage(for: error))
      }
    }
  }

  /// Returns the command that the arguments name, its name, and what follows. Throws if a word in the position of a command is not one.
  private static func command(_ arguments: [String]) throws(PackError) -> (any ParsableCommand.Type, String, [String]) {
    var (type, name): (any ParsableCommand.Type, String) = (Packer.self, "packer")
    var rest = arguments[...]
    if rest.first == "help" {
      rest = rest.dropFirst()
      if rest.first == "help" { rest = [] }
    }
    while let word = rest.first, !word.hasPrefix("-"), case let commands = type.configuration.subcommands, !commands.isEmpty {
      guard let next = commands.first(where: { $0.configuration.commandName == word }) else {
        let front = "\(name) ".dropFirst("packer ".count)
        let names = commands.compactMap { $0.configuration.commandName } + (front.isEmpty ? ["help"] : [])
        let known = front.isEmpty ? Self.otherNames[word] : nil
        let nearest = (known ?? SpellingSuggestion.nearest(to: word, among: names)).map { " (did you mean '\(front)\($0)'?)" } ?? ""
        throw PackError(.usage, "there is no command '\(front)\(word)'\(nearest)", hint: "see '\(name) --help'")
      }
      (type, name, rest) = (next, "\(name) \(word)", rest.dropFirst())
    }
    return (type, name, Array(rest))
  }

  /// What commands of other tools are called here.
  private static let otherNames = [
    "list": "ls", "dir": "ls", "show": "cat", "info": "inspect", "extract": "unpack", "encrypt": "pack", "create": "pack",
    "test": "verify", "validate": "verify", "decrypt": "unpack --tar", "schema": "init --schema", "trust": "key trust", "keygen": "key new",
    "share": "key wrap", "record": "release record", "version": "--version",
  ]

  /// Throws if an argument contains a key. Runs first, before any message can repeat an argument.
  ///
  /// A file may be named after its digest, so 64 hexadecimal digits count as a secret only in the value of `--key` or `--sign-key`, and among the
  /// arguments of `packer key`.
  private static func refuseSecrets(in arguments: [String]) throws(PackError) {
    var previous = ""
    for argument in arguments {
      defer { previous = argument }
      func isValue(of option: String) -> Bool { previous == option || argument.hasPrefix(option + "=") }
      let isSigning = isValue(of: "--sign-key")
      let isReference = isSigning || isValue(of: "--key") || takesKeys(arguments)
      let shape = KeyShape(in: argument)
      if isReference ? shape.isKey : shape.prefixed != nil {
        throw KeyReference.secretRefused(shape.prefixed ?? (isSigning ? .signing : .content))
      }
    }
  }

  /// Whether the arguments are keys or files of keys. Those of `packer key trust` are public.
  private static func takesKeys(_ arguments: [String]) -> Bool { arguments.first == "key" && arguments.dropFirst().first != "trust" }

  /// Converts an error of the argument parser to one message and one hint.
  private static func usage(_ error: any Error, _ type: any ParsableCommand.Type, _ name: String, _ arguments: [String]) -> PackError {
    // The parser names missing arguments first, and suggests less.
    // That of a group of commands would have the options of all of them.
    let dump = type is any Verb.Type && arguments.contains { $0.hasPrefix("--") } ? type._dumpHelp() : ""
    let options = dump.matches(of: /"kind" : "long",\s+"name" : "([^"]+)"/).map { "--\($0.output.1)" }
    let known = options + ["--help", "--help-hidden", "--version"]
    for word in arguments.prefix(while: { $0 != "--" }) where word.hasPrefix("--") {
      let option = String(word.prefix { $0 != "=" })
      guard !known.contains(option) else { continue }
      let nearest = SpellingSuggestion.nearest(to: option, among: known.sorted()).map { " (did you mean '\($0)'?)" } ?? ""
      return PackError(.usage, "unknown option '\(option)'\(nearest)", hint: "see '\(name) --help'")
    }
    let message = Packer.message(for: error)
    // Other tools take the file of a key as an argument.
    let isKeyFile = takesKeys(arguments) && message.hasPrefix("Unexpected argument")
    return PackError(
      .usage, message.prefix(1).lowercased() + message.dropFirst(),
      hint: (isKeyFile ? "name the file of a key with --key or --sign-key; " : "") + "see '\(name) --help'")
  }
}
