/// How far a request has come.
public struct TagProgress: Hashable, Sendable {
  /// What is being done.
  public enum Phase: String, Hashable, Sendable {
    /// Nothing: the request has not begun.
    case waiting
    /// Something is still to be downloaded, or what is there is being looked at. What has come may be installed meanwhile.
    case downloading
    /// All is downloaded and is checked, unpacked and opened.
    case installing
    /// Access was given.
    case ready
    /// The request failed or was cancelled.
    case failed
  }

  /// What is being done.
  public internal(set) var phase: Phase = .waiting
  /// The bytes that are on the device of those to be downloaded. Fewer than before where bytes that came were wrong.
  public internal(set) var downloaded: UInt64 = 0
  /// The bytes to be downloaded: nothing that was installed when the request began.
  public internal(set) var downloadSize: UInt64 = 0
  /// The bytes that were checked and unpacked.
  public internal(set) var installed: UInt64 = 0
  /// The bytes to be checked and unpacked: packs that are kept encrypted once, packs that are unpacked twice, as they came and as their files.
  public internal(set) var installSize: UInt64 = 0

  /// All of it as a number from 0 to 1; 1 only where the phase is ``Phase/ready``.
  public var fraction: Double {
    if phase == .ready { return 1 }
    let total = Double(downloadSize) + Double(installSize)
    return total > 0 ? min((Double(downloaded) + Double(installed)) / total, 1.0.nextDown) : 0
  }
}
