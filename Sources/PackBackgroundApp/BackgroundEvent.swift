#if canImport(BackgroundAssets)
  public import PackBackground

  /// What the system tells an app about its downloads.
  public enum BackgroundEvent: Sendable {
    /// The download began, or goes on.
    case began(download: String)
    /// It rests: the system wants it so.
    case paused(download: String)
    /// Bytes came. Told at most once in the interval that ``BackgroundDownloads`` was made with, for each download; never written to disk.
    case progress(download: String, received: UInt64, size: UInt64)
    /// The file was moved into the shared directory: plan, and install it.
    case arrived(download: String, SharedState.Parking)
    /// The download failed, and what is to be done about it.
    case failed(download: String, DownloadFailure, FailureRemedy)
    /// The system could not download the manifest. Everything stays as it is.
    case manifestFailed(DownloadFailure)
    /// Something could not be recorded. The next plan finds it.
    case refused(PackError)
  }
#endif
