#if canImport(BackgroundAssets)

  /// The results of handing a plan's downloads to the system, by identifier.
  public struct HandedOver: Sendable {
    /// The downloads that the system will start when it decides to.
    public internal(set) var scheduled: [String] = []
    /// The downloads that started in the foreground.
    public internal(set) var started: [String] = []
    /// The downloads that the system already had.
    public internal(set) var known: [String] = []
    /// The downloads that the system refused, with the reason. The failures are recorded, and the next plan handles them.
    public internal(set) var refused: [String: DownloadFailure] = [:]
    /// The downloads that were cancelled because they are no longer needed.
    public internal(set) var cancelled: [String] = []
    /// The errors while recording. The next plan detects what is missing.
    public internal(set) var errors: [PackError] = []
    /// Whether this was done under exclusive control. The result is the same without it.
    public internal(set) var isExclusive = false
  }
#endif
