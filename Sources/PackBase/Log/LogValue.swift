/// A detail of a log event.
///
/// Names and numbers of packs and releases are public. Paths, URLs and texts from the system, a server or a file are private. Keys are not logged.
public struct LogValue: Hashable, Sendable {
  /// What the value is.
  public let name: String
  /// The value.
  public let text: String
  /// Whether the value may identify a person or a device, and must not be shown to others.
  public let isPrivate: Bool

  private init(_ name: StaticString, _ text: String, isPrivate: Bool) {
    self.name = "\(name)"
    self.text = printable(text)
    self.isPrivate = isPrivate
  }

  /// Creates a value that anyone may see.
  package static func `public`(_ name: StaticString, _ text: String) -> LogValue { LogValue(name, text, isPrivate: false) }

  /// Creates a number that anyone may see.
  package static func `public`(_ name: StaticString, _ number: some BinaryInteger) -> LogValue {
    LogValue(name, "\(number)", isPrivate: false)
  }

  /// Creates a value that only the developer may see.
  package static func `private`(_ name: StaticString, _ text: String) -> LogValue { LogValue(name, text, isPrivate: true) }
}

extension [LogValue] {
  /// The details of an error. Its code is public, but not its message, which may contain paths.
  package static func error(_ error: PackError, pack: String? = nil) -> [LogValue] {
    (pack.map { [LogValue.public("pack", $0)] } ?? []) + [.public("code", error.code.rawValue), .private("error", error.message)]
  }
}
