package import PackCrypto
package import PackFiles
package import PackFormat
import PackManifest
package import PackProject
package import PackReading

/// Turns a configured project into a release: packs, a signed manifest, and what an app's Info.plist must say of them.
///
/// The same sources, configuration, keys, lock file and fixed time give the same directory, byte for byte, wherever and however often it is built.
/// A pack whose content, key and settings did not change since the build that is found at ``output`` is taken from there.
package struct ReleaseBuild: Sendable {
  /// What to build.
  package var configuration: PackerConfiguration
  /// Where the release goes: `dist` beside the configuration unless it is set. What an earlier build made there is replaced, but only by a whole release.
  package var output: String
  /// The lock file, from which versions follow: the one beside the configuration unless it is set.
  package var lockPath: String
  /// The packs to look at, by id; all where it is empty. The others are taken from the earlier build as they are.
  package var wanted: [String] = []
  /// Whether the manifest gets a new term even if nothing else changed.
  package var renews = false
  /// Whether the packaging manifests for Apple's `ba-package` are made, too.
  package var makesBAPackages = false
  /// Whether nothing is to be made, and only told what would be.
  package var isTrial = false
  /// The number of threads; the processors that are online where it is nil.
  package var jobs: Int?
  /// The time to write into what is made.
  package var time: BuildTime

  package var files: any FileSystem = SystemFiles()
  package var backend: any CryptoBackend = CryptoBackends.standard

  /// A build of all packs, with the settings that suit most.
  package init(_ configuration: PackerConfiguration, time: BuildTime) {
    self.configuration = configuration
    self.time = time
    output = configuration.path(of: ReleaseFile.folder)
    lockPath = configuration.path(of: ReleaseFile.lock)
  }

  /// Builds the release.
  ///
  /// Nothing appears at ``output`` until all of it is whole, checked with the code of a client, and on the disk. On failure, and when the task is cancelled,
  /// what was there before is untouched.
  ///
  /// - Parameters:
  ///   - key: the application key; with `perPackKeys` the root key, from which each pack has its own.
  ///   - signers: the keys to sign the manifest with; at least one, but for a trial run.
  ///   - progress: hears how far reading and packing are, in bytes of content.
  /// - Throws: ``PackError``; where sources cannot be packed, with all that is wrong with any of them in its details.
  package func run(
    key: borrowing PackKey, signers: [ReleaseSigner], progress: ProgressHandler? = nil
  ) async throws(PackError) -> ReleaseBuildReport {
    let packs = configuration.packs.sorted { $0.id.text.utf8.lexicographicallyPrecedes($1.id.text.utf8) }
    try checkWanted(packs)
    try checkSigners(signers)
    try checkPlace(packs)
    let lock = try ReleaseLock.readIfPresent(lockPath, files: files)
    let existing = try ExistingRelease.look(at: output, files: files)
    try checkManifestSize(packs, keyID: "\(key.id)")

    var plans = try await plan(packs, keyIDs: try keyIDs(of: packs, key: key), lock: lock, existing: existing, progress: progress)
    if isTrial { return try trial(plans, existing) }

    let staged = try StagedRelease(output, files: files, backend: backend)
    do throws(PackError) {
      for index in plans.indices where plans[index].made != nil {
        if let problem = try reuse(&plans[index], from: existing, into: staged) {
          plans[index].reason = problem
        }
      }
      try await pack(&plans, key: key, into: staged, progress: progress)
      var items: [ReleaseBuildReport.Item] = []
      var remarks: [ReleaseBuildReport.Remark] = []
      for plan in plans {
        try checkpoint()
        items.append(try item(for: plan, key: key, in: staged))
        if let remark = plan.remark { remarks.append(remark) }
      }
      let release = try finish(
        items, plans, rootKeyID: configuration.perPackKeys ? "\(key.id)" : nil, signers: signers, lock: lock, existing: existing, staged,
        &remarks)
      // Somebody may have put a file there meanwhile, and it would be removed.
      _ = try ExistingRelease.look(at: output, files: files)
      try checkpoint()
      try staged.commit()
      return ReleaseBuildReport(output: output, items: items, release: release, remarks: remarks)
    } catch {
      throw staged.naming(error)
    }
  }

  // MARK: Checks

  private func checkWanted(_ packs: [PackerConfiguration.Pack]) throws(PackError) {
    let known = Set(packs.map(\.id.text))
    for id in wanted where !known.contains(id) {
      throw PackError(
        .usage, of: configuration.path, "has no pack '\(id)'",
        hint: "its packs are \(packs.map(\.id.text).prefix(20).joined(separator: ", "))")
    }
  }

  private func checkSigners(_ signers: [ReleaseSigner]) throws(PackError) {
    guard !signers.isEmpty || isTrial else {
      throw PackError(.noKey, "no signing key was given", hint: "make one with 'packer key new --signing -o release.sign.key'")
    }
    guard Set(signers.map(\.publicKey.id)).count == signers.count else {
      throw PackError(.usage, "a signing key was given twice", hint: "give each key once")
    }
  }

  /// Refuses to make a release inside of what is packed, unless that excludes it: it would be packed itself, and be another one each time.
  private func checkPlace(_ packs: [PackerConfiguration.Pack]) throws(PackError) {
    guard let parts = PathParts(output) else {
      throw PackError(.usage, "'\(output)' names no directory of its own", hint: "give the release a directory, as in -o dist")
    }
    // What does not exist is told where it is needed.
    guard let parent = try? files.canonicalPath(of: parts.directory) else { return }
    for pack in packs {
      guard let root = try? files.canonicalPath(of: pack.root) else { continue }
      let front = Array("\(root == "/" ? "" : root)/".utf8)
      guard parent.utf8.elementsEqual(root.utf8) || parent.utf8.starts(with: front) else { continue }
      let place = String(decoding: "\(parent == "/" ? "" : parent)/\(parts.name)".utf8.dropFirst(front.count), as: UTF8.self)
      guard !DirectoryScan.doesExclude(place, by: pack.excludes) else { continue }
      throw PackError(
        .usage, of: output, "lies inside of \(pack.root), the root of pack '\(pack.id)', and would be packed",
        hint: "choose a directory outside of it with -o, or exclude it from the pack: exclude: [\(JSONString.quoted("/\(place)/"))]")
    }
  }

  func checkpoint() throws(PackError) {
    if Task.isCancelled { throw PackError(.cancelled, "cancelled") }
  }
}

extension PackerConfiguration {
  /// The path of a file beside the configuration, as the process can open it.
  package func path(of name: String) -> String {
    switch directory {
    case ".", "": name
    case "/": "/\(name)"
    default: "\(directory)/\(name)"
    }
  }
}
