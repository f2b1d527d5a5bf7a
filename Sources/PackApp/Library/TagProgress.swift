/// The progress of a request.
public struct TagProgress: Hashable, Sendable {
  /// The phase of a request.
  public enum Phase: String, Hashable, Sendable {
    /// The request has not begun.
    case waiting
    /// The request checks which packs are missing, or downloads them. Downloaded packs may be installed at the same time.
    case downloading
    /// Everything is downloaded, and is being checked, unpacked and opened.
    case installing
    /// The request has returned an access.
    case ready
    /// The request failed or was cancelled.
    case failed
  }

  /// The current phase.
  public internal(set) var phase: Phase = .waiting
  /// The number of bytes downloaded so far. It decreases if downloaded bytes were wrong and are downloaded again.
  public internal(set) var downloaded: UInt64 = 0
  /// The number of bytes to download. Packs that were installed when the request began do not count.
  public internal(set) var downloadSize: UInt64 = 0
  /// The number of bytes checked and unpacked so far.
  public internal(set) var installed: UInt64 = 0
  /// The number of bytes to check and unpack. A pack that is kept encrypted counts with its pack file. A pack that is unpacked counts with its pack
  /// file and its content.
  public internal(set) var installSize: UInt64 = 0

  /// The overall progress from 0 to 1. It is 1 only if the phase is ``Phase/ready``.
  public var fraction: Double {
    if phase == .ready { return 1 }
    let total = Double(downloadSize) + Double(installSize)
    return total > 0 ? min((Double(downloaded) + Double(installed)) / total, 1.0.nextDown) : 0
  }
}
