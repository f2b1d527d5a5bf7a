public import PackFormat

extension PackerConfiguration {
  /// The name of the file that is looked for where none is given.
  public static let defaultPath = "packer.yml"

  /// Reads and checks a configuration, and looks up the directories that it names.
  ///
  /// - Throws: ``PackError/Code/invalidConfiguration`` with all mistakes of the file, the first as the message and all as details;
  ///   ``PackError/Code/missingInput`` or ``PackError/Code/cannotRead`` where there is no such file to read.
  public static func read(_ path: String) throws(PackError) -> PackerConfiguration {
    throw PackError(.invalidConfiguration, "\(path):1:1: the file cannot be read yet")
  }

  /// All mistakes of a configuration in the order of the file; none where ``read(_:)`` would return one.
  ///
  /// - Throws: where there is no such file to read.
  public static func mistakes(in path: String) throws(PackError) -> [ConfigurationMistake] {
    []
  }
}

/// Something in a configuration that cannot be meant.
public struct ConfigurationMistake: Hashable, Sendable {
  /// Where it stands in the file.
  public let position: SourcePosition
  /// What is wrong, without the position.
  public let message: String
  /// What to do about it, where there is something.
  public let hint: String?
}

extension PackError.Code {
  /// A configuration says something that cannot be meant.
  public static let invalidConfiguration = Self(rawValue: "invalid-configuration")
}
