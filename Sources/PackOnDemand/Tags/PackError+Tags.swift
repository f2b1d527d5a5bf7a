import PackDownloads
public import PackFormat
import PackStore

extension PackError.Code {
  /// Another manifest was accepted, and the tags mean other packs or other bytes now than when the request began.
  public static let manifestChanged = Self(rawValue: "manifest-changed")
  /// The device has no network.
  public static let offline = Self(rawValue: "offline")
  /// A file could not be downloaded; the message says why.
  public static let downloadFailed = Self(rawValue: "download-failed")
}

extension TransferFailure {
  /// What the failure means to who asked for a pack.
  func error(of pack: String) -> PackError {
    let front = "pack '\(pack)' was not downloaded: "
    return switch self {
    case .offline: PackError(.offline, front + "there is no network", advice: .connect)
    case .unreachable: PackError(.downloadFailed, front + "its server cannot be reached")
    case .timedOut: PackError(.downloadFailed, front + "its server sent nothing for too long")
    case .insecure:
      PackError(.downloadFailed, front + "the connection is not safe", advice: .checkClock)
    case .status(let status, _): PackError(.downloadFailed, front + "its server answered with status \(status)")
    case .redirect: PackError(.downloadFailed, front + "its server led to where nothing may be fetched from")
    case .malformedResponse: PackError(.downloadFailed, front + "its server's answer is not what HTTP allows")
    case .wrongSize(let size):
      PackError(
        .wrongPack, front + "its server has \(size) bytes, and not those that the manifest says",
        advice: .developer("publish the file that the manifest was made for"))
    case .wrongDigest:
      PackError(
        .digestMismatch, front + "its server has other bytes than the manifest names",
        advice: .developer("publish the file that the manifest was made for"))
    case .noSpace(let needed, let free): Self.noSpace(of: pack, missing: needed.less(free))
    case .cannotWrite: PackError(.cannotWrite, front + "its file could not be written")
    case .forgotten: PackError(.downloadFailed, front + "the system lost it")
    case .refused(let code): PackError(.downloadFailed, front + "the system's download service refused it with \(code)")
    case .cancelled: PackError(.cancelled, "cancelled")
    case .other: PackError(.downloadFailed, front + "the transport gave no reason")
    }
  }

  /// The error of a download that nothing more can be freed for.
  static func noSpace(of pack: String, missing: UInt64) -> PackError {
    PackError(
      .noSpace, "pack '\(pack)' was not downloaded: \(missing) bytes are missing on the volume",
      advice: .freeSpace(bytes: missing))
  }
}

extension PackError {
  /// Whether there was no room for a pack.
  var isLackOfSpace: Bool { code == .noSpace || code == .quotaExceeded }
}
