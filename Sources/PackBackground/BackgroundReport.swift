#if canImport(BackgroundAssets)

  /// An event in an extension, for a log.
  public enum BackgroundReport: Sendable {
    /// A content request was answered.
    case answered(ExtensionDelivery.Answer)
    /// A finished file was processed.
    case arrived(download: String, SharedState.Parking)
    /// A download failed.
    case failed(download: String, DownloadFailure, FailureRemedy)
    /// The system could not download the manifest. Nothing changes.
    case manifestFailed(DownloadFailure)
    /// A failed essential download was handed to the system again as a non-essential one. `refusal` is the error if the system refused.
    case handedOverAgain(download: String, refusal: DownloadFailure?)
    /// An action failed. The next plan detects what is missing.
    case refused(PackError)
  }

  extension BackgroundReport: CustomStringConvertible {
    /// A line for a log with pack names and numbers. Its size does not depend on the number of packs.
    public var description: String {
      switch self {
      case .answered(let answer):
        let manifest = answer.manifestVersion.map { "manifest \($0)" } ?? "no manifest"
        return "\(manifest), \(answer.downloads.count) downloads\(answer.refusal.map { ", refused: \($0.message)" } ?? "")"
      case .arrived(let download, let parking):
        switch parking {
        case .moved: return "\(download) arrived"
        case .notNeeded: return "\(download) is not needed"
        case .wrongSize: return "the size of \(download) differs from the manifest"
        }
      case .failed(let download, let failure, _): return "\(download) failed: \(failure)"
      case .manifestFailed(let failure): return "the download of the manifest failed: \(failure)"
      case .handedOverAgain(let download, nil): return "\(download) is handed over again as non-essential"
      case .handedOverAgain(let download, let failure?): return "the system refused \(download) as non-essential: \(failure)"
      case .refused(let error): return "refused: \(error.message)"
      }
    }
  }

  extension BackgroundReport {
    /// The report for a log. Messages of errors are private in it.
    package var logEvent: LogEvent {
      switch self {
      case .answered(let answer):
        var values: [LogValue] = [.public("downloads", answer.downloads.count)]
        if let version = answer.manifestVersion { values.append(.public("manifest", version)) }
        guard let refusal = answer.refusal else { return LogEvent(.notice, .background, "answered", values) }
        return LogEvent(.error, .background, "answered, but something was refused", values + [LogValue].error(refusal))
      case .arrived(let download, let parking):
        let result =
          switch parking {
          case .moved: "moved"
          case .notNeeded: "not-needed"
          case .wrongSize: "wrong-size"
          }
        return LogEvent(.notice, .background, "file arrived", [.public("download", download), .public("result", result)])
      case .failed(let download, let failure, let remedy):
        return LogEvent(
          .error, .background, "download failed",
          [.public("download", download), .public("failure", "\(failure)"), .public("remedy", remedy.name)])
      case .manifestFailed(let failure):
        return LogEvent(.error, .background, "manifest failed", [.public("failure", "\(failure)")])
      case .handedOverAgain(let download, nil):
        return LogEvent(.notice, .background, "handed over again as non-essential", [.public("download", download)])
      case .handedOverAgain(let download, let failure?):
        return LogEvent(
          .error, .background, "refused as non-essential", [.public("download", download), .public("failure", "\(failure)")])
      case .refused(let error):
        return LogEvent(.error, .background, "refused", .error(error))
      }
    }
  }

  extension FailureRemedy {
    /// The remedy in a few words, for a log.
    fileprivate var name: String {
      switch self {
      case .keepEverything: "none, the last manifest stays"
      case .nothing: "none"
      case .handOverAsNonEssential: "non-essential"
      case .planAgain(let status): "\(status.state)"
      }
    }
  }
#endif
