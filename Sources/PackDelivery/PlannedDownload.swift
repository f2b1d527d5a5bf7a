public import PackManifest

/// A download to hand to the system.
public struct PlannedDownload: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// The bytes to fetch. Their size is exact: the system refuses a file of any other.
  public let bytes: PackBytes
  /// Where they are served.
  public let url: String
  /// Whether the app is to wait for it. Only where ``DeliveryEvent/permitsEssential`` is true.
  public let isEssential: Bool
  /// How urgent it is, from 0 to 1.
  public let priority: Double
  /// Whether the app should start it in the foreground, where the system's policies on battery and network do not hold: somebody waits for it.
  public let startsInForeground: Bool

  /// What the download is called in the app, its extension and the system.
  public var identifier: DownloadIdentifier { DownloadIdentifier(id: id, bytes: bytes) }
}

/// A file in the shared directory.
public struct WaitingFile: Hashable, Sendable {
  /// The download it came by.
  public let identifier: DownloadIdentifier
  /// Its length in bytes.
  public let size: UInt64
  /// Whether the app took it to install it.
  public let isBeingInstalled: Bool

  /// Makes a value from its parts.
  public init(identifier: DownloadIdentifier, size: UInt64, isBeingInstalled: Bool = false) {
    self.identifier = identifier
    self.size = size
    self.isBeingInstalled = isBeingInstalled
  }
}

/// A file to install.
public struct HandOver: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// The bytes that the file should hold. Nobody has checked them yet.
  public let bytes: PackBytes
  /// How to install it: as the manifest says, but what the device holds packed stays packed.
  public let mode: InstallMode

  /// Makes a value from its parts.
  public init(id: String, bytes: PackBytes, mode: InstallMode) {
    self.id = id
    self.bytes = bytes
    self.mode = mode
  }
}

/// A pack that is neither here nor on its way, and why.
public struct Postponement: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// Why nothing is done about it now.
  public let reason: Reason

  /// Why nothing is done about a pack now.
  public enum Reason: Hashable, Sendable {
    /// It comes when the app asks for it.
    case notAsked
    /// Its download was cancelled, and it was not asked for since.
    case cancelled
    /// It has to wait for the first start of the app.
    case beforeLaunch(IdleReason)
    /// It does not fit what may be downloaded before the first start: its size, and what is left, of which every byte but one may be used.
    case allowance(size: UInt64, left: UInt64)
    /// The device has too little room: the bytes needed with all that is under way, and those that are free.
    case space(needed: UInt64, free: UInt64)
    /// It failed; the next attempt is due after so many seconds. Nil: not before the manifest offers other bytes.
    case failed(FailureReason, secondsLeft: UInt64?)
    /// The manifest has expired, and nothing new may be installed from it.
    case manifestExpired
  }
}

/// A pack that the manifest does not offer, but the device has something of.
public struct ObsoletePack: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// What is installed of it; empty also where nobody knows.
  public let installed: [DevicePack]
}
