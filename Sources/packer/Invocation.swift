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
    if let verb = Self.verb(arguments) {
      self = .verb(verb)
      return
    }
    try Self.checkCommand(arguments)
    do {
      var command = try Packer.parseAsRoot(arguments)
      if let verb = command as? any Verb {
        self = .verb(verb)
        return
      }
      if !type(of: command).configuration.subcommands.isEmpty {
        throw ValidationError("no command was given")
      }
      try command.run()
      self = .text("")
    } catch {
      guard Packer.exitCode(for: error).isSuccess else {
        try Self.checkOptions(arguments)
        throw Self.usage(error, arguments)
      }
      let text = Packer.fullMessage(for: error)
      self = .text(text == Version.title ? Version.text : text)
    }
  }

  /// Parses the arguments as the top-level verb that the first one names. Returns nil if there is no such verb or its arguments are not valid.
  ///
  /// This takes half the time of parsing with the tree of all verbs. Help requests and mistakes are left to the whole tree, which has the messages
  /// for them.
  private static func verb(_ arguments: [String]) -> (any Verb)? {
    guard let name = arguments.first else { return nil }
    let type = Packer.configuration.subcommands.first { $0.configuration.commandName == name } as? any Verb.Type
    guard let type else { return nil }
    return try? type.parse(Array(arguments.dropFirst()))
  }

  /// Throws if a word in the position of a command, or after `help`, is not a command.
  private static func checkCommand(_ arguments: [String]) throws(PackError) {
    var commands = Packer.configuration.subcommands
    var front = ""
    for word in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
      guard !commands.isEmpty, !word.hasPrefix("-"), word != "help" || !front.isEmpty else { return }
      guard let command = commands.first(where: { $0.configuration.commandName == word }) else {
        let names = commands.compactMap { $0.configuration.commandName } + (front.isEmpty ? ["help"] : [])
        let known = front.isEmpty ? Self.otherNames[word] : nil
        let nearest = (known ?? SpellingSuggestion.nearest(to: word, among: names)).map { " (did you mean '\(front)\($0)'?)" } ?? ""
        throw PackError(.usage, "there is no command '\(front)\(word)'\(nearest)", hint: "see 'packer \(front)--help'")
      }
      front += word + " "
      commands = command.configuration.subcommands
    }
  }

  /// What commands of other tools are called here.
  private static let otherNames = [
    "list": "ls", "dir": "ls", "show": "cat", "info": "inspect", "extract": "unpack", "encrypt": "pack", "create": "pack",
    "check": "verify",
    "test": "verify", "validate": "verify", "keygen": "key new", "share": "key wrap", "record": "release record", "version": "--version",
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
      let isReference = isSigning || isValue(of: "--key") || arguments.first == "key"
      let shape = KeyShape(in: argument)
      if isReference ? shape.isKey : shape.prefixed != nil {
        throw KeyReference.secretRefused(shape.prefixed ?? (isSigning ? .signing : .content))
      }
    }
  }

  /// Throws if an option is not one of the command's. The argument parser names missing arguments first, and suggests less.
  private static func checkOptions(_ arguments: [String]) throws(PackError) {
    var type: any ParsableCommand.Type = Packer.self
    var name = "packer"
    for word in arguments {
      guard let next = type.configuration.subcommands.first(where: { $0.configuration.commandName == word }) else { break }
      type = next
      name += " \(word)"
    }
    let help = Packer.helpMessage(for: type)
    let known = Set(help.matches(of: /--[a-z][a-z-]*/).map { String($0.output) })
    for word in arguments.prefix(while: { $0 != "--" }) where word.hasPrefix("--") {
      let option = String(word.prefix { $0 != "=" })
      guard !known.contains(option) else { continue }
      let nearest = SpellingSuggestion.nearest(to: option, among: known.sorted()).map { " (did you mean '\($0)'?)" } ?? ""
      throw PackError(.usage, "unknown option '\(option)'\(nearest)", hint: "see '\(name) --help'")
    }
  }

  /// Converts an error of the argument parser to one message and one hint.
  private static func usage(_ error: any Error, _ arguments: [String]) -> PackError {
    let message = Packer.message(for: error)
    let lines = Packer.fullMessage(for: error).split(separator: "\n")
    let pointer = lines.last { $0.contains("' for more information.") }
    let command = pointer?.split(separator: "'").dropFirst().first.map(String.init) ?? "packer --help"
    // Other tools take the file of a key as an argument.
    let isKeyFile = arguments.first == "key" && message.hasPrefix("Unexpected argument")
    return PackError(
      .usage, message.prefix(1).lowercased() + message.dropFirst(),
      hint: (isKeyFile ? "name the file of a key with --key or --sign-key; " : "") + "see '\(command)'")
  }
}
