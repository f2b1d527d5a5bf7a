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
