/// The state of a pack that the device does not have, or not in the bytes that the manifest offers. Each state has a name, a reason, and the transitions in `DeliveryEdge`.
public enum DeliveryState: Hashable, Sendable {
  /// The pack is not downloaded, and no download is running.
  case notLoaded(IdleReason)
  /// The download was handed to the system, but has not received any bytes yet.
  case scheduled
  /// The download is running.
  case loading
  /// The download is paused.
  case paused(PauseReason)
  /// The download or the installation failed.
  case failed(FailureReason)

  /// A state without its reason.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// ``DeliveryState/notLoaded(_:)``
    case notLoaded
    /// ``DeliveryState/scheduled``
    case scheduled
    /// ``DeliveryState/loading``
    case loading
    /// ``DeliveryState/paused(_:)``
    case paused
    /// ``DeliveryState/failed(_:)``
    case failed
  }

  /// The state without its reason.
  public var kind: Kind {
    switch self {
    case .notLoaded: .notLoaded
    case .scheduled: .scheduled
    case .loading: .loading
    case .paused: .paused
    case .failed: .failed
    }
  }

  /// The reason for this state, as text for people.
  public var reason: String {
    switch self {
    case .notLoaded(let reason): reason.text
    case .scheduled: "the system has the download and will start it"
    case .loading: "the download is running"
    case .paused(let reason): reason.text
    case .failed(let reason): reason.text
    }
  }

  /// The transitions that start in this state, including those that end in it.
  package var waysOut: [DeliveryEdge] { DeliveryEdge.all.filter { $0.from == kind } }

  /// Whether the system has a download of the pack.
  public var isUnderWay: Bool {
    switch self {
    case .scheduled, .loading, .paused: true
    default: false
    }
  }
}

extension DeliveryState: CustomStringConvertible {
  /// The name of the state, and of its reason if it has one: `not-loaded forgotten`.
  public var description: String {
    switch self {
    case .notLoaded(let reason): "not-loaded \(reason.rawValue)"
    case .scheduled: "scheduled"
    case .loading: "loading"
    case .paused(let reason): "paused \(reason.rawValue)"
    case .failed(let reason): "failed \(reason.rawValue)"
    }
  }

  /// Creates a state from the text of ``description``.
  ///
  /// - Returns: nil for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    let reason = parts.count == 2 ? String(parts[1]) : nil
    guard parts.count == 1 || reason != nil else { return nil }
    switch (parts.first.map(String.init), reason) {
    case ("not-loaded", let reason?):
      guard let reason = IdleReason(rawValue: reason) else { return nil }
      self = .notLoaded(reason)
    case ("paused", let reason?):
      guard let reason = PauseReason(rawValue: reason) else { return nil }
      self = .paused(reason)
    case ("failed", let reason?):
      guard let reason = FailureReason(rawValue: reason) else { return nil }
      self = .failed(reason)
    case ("scheduled", nil): self = .scheduled
    case ("loading", nil): self = .loading
    default: return nil
    }
  }
}
