extension ReleaseLock {
  /// Returns the path of a project's lock file.
  ///
  /// - Parameter configurationPath: the path of the project's `packer.yml`, which is not read.
  package static func path(besides configurationPath: String) throws(PackError) -> String {
    guard let parts = PathParts(configurationPath) else {
      throw PackError(.usage, "'\(configurationPath)' is not the path of a file", hint: "name the configuration, as in -c packer.yml")
    }
    return parts.sibling(ReleaseFile.lock)
  }

  /// The version of the file that this build writes. Version 1, which it also reads, held the app versions as a list.
  private static let fileVersion: UInt64 = 2

  /// Reads a lock file and the app versions beside it. Their collections may be in any order, because people merge the files.
  ///
  /// - Throws: ``PackError/Code/missingInput`` if there is none, ``PackError/Code/invalidRecord`` with the position if this packer cannot read it,
  ///   ``PackError/Code/unmergedRecord`` if a merge left its markers, ``PackError/Code/missingLock`` if all app versions are lost.
  package static func read(_ path: String, files: any FileSystem = SystemFiles()) throws(PackError) -> ReleaseLock {
    var lock = try readAlone(path, files: files)
    try lock.readApps(besides: path, files: files)
    return lock
  }

  /// Reads a lock file, or returns an empty lock if there is none yet.
  ///
  /// - Parameter configuration: the configuration that says whether the file must exist. If nil, it need not.
  /// - Throws: ``PackError/Code/missingLock`` if it must, and does not.
  package static func readIfPresent(
    _ path: String, requiredBy configuration: PackerConfiguration? = nil, files: any FileSystem = SystemFiles()
  ) throws(PackError) -> ReleaseLock {
    do throws(PackError) {
      return try read(path, files: files)
    } catch {
      guard error.code == .missingInput else { throw error }
      guard (try? files.status(of: path, in: nil, following: .asThemselves)) == nil else {
        // If a broken link counted as no lock file, versions would start from 1 again.
        throw PackError(.missingInput, of: path, "is a broken symbolic link", hint: "restore its target, or remove the link")
      }
      guard let configuration, configuration.lock == .required else { return ReleaseLock() }
      throw PackError(
        .missingLock, of: path, "does not exist, but \(configuration.path) says 'lock: required'", hint: recovery(of: path))
    }
  }

  /// Reads a lock file without the app versions beside it.
  static func readAlone(_ path: String, files: any FileSystem) throws(PackError) -> ReleaseLock {
    do throws(PackError) {
      return try RecordFile.read(path, files: files, as: ReleaseLock.init)
    } catch {
      guard error.code == .missingInput, (try? files.status(of: path, in: nil, following: .asThemselves)) == nil,
        let folder = try? appsFolder(besides: path), try !appFiles(in: folder, files: files).isEmpty
      else { throw error }
      throw PackError(
        .missingLock, of: path, "does not exist, but \(folder) beside it holds app versions",
        hint: "git restore \(ShellWord.path(path)), or if it is lost: packer release recover")
    }
  }

  /// Writes the files of app versions that changed, then the lock file if it changed. Each replaces an earlier one atomically. The target of a
  /// symbolic link is replaced. What a killed process left beside these files is removed.
  package func write(to path: String, files: any FileSystem = SystemFiles()) throws(PackError) {
    let document = document
    // An unreadable file must not replace a readable one.
    guard let copy = try? ReleaseLock(JSON(parsing: document)), copy.released == released, copy.hasApps == hasApps else {
      throw PackError(.internalError, of: path, "would not read back as it was written; it was not changed")
    }
    let place = try files.target(of: path)
    // App versions without a lock file would mean that it is lost.
    if !apps.isEmpty, (try? files.status(of: place, in: nil, following: .followed)) == nil {
      try OutputFile.write(ReleaseLock().document, to: place, files: files)
    }
    // The lock file comes last. If that fails, the apps' release is not recorded yet, and recording it again completes both.
    try writeApps(besides: path, files: files)
    try OutputFile.update(place, to: document, files: files)
  }

  /// The bytes of the lock file. Equal locks give equal bytes.
  package var document: [UInt8] {
    JSON.sorted([
      "apps": hasApps ? .flag(true) : nil,
      "released": released?.record,
      "version": .number(Self.fileVersion),
    ]).document
  }

