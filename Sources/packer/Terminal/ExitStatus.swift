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
    self = Self.table[code] ?? .internalError
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

  private static let table: [PackError.Code: ExitStatus] = [
    .noKey: .noKey,
    .malformedKey: .noKey,
    .signingFailed: .noKey,
    .wrongKey: .wrongKey,
    .notWrapped: .wrongKey,

    .damagedHeader: .damaged,
    .wrongPack: .damaged,
    .wrongBase: .damaged,
    .authenticationFailed: .damaged,
    .damagedPayload: .damaged,
    .damagedArchive: .damaged,
    .digestMismatch: .damaged,
    .illegalPath: .damaged,
    .limitExceeded: .overLimit,
    .damagedManifest: .damaged,
    .wrongShard: .damaged,
    .damagedStore: .damaged,
    .truncated: .truncated,
    .untrustedSignature: .untrustedSignature,
    .untrustedKeys: .untrustedSignature,
    .damagedKeys: .damaged,
    // Both manifests are valid and correctly signed, but too old.
    .manifestExpired: .findings,
    .keysExpired: .findings,
    .manifestRollback: .findings,
    // These packs are undamaged, but their version failed or was not confirmed.
    .versionFailed: .findings,
    .staleConfirmation: .findings,
    .notConfirmed: .findings,

    .usage: .usage,
    .rangeNotSatisfiable: .usage,
    .notAPack: .badInput,
    .unsupported: .badInput,
    .noUsableKey: .badInput,
    .unsuitableSource: .badInput,
    .unportablePath: .badInput,
    .malformedPlist: .badInput,
    .unreadableApp: .badInput,
    .plistConflict: .badInput,
    .malformedURL: .badInput,
    .invalidConfiguration: .badInput,
    .invalidManifest: .badInput,
    .invalidRecord: .badInput,
    .unmergedRecord: .badInput,
    .releaseConflict: .badInput,
    .notAStore: .badInput,
    .missingInput: .inputMissing,
    .missingLock: .inputMissing,
    .unknownPack: .inputMissing,
    .catalogueNotAvailable: .inputMissing,
    .noManifest: .inputMissing,
    .notInstalled: .inputMissing,
    .purged: .inputMissing,
    .noSuchEntry: .inputMissing,

    .serverUnreachable: .unreachable,
    .cannotServe: .cannotServe,
    .internalError: .internalError,
    .cannotWrite: .cannotWrite,
    .noSpace: .cannotWrite,
    .outputExists: .cannotWrite,
    .quotaExceeded: .cannotWrite,
    .storeBusy: .cannotWrite,
    .inUse: .cannotWrite,
    .cannotRead: .readError,
    .sourceChanged: .readError,

    .cancelled: .interrupted,
    .outputClosed: .done,
  ]
}

extension PackError.Code {
  /// The reader of standard output has closed it, as `head` does. Ends a listing without a message.
  static let outputClosed = Self(rawValue: "output-closed")
}
