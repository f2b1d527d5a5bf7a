/// Resolves the conflicts that a merge of two branches left in the lock file and in the files of app versions.
package struct ReleaseResolution: Sendable {
  /// The lock file.
  package var lockPath: String
  /// The side whose app versions count where both recorded the same one differently. If nil, that is an error.
  package var side: Side?
  /// The sides for single app versions, by their names as in the files: `2.1.0`, `2.1.0@iOS`.
  package var sides: [String: Side]

  package var files: any FileSystem = SystemFiles()

  /// A side of a merge.
  package enum Side: String, Sendable, CaseIterable {
    /// The branch that was checked out.
    case ours
    /// The branch that was merged into it.
    case theirs
  }

  /// Makes a resolution for a lock file.
  package init(lockPath: String, side: Side? = nil, sides: [String: Side] = [:]) {
    self.lockPath = lockPath
    self.side = side
    self.sides = sides
  }

  /// The result of a resolution.
  package struct Report: Sendable {
    /// The contents of the lock file and the app versions.
    package let lock: ReleaseLock
    /// The files that had conflicts, in order.
    package let resolved: [String]
    /// The lock file, and the directory of app versions if there are any: what to commit.
    package let files: [String]
    /// What both sides released under one number, and what else differed.
    package let remarks: [Remark]
  }

  /// Something that the two sides recorded differently.
  package struct Remark: Hashable, Sendable {
    /// The pack or app version; nil for the manifest.
    package let name: String?
    /// Whether both sides released different bytes under the same version.
    package let wentOutTwice: Bool
    /// What differs, as a sentence.
    package let message: String
  }

  /// Replaces the files that have conflict markers. Without any, nothing is changed.
  ///
  /// Of a manifest and of packs the higher version stays. If both sides released different bytes under one version, the next build gives it the next
  /// one, so that no device keeps the wrong bytes.
  ///
  /// - Throws: ``PackError/Code/releaseConflict`` if both sides recorded an app version differently and ``side`` is nil. Nothing is changed then.
  package func run() throws(PackError) -> Report {
    let turn = try RecordingTurn(lockPath, files: files)
    defer { withExtendedLifetime(turn) {} }
    var resolved: [String] = []
    var remarks: [Remark] = []

    var lock: ReleaseLock
    if let sides = try conflict(in: lockPath, { (value) throws(PackError) in try ReleaseLock(value) }) {
      resolved.append(lockPath)
      lock = try merge(sides, &remarks)
    } else {
      lock = try ReleaseLock.readAlone(lockPath, files: files)
    }

    let folder = try ReleaseLock.appsFolder(besides: lockPath)
    for name in try ReleaseLock.appFiles(in: folder, files: files) {
      let path = "\(folder)/\(name)"
      guard let sides = try conflict(in: path, { (value) throws(PackError) in try ReleaseLock.App(value) }) else { continue }
      resolved.append(path)
      let app = try merge(sides, &remarks)
      guard app.fileName == name else {
        throw PackError(.invalidRecord, of: path, "describes app \(app.title), which belongs into \(app.fileName)")
      }
      lock.apps.append(app)
    }
    try lock.readApps(besides: lockPath, except: Set(resolved), files: files)
    for name in sides.keys.sorted() where !lock.apps.contains(where: { $0.stem == name }) {
      throw PackError(.usage, of: lockPath, "has no app '\(name)'", hint: "its apps are \(lock.apps.map(\.stem).joined(separator: ", "))")
    }
    if !resolved.isEmpty { try lock.write(to: lockPath, files: files) }
    return Report(lock: lock, resolved: resolved, files: [lockPath] + (lock.apps.isEmpty ? [] : [folder]), remarks: remarks)
  }

  private struct Sides<Value> {
    let ours: Value
    let theirs: Value
    /// What the markers call them.
    let names: (ours: String, theirs: String)
  }

  /// Returns both sides of a file, or nil if it has no conflict.
  private func conflict<Value>(
    in path: String, _ read: (JSON) throws(PackError) -> Value
  ) throws(PackError) -> Sides<Value>? {
    // A missing file gets its error from the caller.
    guard let bytes = try? files.contents(of: path, limit: RecordFile.largestSize), let conflict = MergeConflict(bytes) else { return nil }
    func side(_ text: [UInt8], _ name: String) throws(PackError) -> Value {
      do throws(PackError) {
        return try read(try JSON(parsing: text))
      } catch {
        throw PackError(
          .unmergedRecord, "\(path): the side \(name) of the merge is not readable: \(error.message)",
          hint: "git checkout --merge \(ShellWord.path(path)), then again packer release resolve")
      }
    }
    return Sides(
      ours: try side(conflict.ours, conflict.names.ours), theirs: try side(conflict.theirs, conflict.names.theirs), names: conflict.names)
  }

  // MARK: The release

  private func merge(_ sides: Sides<ReleaseLock>, _ remarks: inout [Remark]) throws(PackError) -> ReleaseLock {
    let (ours, theirs) = (sides.ours, sides.theirs)
    var lock = ours
    if let left = ours.released, let right = theirs.released {
      lock.released = merge(left, right, &remarks)
    } else {
      lock.released = ours.released ?? theirs.released
    }
    // Lists of app versions in files of version 1.
    for app in theirs.apps {
      guard let index = lock.apps.firstIndex(where: { $0.fileName == app.fileName }) else {
        lock.apps.append(app)
        continue
      }
      lock.apps[index] = try merge(Sides(ours: lock.apps[index], theirs: app, names: sides.names), &remarks)
    }
    lock.hasApps = lock.hasApps || theirs.hasApps
    return lock
  }

  private func merge(
    _ ours: ReleaseLock.Release, _ theirs: ReleaseLock.Release, _ remarks: inout [Remark]
  ) -> ReleaseLock.Release {
    let isOurs = (ours.manifestVersion, ours.issued) >= (theirs.manifestVersion, theirs.issued)
    var (merged, other) = isOurs ? (ours, theirs) : (theirs, ours)
    if merged.signedDigest != other.signedDigest {
      let isTwice = merged.manifestVersion == other.manifestVersion
      let text =
        isTwice
        ? "manifest \(ours.manifestVersion) went out twice: \(Self.origin(ours)) and \(Self.origin(theirs))"
        : "manifest \(ours.manifestVersion), \(Self.origin(ours)), and manifest \(theirs.manifestVersion), \(Self.origin(theirs)), went out"
      remarks.append(Remark(name: nil, wentOutTwice: isTwice, message: text))
      // Whatever is built next gets a version after both.
      merged.contentDigest = ReleaseLock.noContent
    } else if other.isDoubled {
      merged.contentDigest = other.contentDigest
    }
    var packs = Dictionary(uniqueKeysWithValues: other.packs.map { ($0.id, $0) })
    for pack in merged.packs {
      guard let rival = packs[pack.id] else {
        packs[pack.id] = pack
        continue
      }
      packs[pack.id] = Self.merge(pack, rival, &remarks)
    }
    merged.shards = max(merged.shards, other.shards)
    merged.packs = packs.values.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    return merged
  }

  private static func origin(_ release: ReleaseLock.Release) -> String {
    "issued \(release.issued)\(release.recorded.map { " (recorded \($0.summary))" } ?? "")"
  }

  private static func merge(_ pack: ReleaseLock.Pack, _ rival: ReleaseLock.Pack, _ remarks: inout [Remark]) -> ReleaseLock.Pack {
    var merged = pack.version >= rival.version ? pack : rival
    if pack.version != rival.version {
      remarks.append(
        Remark(
          name: pack.id, wentOutTwice: false,
          message:
            "pack '\(pack.id)' went out as version \(min(pack.version, rival.version)) and \(merged.version): \(merged.version) stays"))
    } else if pack.sha256 != rival.sha256 {
      remarks.append(
        Remark(
          name: pack.id, wentOutTwice: true,
          message: "pack '\(pack.id)' version \(pack.version) went out twice: SHA-256 \(pack.sha256.hex.prefix(16))… and "
            + "\(rival.sha256.hex.prefix(16))…; the next build makes version \(pack.version + 1)"))
      merged.contentRoot = ReleaseLock.noContent
    } else {
      merged.isRemoved = pack.isRemoved && rival.isRemoved
      // An earlier merge found it.
      if rival.isDoubled { merged.contentRoot = rival.contentRoot }
    }
    return merged
  }

  // MARK: App versions

  private func merge(_ sides: Sides<ReleaseLock.App>, _ remarks: inout [Remark]) throws(PackError) -> ReleaseLock.App {
    let (ours, theirs) = (sides.ours, sides.theirs)
    var (left, right) = (ours, theirs)
    (left.recorded, right.recorded) = (nil, nil)
    left.follows = Set(ours.follows + theirs.follows).sorted()
    right.follows = left.follows
    left.isRetired = ours.isRetired || theirs.isRetired
    right.isRetired = left.isRetired
    if left == right {
      left.recorded = [ours.recorded, theirs.recorded].compactMap(\.self).min { $0.time < $1.time }
      if ours.isRetired != theirs.isRetired {
        remarks.append(
          Remark(name: ours.title, wentOutTwice: false, message: "app \(ours.title) is retired on one side only: it stays retired"))
      }
      return left
    }
    let differences = Self.differences(left.record, right.record, sides.names)
    guard let side = self.sides[ours.stem] ?? side else {
      throw PackError(
        .releaseConflict, "app \(ours.title) was recorded on both sides with different values: \(differences.joined(separator: "; "))",
        hint: "name the side that players have: packer release resolve --take \(ours.stem)=ours or --take \(ours.stem)=theirs")
    }
    remarks.append(
      Remark(
        name: ours.title, wentOutTwice: true,
        message: "app \(ours.title) was recorded twice: \(differences.joined(separator: "; ")); \(side.rawValue) stays"))
    return side == .ours ? ours : theirs
  }

  private static func differences(_ ours: JSON, _ theirs: JSON, _ names: (ours: String, theirs: String)) -> [String] {
    guard case .object(let left) = ours, case .object(let right) = theirs else { return [] }
    let others = Dictionary(uniqueKeysWithValues: right.map { ($0.key, $0.value) })
    let keys = left.map(\.key) + right.map(\.key).filter { key in !left.contains { $0.key == key } }
    return keys.compactMap { key in
      let (one, other) = (left.first { $0.key == key }?.value, others[key])
      return one == other
        ? nil : "\(key) is \(one?.line ?? "missing") in ours (\(names.ours)) and \(other?.line ?? "missing") in theirs (\(names.theirs))"
    }
  }
}

extension ReleaseResolution.Report {
  package var json: JSON {
    let remarks = remarks.map { remark -> JSON in
      ["name": .text(remark.name), "wentOutTwice": .flag(remark.wentOutTwice), "message": .text(remark.message)]
    }
    return ["type": "resolved", "files": .texts(resolved), "remarks": .list(remarks)]
  }
}
