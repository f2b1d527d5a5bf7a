/// What became of a call. Numbers that `packer` ends with, too, mean the same there. More may be added: take an unknown one for a failure.
///
/// After any but 0 and 75, `packer_error_code` and its neighbours say more.
@c(PackerStatus)
public enum PackerStatus: Int32, Sendable {
  /// It is done.
  case done = 0
  /// It failed for a reason without a number: `packer_error_code` names it.
  case failed = 1
  /// There is no key, or what was given is none.
  case noKey = 10
  /// The pack was made with another key. Nothing was decrypted.
  case wrongKey = 11
  /// The pack, or the manifest, was changed or is damaged.
  case damaged = 12
  /// The pack ends too early.
  case truncated = 13
  /// No trusted key signed the manifest.
  case untrusted = 14
  /// Something is larger than a limit allows.
  case limitExceeded = 15
  /// The call is wrong: a null pointer, a closed handle, a range behind the end of a file, a call that waits inside a callback.
  case usage = 64
  /// The file is not a pack, or needs a newer reader.
  case badInput = 65
  /// There is no such file, entry or pack.
  case missing = 66
  /// A file cannot be written: also no space, or something is at its place.
  case cannotWrite = 73
  /// A file cannot be read.
  case cannotRead = 74
  /// A request is not finished yet.
  case running = 75
  /// A callback, or `packer_close`, ended the call.
  case cancelled = 130

  init(_ code: PackError.Code) {
    self =
      switch code {
      case .noKey, .malformedKey, .sealed: .noKey
      case .wrongKey, .notWrapped: .wrongKey
      case .damagedHeader, .damagedOpener, .wrongPack, .wrongBase, .authenticationFailed, .damagedPayload, .damagedArchive, .digestMismatch,
        .illegalPath,
        .damagedManifest, .damagedKeys:
        .damaged
      case .truncated: .truncated
      case .untrustedSignature, .untrustedKeys: .untrusted
      case .limitExceeded: .limitExceeded
      case .usage, .rangeNotSatisfiable: .usage
      case .notAPack, .unsupported, .noUsableKey: .badInput
      case .missingInput, .noSuchEntry: .missing
      // Of targets that PackC does not link.
      case _ where ["unknown-pack", "unknown-tag", "not-installed", "no-manifest"].contains(code.rawValue): .missing
      case .cannotWrite, .noSpace, .outputExists: .cannotWrite
      case .cannotRead: .cannotRead
      case .cancelled: .cancelled
      default: .failed
      }
  }
}
