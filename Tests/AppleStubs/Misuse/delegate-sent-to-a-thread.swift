// expect: capture of 'self' with non-Sendable type 'Counter' in a '@Sendable' closure
import BackgroundAssets

/// The system calls a delegate on a thread of its own; one that has something to change and no lock goes nowhere else.
final class Counter: NSObject, BADownloadManagerDelegate {
  var begun = 0

  func downloadDidBegin(_ download: BADownload) {
    let work: @Sendable () -> Void = { self.begun += 1 }
    Thread.detachNewThread(work)
  }
}
