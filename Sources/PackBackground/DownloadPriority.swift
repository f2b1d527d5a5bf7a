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
      // Nobody has published what the system's constants are, so nothing here may overflow, whatever they are.
      let whole = (Double(upper) - Double(lower)) * Swift.min(Swift.max(share, 0), 1)
      // The classes are a quarter apart at least.
      let room = Swift.max(0, Swift.min(Double(usual) - Double(min), Double(max) - Double(usual)) / 4).rounded(.down)
      let number = Double(lower) + whole.rounded() - Swift.min(Double(place), room)
      return Swift.max(min, Swift.min(max, Int(exactly: number) ?? (number < 0 ? min : max)))
    }

    package static func system(_ priority: Double, place: Int) -> BADownload.Priority {
      BADownload.Priority(
        rawValue: number(
          priority, place: place, min: BADownload.Priority.min.rawValue, default: BADownload.Priority.default.rawValue,
          max: BADownload.Priority.max.rawValue))
    }
  }
#endif
