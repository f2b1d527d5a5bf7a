// expect: errors thrown from here are not handled
import BackgroundAssets
import PackBackground

/// A callback cannot throw.
struct Downloader: BADownloaderExtension {
  func backgroundDownload(_ finishedDownload: BADownload, finishedWithFileURL fileURL: URL) {
    let state = try SharedState(group: "group.example")
    _ = try state.park(fileURL.path, asDownload: finishedDownload.identifier)
  }
}
