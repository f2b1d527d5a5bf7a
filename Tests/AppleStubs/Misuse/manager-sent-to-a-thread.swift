// expect: capture of 'manager' with non-Sendable type 'BADownloadManager' in a '@Sendable' closure
import BackgroundAssets

/// The manager cannot be sent to another thread. Each thread gets it from `shared`.
func schedule(_ download: BADownload, with manager: BADownloadManager) {
  let work: @Sendable () -> Void = { try? manager.scheduleDownload(download) }
  Thread.detachNewThread(work)
}
