#if canImport(BackgroundAssets)
  public import PackBackground

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
#endif
