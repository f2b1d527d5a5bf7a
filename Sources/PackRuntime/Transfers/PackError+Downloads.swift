extension PackError.Code {
  /// Another process downloads into the same directory.
  public static let downloadsBusy = Self(rawValue: "downloads-busy")
  /// The directory is not one for downloads, or belongs to a newer version.
  public static let notDownloads = Self(rawValue: "not-downloads")
  /// The device has no network.
  public static let offline = Self(rawValue: "offline")
  /// A file could not be downloaded. The message contains the reason.
  public static let downloadFailed = Self(rawValue: "download-failed")
}

extension TransferFailure {
  /// Returns the error for the request that needed the pack.
  package func error(of pack: String) -> PackError {
    let front = "pack '\(pack)' was not downloaded: "
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
    case .noSpace(let needed, let free): Self.noSpace(of: pack, missing: needed.less(free))
    case .cannotWrite: PackError(.cannotWrite, front + "its file could not be written")
    case .endedBySystem(.noBackgroundActivity):
      PackError(.downloadFailed, front + "the system ended it because background activity is switched off for the app")
    case .endedBySystem(.noResources): PackError(.downloadFailed, front + "the system ended it for lack of resources")
    case .cancelled: PackError(.cancelled, "cancelled")
    case .other: PackError(.downloadFailed, front + "the transport gave no reason")
    }
  }

  /// Returns the error for a download for which not enough space can be freed.
  package static func noSpace(of pack: String, missing: UInt64) -> PackError {
    PackError(
      .noSpace, "pack '\(pack)' was not downloaded: \(missing) bytes are missing on the volume", advice: .freeSpace(bytes: missing))
  }
}

extension DownloadFailure {
  /// Returns the error for the request that needed the pack.
  package func error(of pack: String) -> PackError {
    switch self {
    case .offline: return TransferFailure.offline.error(of: pack)
    case .timeout: return TransferFailure.timedOut.error(of: pack)
    case .http(let status) where status != 0: return TransferFailure.status(status, retryAfter: nil).error(of: pack)
    case .wrongSize: return TransferFailure.wrongSize(0).error(of: pack)
    case .wrongBytes: return TransferFailure.wrongDigest.error(of: pack)
    case .noSpace:
      return PackError(.noSpace, "pack '\(pack)' was not downloaded: there is not enough space", advice: .freeSpace(bytes: nil))
    case .backgroundAssets(let code):
      return PackError(.downloadFailed, "pack '\(pack)' was not downloaded: the system's download service refused it with code \(code)")
    case .http, .other: return TransferFailure.other.error(of: pack)
    }
  }
}
