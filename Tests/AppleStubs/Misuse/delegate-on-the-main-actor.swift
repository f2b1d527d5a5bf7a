// expect: crosses into main actor-isolated code
import BackgroundAssets

/// The system does not call a delegate on the main thread.
@MainActor
final class Screen: NSObject, BADownloadManagerDelegate {
  var text = ""

  func downloadDidBegin(_ download: BADownload) {
    text = download.identifier
  }
}
