extension SharedState {
  /// The path of the directory in which app and extension keep pages.
  package var pagesPath: String { Self.pagesPath(in: directory.path) }

  /// The same for a state that is not open yet.
  package static func pagesPath(in directory: String) -> String { "\(directory)/pages" }

  /// What the files of the state are reached by.
  package var files: any FileSystem { directory.files }

  /// Takes the pages that arrived, and returns the packs in pages that are found with them: those of the records, and those with the given ids.
  package func packs(of manifest: Manifest, for ids: Set<String>, pages: any ManifestPages) throws(PackError) -> [ManifestPack] {
    var content = try content()
    return try lookup(for: manifest, DeliveryFacts(.launch, at: time, asked: ids), &content, pages).packs
  }

  /// Looks up the packs that a plan is about, after it has taken the pages that arrived.
  ///
  /// The number of pages that are opened depends on the packs that are on the device, that are to come there, or that are asked for, and not on the
  /// number of packs that there are.
  ///
  /// - Parameter content: is read again if pages were taken.
  func lookup(
    for manifest: Manifest, _ facts: DeliveryFacts, _ content: inout Content, _ pages: (any ManifestPages)?
  ) throws(PackError) -> PageLookup {
    var lookup = try packLookup(for: manifest, facts, &content, pages)
    guard let pages, manifest.pages.contains(where: { $0.kind == .updates }) else { return lookup }
    let ids = updated(manifest.packs + lookup.packs, facts, content)
    guard !ids.isEmpty else { return lookup }
    lookup.updates = try pages.updates(to: ids, in: manifest)
    for _ in 0..<2 where !content.files.isEmpty {
      guard try take(lookup.updates.missing, of: content.files, pages) else { break }
      content = try self.content()
      lookup.updates = try pages.updates(to: ids, in: manifest)
    }
    if let refusal = lookup.updates.refusal { logger.record(.error, .delivery, "page refused", .error(refusal)) }
    return lookup
  }

  /// Returns those of the offered packs that are to be updated, and of which the device has a version over which a delta can be read, or which are
  /// deltas over other packs.
  private func updated(_ packs: [ManifestPack], _ facts: DeliveryFacts, _ content: Content) -> [String] {
    let files = Dictionary(content.files.map { ($0.identifier, $0.size) }) { first, _ in first }
    var bases: Set<String> = []
    // The bytes that are here, or come as full packs.
    var settled: [String: Set<[UInt8]>] = [:]
    var wanted = facts.asked
    for record in content.records {
      if record.base != nil { bases.insert(record.id) }
      if record.isWanted { wanted.insert(record.id) }
      let isLost = record.state.isUnderWay && facts.downloads?.contains(record.identifier.description) == false
      let isComing =
        record.state.isUnderWay && !isLost || record.state == .installing
        || record.state == .toBeTransferred && files[record.identifier] == record.file.size
      let isHere = record.state == .ready && facts.device == nil
      if isComing && record.delta == nil || isHere || record.fallback != nil { settled[record.id, default: []].insert(record.bytes.sha256) }
    }
    for held in facts.device ?? [] where !held.isRejected {
      if held.room > 0 { bases.insert(held.id) }
      settled[held.id, default: []].insert(held.sha256)
    }
    return packs.filter { pack in
      (bases.contains(pack.id) || pack.basePack != nil) && settled[pack.id]?.contains(pack.sha256) != true && facts.isForDevice(pack)
        && (pack.delivery != .onDemand || wanted.contains(pack.id))
    }.map(\.id)
  }

  private func packLookup(
    for manifest: Manifest, _ facts: DeliveryFacts, _ content: inout Content, _ pages: (any ManifestPages)?
  ) throws(PackError) -> PageLookup {
    var lookup = PageLookup()
    guard manifest.pages.contains(where: { $0.kind == .packs }) else { return lookup }
    var wanted = facts.asked
    for pack in facts.device ?? [] where !pack.isRejected { wanted.insert(pack.id) }
    for record in content.records where !record.isIdle { wanted.insert(record.id) }
    for file in content.files { wanted.insert(file.identifier.id) }
    wanted = wanted.filter { !DeliveryName.isPage($0) }.subtracting(manifest.packs.map(\.id))
    guard let pages else {
      lookup.unknown = wanted
      return lookup
    }
    let listed = Set(manifest.packs.map(\.id))
    lookup = try pages.lookup(Array(wanted), in: manifest)
    // An index page leads to a page, a page to packs, and a pack to its base.
    for _ in 0..<4 {
      let bases = Set((manifest.packs + lookup.packs).compactMap(\.basePack)).subtracting(listed).subtracting(wanted)
      wanted.formUnion(bases)
      let isTaken = content.files.isEmpty ? false : try take(lookup.missing, of: content.files, pages)
      guard isTaken || !bases.isEmpty else { break }
      content = try self.content()
      lookup = try pages.lookup(Array(wanted), in: manifest)
    }
    if let refusal = lookup.refusal { logger.record(.error, .delivery, "page refused", .error(refusal)) }
    return lookup
  }

  /// Checks and keeps pages that arrived. The download of one that is not the right file counts as failed.
  ///
  /// - Returns: whether there were any.
  private func take(
    _ references: [PageReference], of files: [WaitingFile], _ pages: any ManifestPages
  ) throws(PackError) -> Bool {
    let arrived = Set(files.lazy.filter { !$0.isBeingInstalled }.map(\.identifier.description))
    var isTaken = false
    for reference in references {
      let page = ManifestPack(page: reference, base: "")
      let identifier = DownloadIdentifier(id: page.id, bytes: PackBytes(page))
      let name = Self.place(identifier, in: .incoming)
      guard arrived.contains(identifier.description),
        let bytes = try directory.read(name, limit: Int(reference.size), in: try directory.open())
      else { continue }
      let refusal = try pages.take(bytes, as: reference)
      if let refusal { logger.record(.error, .delivery, "page refused", .error(refusal)) }
      isTaken = true
      try directory.withLock { (root) throws(PackError) in
        let record = try? directory.record(page.id, in: root)
        let after = refusal == nil ? nil : failed(record ?? PackStatus(id: page.id, bytes: PackBytes(page), at: time))
        // The record first: a file that is left behind is an orphan of the next plan.
        try directory.write(after, of: page.id, in: root)
        try root.remove(name)
      }
    }
    return isTaken
  }

  /// Returns the status after a file arrived that cannot be used.
  private func failed(_ status: PackStatus) -> PackStatus {
    var status = status
    for event in [PackEvent.arrived, .installBegan, .installFailed(.wrongBytes)] {
      if case .became(let next) = outcome(event, of: status) { status = next }
    }
    return status
  }
}
