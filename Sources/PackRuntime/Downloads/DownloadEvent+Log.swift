extension DownloadEvent {
  /// The event for a log. Nil for progress.
  package var logEvent: LogEvent? {
    switch self {
    case .progress: nil
    case .began(let id, let offset): LogEvent(.info, .downloads, "began", id.logValues + [.public("offset", offset)])
    case .finished(let id, _): LogEvent(.info, .downloads, "finished", id.logValues)
    case .retrying(let id, let failure, let delay):
      LogEvent(
        .notice, .downloads, "failed, will be retried",
        id.logValues + [.public("failure", "\(failure)"), .public("seconds", delay.components.seconds)])
    case .failed(let id, let failure): LogEvent(.error, .downloads, "failed", id.logValues + [.public("failure", "\(failure)")])
    case .forgotten(let id): LogEvent(.notice, .downloads, "lost by the system, will be retried", id.logValues)
    case .offline: LogEvent(.notice, .downloads, "no network")
    case .online: LogEvent(.notice, .downloads, "network is available again")
    case .lowSpace(let id, let needed, let free):
      LogEvent(.notice, .downloads, "not enough space", id.logValues + [.public("needed", needed), .public("free", free)])
    }
  }
}

extension DownloadID {
  fileprivate var logValues: [LogValue] { [.public("group", group), .public("id", id)] }
}
