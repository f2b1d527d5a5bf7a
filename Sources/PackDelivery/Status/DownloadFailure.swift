/// The failure of a pack's download, as the system or a transport reports it.
public enum DownloadFailure: Hashable, Sendable {
  /// An error of `BAErrorDomain`, or of `com.apple.backgroundassets.error` on older systems.
  case backgroundAssets(code: Int)
  /// No connection could be made.
  case offline
  /// The server or the network was too slow.
  case timeout
  /// The server responded with this status; 0 if the system does not report it.
  case http(status: Int)
  /// The size of the file differs from the manifest.
  case wrongSize
  /// The file is not the one that the manifest describes.
  case wrongBytes
  /// The device does not have enough free space.
  case noSpace
  /// Anything else.
  case other

  /// The way to handle a failure.
  public enum Remedy: Hashable, Sendable {
    /// The system has the download already: it is in progress.
    case alreadyScheduled
    /// The system does not have the download: the next plan hands it over again.
    case handOverAnew
    /// Wait until something changes: the first start of the app, the app in the foreground, or the user's settings.
    case wait(IdleReason)
    /// Try again after a while.
    case retry(FailureReason)
  }

  /// The way to handle the failure of a download that is not essential, or no longer.
  public var remedy: Remedy {
    switch self {
    case .backgroundAssets(let code):
      // According to Apple's documentation of the codes. The numbers are stable; the names are in the SDK's headers.
      switch code {
      case 50, 51: .wait(.foreground)
      case 55: .retry(.configuration)
      case 100: .alreadyScheduled
      case 101, 113: .handOverAnew
      case 111: .wait(.background)
      case 112, 203, 204: .wait(.allowance)
      case 202: .wait(.host)
      case 206: .wait(.beforeLaunch)
      // 0: invalid. 56: connection. 102 and 103: a download object that is no longer usable. 109: an essential download in the wrong place.
      default: .retry(.system)
      }
    case .offline: .retry(.offline)
    case .timeout: .retry(.timeout)
    case .http: .retry(.server)
    case .wrongSize: .retry(.wrongSize)
    case .wrongBytes: .retry(.wrongBytes)
    case .noSpace: .retry(.noSpace)
    case .other: .retry(.system)
    }
  }

  /// Whether the same download may succeed as a non-essential one. If so, a failed essential download is handed over again as non-essential.
  var helpsToDemote: Bool {
    switch remedy {
    case .alreadyScheduled, .handOverAnew: false
    // Non-essential downloads have their own allowance. The restrictions on hosts and on the first start apply to both kinds.
    case .wait(let reason): reason == .allowance
    case .retry(let reason): reason != .configuration
    }
  }
}

extension PackStatus {
  /// Returns the event for a failure of the download that this status is about.
  func event(for failure: DownloadFailure, hasGrown: Bool = false, atLeast seconds: UInt32 = 0) -> PackEvent {
    if isEssential, failure.helpsToDemote { return .demoted }
    return switch failure.remedy {
    case .alreadyScheduled: .scheduled(isEssential: isEssential)
    case .handOverAnew: .forgotten
    case .wait(let reason): .turnedAway(reason)
    case .retry(let reason): .downloadFailed(reason, hasGrown: hasGrown, atLeast: seconds)
    }
  }
}