  package init(_ value: JSON) throws(PackError) {
    var fields = try RecordFields(value, "the lock")
    let version = try fields.number("version")
    guard (1...Self.fileVersion).contains(version) else {
      throw PackError(
        .invalidRecord, "the lock has version \(version), but this packer reads versions 1 to \(Self.fileVersion)",
        hint: "use the packer that wrote it, or a newer one")
    }
    self.init()
    if fields.has("released") { released = try Release(try fields.object("released")) }
    // After a merge with a file of version 1, there may be a list in any version.
    if version == 1 || fields.hasList("apps") {
      for item in try fields.list("apps") { apps.append(try App(item)) }
    } else if fields.has("apps") {
      hasApps = try fields.flag("apps")
    }
    try fields.finish()
    try sortApps()
  }

  /// Sorts the app versions.
  ///
  /// - Throws: ``PackError/Code/invalidRecord`` if one is there twice.
  mutating func sortApps() throws(PackError) {
    apps.sort(by: Self.precedes)
    for (left, right) in zip(apps, apps.dropFirst()) where left.version == right.version && left.platform == right.platform {
      throw PackError(.invalidRecord, "app \(left.title) is recorded twice", hint: "keep the correct one")
    }
    for (number, app) in apps.enumerated() {
      guard let other = apps[..<number].first(where: { $0.fileName.lowercased() == app.fileName.lowercased() }) else { continue }
      throw PackError(
        .invalidRecord, "apps \(other.title) and \(app.title) differ only in case, and many file systems do not tell their files apart",
        hint: "rename the version that players do not have")
    }
    if !apps.isEmpty { hasApps = true }
  }

  /// The order of the apps in the file: by version, then by platform.
  static func precedes(_ left: App, _ right: App) -> Bool {
    left.version == right.version
      ? (left.platform ?? "").utf8.lexicographicallyPrecedes((right.platform ?? "").utf8) : isLower(left.version, right.version)
  }

  /// Whether a version is lower than another one. Parts that are numbers are compared as numbers, so that 2.9 is lower than 2.10.
  package static func isLower(_ left: String, _ right: String) -> Bool {
    let (lefts, rights) = (
      left.split(separator: ".", omittingEmptySubsequences: false), right.split(separator: ".", omittingEmptySubsequences: false)
    )
    for (left, right) in zip(lefts, rights) where left != right {
      switch (UInt64(left), UInt64(right)) {
      case (let left?, let right?): if left != right { return left < right }
      case (nil, nil): return left.utf8.lexicographicallyPrecedes(right.utf8)
      // A part that is not a number follows every number, so that the order is total: 1.9, 1.10, 1.1a.
      case (let left, _): return left != nil
      }
    }
    if lefts.count != rights.count { return lefts.count < rights.count }
    return left.utf8.lexicographicallyPrecedes(right.utf8)
  }
}

extension ReleaseLock.Release {
  fileprivate init(_ value: JSON) throws(PackError) {
    var fields = try RecordFields(value, "'released'")
    self.init(
      manifestVersion: try fields.number("manifestVersion"), signedDigest: try fields.bytes("signedDigest", count: 32),
      contentDigest: try fields.bytes("contentDigest", count: 32), issued: try fields.time("issued"),
      expires: try fields.time("expires"), packs: [])
    for item in try fields.list("packs") { packs.append(try ReleaseLock.Pack(item)) }
    if fields.has("rootKeyID") { rootKeyID = try fields.keyID("rootKeyID") }
    if fields.has("recorded") { recorded = try RecordOrigin(try fields.object("recorded")) }
    if fields.has("shards") {
      let number = try fields.number("shards")
      guard (2...1 << UInt64(Shard.mostBits)).contains(number), number & (number - 1) == 0 else {
        throw PackError(.invalidRecord, "'shards' is \(number), not a power of two from 2 to \(1 << Shard.mostBits)")
      }
      shards = Int(number)
    }
    try fields.finish()
    packs.sort { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    for (left, right) in zip(packs, packs.dropFirst()) where left.id == right.id {
      throw PackError(.invalidRecord, "pack '\(left.id)' is recorded twice", hint: "keep the line with the higher version")
    }
  }

  var record: JSON {
    .sorted([
      "contentDigest": .text(contentDigest.hex), "expires": .text(expires.description), "issued": .text(issued.description),
      "manifestVersion": .number(manifestVersion),
      "packs": .list(packs.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }.map(\.record)),
      "recorded": recorded?.record,
      "rootKeyID": .text(rootKeyID),
      "shards": shards > 1 ? .number(shards) : nil,
      "signedDigest": .text(signedDigest.hex),
    ])
  }
}

