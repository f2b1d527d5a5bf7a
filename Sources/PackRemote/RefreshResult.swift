public import PackFormat

/// What looking for newer content came to. Whatever it was, the asset has a value.
public enum RefreshResult: Sendable {
  /// New content is the value now.
  ///
  /// - Parameter unsaved: why it could not be kept, where it could not: the next start begins with what was kept before, or with the bundled resource.
  case replaced(unsaved: PackError?)
  /// The content is what the value was made of already.
  case unchanged
  /// Content came and was refused: too large, or not what the materializer takes. The value stays.
  case invalid(PackError)
  /// No content came. The value stays.
  case unavailable(PackError)
  /// The task was cancelled, or the asset was reset meanwhile. The value stays as it is.
  case cancelled

  /// Whether the value was replaced.
  public var isReplaced: Bool { if case .replaced = self { true } else { false } }

  /// What went wrong, where something did.
  public var error: PackError? {
    switch self {
    case .replaced(let unsaved): unsaved
    case .invalid(let error), .unavailable(let error): error
    case .unchanged, .cancelled: nil
    }
  }
}

extension RefreshResult: CustomStringConvertible {
  /// For a log, or a screen for developers.
  public var description: String {
    switch self {
    case .replaced(nil): "replaced"
    case .replaced(let error?): "replaced, but not kept: \(error.message)"
    case .unchanged: "unchanged"
    case .invalid(let error): "invalid: \(error.message)"
    case .unavailable(let error): "unavailable: \(error.message)"
    case .cancelled: "cancelled"
    }
  }
}

/// How often an asset that runs looks for newer content.
public enum RefreshPace: Hashable, Sendable {
  /// As its provider says.
  case declared
  /// So long after it looked last, whatever its provider says. The shortest is a tenth of a second.
  case every(Duration)

  /// Each second, for development: a change at the source is seen as it is made. Conditional requests keep that cheap.
  public static let realTime = every(.seconds(1))
}

/// What an asset is like at the moment, for a screen for developers.
public struct AssetState: Sendable {
  /// Where the value came from.
  public enum Origin: String, Hashable, Sendable, CaseIterable {
    /// The bundled resource.
    case bundled
    /// What an earlier run of this app version kept.
    case cached
    /// The provider, in this process.
    case remote
  }

  /// The name of the asset.
  public let name: String
  /// Where the value came from.
  public let origin: Origin
  /// The bytes that the value was made of.
  public let contentSize: Int
  /// The version of those, where the source told one.
  public let version: ContentVersion?
  /// What looking came to the last time; nil before the first.
  public let lastResult: RefreshResult?
  /// How long ago that was.
  public let sinceLastResult: Duration?
}
