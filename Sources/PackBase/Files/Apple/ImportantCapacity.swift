#if canImport(Darwin)
  import Foundation

  /// The space on a volume that the system offers for what the user asked for. It includes what the system can purge: caches, and files that can be
  /// downloaded again.
  enum ImportantCapacity {
    /// Returns the number of bytes; nil if the system does not know it.
    ///
    /// - Parameter path: a file or directory on the volume.
    static func bytes(at path: String) -> Int64? {
      #if os(tvOS) || os(watchOS)
        return nil
      #else
        // A new URL each time, because a URL caches the values.
        let values = try? URL(fileURLWithPath: path).resourceValues(forKeys: [.volumeAvailableCapacityForImportantUsageKey])
        return values?.volumeAvailableCapacityForImportantUsage
      #endif
    }
  }
#endif
