/// The exit status of the process. A larger number is a worse result.
struct ExitStatus: RawRepresentable, Hashable, Comparable, Sendable {
  let rawValue: Int32

  static let done = Self(rawValue: 0)
  static let findings = Self(rawValue: 1)
  static let budgetFindings = Self(rawValue: 2)
  static let unfitForReleasedApp = Self(rawValue: 3)
  static let noKey = Self(rawValue: 10)
  static let wrongKey = Self(rawValue: 11)
  static let damaged = Self(rawValue: 12)
  static let truncated = Self(rawValue: 13)
  static let untrustedSignature = Self(rawValue: 14)
  static let overLimit = Self(rawValue: 15)
  static let liveFindings = Self(rawValue: 20)
  static let unreachable = Self(rawValue: 21)
  static let usage = Self(rawValue: 64)
  static let badInput = Self(rawValue: 65)
  static let inputMissing = Self(rawValue: 66)
  static let cannotServe = Self(rawValue: 69)
  static let internalError = Self(rawValue: 70)
  static let cannotWrite = Self(rawValue: 73)
  static let readError = Self(rawValue: 74)
  static let interrupted = Self(rawValue: 130)
  static let terminated = Self(rawValue: 143)

  static func < (left: ExitStatus, right: ExitStatus) -> Bool {
    left.rawValue < right.rawValue
  }

  init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// Creates the status for an error code: 70, an internal error, if the code is not in the table.
  init(for code: PackError.Code) {
    self = Self.codes.first { $0.value.contains(code) }?.key ?? .internalError
  }

  /// Creates the status for the worst kind of fault in a release.
  init(for kind: FindingKind) {
    self =
      switch kind {
      case .wrongKey: .wrongKey
      case .signature: .untrustedSignature
      case .damaged: .damaged
      case .truncated: .truncated
      case .released: .unfitForReleasedApp
      case .live: .liveFindings
      case .other: .findings
      case .budget: .budgetFindings
      }
  }

  /// The error codes of the statuses.
  private static let codes: [ExitStatus: Set<PackError.Code>] = [
    .noKey: [.noKey, .malformedKey, .signingFailed, .sealed],
    .wrongKey: [.wrongKey, .notWrapped],
    .damaged: [
      .damagedHeader, .damagedOpener, .wrongPack, .wrongBase, .authenticationFailed, .damagedPayload, .damagedArchive, .digestMismatch,
      .illegalPath,
      .damagedManifest, .wrongShard, .damagedStore, .damagedKeys,
    ],
    .overLimit: [.limitExceeded],
    .truncated: [.truncated],
    .untrustedSignature: [.untrustedSignature, .untrustedKeys],
    // Manifests that are valid and correctly signed, but too old, and undamaged packs whose version failed or was not confirmed.
    .findings: [.manifestExpired, .keysExpired, .manifestRollback, .versionFailed, .staleConfirmation, .notConfirmed, .wrongClock],
    .usage: [.usage, .rangeNotSatisfiable],
    .badInput: [
      .notAPack, .unsupported, .noUsableKey, .unsuitableSource, .unportablePath, .malformedPlist, .unreadableApp, .plistConflict,
      .malformedURL, .invalidConfiguration, .untrustedProgram, .unreadableLog,
      .invalidManifest, .invalidRecord, .unmergedRecord, .releaseConflict, .notAStore,
    ],
    .inputMissing: [
      .missingInput, .missingLock, .unknownPack, .catalogueNotAvailable, .noManifest, .notInstalled, .purged, .noSuchEntry,
    ],
    .unreachable: [.serverUnreachable],
    .cannotServe: [.cannotServe],
    .cannotWrite: [.cannotWrite, .noSpace, .outputExists, .quotaExceeded, .storeBusy, .inUse],
    .readError: [.cannotRead, .sourceChanged],
    .interrupted: [.cancelled],
    .done: [.outputClosed],
  ]
}

extension PackError.Code {
  /// The reader of standard output has closed it, as `head` does. Ends a listing without a message.
  static let outputClosed = Self(rawValue: "output-closed")
}
