/// The manifest that replaces the published one when a rollout changes (FORMAT.md §9.11). A value that accesses no file.
package struct RolloutDraft: Sendable {
  /// The next manifest. Its list of packs and its catalogue follow from ``packs``.
  package private(set) var manifest: Manifest
  /// All its packs.
  package private(set) var packs: [ManifestPack]
  /// Whether packs change, and not only who gets them.
  package private(set) var hasOtherPacks = false
  /// What people should know, as texts.
  package private(set) var notes: [String] = []

  package init(_ manifest: Manifest, _ packs: [ManifestPack]) { (self.manifest, self.packs) = (manifest, packs) }

  /// How long a rollout goes on, unless it is said.
  package static let defaultSeconds: UInt64 = 86_400

  // MARK: Start

  /// Offers what is new in a release as the candidates of a new rollout.
  ///
  /// - Parameters:
  ///   - release: The manifest of the release, and all its packs.
  /// - Throws: ``PackError/Code/releaseConflict`` if a rollout under way forbids it, or if a pack differs in what both editions have in common.
  package mutating func start(_ rollout: Rollout, offering release: (manifest: Manifest, packs: [ManifestPack])) throws(PackError) {
    guard release.manifest.defaults.baseURL == manifest.defaults.baseURL else {
      throw Self.refusal("the release is for another address than the published one", hint: "publish it for everybody: packer publish")
    }
    try checkName(rollout.id)
    let before = Dictionary(packs.map { ($0.id, $0) }) { first, _ in first }
    let halted = Set(manifest.rollouts.filter { $0.state == .halted }.map(\.id))
    var next: [ManifestPack] = []
    var candidates: [String] = []
    for pack in release.packs {
      guard let old = before[pack.id] else {
        notes.append("pack '\(pack.id)' is new, so all devices get it")
        next.append(pack)
        continue
      }
      var entry = try Self.merged(old, pack, rollout.id, halted)
      // Over what was withdrawn, there is nothing any more.
      if let candidate = entry.candidate, halted.contains(candidate.rollout) { entry.candidate = nil }
      if entry.candidate?.rollout == rollout.id { candidates.append(pack.id) }
      next.append(entry)
    }
    let ids = Set(release.packs.map(\.id))
    for pack in packs where !ids.contains(pack.id) {
      notes.append("pack '\(pack.id)' is not in the release, and stays until one is published for everybody")
      next.append(pack)
    }
    guard !candidates.isEmpty else {
      throw Self.refusal("no pack of the release differs from the published one", hint: "change it and build it first: packer build")
    }
    notes.append("candidates: \(candidates.joined(separator: ", "))")
    noteNobody(rollout)
    let used = Set(next.compactMap { $0.candidate?.rollout })
    let kept = manifest.rollouts.filter { used.contains($0.id) }
    guard kept.count < Rollout.largestCount else {
      let stopped = kept.count(where: { $0.state == .halted })
      throw Self.refusal(
        "the manifest has \(kept.count) rollouts, \(stopped) of them halted",
        hint: "finish one; halted ones go when their packs are published anew")
    }
    manifest = release.manifest
    manifest.rollouts = (kept + [rollout]).sorted { $0.id.precedes($1.id) }
    packs = next
    hasOtherPacks = true
  }

  /// Throws ``PackError/Code/releaseConflict`` if there is a rollout of that name.
  package func checkName(_ id: String) throws(PackError) {
    guard let rollout = manifest.rollouts.first(where: { $0.id == id }) else { return }
    throw Self.refusal(
      "there is a rollout '\(id)' already: \(rollout.state.rawValue), \(PercentText.text(rollout.share))",
      hint: rollout.state == .halted
        ? "give this one another name" : "go on with it (packer rollout share \(id) 25), or give this one another name")
  }

  /// Returns the entry of a pack that was published before and that a release has.
  private static func merged(
    _ old: ManifestPack, _ new: ManifestPack, _ rollout: String, _ halted: Set<String>
  ) throws(PackError) -> ManifestPack {
    if let candidate = old.candidate, candidate.sha256 == new.sha256 {
      guard !halted.contains(candidate.rollout) else { throw withdrawn(new) }
      return old
    }
    guard new.sha256 != old.sha256 else {
      var entry = new
      entry.candidate = old.candidate
      return entry
    }
    if let candidate = old.candidate, !halted.contains(candidate.rollout) {
      throw refusal(
        "pack '\(new.id)' has a candidate of rollout '\(candidate.rollout)' already, and another one in the release",
        hint: "finish or halt it first: packer rollout finish \(candidate.rollout)")
    }
    guard new.version > max(old.version, old.candidate?.version ?? 0) else {
      throw refusal("pack '\(new.id)' has version \(new.version), which was used before", hint: ReleaseLock.renewal)
    }
    if let what = difference(old, new) {
      throw refusal(
        "pack '\(new.id)' has another \(what) than the published one, which both editions have in common",
        hint: "publish that change for everybody first, then start the rollout")
    }
    var entry = old
    (entry.name, entry.description) = (new.name, new.description)
    entry.candidate = ManifestCandidate(new, in: rollout)
    return entry
  }

  /// Returns what two editions of a pack may not differ in, and do.
  private static func difference(_ old: ManifestPack, _ new: ManifestPack) -> String? {
    let parts: [(String, Bool)] = [
      ("key", old.keyID == new.keyID), ("delivery", old.delivery == new.delivery), ("install mode", old.install == new.install),
      ("list of tags", old.tags == new.tags), ("list of platforms", old.platforms == new.platforms),
      ("language", old.language == new.language && old.languages == new.languages && old.fallbackLanguage == new.fallbackLanguage),
      ("base", old.basePack == new.basePack), ("time of opening", old.opener == nil && new.opener == nil),
    ]
    return parts.first { !$0.1 }?.0
  }

  // MARK: Changes

  /// The time from which on no further device begins.
  package enum Term: Hashable, Sendable {
    case exactly(ManifestTime)
    /// Unless it was later before.
    case atLeast(ManifestTime)

    fileprivate func applied(to before: ManifestTime) -> ManifestTime {
      switch self {
      case .exactly(let time): time
      case .atLeast(let time): max(time, before)
      }
    }
  }

  /// What a rollout becomes.
  package enum Change: Hashable, Sendable {
    case share(UInt64, until: Term)
    case pause
    case resume(until: Term)
    case halt
    /// The candidates become the stable editions, for everybody.
    case finish
  }

  /// Changes a rollout that is under way.
  ///
  /// - Throws: ``PackError/Code/usage`` if there is none of that name, or ``PackError/Code/releaseConflict`` if it is halted, or paused already.
  package mutating func change(_ id: String, _ change: Change) throws(PackError) {
    guard let index = manifest.rollouts.firstIndex(where: { $0.id == id }) else {
      let known = manifest.rollouts.map(\.id)
      throw PackError(
        .usage, "there is no rollout '\(printable(id.utf8))' in manifest \(manifest.version)",
        hint: known.isEmpty ? "packer rollout start begins one" : "there is: \(known.joined(separator: ", "))")
    }
    let state = manifest.rollouts[index].state
    if state == .halted, change == .halt {
      // Perhaps because it was not recorded.
      notes.append("rollout '\(id)' was halted already")
      return
    }
    guard state != .halted else {
      throw Self.refusal(
        "rollout '\(id)' is halted, and its versions are withdrawn for good",
        hint: "mend the packs, so that they get new versions, then: packer build and packer rollout start")
    }
    switch change {
    case .share(let share, let term):
      if share < manifest.rollouts[index].share {
        notes.append("the share falls: devices that run a candidate keep it, and 'packer rollout halt' takes it back")
      }
      manifest.rollouts[index].share = share
      manifest.rollouts[index].until = term.applied(to: manifest.rollouts[index].until)
      noteNobody(manifest.rollouts[index])
      if state == .paused { notes.append("rollout '\(id)' stays paused") }
    case .pause:
      guard state == .running else { throw Self.refusal("rollout '\(id)' is paused already", hint: "packer rollout resume \(id)") }
      manifest.rollouts[index].state = .paused
    case .resume(let term):
      manifest.rollouts[index].state = .running
      manifest.rollouts[index].until = term.applied(to: manifest.rollouts[index].until)
    case .halt: manifest.rollouts[index].state = .halted
    case .finish:
      let rollout = manifest.rollouts.remove(at: index)
      if state == .paused || rollout.share < Rollout.wholeShare {
        notes.append(
          "rollout '\(id)' was \(state == .paused ? "paused" : "running") with \(PercentText.text(rollout.share)) of devices; all others get it at once"
        )
      }
      for (place, pack) in packs.enumerated() where pack.candidate?.rollout == id {
        guard var entry = pack.takingCandidate(manifest.defaults) else { continue }
        entry.stableVersion = nil
        notes.append("pack '\(pack.id)': version \(entry.version) is for everybody, in place of \(pack.version)")
        packs[place] = entry
      }
      hasOtherPacks = true
    }
  }

  // MARK: The next manifest

  /// Lets the manifest be valid until a time, if that is later.
  package mutating func renew(until expires: ManifestTime) { manifest.expires = max(manifest.expires, expires) }

  /// Sets version, times, lists and budget of the next manifest.
  ///
  /// - Parameters:
  ///   - assemble: Returns the shards of the packs of the catalogue.
  ///   - budget: Returns the budget of all packs, once the lists are made.
  package mutating func complete(
    version: UInt64, issued: ManifestTime, assemble: ([ManifestPack]) throws(PackError) -> [Shard],
    budget: (Manifest, [ManifestPack]) throws(PackError) -> InstallBudget
  ) throws(PackError) {
    (manifest.version, manifest.issued) = (version, max(issued, manifest.issued ?? issued))
    guard hasOtherPacks else { return }
    manifest.packs = packs.filter { $0.delivery != .onDemand }
    manifest.catalogue = try assemble(packs.filter { $0.delivery == .onDemand })
    manifest.budget = try budget(manifest, packs)
  }

  /// Says if no device takes the candidates of a rollout.
  private mutating func noteNobody(_ rollout: Rollout) {
    guard rollout.share == 0, rollout.groups.isEmpty else { return }
    notes.append("no device takes the candidates until the share is raised: packer rollout share \(rollout.id) 1")
  }

  static func withdrawn(_ pack: ManifestPack) -> PackError {
    refusal(
      "pack '\(pack.id)' has version \(pack.version), which was a candidate and was halted",
      hint: "change it, so that it gets a version of its own: packer build")
  }

  private static func refusal(_ what: String, hint: String) -> PackError { PackError(.releaseConflict, what, hint: hint) }
}
