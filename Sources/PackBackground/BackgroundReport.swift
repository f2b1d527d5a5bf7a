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

  extension BackgroundReport: CustomStringConvertible {
    /// A line for a log. It names packs and numbers, and takes no more memory for many packs than for few.
    public var description: String {
      switch self {
      case .answered(let answer):
        let manifest = answer.manifestVersion.map { "manifest \($0)" } ?? "no manifest"
        return "\(manifest), \(answer.downloads.count) downloads\(answer.refusal.map { ", refused: \($0.message)" } ?? "")"
      case .arrived(let download, let parking):
        switch parking {
        case .recorded: return "\(download) arrived"
        case .unrecorded: return "\(download) arrived, and the next plan finds it"
        case .notNeeded: return "\(download) is not needed"
        case .wrongSize: return "\(download) has another size than the manifest says"
        }
      case .failed(let download, let failure, _): return "\(download) failed: \(failure)"
      case .manifestFailed(let failure): return "the manifest failed: \(failure)"
      case .handedOverAgain(let download, nil): return "\(download) is handed over again, as not essential"
      case .handedOverAgain(let download, let failure?): return "\(download) is not taken again: \(failure)"
      case .refused(let error): return "refused: \(error.message)"
      }
    }
  }
#endif
