// expect: capture of 'self' with non-Sendable type 'Counter' in a '@Sendable' closure
import BackgroundAssets

/// The system calls a delegate on its own thread. A delegate with mutable state and without a lock cannot be sent to another one.
final class Counter: NSObject, BADownloadManagerDelegate {
  var begun = 0

  func downloadDidBegin(_ download: BADownload) {
    let work: @Sendable () -> Void = { self.begun += 1 }
    Thread.detachNewThread(work)
  }
}
