#if canImport(BackgroundAssets)

  /// An event of the system's downloads.
  public enum BackgroundEvent: Sendable {
    /// The download started or resumed.
    case began(download: String)
    /// The system paused the download.
    case paused(download: String)
    /// More bytes arrived. Reported for each download at most once per interval of ``BackgroundDownloads``, and never written to disk.
    case progress(download: String, received: UInt64, size: UInt64)
    /// The file was moved into the shared directory. Make a plan and install it.
    case arrived(download: String, SharedState.Parking)
    /// The download failed. The last value is what to do.
    case failed(download: String, DownloadFailure, FailureRemedy)
    /// The system could not download the manifest. Nothing changes.
    case manifestFailed(DownloadFailure)
    /// An event could not be recorded. The next plan detects it.
    case refused(PackError)
  }

  extension BackgroundEvent {
    /// The event for a log. Nil for progress.
    var logEvent: LogEvent? {
      switch self {
      case .progress: nil
      case .began(let download): LogEvent(.info, .background, "download began", [.public("download", download)])
      case .paused(let download): LogEvent(.info, .background, "download paused", [.public("download", download)])
      case .arrived(let download, let parking): BackgroundReport.arrived(download: download, parking).logEvent
      case .failed(let download, let failure, let remedy): BackgroundReport.failed(download: download, failure, remedy).logEvent
      case .manifestFailed(let failure): BackgroundReport.manifestFailed(failure).logEvent
      case .refused(let error): BackgroundReport.refused(error).logEvent
      }
    }
  }
#endif
