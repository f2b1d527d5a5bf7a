import PackFiles
public import PackFormat
public import PackManifest

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension ReleaseVerification {
  /// Whether a path leads to a directory: a release, where packs might be meant too.
  public static func isDirectory(_ path: String) -> Bool {
    (try? SystemFiles().status(of: path, in: nil, following: .followed))?.kind == .directory
  }

  /// The configuration at `path`, or where that is nil the one in the working directory, if there is one.
  public static func configuration(at path: String?) throws(PackError) -> PackerConfiguration? {
    guard let path else {
      return exists(PackerConfiguration.defaultPath) ? try PackerConfiguration.read(PackerConfiguration.defaultPath) : nil
    }
    return try PackerConfiguration.read(path)
  }

  /// The directory that a release is in, of the release or its manifest.
  public static func directory(of target: String) -> String {
    isDirectory(target) ? target : PathParts(target)?.directory ?? "."
  }

  /// The lock file at `path`, or where that is nil the one beside the configuration, in the working directory or beside the release, if there
  /// is one.
  public static func lockFile(_ path: String?, beside configuration: PackerConfiguration?, of target: String) -> String? {
    if let path { return path }
    var places = [place(ReleaseLock.fileName, beside: configuration)]
    if let parent = PathParts(directory(of: target))?.directory {
      places.append(parent == "." ? ReleaseLock.fileName : "\(parent)/\(ReleaseLock.fileName)")
    }
    return places.first { exists($0) }
  }

  /// A file or directory beside the configuration, or in the working directory where there is none.
  public static func place(_ name: String, beside configuration: PackerConfiguration?) -> String {
    let directory = configuration?.directory ?? "."
    return directory == "." ? name : "\(directory)/\(name)"
  }

  /// Whether a path leads to anything.
  public static func exists(_ path: String) -> Bool {
    (try? SystemFiles().status(of: path, in: nil, following: .followed)) != nil
  }
}

extension ManifestTime {
  /// The time of the system's clock.
  public static func now() throws(PackError) -> ManifestTime {
    guard let now = ManifestTime(secondsSince1970: Int64(time(nil))) else {
      throw PackError(.internalError, "the system's clock shows a year that does not have four digits")
    }
    return now
  }
}
