/// Finds a release, its configuration and its lock file from the paths that a caller gave.
package enum ReleasePlaces {
  /// Whether a path leads to a directory. Commands that also take packs treat a directory as a release.
  package static func isDirectory(_ path: String) -> Bool {
    (try? SystemFiles().status(of: path, in: nil, following: .followed))?.kind == .directory
  }

  /// Whether a path names a release: its directory or its manifest.
  package static func isReleasePath(_ path: String) -> Bool { path.hasSuffix(".json") || isDirectory(path) }

  /// Whether a path has the ending of a configuration.
  package static func isConfigurationPath(_ path: String) -> Bool { path.hasSuffix(".yml") || path.hasSuffix(".yaml") }

  /// Reads the configuration at `path`. If `path` is nil, reads the one in the working directory, or returns nil if there is none. The directories that it
  /// names need not exist. Throws if there is only a packer.yaml, which would be passed over.
  package static func configuration(at path: String?) throws(PackError) -> PackerConfiguration? {
    let place = path ?? PackerConfiguration.defaultPath
    guard path != nil || exists(place) || PackerConfiguration.otherSpelling(of: place) != nil else { return nil }
    return try PackerConfiguration.read(place, sources: .optional)
  }

  /// Returns the path of a configuration in the directory above a release or a pack; nil if there is none.
  package static func configuration(above target: String) -> String? {
    let release = directory(of: target)
    let parent = PathParts(release)?.directory ?? "\(release)/.."
    let path = [".", "./.."].contains(parent) ? (parent == "." ? "" : "../") : parent == "/" ? "/" : "\(parent)/"
    return exists(path + PackerConfiguration.defaultPath) ? path + PackerConfiguration.defaultPath : nil
  }

  /// Returns the configuration above a pack; nil if there is none that can be read.
  package static func configuration(besides pack: String) -> PackerConfiguration? {
    configuration(above: pack).flatMap { try? PackerConfiguration.read($0, sources: .optional) }
  }

  /// Whether the configuration above a pack allows unportable paths for the pack with this id.
  package static func allowsUnportablePaths(_ pack: String, id: [UInt8]) -> Bool {
    (configuration(besides: pack)?.packs ?? []).contains { $0.settings.allowsUnportablePaths && (try? PackID.bytes(for: $0.id)) == id }
  }

  /// Returns the directory of a release.
  ///
  /// - Parameter target: the path of the directory or of the manifest in it.
  package static func directory(of target: String) -> String {
    isDirectory(target) ? target : PathParts(target)?.directory ?? "."
  }

  /// Returns `path`, or if that is nil the lock file beside the configuration (in the working directory without one) or beside the release. Returns
  /// nil if there is no lock file.
  package static func lockFile(_ path: String?, beside configuration: PackerConfiguration?, of target: String) -> String? {
    if let path { return path }
    var places = [place(ReleaseFile.lock, beside: configuration)]
    if let parent = PathParts(directory(of: target))?.directory {
      places.append(parent == "." ? ReleaseFile.lock : "\(parent)/\(ReleaseFile.lock)")
    }
    // A broken link counts as present and fails when it is read: a recorded release must not be taken for one that was never recorded.
    func exists(_ path: String) -> Bool { (try? SystemFiles().status(of: path, in: nil, following: .asThemselves)) != nil }
    return places.first { path in exists(path) || (try? ReleaseLock.appsFolder(besides: path)).map(exists) == true }
  }

  /// Returns the path of a file or directory beside the configuration, or in the working directory if there is no configuration.
  package static func place(_ name: String, beside configuration: PackerConfiguration?) -> String {
    let directory = configuration?.directory ?? "."
    return directory == "." ? name : "\(directory)/\(name)"
  }

  /// Checks that a release exists.
  ///
  /// - Parameters:
  ///   - target: its directory or manifest, as the caller named it. If nil, the directory that a build uses by default.
  ///   - configuration: the configuration it is built from, if known.
  /// - Throws: ``PackError/Code/missingInput`` if it does not exist.
  package static func checkPresence(of target: String?, configuration: PackerConfiguration?) throws(PackError) {
    func isMissing(_ path: String) -> Bool { SystemFiles().isMissing(path, following: .followed) }
    let place = target ?? place(ReleaseFile.folder, beside: configuration)
    let manifest = place.hasSuffix("/") ? "\(place)manifest.json" : "\(place)/manifest.json"
    guard let missing = isMissing(place) ? place : isDirectory(place) && isMissing(manifest) ? manifest : nil else { return }
    let hint =
      target != nil ? "make a release with 'packer build', or name its directory" : configuration == nil ? "packer init" : "packer build"
    throw PackError(.missingInput, of: missing, "does not exist", hint: hint)
  }

  /// Whether a path leads to anything.
  package static func exists(_ path: String) -> Bool {
    (try? SystemFiles().status(of: path, in: nil, following: .followed)) != nil
  }
}
