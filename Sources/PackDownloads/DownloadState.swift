/// How far a request has come.
public enum DownloadState: Hashable, Sendable {
  /// It is downloaded when its turn comes.
  case waiting
  /// It is being downloaded or checked: `received` of its bytes are on the device.
  case running(received: UInt64)
  /// It failed and is tried again by itself.
  case retrying(TransferFailure)
  /// Somebody paused it.
  case paused
  /// The file is there, whole and checked.
  case finished
  /// It was given up. ``DownloadQueue/retry(_:)`` tries again.
  case failed(TransferFailure)
  /// Somebody cancelled it, and what was there of it is gone.
  case cancelled
}

/// A request and how far it has come.
public struct DownloadStatus: Hashable, Sendable {
  /// What was asked for.
  public let request: DownloadRequest
  /// How far it has come. That its group is paused does not show here.
  public let state: DownloadState
  /// Its priority now.
  public let priority: Double
  /// The attempts that failed since it was submitted or retried by hand. Being offline, a full disk and the end of the process count for nothing.
  public let failures: Int
}

/// How far the requests of a group have come.
public struct DownloadGroupStatus: Hashable, Sendable {
  /// The requests that wait for their turn.
  public internal(set) var waiting = 0
  /// The requests that are being downloaded.
  public internal(set) var running = 0
  /// The requests that failed and are tried again by themselves.
  public internal(set) var retrying = 0
  /// The requests that somebody paused one by one.
  public internal(set) var paused = 0
  /// The requests whose file is there.
  public internal(set) var finished = 0
  /// The requests that were given up.
  public internal(set) var failed = 0
  /// The requests that somebody cancelled.
  public internal(set) var cancelled = 0
  /// The bytes of the finished ones.
  public internal(set) var finishedSize: UInt64 = 0
  /// The bytes of all.
  public internal(set) var totalSize: UInt64 = 0
  /// Whether the group is paused.
  public internal(set) var isPaused = false
  /// Whether the group was cancelled. Nothing can be added to it any more.
  public internal(set) var isCancelled = false

  /// All requests of the group.
  public var count: Int { waiting + running + retrying + paused + finished + failed + cancelled }
  /// Whether nothing of it can go on by itself.
  public var isSettled: Bool { waiting + running + retrying == 0 }
}

/// Something that happened in a queue.
public enum DownloadEvent: Sendable {
  /// A download began, or goes on at byte `offset`.
  case began(DownloadID, offset: UInt64)
  /// So many bytes of a file are on the device. Told at most once in ``QueuePolicy/progressInterval``.
  case progress(DownloadID, received: UInt64, size: UInt64)
  /// The file is whole and checked, and lies at `path` until the app takes it away.
  case finished(DownloadID, path: String)
  /// An attempt failed, and the next one comes after a while.
  case retrying(DownloadID, TransferFailure, after: Duration)
  /// The request was given up. Its id is empty where it could not be read, because of the disk.
  case failed(DownloadID, TransferFailure)
  /// The request was under way when the process ended, or the system does not know it any more; it is tried again.
  case forgotten(DownloadID)
  /// There is no network. One download is tried from time to time, and the others wait.
  case offline
  /// There is a network again.
  case online
  /// There is not enough free space for a request, which is tried again later.
  case lowSpace(DownloadID, needed: UInt64, free: UInt64)
}
