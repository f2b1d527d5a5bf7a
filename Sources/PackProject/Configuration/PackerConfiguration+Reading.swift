extension PackerConfiguration {
  /// The default name of the file.
  package static let defaultPath = "packer.yml"

  /// Returns the path of a file that is there, and whose name has the other ending for YAML; nil if there is none.
  package static func otherSpelling(of path: String, files: any FileSystem = SystemFiles()) -> String? {
    guard path.hasSuffix(".yml"), case let other = "\(path.dropLast(3))yaml" else { return nil }
    return (try? files.status(of: other, in: nil, following: .followed)) == nil ? nil : other
  }

  /// Reads and checks a configuration, and looks up the directories that it names.
  ///
  /// - Throws: ``PackError/Code/invalidConfiguration`` with the first mistake of the file as the message and, if there are several, all of them as
  ///   details; ``PackError/Code/missingInput`` if the file does not exist; ``PackError/Code/cannotRead`` if it cannot be read.
  ///
  /// - Parameter sources: Whether the directories must exist.
  package static func read(
    _ path: String, sources: Sources = .required, files: any FileSystem = SystemFiles()
  ) throws(PackError) -> PackerConfiguration {
    let (configuration, mistakes) = try ConfigurationReader.run(path, sources: sources, files: files)
    if let configuration { return configuration }
    let lines = ConfigurationMistake.lines(of: mistakes, in: path)
    var hints: [String] = []
    for hint in mistakes.compactMap(\.hint) where !hints.contains(hint) { hints.append(hint) }
    throw PackError(
      .invalidConfiguration, lines.first ?? path, details: lines.count > 1 ? lines : [],
      hint: hints.isEmpty ? nil : hints.joined(separator: "\n"))
  }

  /// Whether the directories that a configuration names must exist.
  package enum Sources: Hashable, Sendable {
    case required
    /// None. If `each` finds no directory, the configuration has no packs for that entry, and ``PackerConfiguration/lacksPacks`` is true.
    case optional
    /// None. If `each` finds no directory, the entry has the packs among these ids that it would have given these names.
    case released([String])
  }

  /// Returns all mistakes of a configuration in file order; none if ``read(_:)`` would return a configuration.
  ///
  /// - Throws: if the file does not exist or cannot be read.
  package static func mistakes(in path: String) throws(PackError) -> [ConfigurationMistake] {
    try ConfigurationReader.run(path, files: SystemFiles()).1
  }
}

/// A mistake in a configuration.
package struct ConfigurationMistake: Hashable, Sendable {
  /// The position in the file.
  package let position: SourcePosition
  /// What is wrong, without the position.
  package let message: String
  /// What to do about it, if there is a next step.
  package let hint: String?

  init(_ position: SourcePosition, _ message: String, hint: String? = nil) {
    self.position = position
    // Every message about a value is made here, so that none repeats a key in a place where it was not expected.
    self.message = KeyShape(in: message).isHarmless ? message : "a value that may be a key is not valid here, and is not shown"
    self.hint = hint
  }

  /// Returns one line for each mistake. A mistake that is made more than three times has one line, which names the next places.
  static func lines(of mistakes: [ConfigurationMistake], in path: String) -> [String] {
    let places = Dictionary(grouping: mistakes, by: \.message)
    return mistakes.compactMap { mistake in
      guard let all = places[mistake.message], all.count > 3 else { return mistake.line(in: path) }
      guard all.first == mistake else { return nil }
      let next = all.dropFirst().prefix(3).map { String($0.position.line) }.joined(separator: ", ")
      let others = all.count > 4 ? "lines \(next) and \(all.count - 4) more" : "lines \(next)"
      return "\(mistake.line(in: path)) (also in \(others))"
    }
  }

  /// Returns the message with file, line and column before it, as in compiler messages.
  package func line(in path: String) -> String {
    "\(path):\(position.line):\(position.column): \(message)"
  }
}

extension PackError.Code {
  /// A configuration has mistakes.
  package static let invalidConfiguration = Self(rawValue: "invalid-configuration")
}
