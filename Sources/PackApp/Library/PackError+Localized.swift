public import Foundation

/// Sentences for players, in the language of the app. ``PackError/description`` is the text for developers and reports.
///
/// They are in English, German, French and Spanish, as far as the app has these languages. An app says it in its own words, or in more languages, with a
/// String Catalog `PackErrors.xcstrings` of its own, whose keys are the English sentences.
extension PackError: LocalizedError {
  /// What happened, for a player: one sentence without technical terms.
  public var errorDescription: String? { Self.localized(whatHappened) }

  /// What the player can do, as a sentence. Nil if there is nothing.
  public var recoverySuggestion: String? {
    guard let (sentence, number) = whatHelps else { return nil }
    let text = Self.localized(sentence)
    return number.map { String(format: text, $0) } ?? text
  }

  /// The English sentence, which is its key in a String Catalog.
  private var whatHappened: String {
    switch code {
    case .noSpace, .quotaExceeded: "There is not enough free space on this device."
    case .offline: "There is no internet connection."
    case .downloadFailed, .digestMismatch, .truncated: "The download did not succeed."
    case .manifestExpired, .keysExpired: "The list of downloads is out of date."
    case .unknownPack, .notInstalled, .purged: "This content is not on the device."
    case .noKey, .wrongKey, .notWrapped, .noUsableKey: "This content cannot be opened on this device."
    case .sealed: "This content opens later."
    case .unsupported: "This content needs a newer version of the app."
    case .versionFailed, .damagedPayload, .damagedArchive, .damagedHeader, .authenticationFailed: "This content is damaged."
    case .cancelled: "The download was cancelled."
    default: "Something went wrong with the downloaded content."
    }
  }

  /// The English sentence, and the number that is in it.
  private var whatHelps: (sentence: String, number: Int64?)? {
    switch advice {
    case .freeSpace(let bytes?): ("Free %lld MB and try again.", Int64(clamping: max(1, bytes / 1_000_000 + 1)))
    case .freeSpace(nil), .makeRoom: ("Free some space and try again.", nil)
    case .connect: ("Connect to the internet and try again.", nil)
    case .checkClock, .renewManifest: ("Check the date and time in Settings.", nil)
    case .updateApp: ("Update the app.", nil)
    case .fetchAgain, .fetchManifestAgain, .tryAgain: ("Please try again.", nil)
    default: nil
    }
  }

  /// Returns a sentence from the app's catalog, otherwise from the one here, otherwise as it is.
  private static func localized(_ sentence: String) -> String {
    #if canImport(Darwin)
      for bundle in [Bundle.main, Bundle.module] {
        let text = bundle.localizedString(forKey: sentence, value: missing, table: "PackErrors")
        if text != missing { return text }
      }
    #endif
    return sentence
  }

  /// What no text is.
  private static let missing = "\u{0}"
}
