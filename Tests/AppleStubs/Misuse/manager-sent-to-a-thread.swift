// expect: capture of 'manager' with non-Sendable type 'BADownloadManager' in a '@Sendable' closure
import BackgroundAssets

/// The manager is asked for where it is used.
func schedule(_ download: BADownload, with manager: BADownloadManager) {
  let work: @Sendable () -> Void = { try? manager.scheduleDownload(download) }
  Thread.detachNewThread(work)
}
