/// The reason why a pack is neither downloaded nor being downloaded.
public enum IdleReason: String, Hashable, Sendable, CaseIterable {
  /// No download was started yet.
  case new
  /// The manifest offers other bytes than before.
  case changed
  /// The app requested the pack.
  case asked
  /// An earlier attempt failed, and the next one is due.
  case retrying
  /// The download was cancelled.
  case cancelled
  /// The system no longer has the download.
  case forgotten
  /// The file arrived. It is gone if it is not in the shared directory any more: the system freed space, or the store rejects its bytes.
  case arrived
  /// The system does not accept this download before the first start of the app.
  case beforeLaunch = "before-launch"
  /// The pack exceeds the download allowance before the first start of the app.
  case allowance
  /// The pack's host is not permitted for downloads before the first start of the app.
  case host
  /// The system does not permit background activity: low power mode, or turned off by the user.
  case background
  /// The system requires the app to be in the foreground for this download.
  case foreground

  /// Whether the download can only start after the first start of the app.
  var waitsForLaunch: Bool {
    switch self {
    case .beforeLaunch, .allowance, .host: true
    default: false
    }
  }

  package var text: String {
    switch self {
    case .new: "no download was started yet"
    case .changed: "the manifest offers a different file than before"
    case .asked: "the app requested it"
    case .retrying: "an earlier attempt failed, and the next one is due"
    case .cancelled: "the download was cancelled"
    case .forgotten: "the system no longer has the download"
    case .arrived: "the file was downloaded"
    case .beforeLaunch: "the system does not accept this download before the first start of the app"
    case .allowance: "it exceeds the download allowance before the first start of the app"
    case .host: "its host is not permitted for downloads before the first start of the app"
    case .background: "the system does not permit background activity"
    case .foreground: "the system requires the app to be in the foreground"
    }
  }
}

/// The reason why a download is paused.
public enum PauseReason: String, Hashable, Sendable, CaseIterable {
  /// The system paused it.
  case system
  /// The app or the user paused it.
  case user
  /// There is no network that the download may use.
  case network

  package var text: String {
    switch self {
    case .system: "the system paused the download"
    case .user: "the app or the user paused the download"
    case .network: "there is no network that the download may use"
    }
  }
}

/// The reason why the delivery of a pack failed.
public enum FailureReason: String, Hashable, Sendable, CaseIterable {
  /// No connection could be made.
  case offline
  /// The server or the network was too slow.
  case timeout
  /// The server's response was not the file.
  case server
  /// The size of the file differs from the manifest.
  case wrongSize = "wrong-size"
  /// The file is not the one that the manifest describes.
  case wrongBytes = "wrong-bytes"
  /// The device does not have enough free space.
  case noSpace = "no-space"
  /// The system ended the download without giving a reason.
  case system
  /// The app is not configured for such downloads.
  case configuration
  /// The store rejects these bytes because they failed their trial.
  case rejected
  /// The version on the device is not the one that the delta is for, or is damaged.
  case base
  /// The installation failed for another reason.
  case installation

  package var text: String {
    switch self {
    case .offline: "no connection could be made"
    case .timeout: "the server or the network was too slow"
    case .server: "the server's response was not the file"
    case .wrongSize: "the size of the file differs from the manifest"
    case .wrongBytes: "the file is not the one that the manifest describes"
    case .noSpace: "the device does not have enough free space"
    case .system: "the system ended the download"
    case .configuration: "the app is not configured for such downloads"
    case .rejected: "this file failed its trial"
    case .base: "the delta does not fit the version on the device"
    case .installation: "the installation failed"
    }
  }
}
