package import PackFiles
package import PackFormat

extension PackerConfiguration {
  /// The name of the file that is looked for where none is given.
  package static let defaultPath = "packer.yml"

  /// Reads and checks a configuration, and looks up the directories that it names.
  ///
  /// - Throws: ``PackError/Code/invalidConfiguration`` with the first mistake of the file as the message, and all of them as details
  ///   where there are several; ``PackError/Code/missingInput`` or ``PackError/Code/cannotRead`` where there is no such file to read.
  package static func read(_ path: String) throws(PackError) -> PackerConfiguration {
    try read(path, files: SystemFiles())
  }

  package static func read(_ path: String, files: any FileSystem) throws(PackError) -> PackerConfiguration {
    let (configuration, mistakes) = try ConfigurationReader.run(path, files: files)
    if let configuration { return configuration }
    let lines = mistakes.map { $0.line(in: path) }
    var hints: [String] = []
    for hint in mistakes.compactMap(\.hint) where !hints.contains(hint) { hints.append(hint) }
    throw PackError(
      .invalidConfiguration, lines.first ?? path, details: lines.count > 1 ? lines : [],
      hint: hints.isEmpty ? nil : hints.joined(separator: "\n"))
  }

  /// All mistakes of a configuration in the order of the file; none where ``read(_:)`` would return one.
  ///
  /// - Throws: where there is no such file to read.
  package static func mistakes(in path: String) throws(PackError) -> [ConfigurationMistake] {
    try ConfigurationReader.run(path, files: SystemFiles()).1
  }
}

/// Something in a configuration that cannot be meant.
package struct ConfigurationMistake: Hashable, Sendable {
  /// Where it stands in the file.
  package let position: SourcePosition
  /// What is wrong, without the position.
  package let message: String
  /// What to do about it, where there is something.
  package let hint: String?

  init(_ position: SourcePosition, _ message: String, hint: String? = nil) {
    self.position = position
    self.message = message
    self.hint = hint
  }

  /// The message with file, line and column in front, as compilers write it.
  package func line(in path: String) -> String {
    "\(path):\(position.line):\(position.column): \(message)"
  }
}

extension PackError.Code {
  /// A configuration says something that cannot be meant.
  package static let invalidConfiguration = Self(rawValue: "invalid-configuration")
}
