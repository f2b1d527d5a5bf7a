#if canImport(BackgroundAssets)
  public import PackDelivery
  public import PackFormat

  /// What an extension did: for a log, since it has nobody to tell.
  public enum BackgroundReport: Sendable {
    /// A content request was answered.
    case answered(ExtensionDelivery.Answer)
    /// A finished file was dealt with.
    case arrived(download: String, SharedState.Parking)
    /// A download failed.
    case failed(download: String, DownloadFailure, FailureRemedy)
    /// The system could not download the manifest. Everything stays as it is.
    case manifestFailed(DownloadFailure)
    /// An essential download that failed is with the system again, as one that is not essential; or the reason why it is not.
    case handedOverAgain(download: String, refusal: DownloadFailure?)
    /// Something could not be done. What is lost by it, the next plan finds.
    case refused(PackError)
  }
#endif
