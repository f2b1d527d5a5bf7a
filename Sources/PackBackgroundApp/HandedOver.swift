#if canImport(BackgroundAssets)
  public import PackBackground

  /// What became of a plan's downloads when they were handed to the system, by their identifiers.
  public struct HandedOver: Sendable {
    /// What the system begins when it sees fit.
    public internal(set) var scheduled: [String] = []
    /// What began in the foreground.
    public internal(set) var started: [String] = []
    /// What the system had already.
    public internal(set) var known: [String] = []
    /// What the system did not take, and why. It is recorded, and the next plan knows what to do.
    public internal(set) var refused: [String: DownloadFailure] = [:]
    /// What was cancelled because nobody has a use for it.
    public internal(set) var cancelled: [String] = []
    /// What could not be recorded. The next plan finds it.
    public internal(set) var errors: [PackError] = []
    /// Whether it was done under exclusive control; without it the result is the same.
    public internal(set) var isExclusive = false
  }
#endif