extension ReleaseLock.Pack {
  fileprivate init(_ value: JSON) throws(PackError) {
    var fields = try RecordFields(value, "a pack")
    self.init(
      id: try fields.packName("id"), version: try fields.number("version"), sha256: try fields.bytes("sha256", count: 32),
      contentRoot: try fields.bytes("contentRoot", count: 32), keyID: try fields.keyID("keyID"), settings: try fields.text("settings"),
      created: try fields.time("created"))
    if fields.has("size") { size = try fields.number("size") }
    if fields.has("install") {
      let text = try fields.text("install")
      guard let mode = InstallMode(rawValue: text) else {
        throw PackError(.invalidRecord, "'install' is '\(text)', not unpacked or packed")
      }
      install = mode
    }
    if fields.has("removed") { isRemoved = try fields.flag("removed") }
    if fields.has("standing") {
      let text = try fields.text("standing")
      guard let value = Standing(rawValue: text) else {
        throw PackError(.invalidRecord, "'standing' is '\(text)', not candidate or withdrawn")
      }
      standing = value
    }
    try fields.finish()
  }

  fileprivate var record: JSON {
    // The id comes first, because people search for it.
    [
      "id": .text(id), "version": .number(version), "size": .number(size), "contentRoot": .text(contentRoot.hex),
      "created": .text(created.description), "keyID": .text(keyID), "settings": .text(settings), "sha256": .text(sha256.hex),
      "install": .text(install?.rawValue), "removed": isRemoved ? true : nil,
      "standing": .text(standing?.rawValue),
    ]
  }
}

extension ReleaseLock.App {
  package init(_ value: JSON) throws(PackError) {
    var fields = try RecordFields(value, "an app")
    self.init(
      version: try fields.text("version"), platform: fields.has("platform") ? try fields.text("platform") : nil,
      budget: fields.has("budget") ? try fields.budget("budget") : nil,
      hosts: fields.has("hosts") ? try fields.texts("hosts") : nil,
      manifestURL: fields.has("manifestURL") ? try fields.text("manifestURL") : nil, trustedKeys: try fields.texts("trustedKeys"),
      keyIDs: try fields.texts("keyIDs"),
      format: try fields.text("format"), firstManifest: try fields.number("firstManifest"))
    guard Self.isVersion(version) else { throw PackError(.invalidRecord, "'\(version)' is not an app version") }
    if let platform, !Self.isVersion(platform) {
      throw PackError(.invalidRecord, "'\(platform)' is not a platform")
    }
    if fields.has("follows") { follows = try fields.texts("follows") }
    if fields.has("keysVersion") { keysVersion = try fields.number("keysVersion") }
    if fields.has("retired") { isRetired = try fields.flag("retired") }
    if fields.has("recorded") { recorded = try RecordOrigin(try fields.object("recorded")) }
    try fields.finish()
  }

  package var record: JSON {
    [
      "version": .text(version), "platform": .text(platform), "budget": budget?.record, "firstManifest": .number(firstManifest),
      "follows": follows.isEmpty ? nil : .texts(follows), "format": .text(format), "hosts": hosts.map(JSON.texts),
      "keyIDs": .texts(keyIDs), "keysVersion": .number(keysVersion), "manifestURL": .text(manifestURL),
      "trustedKeys": .texts(trustedKeys), "recorded": recorded?.record, "retired": isRetired ? true : nil,
    ]
  }
}

// MARK: - For programs

extension ReleaseLock.Pack {
  package var json: JSON {
    [
      "type": "pack", "id": .text(id), "version": .number(version), "size": .number(size), "sha256": .text(sha256.hex),
      "contentRoot": .text(contentRoot.hex), "keyID": .text(keyID), "isRemoved": .flag(isRemoved),
    ]
  }
}

extension ReleaseLock.App {
  package var json: JSON {
    [
      "type": "app", "version": .text(version), "platform": .text(platform), "budget": budget?.record, "hosts": hosts.map(JSON.texts),
      "manifestURL": .text(manifestURL), "trustedKeys": .texts(trustedKeys), "keyIDs": .texts(keyIDs), "format": .text(format),
      "firstManifest": .number(firstManifest), "isRetired": .flag(isRetired), "recorded": .text(recorded?.summary),
    ]
  }
}
