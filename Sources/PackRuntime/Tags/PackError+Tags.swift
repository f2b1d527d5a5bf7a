extension PackError.Code {
  /// Another manifest was accepted during the request, and the tags now belong to other packs or other bytes.
  public static let manifestChanged = Self(rawValue: "manifest-changed")
  /// The device has no network.
  public static let offline = Self(rawValue: "offline")
  /// A file could not be downloaded. The message contains the reason.
  public static let downloadFailed = Self(rawValue: "download-failed")
}

extension TransferFailure {
  /// Returns the error for the request that needed the pack.
  package func error(of pack: String) -> PackError { error(on: "pack '\(pack)'") }

  /// Returns the error for the request that needed a shard of the catalogue.
  func error(ofShard name: String) -> PackError { error(on: "part '\(name)' of the catalogue") }

  private func error(on subject: String) -> PackError {
    let front = "\(subject) was not downloaded: "
    return switch self {
    case .offline: PackError(.offline, front + "there is no network", advice: .connect)
    case .unreachable: PackError(.downloadFailed, front + "its server cannot be reached")
    case .timedOut: PackError(.downloadFailed, front + "its server sent nothing for too long")
    case .insecure:
      PackError(.downloadFailed, front + "the connection is not safe", advice: .checkClock)
    case .status(let status, _): PackError(.downloadFailed, front + "its server answered with status \(status)")
    case .redirect: PackError(.downloadFailed, front + "its server redirected to a URL that is not allowed")
    case .malformedResponse: PackError(.downloadFailed, front + "its server's response is not valid for this request")
    case .wrongSize(let size):
      PackError(
        .wrongPack, front + "its server has a file of \(size) bytes, which is not the size in the manifest",
        advice: .developer("publish the pack file that the manifest names"))
    case .wrongDigest:
      PackError(
        .digestMismatch, front + "the SHA-256 of the file on its server differs from the manifest",
        advice: .developer("publish the pack file that the manifest names"))
    case .noSpace(let needed, let free): Self.noSpace(on: subject, missing: needed.less(free))
    case .cannotWrite: PackError(.cannotWrite, front + "its file could not be written")
    case .forgotten: PackError(.downloadFailed, front + "the system lost the download")
    case .refused(let code): PackError(.downloadFailed, front + "the system's download service refused it with code \(code)")
    case .cancelled: PackError(.cancelled, "cancelled")
    case .other: PackError(.downloadFailed, front + "the transport gave no reason")
    }
  }

  /// Returns the error for a download for which not enough space can be freed.
  static func noSpace(of pack: String, missing: UInt64) -> PackError { noSpace(on: "pack '\(pack)'", missing: missing) }

  private static func noSpace(on subject: String, missing: UInt64) -> PackError {
    PackError(
      .noSpace, "\(subject) was not downloaded: \(missing) bytes are missing on the volume",
      advice: .freeSpace(bytes: missing))
  }
}

extension PackError {
  /// Whether the error reports that there is no room for a pack.
  var isLackOfSpace: Bool { code == .noSpace || code == .quotaExceeded }
}
