/// The words of a command line that runs without a shell: it is split at spaces, single and double quotes group, and nothing else is special.
package enum CommandWords {
  /// - Throws: ``PackError/Code/usage`` if a quote is not closed or there is no program.
  package static func split(_ text: String) throws(PackError) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    for character in text {
      switch character {
      case quote:
        quote = nil
      case "'" where quote == nil, "\"" where quote == nil:
        quote = character
        word = word ?? ""
      case " " where quote == nil:
        if let finished = word { words.append(finished) }
        word = nil
      default:
        word = (word ?? "") + String(character)
      }
    }
    guard quote == nil else {
      throw PackError(.usage, "the command has a quote that is not closed")
    }
    if let word { words.append(word) }
    guard let program = words.first, !program.isEmpty else {
      throw PackError(.usage, "the command has no program", hint: "write cmd:'PROGRAM ARG…'")
    }
    return words
  }
}
