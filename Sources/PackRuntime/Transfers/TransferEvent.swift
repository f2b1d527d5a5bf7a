/// An event of ``Transfers``. Downloads have the identifiers of ``PackDelivery/DownloadIdentifier``.
public enum TransferEvent: Hashable, Sendable {
  /// A download started, or continues at byte `offset`.
  case began(String, offset: UInt64)
  /// The number of bytes of a file that are on the device.
  case progress(String, received: UInt64, size: UInt64)
  /// The pack can be read, although not all of it is here.
  case playable(String)
  /// The file is complete and on the disk, in this place until it is moved away. Its bytes are checked when it is installed.
  case finished(String, path: String)
  /// The download failed. `hasGrown` if it added bytes to the part, so that the next attempt starts further on.
  case failed(String, TransferFailure, hasGrown: Bool)
  /// There is no network. All downloads that had not begun failed.
  case offline
  /// There is a network again.
  case online

  /// The identifier of the download that the event is about.
  var identifier: String? {
    switch self {
    case .began(let identifier, _), .progress(let identifier, _, _), .playable(let identifier), .finished(let identifier, _),
      .failed(let identifier, _, _):
      identifier
    case .offline, .online: nil
    }
  }

  /// The event for a log. Nil for progress.
  var logEvent: LogEvent? {
    switch self {
    case .progress: nil
    case .began(let id, let offset): LogEvent(.info, .downloads, "began", [.public("download", id), .public("offset", offset)])
    case .playable(let id): LogEvent(.info, .downloads, "playable", [.public("download", id)])
    case .finished(let id, _): LogEvent(.info, .downloads, "finished", [.public("download", id)])
    case .failed(let id, let failure, _):
      LogEvent(.notice, .downloads, "failed", [.public("download", id), .public("failure", "\(failure)")])
    case .offline: LogEvent(.notice, .downloads, "no network")
    case .online: LogEvent(.notice, .downloads, "network is available again")
    }
  }
}
