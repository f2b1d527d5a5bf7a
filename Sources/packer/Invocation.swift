import ArgumentParser
import PackFormat
import PackProject

/// What the arguments ask for.
enum Invocation: Sendable {
  case verb(any Verb)
  /// Help, the version, or a completion script.
  case text(String)

  init(_ arguments: [String]) throws(PackError) {
    try Self.refuseSecrets(in: arguments)
    // Scripts ask this of every tool they find, and the parser would look at every option of every verb first.
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
      guard Packer.exitCode(for: error).isSuccess else { throw Self.usage(error) }
      let text = Packer.fullMessage(for: error)
      self = .text(text == Version.title ? Version.text : text)
    }
  }

  /// The verb that comes first, where what follows is as it wants it.
  ///
  /// To find this out costs half of what it costs to go through the tree of all verbs. Whatever is asked for besides, help among it, and
  /// whatever is wrong is left to the whole tree, which knows the words for it.
  private static func verb(_ arguments: [String]) -> (any Verb)? {
    guard let name = arguments.first else { return nil }
    let type = Packer.configuration.subcommands.first { $0.configuration.commandName == name } as? any Verb.Type
    guard let type else { return nil }
    return try? type.parse(Array(arguments.dropFirst()))
  }

  /// Refuses a word in the place of a command, or behind `help`, that is none.
  private static func checkCommand(_ arguments: [String]) throws(PackError) {
    var commands = Packer.configuration.subcommands
    var front = ""
    for word in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
      guard !commands.isEmpty, !word.hasPrefix("-"), word != "help" || !front.isEmpty else { return }
      guard let command = commands.first(where: { $0.configuration.commandName == word }) else {
        let names = commands.compactMap { $0.configuration.commandName } + (front.isEmpty ? ["help"] : [])
        let nearest = SpellingSuggestion.nearest(to: word, among: names).map { " (did you mean '\(front)\($0)'?)" } ?? ""
        throw PackError(.usage, "there is no command '\(front)\(word)'\(nearest)", hint: "see 'packer \(front)--help'")
      }
      front += word + " "
      commands = command.configuration.subcommands
    }
  }

  /// Looks for keys before anything can repeat an argument in a message.
  ///
  /// A file may be named after its digest, 64 hexadecimal digits; only as the value of `--key` or `--sign-key` is that taken for a secret.
  private static func refuseSecrets(in arguments: [String]) throws(PackError) {
    var previous = ""
    for argument in arguments {
      let value = argument.hasPrefix("--") ? argument.split(separator: "=", maxSplits: 1).dropFirst().first : argument[...]
      defer { previous = argument }
      guard let value = value.map(String.init) else { continue }
      func isValue(of option: String) -> Bool { previous == option || argument.hasPrefix(option + "=") }
      let isSigning = isValue(of: "--sign-key")
      if KeyReference.isKeyText(value) || (isSigning || isValue(of: "--key")) && KeyReference.isSecret(value) {
        throw KeyReference.secretRefused(KeyReference.kind(ofSecret: value, unlessSaid: isSigning ? .signing : .content))
      }
    }
  }

  /// The argument parser's complaint in our words: one message, one hint.
  private static func usage(_ error: any Error) -> PackError {
    let message = Packer.message(for: error)
    let lines = Packer.fullMessage(for: error).split(separator: "\n")
    let pointer = lines.last { $0.contains("' for more information.") }
    let command = pointer?.split(separator: "'").dropFirst().first.map(String.init) ?? "packer --help"
    return PackError(.usage, message.prefix(1).lowercased() + message.dropFirst(), hint: "see '\(command)'")
  }
}
