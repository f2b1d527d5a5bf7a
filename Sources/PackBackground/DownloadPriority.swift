#if canImport(BackgroundAssets)
  package import BackgroundAssets

  /// How the system is told what is urgent.
  ///
  /// What is handed over as a set has no order, so the place in the plan goes into the number, without leading one class of urgency into the next.
  package enum DownloadPriority {
    /// - Parameters:
    ///   - priority: from 0 to 1; 0.5 is the system's default.
    ///   - place: how many of the same plan come before it.
    package static func number(_ priority: Double, place: Int, min: Int, default usual: Int, max: Int) -> Int {
      let (lower, upper, share) = priority < 0.5 ? (min, usual, priority * 2) : (usual, max, priority * 2 - 1)
      let number = lower + Int((Double(upper - lower) * Swift.min(Swift.max(share, 0), 1)).rounded())
      // The classes are a quarter apart at least.
      let room = Swift.max(0, Swift.min(usual - min, max - usual) / 4)
      return Swift.max(min, number - Swift.min(place, room))
    }

    package static func system(_ priority: Double, place: Int) -> BADownload.Priority {
      BADownload.Priority(
        rawValue: number(
          priority, place: place, min: BADownload.Priority.min.rawValue, default: BADownload.Priority.default.rawValue,
          max: BADownload.Priority.max.rawValue))
    }
  }
#endif
