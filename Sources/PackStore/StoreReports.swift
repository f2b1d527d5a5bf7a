/// What was removed to free space.
public struct PurgeReport: Hashable, Sendable {
  /// One version that was removed.
  public struct Removal: Hashable, Sendable {
    /// What it was.
    public let pack: InstalledPack
    /// Why it was the next to go.
    public let reason: String
  }

  /// The versions that were removed, in that order.
  public let removed: [Removal]
  /// The bytes that were freed.
  public let freed: UInt64
  /// How many of the bytes that were asked for could not be freed.
  public let missing: UInt64
}

/// Something that takes space in a store, and why it is there.
public struct StoreUsage: Hashable, Sendable {
  /// What something is to the store.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// One version of a pack.
    case pack
    /// Content that no record names: being installed, or left by a crash, until ``AssetStore/reconcile(_:)`` has looked at it.
    case unrecorded
    /// What is being made by an installation.
    case staging
    /// What is being removed.
    case trash
    /// The store's own records.
    case records
  }

  /// What it is to the store.
  public let kind: Kind
  /// The pack it belongs to, where it belongs to one.
  public let pack: InstalledPack?
  /// Its path in the store.
  public let path: String
  /// The bytes it takes on the device, in whole blocks.
  public let sizeOnDevice: UInt64
  /// Why it is kept, for a person.
  public let reason: String
}

/// Something that ``AssetStore/reconcile(_:)`` found.
public struct StoreFinding: Hashable, Sendable, CustomStringConvertible {
  /// What kind of thing was found. The set is open: later versions add to it.
  public struct Kind: RawRepresentable, Hashable, Sendable {
    /// The stable identifier: lower case words joined by hyphens.
    public let rawValue: String

    /// Makes a kind from its identifier.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// What an installation had begun when it was stopped; removed.
    public static let unfinished = Self(rawValue: "unfinished")
    /// What was being removed when that was stopped; removed.
    public static let halfRemoved = Self(rawValue: "half-removed")
    /// Whole content that no record named and that the manifest does; recorded as installed.
    public static let adopted = Self(rawValue: "adopted")
    /// Content that no record names and the manifest neither, or that is damaged; removed.
    public static let orphaned = Self(rawValue: "orphaned")
    /// A version on trial whose process ended before it was confirmed; the version before runs again.
    public static let crashedTrial = Self(rawValue: "crashed-trial")
    /// A version on trial whose process ended before it was confirmed, and that has another start.
    public static let trialContinues = Self(rawValue: "trial-continues")
    /// Content that is recorded and not there: the system or a person removed it, or a restored backup left it out.
    public static let missing = Self(rawValue: "missing")
    /// Content that is not what is recorded; removed.
    public static let damaged = Self(rawValue: "damaged")
    /// A record that cannot be read; made anew from content and manifest.
    public static let damagedRecord = Self(rawValue: "damaged-record")
    /// The accepted manifest is missing, damaged, or vouched for by nobody who is trusted; nothing was removed for it.
    public static let manifestUnusable = Self(rawValue: "manifest-unusable")
    /// What was remembered of accepted manifests is missing or damaged.
    public static let memoryDamaged = Self(rawValue: "memory-damaged")
    /// A version that failed, or is more than is kept, and that nobody has open any more; removed.
    public static let surplus = Self(rawValue: "surplus")
    /// A mark of use by a process that has ended; removed.
    public static let staleUse = Self(rawValue: "stale-use")
    /// Something that is not the store's; removed.
    public static let foreign = Self(rawValue: "foreign")
  }

  /// What kind of thing was found.
  public let kind: Kind
  /// The name of the pack it is about, where it is about one.
  public let pack: String?
  /// What was found and what was done, in one sentence.
  public let text: String
  /// Whether it is as it should be now. What is not is found again the next time.
  public let isRepaired: Bool

  /// The sentence.
  public var description: String { text }
}

/// Something that a store did. For logs and displays; nothing depends on whether it is heard.
public enum StoreEvent: Hashable, Sendable {
  /// A manifest of this version was accepted.
  case adopted(manifest: UInt64)
  /// A version was installed.
  case installed(InstalledPack)
  /// A version went on trial.
  case activated(InstalledPack)
  /// A version was confirmed, or activated without a trial.
  case confirmed(InstalledPack)
  /// A version fell, and `current` runs again where there is one.
  case rolledBack(id: String, from: UInt64, current: InstalledPack?, reason: String)
  /// A version was removed to free space, or because there were more than are kept.
  case purged(InstalledPack, reason: String)
  /// A pack was removed on request.
  case removed(id: String)
  /// ``AssetStore/reconcile(_:)`` found something.
  case found(StoreFinding)
}

extension StoreEvent {
  /// What was removed, where it tells of that.
  package var purgedPack: InstalledPack? {
    if case .purged(let pack, _) = self { pack } else { nil }
  }
}
