/// One event of the library, for a log.
public struct LogEvent: Hashable, Sendable, CustomStringConvertible {
  /// How important the event is.
  public let level: LogLevel
  /// The part of the library that the event is about.
  public let category: LogCategory
  /// What happened. The text is the same for all events of a kind, and has no values in it.
  public let message: String
  /// The details.
  public let values: [LogValue]

  package init(_ level: LogLevel, _ category: LogCategory, _ message: StaticString, _ values: [LogValue] = []) {
    self.level = level
    self.category = category
    self.message = "\(message)"
    self.values = values
  }

  /// One line, with `<private>` in place of private values.
  public var description: String { text { $0.isPrivate ? "<private>" : $0.text } }

  /// One line with all values, for a log that stays with the developer.
  public var fullText: String { text(\.text) }

  private func text(_ show: (LogValue) -> String) -> String {
    ([message] + values.map { "\($0.name)=\(show($0))" }).joined(separator: " ")
  }
}

/// How important an event is.
public enum LogLevel: String, Hashable, Sendable, CaseIterable {
  /// A step on the way, for development.
  case debug
  /// A normal event that helps to understand a later problem.
  case info
  /// A decision, or a problem that the library handles by itself.
  case notice
  /// A failure that the caller or the user notices.
  case error
}

/// The part of the library that an event is about. The set is open: later versions may add categories.
public struct LogCategory: RawRepresentable, Hashable, Sendable {
  /// The name of the category, in lower case.
  public let rawValue: String

  /// Creates a category from its name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Installation, trial, rollback, repair and removal of packs.
  public static let store = Self(rawValue: "store")
  /// Manifests, and the plans made with them.
  public static let delivery = Self(rawValue: "delivery")
  /// The app's own downloads.
  public static let downloads = Self(rawValue: "downloads")
  /// Background Assets: the extension's callbacks, and the system's downloads.
  public static let background = Self(rawValue: "background")
}
