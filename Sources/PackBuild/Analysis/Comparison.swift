/// Compares two releases, packs or trees, in any mix.
///
/// Packs that did not change are not opened. Memory: that of ``FileList`` for both editions of one pack at a time, and about 600 bytes and both paths for
/// each path that differs.
package struct Comparison: Sendable {
  /// One of the two sides.
  package enum Side: Sendable {
    /// A directory with files.
    case folder(String)
    /// An open pack, and its path.
    case pack(Pack, path: String)
    /// The directories that a configuration packs.
    case sources(PackerConfiguration)
    case release(ComparedRelease)

    var title: String {
      switch self {
      case .folder(let path), .pack(_, let path): path
      case .sources(let configuration): "the sources of \(configuration.path)"
      case .release(let release): release.title
      }
    }
  }

  private let before: Side
  private let after: Side
  private let key: Shared<PackKey>?
  private let files: any FileSystem
  /// The number of threads that read directories.
  package var jobs = 1
  /// Which paths of directories are left out, as `packer pack` takes them. Configurations have their own.
  package var excludes: [String] = []
  package var followsSymlinks = false
  /// The releases that players may have.
  package var history: ReleaseHistory?
  /// The app versions that players use.
  package var apps: [ReleaseLock.App] = []

  /// - Parameter key: the key of the packs of releases. Without it, their files are not compared.
  package init(from before: Side, to after: Side, key: Shared<PackKey>?, files: any FileSystem = SystemFiles()) {
    (self.before, self.after, self.key, self.files) = (before, after, key, files)
  }

  /// Compares both sides.
  ///
  /// A pack of a release that is missing is no error, nor is an earlier one with another key: the report says why its files are not compared.
  ///
  /// - Throws: the error of a directory, of a pack, or of a record; ``PackError/Code/usage`` if the sides have nothing in common.
  package func run(progress: ProgressHandler? = nil) async throws(PackError) -> DifferenceReport {
    let update = update
    let updates = Dictionary((update?.packs ?? []).map { ($0.id, $0) }) { first, _ in first }
    var packs: [PackDifference] = []
    for pair in try pairs() {
      try Task.checkpoint()
      packs.append(try await compare(pair, pair.after?.id.flatMap { updates[$0] }, progress: progress))
    }
    packs = packs.enumerated().sorted { left, right in
      let ranks = (Self.rank(left.element.kind), Self.rank(right.element.kind))
      guard ranks.0 == ranks.1 else { return ranks.0 < ranks.1 }
      return (right.element.cost, left.offset) < (left.element.cost, right.offset)
    }.map(\.element)
    var room: [AppRoom] = []
    if let offer { room = AppRoom.all(apps, packs: offer.entries, manifestSize: offer.manifestSize) }
    var isOutOfOrder = false
    if case .release(let old) = before, case .release(let new) = after, new.offer != nil {
      isOutOfOrder = new.manifestVersion < old.manifestVersion
    }
    return DifferenceReport(
      before: before.title, after: after.title, packs: packs, downloads: try downloads(update), room: room, isOutOfOrder: isOutOfOrder)
  }

  /// What players download comes first, then what they lose, then what stays.
  private static func rank(_ kind: PackDifference.Kind) -> Int {
    switch kind {
    case .added, .changed, .repacked: 0
    case .removed: 1
    case .unchanged: 2
    }
  }

  // MARK: Downloads

  private var offer: ComparedRelease.Offer? { if case .release(let release) = after { release.offer } else { nil } }

  /// What players with the release before download. Nil if one side is no release.
  private var update: ReleaseUpdate? {
    guard case .release(let old) = before, let offer else { return nil }
    return ReleaseUpdate(from: old.manifestVersion, having: old.packs, to: offer.entries)
  }

  /// Returns what players of the release before, and of all others that they may have, download.
  private func downloads(_ first: ReleaseUpdate?) throws(PackError) -> [ReleaseUpdate] {
    guard let offer, case .release(let new) = after else { return [] }
    var updates = first.map { [$0] } ?? []
    for update in try history?.updates(to: offer.entries) ?? []
    where update.manifest < new.manifestVersion && !updates.contains(update) {
      updates.append(update)
    }
    return updates.filter { !$0.packs.isEmpty }.enumerated().sorted { ($1.element.manifest, $0.offset) < ($0.element.manifest, $1.offset) }
      .map(\.element)
  }

  // MARK: Pairs

  /// A tree that can be compared with another one.
  private struct Member {
    enum Content {
      case folder(String, excludes: [String], followsSymlinks: Bool)
      case pack(Pack)
      /// A pack of a release.
      case file(ReleaseLock.Pack, of: ComparedRelease)
    }

    /// The name of the pack; nil if the tree has none.
    var id: String?
    let content: Content
    var entry: ManifestPack?

    var isFolder: Bool { if case .folder = content { true } else { false } }
    var released: ReleaseLock.Pack? { if case .file(let pack, _) = content { pack } else { nil } }

    var edition: PackDifference.Edition {
      switch content {
      case .folder: PackDifference.Edition(version: nil, packSize: nil, delivery: nil)
      case .pack(let pack): PackDifference.Edition(version: pack.header.packVersion, packSize: pack.layout.packSize, delivery: nil)
      case .file(let pack, _): PackDifference.Edition(version: pack.version, packSize: pack.size, delivery: entry?.delivery)
      }
    }
  }

  private typealias Pair = (before: Member?, after: Member?)

  private func pairs() throws(PackError) -> [Pair] {
    let old = try members(of: before)
    let new = try members(of: after)
    switch (old, new) {
    case (nil, nil): return [(single(before), single(after))]
    case (let old?, let new?): return Self.pairs(old, new)
    case (let old?, nil): return try pairs(old, with: after).map { ($0.many, $0.other) }
    case (nil, let new?): return try pairs(new, with: before).map { ($0.other, $0.many) }
    }
  }

  /// Returns the packs of a side that has several; nil for a single tree.
  private func members(of side: Side) throws(PackError) -> [Member]? {
    switch side {
    case .folder, .pack: return nil
    case .sources(let configuration):
      return configuration.packs.map { pack in
        let content = Member.Content.folder(pack.root, excludes: pack.settings.excludes, followsSymlinks: pack.settings.followsSymlinks)
        return Member(id: pack.id.text, content: content)
      }
    case .release(let release):
      let entries = Dictionary((release.offer?.entries ?? []).map { ($0.id, $0) }) { first, _ in first }
      return release.packs.map { Member(id: $0.id, content: .file($0, of: release), entry: entries[$0.id]) }
    }
  }

  private func single(_ side: Side) -> Member? {
    switch side {
    case .folder(let path): Member(content: .folder(path, excludes: excludes, followsSymlinks: followsSymlinks))
    case .pack(let pack, _): Member(content: .pack(pack))
    case .sources, .release: nil
    }
  }

  /// Pairs packs by their names.
  private static func pairs(_ old: [Member], _ new: [Member]) -> [Pair] {
    let known = Dictionary(new.map { ($0.id, $0) }) { first, _ in first }
    let names = Set(old.map(\.id))
    return old.map { ($0, known[$0.id]) } + new.filter { !names.contains($0.id) }.map { (nil, $0) }
  }

  /// Pairs packs with a single tree: a pack with the one of its name, a directory with the only one, or its directories with those of their names.
  private func pairs(_ many: [Member], with side: Side) throws(PackError) -> [(many: Member?, other: Member?)] {
    guard let other = single(side) else { return [] }
    if case .pack(let pack) = other.content {
      for member in many {
        guard let name = try? PackName(member.id ?? ""), try PackID.bytes(for: name) == pack.header.packID else { continue }
        return [(member, Member(id: member.id, content: other.content))]
      }
      throw PackError(
        .usage, of: side.title, "was made under a name that no pack of the other side has", hint: "name the pack to compare it with")
    }
    if many.count == 1 { return [(many[0], Member(id: many[0].id, content: other.content))] }
    let ids = Set(many.map(\.id))
    let inner = try directories(in: side.title).map { name in
      Member(id: name, content: .folder("\(side.title)/\(name)", excludes: excludes, followsSymlinks: followsSymlinks))
    }
    guard inner.contains(where: { ids.contains($0.id) }) else {
      if try files.names(at: side.title).contains(where: { $0.hasSuffix(".pack") }) {
        throw PackError(
          .missingInput, of: "\(side.title)/\(ReleaseFile.manifest)", "does not exist",
          hint: "name a release, or one of the packs in \(side.title)")
      }
      throw PackError(
        .usage, of: side.title, "has no directory with the name of a pack, and the other side has \(many.count) packs",
        hint: "name the pack to compare it with")
    }
    return Self.pairs(many, inner).map { ($0.before, $0.after) }
  }

  private func directories(in path: String) throws(PackError) -> [String] {
    try files.names(at: path).filter { name in
      (try? files.status(of: "\(path)/\(name)", in: nil, following: .asThemselves))?.kind == .directory && SourceRules.junk(name) == nil
    }.sorted { $0.precedes($1) }
  }

  // MARK: One pair

  /// - Parameter update: what players with the release before download of it.
  private func compare(
    _ pair: Pair, _ update: ReleaseUpdate.Pack?, progress: ProgressHandler?
  ) async throws(PackError) -> PackDifference {
    func difference(
      _ kind: PackDifference.Kind, _ files: TreeChanges? = nil, obstacle: String? = nil, packRest: UInt64? = nil, costs: Costs? = nil
    ) -> PackDifference {
      PackDifference(
        id: pair.after?.id ?? pair.before?.id, kind: kind, before: pair.before?.edition, after: pair.after?.edition, files: files,
        obstacle: obstacle, update: update, updateObstacle: costs?.obstacle, packRest: packRest, updateRest: costs?.rest)
    }
    if let old = pair.before?.released, let new = pair.after?.released, old.contentRoot == new.contentRoot {
      return difference(old.sha256 == new.sha256 ? .unchanged : .repacked)
    }
    let kind: PackDifference.Kind = pair.before == nil ? .added : pair.after == nil ? .removed : .changed
    var (old, new) = (Tree(), Tree())
    // Directories first, because their content root may say that a pack need not be opened.
    if pair.before?.isFolder ?? true { old = try await tree(pair.before, progress: progress) }
    if pair.after?.isFolder ?? true { new = try await tree(pair.after, isAfter: true, progress: progress) }
    if kind == .changed, let root = (pair.before?.released ?? pair.after?.released)?.contentRoot, let list = old.list ?? new.list,
      try list.contentRoot() == root
    {
      return difference(.unchanged)
    }
    if pair.after?.isFolder == false { new = try await tree(pair.after, isAfter: true, progress: progress) }
    if pair.before?.isFolder == false {
      do throws(PackError) {
        old = try await tree(pair.before, progress: progress)
      } catch {
        // Keys change from release to release, and one is given.
        guard error.code == .wrongKey || error.code == .notWrapped, let released = pair.before?.released else { throw error }
        return difference(kind, obstacle: "version \(released.version) was made with another key, \(released.keyID)")
      }
    }
    guard let before = old.list, let after = new.list else { return difference(kind, obstacle: old.obstacle ?? new.obstacle) }
    let costs = try costs(of: update, pair, old.pack, after)
    let changes = TreeChanges(from: before, to: after, updates: costs?.sizes)
    let isSame = kind == .changed && changes.changes.isEmpty
    return difference(isSame ? .unchanged : kind, changes, packRest: after.restSize, costs: costs)
  }

  /// A tree that was read.
  private struct Tree {
    /// Nil if it cannot be read.
    var list: FileList?
    var pack: Pack?
    var obstacle: String?
  }

  /// - Parameter isAfter: whether it is the side after, of which it is shown what files take in the pack.
  private func tree(_ member: Member?, isAfter: Bool = false, progress: ProgressHandler?) async throws(PackError) -> Tree {
    switch member?.content {
    case nil: return Tree(list: .empty)
    case .folder(let path, let excludes, let followsSymlinks):
      return Tree(
        list: try await FileList(
          of: path, excludes: excludes, followsSymlinks: followsSymlinks, jobs: jobs, files: files, progress: progress))
    case .pack(let pack): return try Self.tree(pack, isAfter: isAfter)
    case .file(let released, let release):
      guard !released.isDoubled else {
        return Tree(obstacle: "two branches released different content as version \(released.version)")
      }
      guard let path = release.path(of: released) else {
        return Tree(obstacle: "\(ManifestPack.publishedName(released.id, released.sha256)) is missing")
      }
      guard let pack = try key?.key.open(path, files: files) else { return Tree(obstacle: "no key was given") }
      guard pack.contentRoot == released.contentRoot else {
        throw PackError(
          .wrongPack, of: path, "has other content than the release says", hint: "bring the file back, or build the release again")
      }
      return try Self.tree(pack, isAfter: isAfter)
    }
  }

  private static func tree(_ pack: Pack, isAfter: Bool) throws(PackError) -> Tree {
    Tree(list: try FileList(pack, isAfter ? PackedSizes(pack) : nil), pack: pack)
  }

  /// What players download of each file.
  private struct Costs {
    /// The bytes for each file of the pack after.
    var sizes: [UInt64]?
    /// The bytes that belong to no file.
    var rest: UInt64?
    /// Why they are not known.
    var obstacle: String?
  }

  /// Returns what players download of each file; nil if they download nothing.
  private func costs(of update: ReleaseUpdate.Pack?, _ pair: Pair, _ base: Pack?, _ after: FileList) throws(PackError) -> Costs? {
    guard let update, case .release(let release) = self.after else { return nil }
    guard update.isDelta else { return Costs(sizes: after.items.map { $0.packedSize ?? 0 }, rest: after.restSize) }
    let delta = (offer?.entries.first { $0.id == update.id }?.deltas ?? []).first { delta in
      delta.size == update.size && delta.bases == [base?.contentRoot ?? []]
    }
    guard let delta, let base, let new = pair.after?.released else { return Costs(obstacle: "the delta is for another pack") }
    let name = ManifestPack.publishedName(update.id, delta.sha256)
    guard let path = release.path(of: delta, to: update.id) else { return Costs(obstacle: "\(name) is missing") }
    do throws(PackError) {
      guard let opened = try key?.key.openDelta(path, files: files) else { return nil }
      guard opened.head.target == new.contentRoot, opened.source.layout.packSize == delta.size else {
        return Costs(obstacle: "\(name) is another delta")
      }
      let packed = PackedSizes(try DeltaApplication(opened, over: [base]))
      guard packed.sizes.count == after.items.count else { return Costs(obstacle: "\(name) is another delta") }
      return Costs(sizes: packed.sizes, rest: packed.rest)
    } catch {
      // Damage of a delta is a finding of the gate, and devices download the full pack then.
      guard error.code != .cancelled else { throw error }
      return Costs(obstacle: error.message)
    }
  }
}
