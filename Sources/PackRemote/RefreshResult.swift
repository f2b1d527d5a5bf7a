/// The result of checking for newer content. In all cases, the asset has a value.
public enum RefreshResult: Sendable {
  /// The value was replaced by new content.
  ///
  /// - Parameter unsaved: The error if the content could not be saved. The next start then uses the content saved before, or the bundled resource.
  case replaced(unsaved: PackError?)
  /// The content has not changed.
  case unchanged
  /// The content is too large, or the materializer refused it. The value stays.
  case invalid(PackError)
  /// No content was received. The value stays.
  case unavailable(PackError)
  /// The task was cancelled, or the asset was reset in the meantime. The refresh changed nothing.
  case cancelled

  /// Whether the value was replaced.
  public var isReplaced: Bool { if case .replaced = self { true } else { false } }

  /// The error, if any.
  public var error: PackError? {
    switch self {
    case .replaced(let unsaved): unsaved
    case .invalid(let error), .unavailable(let error): error
    case .unchanged, .cancelled: nil
    }
  }
}

extension RefreshResult: CustomStringConvertible {
  /// A text for logs and debug screens.
  public var description: String {
    switch self {
    case .replaced(nil): "replaced"
    case .replaced(let error?): "replaced, but not saved: \(error.message)"
    case .unchanged: "unchanged"
    case .invalid(let error): "invalid: \(error.message)"
    case .unavailable(let error): "unavailable: \(error.message)"
    case .cancelled: "cancelled"
    }
  }
}

/// How often a running asset checks for newer content.
public enum RefreshPace: Hashable, Sendable {
  /// As often as its provider specifies.
  case declared
  /// At this interval after each check, instead of the provider's interval. The minimum is 0.1 seconds.
  case every(Duration)

  /// Every second, for development. Changes at the source are visible almost at once. Conditional requests keep the cost low.
  public static let realTime = every(.seconds(1))
}

/// The current state of an asset, for debug screens.
public struct AssetState: Sendable {
  /// The origin of a value.
  public enum Origin: String, Hashable, Sendable, CaseIterable {
    /// The bundled resource.
    case bundled
    /// Content that an earlier run of this app version saved.
    case cached
    /// Content that the provider returned in this process.
    case remote
  }

  /// The name of the asset.
  public let name: String
  /// The origin of the current value.
  public let origin: Origin
  /// The size of the content of the current value, in bytes.
  public let contentSize: Int
  /// The version of the content, if the source provided one.
  public let version: ContentVersion?
  /// The result of the last refresh. Nil if there was none.
  public let lastResult: RefreshResult?
  /// The time since the last refresh. Nil if there was none.
  public let sinceLastResult: Duration?
}
