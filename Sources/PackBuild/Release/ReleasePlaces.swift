import PackFiles
package import PackFormat
package import PackProject

/// Finds a release, its configuration and its lock file from what a caller named.
package enum ReleasePlaces {
  /// Whether a path leads to a directory: a release, where packs might be meant too.
  package static func isDirectory(_ path: String) -> Bool {
    (try? SystemFiles().status(of: path, in: nil, following: .followed))?.kind == .directory
  }

  /// The configuration at `path`, or where that is nil the one in the working directory, if there is one.
  package static func configuration(at path: String?) throws(PackError) -> PackerConfiguration? {
    guard let path else {
      return exists(PackerConfiguration.defaultPath) ? try PackerConfiguration.read(PackerConfiguration.defaultPath) : nil
    }
    return try PackerConfiguration.read(path)
  }

  /// The directory that a release is in, of the release or its manifest.
  package static func directory(of target: String) -> String {
    isDirectory(target) ? target : PathParts(target)?.directory ?? "."
  }

  /// The lock file at `path`, or where that is nil the one beside the configuration, in the working directory or beside the release, if there
  /// is one.
  package static func lockFile(_ path: String?, beside configuration: PackerConfiguration?, of target: String) -> String? {
    if let path { return path }
    var places = [place(ReleaseFile.lock, beside: configuration)]
    if let parent = PathParts(directory(of: target))?.directory {
      places.append(parent == "." ? ReleaseFile.lock : "\(parent)/\(ReleaseFile.lock)")
    }
    // A link to nothing is told when it is read; a release that was recorded must not pass for one that never was.
    return places.first { (try? SystemFiles().status(of: $0, in: nil, following: .asThemselves)) != nil }
  }

  /// A file or directory beside the configuration, or in the working directory where there is none.
  package static func place(_ name: String, beside configuration: PackerConfiguration?) -> String {
    let directory = configuration?.directory ?? "."
    return directory == "." ? name : "\(directory)/\(name)"
  }

  /// Looks for a release.
  ///
  /// - Parameters:
  ///   - target: its directory or manifest, as the caller named it; where that is nil, the one that a build makes by itself.
  ///   - configuration: what it is built from, where that is known.
  /// - Throws: ``PackError/Code/missingInput`` where it is not there.
  package static func checkPresence(of target: String?, configuration: PackerConfiguration?) throws(PackError) {
    let place = target ?? place(ReleaseFile.folder, beside: configuration)
    let manifest = place.hasSuffix("/") ? "\(place)manifest.json" : "\(place)/manifest.json"
    guard let missing = isMissing(place) ? place : isDirectory(place) && isMissing(manifest) ? manifest : nil else { return }
    let hint =
      target != nil ? "make a release with 'packer build', or name its directory" : configuration == nil ? "packer init" : "packer build"
    throw PackError(.missingInput, of: missing, "does not exist", hint: hint)
  }

  /// Whether a path leads to nothing. What cannot be looked at may be there.
  private static func isMissing(_ path: String) -> Bool {
    do throws(FileFailure) {
      _ = try SystemFiles().status(of: path, in: nil, following: .followed)
      return false
    } catch {
      return error.isMissing
    }
  }

  /// Whether a path leads to anything.
  package static func exists(_ path: String) -> Bool {
    (try? SystemFiles().status(of: path, in: nil, following: .followed)) != nil
  }
}
