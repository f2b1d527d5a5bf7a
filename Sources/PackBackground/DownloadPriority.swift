#if canImport(BackgroundAssets)
  package import BackgroundAssets

  /// The priority numbers of the system.
  ///
  /// Downloads that are handed over as a set have no order, so the number includes the position in the plan. The position never changes the class of
  /// urgency.
  package enum DownloadPriority {
    /// - Parameters:
    ///   - priority: the priority from 0 to 1; 0.5 is the system's default.
    ///   - place: the number of downloads before it in the same plan.
    package static func number(_ priority: Double, place: Int, min: Int, default usual: Int, max: Int) -> Int {
      let (lower, upper, share) = priority < 0.5 ? (min, usual, priority * 2) : (usual, max, priority * 2 - 1)
      // The values of the system's constants are undocumented, so nothing here may overflow, whatever they are.
      let whole = (Double(upper) - Double(lower)) * Swift.min(Swift.max(share, 0), 1)
      // The classes are at least a quarter apart.
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
