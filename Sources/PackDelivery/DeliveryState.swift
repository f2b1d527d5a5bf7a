/// How far the delivery of a pack is. Each state has a name, a reason and ways out: the edges of ``DeliveryEdge``.
public enum DeliveryState: Hashable, Sendable {
  /// Nothing is under way.
  case notLoaded(IdleReason)
  /// The download was handed to the system, and no byte came yet.
  case scheduled
  /// Bytes come.
  case loading
  /// The download rests.
  case paused(PauseReason)
  /// The whole file lies in the shared directory and waits for the app to install it.
  case toBeTransferred
  /// The app installs it.
  case installing
  /// The device has exactly the bytes that the manifest offers.
  case ready
  /// The manifest offers the pack no more. What the device has of it stays until the app removes it.
  case obsolete
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
    /// ``DeliveryState/toBeTransferred``
    case toBeTransferred
    /// ``DeliveryState/installing``
    case installing
    /// ``DeliveryState/ready``
    case ready
    /// ``DeliveryState/obsolete``
    case obsolete
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
    case .toBeTransferred: .toBeTransferred
    case .installing: .installing
    case .ready: .ready
    case .obsolete: .obsolete
    case .failed: .failed
    }
  }

  /// Why the pack is in this state, for a person.
  public var reason: String {
    switch self {
    case .notLoaded(let reason): reason.text
    case .scheduled: "the system has the download and will begin it"
    case .loading: "bytes are coming"
    case .paused(let reason): reason.text
    case .toBeTransferred: "the file is here and waits for the app to install it"
    case .installing: "the app is installing the file"
    case .ready: "the device has what the manifest offers"
    case .obsolete: "the manifest does not offer the pack any more"
    case .failed(let reason): reason.text
    }
  }

  /// The edges that lead out of this state, or back to it.
  public var waysOut: [DeliveryEdge] { DeliveryEdge.all.filter { $0.from == kind } }

  /// Whether a download is with the system.
  public var isUnderWay: Bool {
    switch self {
    case .scheduled, .loading, .paused: true
    default: false
    }
  }
}

/// Why nothing is under way for a pack.
public enum IdleReason: String, Hashable, Sendable, CaseIterable {
  /// Nothing was done about it yet.
  case new
  /// The manifest offers other bytes than before.
  case changed
  /// Somebody asked for it.
  case asked
  /// An earlier attempt failed, and it is time for the next.
  case retrying
  /// The download was cancelled.
  case cancelled
  /// The system does not know of the download any more.
  case forgotten
  /// The file, or what was installed, is gone: the system or the store freed space.
  case purged
  /// The system does not take this download before the app was started.
  case beforeLaunch = "before-launch"
  /// It would be more than may be downloaded before the app was started.
  case allowance
  /// Its host may not be downloaded from before the app was started.
  case host
  /// The system permits no background activity: low power, or switched off by the person.
  case background
  /// The system wants the app in the foreground for it.
  case foreground

  /// Whether waiting for the first start of the app is all that helps.
  var waitsForLaunch: Bool {
    switch self {
    case .beforeLaunch, .allowance, .host: true
    default: false
    }
  }

  var text: String {
    switch self {
    case .new: "nothing was done about it yet"
    case .changed: "the manifest offers other bytes than before"
    case .asked: "somebody asked for it"
    case .retrying: "an earlier attempt failed, and the next one is due"
    case .cancelled: "the download was cancelled"
    case .forgotten: "the system does not know of the download any more"
    case .purged: "the file is gone from the device, perhaps to free space"
    case .beforeLaunch: "the system does not take this download before the app was started"
    case .allowance: "it is more than may be downloaded before the app was started"
    case .host: "its host may not be downloaded from before the app was started"
    case .background: "the system permits no background activity"
    case .foreground: "the system wants the app in the foreground for it"
    }
  }
}

/// Why a download rests.
public enum PauseReason: String, Hashable, Sendable, CaseIterable {
  /// The system decided so.
  case system
  /// The app or the person wanted it.
  case user
  /// There is no network that it may use.
  case network

  var text: String {
    switch self {
    case .system: "the system lets the download rest"
    case .user: "the download was paused"
    case .network: "there is no network that the download may use"
    }
  }
}

/// Why the delivery of a pack failed.
public enum FailureReason: String, Hashable, Sendable, CaseIterable {
  /// No connection could be made.
  case offline
  /// The server or the network was too slow.
  case timeout
  /// The server answered with something other than the file.
  case server
  /// The file is not as large as the manifest says.
  case wrongSize = "wrong-size"
  /// The file is not the one that the manifest names.
  case wrongBytes = "wrong-bytes"
  /// The device has no room for it.
  case noSpace = "no-space"
  /// The system ended the download without saying more.
  case system
  /// The app is not set up for such downloads.
  case configuration
  /// The store does not want these bytes: they failed when they were tried.
  case rejected
  /// The installation failed for another reason.
  case installation

  /// Whether it may help to try again with the same bytes.
  public var isWorthRetrying: Bool { self != .rejected }

  var text: String {
    switch self {
    case .offline: "no connection could be made"
    case .timeout: "the server or the network was too slow"
    case .server: "the server answered with something other than the file"
    case .wrongSize: "the file is not as large as the manifest says"
    case .wrongBytes: "the file is not the one that the manifest names"
    case .noSpace: "the device has no room for it"
    case .system: "the system ended the download"
    case .configuration: "the app is not set up for such downloads"
    case .rejected: "these bytes failed when they were tried"
    case .installation: "the installation failed"
    }
  }
}

extension DeliveryState: CustomStringConvertible {
  /// The name of the state, and the name of its reason where it has one: `not-loaded forgotten`.
  public var description: String {
    switch self {
    case .notLoaded(let reason): "not-loaded \(reason.rawValue)"
    case .scheduled: "scheduled"
    case .loading: "loading"
    case .paused(let reason): "paused \(reason.rawValue)"
    case .toBeTransferred: "to-be-transferred"
    case .installing: "installing"
    case .ready: "ready"
    case .obsolete: "obsolete"
    case .failed(let reason): "failed \(reason.rawValue)"
    }
  }

  /// Reads what ``description`` writes.
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
    case ("to-be-transferred", nil): self = .toBeTransferred
    case ("installing", nil): self = .installing
    case ("ready", nil): self = .ready
    case ("obsolete", nil): self = .obsolete
    default: return nil
    }
  }
}
