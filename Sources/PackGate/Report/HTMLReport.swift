/// The page of `packer report`: one HTML file that shows what a release contains and costs. It loads nothing else.
///
/// Equal inputs give equal bytes. Memory: that of ``FileList`` for one pack at a time, about 100 bytes for each file of 4 KiB or more, and the page.
package struct HTMLReport: Sendable {
  private let release: ComparedRelease
  /// The key of the packs. Without it, their files are not shown.
  package var key: Shared<PackKey>?
  /// The lock file, for the app versions that players use and for the last recorded release.
  package var lock: ReleaseLock?
  /// The folder of recorded releases, for their sizes.
  package var released: ReleasedPacks?
  /// What browsers loaded.
  package var run: LoadRun?
  /// Simulated deliveries.
  package var rehearsals: [RecordedRehearsal] = []
  /// What access logs say.
  package var observations: [RecordedObservation] = []
  /// What would make packs smaller.
  package var advice: [Advice] = []
  /// The version of the program, for the foot of the page.
  package var version = ""

  private let files: any FileSystem

  package init(of release: ComparedRelease, files: any FileSystem = SystemFiles()) {
    (self.release, self.files) = (release, files)
  }

  /// Returns the page.
  ///
  /// A pack that cannot be read is no error: the page says why its files are not shown.
  ///
  /// - Parameters:
  ///   - gate: what `packer verify` found in the release.
  ///   - progress: called after each pack, with the bytes of packs.
  /// - Throws: the error of a record, or ``PackError/Code/cancelled``.
  package func document(_ gate: ReleaseReport, progress: ProgressHandler? = nil) throws(PackError) -> [UInt8] {
    var text = HTMLReportText()
    let packs = try packs(progress)
    text.add("format", .number(1))
    text.add("packer", .text(version))
    text.add("title", .text(release.title))
    text.add("release", facts(files: packs.isWhole ? packs.fileCount : nil))
    text.add("packs", parts: packs.parts)
    text.add("duplicates", .list(duplicates(packs.contents)))
    text.add("budgets", .list(budgets(gate)))
    text.add("history", .list(try history()))
    text.add("updates", .list(gate.downloads.map(\.reportValue)))
    text.add("gate", gate.reportValue)
    text.add("advice", .list(advice.map(\.reportValue)))
    text.add("rehearsals", .list(rehearsals.map(\.reportValue)))
    text.add("observations", .list(observations.map(\.reportValue)))
    text.add("runs", .list((run?.packs ?? []).map(\.reportValue)))
    return text.page(title: release.title)
  }

  private func facts(files: Int?) -> JSON {
    let entries = release.offer?.entries ?? []
    return .sorted([
      "manifest": .number(release.manifestVersion), "manifestSize": .number(release.offer?.manifestSize),
      "issued": .text(release.offer?.issued?.description), "expires": .text(release.offer?.expires.description),
      "files": .number(files),
      "packSize": .number(entries.reduce(0) { $0.adding($1.size) }),
      "firstSize": .number(ReleaseUpdate(from: 0, having: [], to: entries).sizeWithApp),
      "contentSize": .number(entries.reduce(0) { $0.adding($1.contentSize) }),
    ])
  }

  // MARK: Packs

  private struct Packs {
    var parts: [JSON] = []
    var fileCount = 0
    /// Whether the files of all packs are known.
    var isWhole = true
    /// The contents of the packs, with the numbers of their files and the bytes that these take.
    var contents = SharedContents<(file: Int, packed: UInt64)>()
  }

  private func packs(_ progress: ProgressHandler?) throws(PackError) -> Packs {
    let entries = release.offer?.entries ?? []
    let files = Dictionary(release.packs.map { ($0.id, $0) }) { first, _ in first }
    let total = entries.reduce(0 as UInt64) { $0.adding($1.size) }
    var (packs, done) = (Packs(), 0 as UInt64)
    for entry in entries {
      try Task.checkpoint()
      var (list, note): (FileList?, String?) = (nil, nil)
      do throws(PackError) {
        list = try files[entry.id].map { (pack) throws(PackError) in try self.list(pack) } ?? nil
        if list == nil { note = "no key was given" }
      } catch {
        note = error.message
      }
      packs.isWhole = packs.isWhole && list != nil
      if let list {
        packs.fileCount += list.files.count
        for (number, file) in list.files.enumerated() {
          packs.contents.add(file.sha256, size: file.size, in: packs.parts.count, at: (number, file.packedSize ?? 0))
        }
      }
      packs.parts.append(entry.reportValue(list, note))
      done = done.adding(entry.size)
      progress?(PackProgress(phase: .verifying, done: done, total: total))
    }
    return packs
  }

  /// Returns the files of a pack. Returns nil if there is no key.
  private func list(_ pack: ReleaseLock.Pack) throws(PackError) -> FileList? {
    guard let path = release.path(of: pack) else { throw PackError(.missingInput, "its file is missing") }
    guard let pack = try key?.key.open(path, files: files) else { return nil }
    return try FileList(pack, try PackedSizes(pack))
  }

  /// The largest number of contents that are shown.
  private static let mostDuplicates = 200

  /// Returns the contents of several packs, those that waste most first: all that they take beyond the largest copy.
  private func duplicates(_ contents: SharedContents<(file: Int, packed: UInt64)>) -> [JSON] {
    let bases = SharedContents<Void>.bases(of: (release.offer?.entries ?? []).map { ($0.id, $0.basePack) })
    let shared = contents.shared(over: bases).map { _, content in
      let packed = content.places.map(\.place.packed)
      return (content: content, wasted: packed.reduce(0) { $0.adding($1) } - (packed.max() ?? 0))
    }
    let sorted = shared.sorted { left, right in
      let (first, second) = (left.content.places[0], right.content.places[0])
      return left.wasted == right.wasted
        ? (first.pack, first.place.file) < (second.pack, second.place.file) : left.wasted > right.wasted
    }
    return sorted.prefix(Self.mostDuplicates).map { content, wasted in
      let places = content.places.map { JSON.list([.number(UInt64($0.pack)), .number(UInt64($0.place.file))]) }
      return .sorted(["size": .number(content.size), "wasted": .number(wasted), "places": .list(places)])
    }
  }

  // MARK: Sizes

  private func budgets(_ gate: ReleaseReport) -> [JSON] {
    func row(_ key: String, _ needed: UInt64, _ limit: UInt64) -> JSON {
      .sorted([
        "key": .text(key), "needed": .number(needed), "limit": .number(limit), "fits": .flag(ReleaseDemand.fits(needed, in: limit, key)),
      ])
    }
    func budget(_ title: String, _ rows: [JSON]) -> [JSON] {
      rows.isEmpty ? [] : [.sorted(["title": .text(title), "rows": .list(rows)])]
    }
    let plist = gate.budget.compactMap { line in line.allowed.map { row(line.key, line.needed, $0) } }
    let apps = AppRoom.all(lock?.apps ?? [], packs: release.offer?.entries ?? [], manifestSize: release.offer?.manifestSize ?? 0)
    return budget("Info.plist", plist)
      + apps.flatMap { app in budget("app \(app.title)", app.amounts.map { row($0.key, $0.needed, $0.limit) }) }
  }

  /// Returns the sizes of the recorded releases, oldest first, and then of this one.
  private func history() throws(PackError) -> [JSON] {
    var releases: [UInt64: JSON] = [:]
    func add(_ release: ReleaseLock.Release) {
      let packs = release.packs.filter { !$0.isRemoved }
      let sizes = packs.compactMap(\.size)
      guard release.manifestVersion < self.release.manifestVersion, releases[release.manifestVersion] == nil, sizes.count == packs.count
      else { return }
      releases[release.manifestVersion] = point(release.manifestVersion, release.issued, sizes)
    }
    if let last = lock?.released { add(last) }
    try released?.forEachRelease { release in add(release) }
    let now = point(release.manifestVersion, release.offer?.issued, release.packs.compactMap(\.size))
    return releases.sorted { $0.key < $1.key }.map(\.value) + [now]
  }

  private func point(_ manifest: UInt64, _ issued: ManifestTime?, _ sizes: [UInt64]) -> JSON {
    .sorted([
      "manifest": .number(manifest), "issued": .text(issued?.description), "size": .number(sizes.reduce(0) { $0.adding($1) }),
      "packs": .number(UInt64(sizes.count)),
    ])
  }
}
