import Foundation

// The part of Foundation on Apple platforms that ImportantCapacity.swift needs. Foundation on Linux has only the key for the free space.

/// The volume of the fake device.
enum FakeVolume {
  nonisolated(unsafe) static var important: Int64?
}

extension URLResourceKey {
  static let volumeAvailableCapacityForImportantUsageKey = URLResourceKey.volumeAvailableCapacityKey
}

extension URLResourceValues {
  var volumeAvailableCapacityForImportantUsage: Int64? { FakeVolume.important }
}
