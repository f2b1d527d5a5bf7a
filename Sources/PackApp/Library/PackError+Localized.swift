public import Foundation

/// Sentences for players. ``PackError/description`` is the text for developers and reports.
extension PackError: LocalizedError {
  /// What happened, for a player: one English sentence without technical terms.
  public var errorDescription: String? {
    switch code {
    case .noSpace, .quotaExceeded: "There is not enough free space on this device."
    case .offline: "There is no internet connection."
    case .downloadFailed, .digestMismatch, .truncated: "The download did not succeed."
    case .manifestExpired, .keysExpired: "The list of downloads is out of date."
    case .unknownPack, .notInstalled, .purged: "This content is not on the device."
    case .noKey, .wrongKey, .notWrapped, .noUsableKey: "This content cannot be opened on this device."
    case .unsupported: "This content needs a newer version of the app."
    case .versionFailed, .damagedPayload, .damagedArchive, .damagedHeader, .authenticationFailed: "This content is damaged."
    case .cancelled: "The download was cancelled."
    default: "Something went wrong with the downloaded content."
    }
  }

  /// What the player can do, as an English sentence. Nil if there is nothing.
  public var recoverySuggestion: String? {
    switch advice {
    case .freeSpace(let bytes?): "Free \(max(1, bytes / 1_000_000 + 1)) MB and try again."
    case .freeSpace(nil), .makeRoom: "Free some space and try again."
    case .connect: "Connect to the internet and try again."
    case .checkClock, .renewManifest: "Check the date and time in Settings."
    case .updateApp: "Update the app."
    case .fetchAgain, .fetchManifestAgain, .tryAgain: "Please try again."
    default: nil
    }
  }
}
