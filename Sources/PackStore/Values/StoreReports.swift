/// The versions that were removed to free space.
public struct PurgeReport: Hashable, Sendable {
  /// One version that was removed.
  public struct Removal: Hashable, Sendable {
    /// The version, as it was before its removal.
    public let pack: InstalledPack
    /// The reason why this version was removed next.
    public let reason: String
  }

  /// The versions that were removed, in the order of removal.
  public let removed: [Removal]
  /// The number of bytes that were freed.
  public let freed: UInt64
  /// The number of requested bytes that could not be freed.
  public let missing: UInt64
}

/// An item that takes space in a store, and the reason why it is there.
public struct StoreUsage: Hashable, Sendable {
  /// The kind of an item.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// One version of a pack.
    case pack
    /// Content that no record names. It is being installed, or was left by a crash until ``AssetStore/reconcile(_:)`` checks it.
    case unrecorded
    /// Content that an installation is creating.
    case staging
    /// Content that is being removed.
    case trash
    /// The store's own records.
    case records
  }

  /// The kind of the item.
  public let kind: Kind
  /// The installed version if the kind is `pack`, otherwise nil.
  public let pack: InstalledPack?
  /// The path of the item. It starts with the store's directory.
  public let path: String
  /// The number of bytes it takes on the device, in whole blocks.
  public let sizeOnDevice: UInt64
  /// The reason why it is kept, as a text for people.
  public let reason: String
}

/// A problem that ``AssetStore/reconcile(_:)`` found.
public struct StoreFinding: Hashable, Sendable, CustomStringConvertible {
  /// The kind of a finding. The set is open: later versions may add kinds.
  public struct Kind: RawRepresentable, Hashable, Sendable {
    /// The stable identifier: lower case words joined by hyphens.
    public let rawValue: String

    /// Creates a kind from its identifier.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// Leftovers of an interrupted installation or change. They were removed.
    public static let unfinished = Self(rawValue: "unfinished")
    /// Leftovers of an interrupted removal. They were removed.
    public static let halfRemoved = Self(rawValue: "half-removed")
    /// Complete content that the manifest names, but no record. It was recorded as installed.
    public static let adopted = Self(rawValue: "adopted")
    /// Content that no record names and that does not match the manifest or is damaged. It was removed.
    public static let orphaned = Self(rawValue: "orphaned")
    /// Content without a record, or a damaged record, of a pack that the manifest may list in a shard that is missing. It stays as it is.
    public static let undecided = Self(rawValue: "undecided")
    /// A version on trial whose process ended before it was confirmed. The previous version runs again.
    public static let crashedTrial = Self(rawValue: "crashed-trial")
    /// A version on trial whose process ended before it was confirmed. It gets another start.
    public static let trialContinues = Self(rawValue: "trial-continues")
    /// Recorded content that does not exist: the system or a person removed it, or it is not in a restored backup.
    public static let missing = Self(rawValue: "missing")
    /// Content that differs from its record. It was removed.
    public static let damaged = Self(rawValue: "damaged")
    /// A record that cannot be read. It was rebuilt from the content and the manifest.
    public static let damagedRecord = Self(rawValue: "damaged-record")
    /// The accepted manifest is damaged or not signed by a trusted key. Installed packs stay.
    public static let manifestUnusable = Self(rawValue: "manifest-unusable")
    /// The memory of accepted manifests is missing or damaged.
    public static let memoryDamaged = Self(rawValue: "memory-damaged")
    /// The record of keys documents is damaged and was removed. The documents come again with the next manifest.
    public static let keysDamaged = Self(rawValue: "keys-damaged")
    /// A version that failed, or is beyond the number of versions to keep, and that no process has open. It was removed.
    public static let surplus = Self(rawValue: "surplus")
    /// A mark of use by a process that has ended. It was removed.
    public static let staleUse = Self(rawValue: "stale-use")
    /// A file or directory that does not belong in a store. It was removed.
    public static let foreign = Self(rawValue: "foreign")
  }

  /// The kind of the finding.
  public let kind: Kind
  /// The name of the affected pack. Nil if the finding is not about a pack.
  public let pack: String?
  /// What was found and what was done, in one sentence.
  public let text: String
  /// Whether the problem is repaired. If not, the next call finds it again.
  public let isRepaired: Bool

  /// The same as ``text``.
  public var description: String { text }
}

/// What an installation wrote to the device, its own records not counted.
public struct InstallCost: Hashable, Sendable {
  /// The number of bytes of files that were copied into the store, unpacked, or made by a delta. Moving a file writes none of them.
  public var written: UInt64
  /// The number of files of an unpacked pack that share their bytes with the version before, by a clone or a hard link. They cost nothing.
  public var sharedFiles: Int
  /// The number of files of an unpacked pack that were copied from the version before, because the volume cannot share their bytes.
  public var copiedFiles: Int

  /// Creates a value.
  public init(written: UInt64 = 0, sharedFiles: Int = 0, copiedFiles: Int = 0) {
    self.written = written
    self.sharedFiles = sharedFiles
    self.copiedFiles = copiedFiles
  }
}

/// An event in a store, for logs and displays. The store does not depend on listeners.
public enum StoreEvent: Hashable, Sendable {
  /// A manifest of this version was accepted.
  case adopted(manifest: UInt64)
  /// A version was installed.
  case installed(InstalledPack, InstallCost)
  /// The file that opens a version is there.
  case opened(InstalledPack)
  /// A version went on trial.
  case activated(InstalledPack)
  /// A version was confirmed, or activated without a trial.
  case confirmed(InstalledPack)
  /// A version failed or was rolled back. Version `current` runs again; nil if no version is left to run.
  case rolledBack(id: String, from: UInt64, current: InstalledPack?, reason: String)
  /// A version was removed to free space, or because it failed or newer versions are kept.
  case purged(InstalledPack, reason: String)
  /// A pack was removed on request.
  case removed(id: String)
  /// ``AssetStore/reconcile(_:)`` found a problem.
  case found(StoreFinding)
}

extension StoreEvent {
  /// The removed version if the event is ``purged(_:reason:)``, otherwise nil.
  package var purgedPack: InstalledPack? {
    if case .purged(let pack, _) = self { pack } else { nil }
  }
}
