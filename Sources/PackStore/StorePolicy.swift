/// How a store behaves: how much it keeps, how long it waits.
public struct StorePolicy: Hashable, Sendable {
  /// How many versions of a pack are kept, the current one included. At least 1.
  public var keepVersions: Int
  /// How long a version on trial has to be confirmed, in time that the process really ran: time in which it was suspended does not count.
  public var trialTimeout: Duration
  /// How many starts of the app a version on trial gets before it counts as crashed. At least 1, the start that activated it included.
  public var trialStarts: Int
  /// The bytes that the store may take on the device; as many as there are where it is nil.
  public var quota: UInt64?
  /// How long another process or task is waited for that changes the store.
  public var lockTimeout: Duration
  /// Whether backups of the device leave the store out, where the platform can. What it holds can be fetched again.
  public var isExcludedFromBackup: Bool
  /// The bytes that an installation must leave free on the volume.
  public var freeSpaceMargin: UInt64

  /// Makes a policy; what is not said has the usual value.
  public init(
    keepVersions: Int = 2, trialTimeout: Duration = .seconds(10), trialStarts: Int = 1, quota: UInt64? = nil,
    lockTimeout: Duration = .seconds(5), isExcludedFromBackup: Bool = true, freeSpaceMargin: UInt64 = 4 << 20
  ) {
    self.keepVersions = keepVersions
    self.trialTimeout = trialTimeout
    self.trialStarts = trialStarts
    self.quota = quota
    self.lockTimeout = lockTimeout
    self.isExcludedFromBackup = isExcludedFromBackup
    self.freeSpaceMargin = freeSpaceMargin
  }
}

/// What becomes of the file that a pack is installed from.
public enum Taking: String, Hashable, Sendable, CaseIterable {
  /// It becomes the store's: checked where it lies and then renamed, or removed once it was unpacked or copied from another volume. An installation
  /// that fails leaves it.
  case moving
  /// It stays the caller's.
  case copying
}

/// How closely ``AssetStore/reconcile(_:)`` looks.
public enum ReconcileDepth: String, Hashable, Sendable, CaseIterable {
  /// Names and sizes: milliseconds, at each start.
  case quick
  /// Every digest of all that is installed: as long as reading it takes, when the device is idle.
  case thorough
}
