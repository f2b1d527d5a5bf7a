#if canImport(BackgroundAssets)

  /// The progress of downloads that are running, in memory only.
  final class DownloadProgress: Sendable {
    private struct Entry {
      var received: UInt64
      var told: Duration?
    }

    private let entries = Monitor<[String: Entry]>([:])
    private let interval: Duration
    private let clock: any DeviceClock

    init(interval: Duration, clock: any DeviceClock = SystemClock()) {
      self.interval = interval
      self.clock = clock
    }

    /// Records the progress of a download.
    ///
    /// - Returns: whether listeners should be informed: after the interval, and when the file is complete.
    func note(_ download: String, received: UInt64, of size: UInt64) -> Bool {
      let now = clock.now
      return entries.withLock { entries in
        var entry = entries[download] ?? Entry(received: 0)
        entry.received = received
        let isDue = received >= size || entry.told.map { now - $0 >= interval } ?? true
        if isDue { entry.told = now }
        entries[download] = entry
        return isDue
      }
    }

    func received(_ download: String) -> UInt64? { entries.withLock { $0[download]?.received } }

    func forget(_ download: String) {
      entries.withLock { $0[download] = nil }
    }
  }
#endif
