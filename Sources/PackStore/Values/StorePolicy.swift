/// The limits and timeouts of a store.
public struct StorePolicy: Hashable, Sendable {
  /// The number of versions of a pack that are kept, including the current one. At least 1.
  public var keepVersions: Int
  /// The time in which a version on trial must be confirmed. Time during which the process is suspended does not count.
  public var trialTimeout: Duration
  /// The number of app starts that a version on trial gets before it counts as crashed, including the start that activated it. At least 1.
  public var trialStarts: Int
  /// The maximum number of bytes that the store may take on the device. No limit if nil.
  public var quota: UInt64?
  /// The maximum time to wait for another process or task that is changing the store.
  public var lockTimeout: Duration
  /// Whether the store is excluded from backups of the device, on Apple platforms. Its packs can be fetched again.
  public var isExcludedFromBackup: Bool
  /// The number of bytes that an installation must leave free on the volume.
  public var freeSpaceMargin: UInt64
  /// The maximum number of files of open packs that are open at a time, at least 1. The others are opened again when they are read.
  public var openFiles: Int

  /// Creates a policy, with default values for omitted arguments.
  public init(
    keepVersions: Int = 2, trialTimeout: Duration = .seconds(10), trialStarts: Int = 1, quota: UInt64? = nil,
    lockTimeout: Duration = .seconds(5), isExcludedFromBackup: Bool = true, freeSpaceMargin: UInt64 = 4 << 20, openFiles: Int = 32
  ) {
    self.keepVersions = keepVersions
    self.trialTimeout = trialTimeout
    self.trialStarts = trialStarts
    self.quota = quota
    self.lockTimeout = lockTimeout
    self.isExcludedFromBackup = isExcludedFromBackup
    self.freeSpaceMargin = freeSpaceMargin
    self.openFiles = openFiles
  }
}

/// Whether the file that a pack is installed from is moved or copied.
public enum Taking: String, Hashable, Sendable, CaseIterable {
  /// Moves the file: it is checked in place and then renamed into the store. If it must be unpacked or copied from another volume, it is removed
  /// after that. If the installation fails, the file stays.
  case moving
  /// Copies or unpacks the file. The file itself stays.
  case copying
}

/// How thoroughly ``AssetStore/reconcile(_:)`` checks installed packs.
public enum ReconcileDepth: String, Hashable, Sendable, CaseIterable {
  /// Checks names and sizes. Takes milliseconds, for use at each start.
  case quick
  /// Checks the digests of everything that is installed. Takes as long as reading all of it, for use when the device is idle.
  case thorough
}
