/// Why a download of a pack failed, as the system or a transport tells it.
public enum DownloadFailure: Hashable, Sendable {
  /// An error of `BAErrorDomain`.
  case backgroundAssets(code: Int)
  /// No connection could be made.
  case offline
  /// The server or the network was too slow.
  case timeout
  /// The server answered with this status; 0 where the system does not tell it.
  case http(status: Int)
  /// The file is not as large as the manifest says.
  case wrongSize
  /// The file is not the one that the manifest names.
  case wrongBytes
  /// The device has no room for it.
  case noSpace
  /// Anything else.
  case other

  /// What is to be done about it.
  public enum Remedy: Hashable, Sendable {
    /// The system has the download already: it is under way.
    case alreadyScheduled
    /// The system does not have the download: the next plan hands it over anew.
    case handOverAnew
    /// Nothing helps before something changes: the first start of the app, its coming to the foreground, the person's settings.
    case wait(IdleReason)
    /// Another attempt, after a while.
    case retry(FailureReason)
  }

  /// What is to be done about the failure of a download that is not essential, or not any more.
  public var remedy: Remedy {
    switch self {
    case .backgroundAssets(let code):
      // What Apple publishes of the codes; the numbers are stable, the names are in the SDK's headers.
      switch code {
      case 50, 51: .wait(.foreground)
      case 55: .retry(.configuration)
      case 100: .alreadyScheduled
      case 101, 113: .handOverAnew
      case 111: .wait(.background)
      case 112, 203, 204: .wait(.allowance)
      case 202: .wait(.host)
      case 206: .wait(.beforeLaunch)
      // 0 invalid, 56 connection, 102 and 103 a download object that is of no use any more, 109 an essential one in the wrong place.
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

  /// Whether the same download may succeed as one that is not essential: a failed essential one is handed over again as such, unless the system would
  /// have to refuse that too.
  var helpsToDemote: Bool {
    switch remedy {
    case .alreadyScheduled, .handOverAnew: false
    // Non-essential downloads have an allowance of their own; hosts and the first start are asked of both.
    case .wait(let reason): reason == .allowance
    case .retry(let reason): reason != .configuration
    }
  }
}

extension PackStatus {
  /// What the failure of the download that this status is about means for it.
  func event(for failure: DownloadFailure) -> PackEvent {
    if isEssential, failure.helpsToDemote { return .demoted }
    return switch failure.remedy {
    case .alreadyScheduled: .scheduled(isEssential: isEssential)
    case .handOverAnew: .forgotten
    case .wait(let reason): .turnedAway(reason)
    case .retry(let reason): .downloadFailed(reason)
    }
  }
}
