/// The state of a request.
public enum DownloadState: Hashable, Sendable {
  /// It waits for its turn.
  case waiting
  /// It is being downloaded or checked. `received` is the number of its bytes on the device.
  case running(received: UInt64)
  /// It failed and will be retried automatically.
  case retrying(TransferFailure)
  /// It was paused.
  case paused
  /// The file is complete and checked.
  case finished
  /// It failed and will not be retried automatically. ``DownloadQueue/retry(_:)`` tries again.
  case failed(TransferFailure)
  /// It was cancelled, and its partial file was removed.
  case cancelled
}

/// A request and its state.
public struct DownloadStatus: Hashable, Sendable {
  /// The request as submitted.
  public let request: DownloadRequest
  /// The state of the request. It does not show whether the group is paused.
  public let state: DownloadState
  /// The current priority.
  public let priority: Double
  /// The number of failed attempts since the request was submitted or last retried by the app. A missing network, a full disk and the end of the
  /// process do not count.
  public let failures: Int
}

/// The states of a group's requests, as numbers.
public struct DownloadGroupStatus: Hashable, Sendable {
  /// The number of requests that wait for their turn.
  public internal(set) var waiting = 0
  /// The number of requests that are being downloaded.
  public internal(set) var running = 0
  /// The number of requests that failed and will be retried automatically.
  public internal(set) var retrying = 0
  /// The number of requests that were paused individually.
  public internal(set) var paused = 0
  /// The number of finished requests.
  public internal(set) var finished = 0
  /// The number of requests that failed and will not be retried automatically.
  public internal(set) var failed = 0
  /// The number of cancelled requests.
  public internal(set) var cancelled = 0
  /// The total size of the finished files in bytes.
  public internal(set) var finishedSize: UInt64 = 0
  /// The total size of all files in bytes.
  public internal(set) var totalSize: UInt64 = 0
  /// Whether the group is paused.
  public internal(set) var isPaused = false
  /// Whether the group was cancelled. No requests can be added to it any more.
  public internal(set) var isCancelled = false

  /// The number of all requests in the group.
  public var count: Int { waiting + running + retrying + paused + finished + failed + cancelled }
  /// Whether no request can continue by itself.
  public var isSettled: Bool { waiting + running + retrying == 0 }
}

/// An event of a queue.
public enum DownloadEvent: Sendable {
  /// A download started, or continues at byte `offset`.
  case began(DownloadID, offset: UInt64)
  /// The number of bytes of a file that are on the device. Reported at most once per ``QueuePolicy/progressInterval``.
  case progress(DownloadID, received: UInt64, size: UInt64)
  /// The file is complete and checked. It stays at `path` until the app moves it away.
  case finished(DownloadID, path: String)
  /// An attempt failed. The next one follows after a delay.
  case retrying(DownloadID, TransferFailure, after: Duration)
  /// The request failed and will not be retried automatically. The id is empty if it could not be read from disk.
  case failed(DownloadID, TransferFailure)
  /// The request was running when the process ended, or the system no longer has it. It will be retried.
  case forgotten(DownloadID)
  /// There is no network. One download is tried at intervals; the others wait.
  case offline
  /// The network is available again.
  case online
  /// There is not enough free space for a request. It will be retried later.
  case lowSpace(DownloadID, needed: UInt64, free: UInt64)
}
