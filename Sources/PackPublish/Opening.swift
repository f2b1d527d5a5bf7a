/// The publication of openers whose time has come, at a place that has the packs they open.
///
/// They follow from the root key and the manifest there, so nothing of them is kept before.
package struct Opening: Sendable {
  private let place: any PublishingPlace
  private let own: OwnManifests

  package init(at place: any PublishingPlace, own: OwnManifests) { (self.place, self.own) = (place, own) }

  /// An edition that opens at a time, or did.
  package struct Edition: Sendable {
    /// The name of the pack.
    package let id: String
    package let version: UInt64
    /// Nil if it opened with its release.
    package let opens: ManifestTime?
    let file: ReleaseFiles.File
    let entry: ManifestPack
  }

  /// What is to be done, before anything is.
  package struct Plan: Sendable {
    /// The version of the manifest at the place.
    package let manifest: UInt64
    /// Those whose time has come, and whose opener is not there.
    package let due: [Edition]
    /// Those whose opener is there.
    package let open: [Edition]
    /// Those whose time is to come.
    package let later: [Edition]

    /// Those whose opener is there before its time.
    package var early: [Edition] { later.filter(isThere) }
    let names: Set<String>
    private func isThere(_ edition: Edition) -> Bool { names.contains(edition.file.name) }
  }

  /// Looks at the place.
  ///
  /// - Parameter now: the time by the clock of this machine and that of the server.
  /// - Throws: ``PackError/Code/missingInput`` if there is no manifest, or ``PackError/Code/releaseConflict`` if it is not one of this product.
  package func plan(at now: ManifestTime) throws(PackError) -> Plan {
    let there = try place.sizes()
    let scratch = try ScratchFolder()
    defer { withExtendedLifetime(scratch) {} }
    let published = try PlacedRelease(at: place, own: own, in: scratch.path)
    let editions = published.packs.compactMap { entry -> Edition? in
      guard let opener = entry.opener, let file = entry.openerFile else { return nil }
      return Edition(id: entry.id, version: entry.version, opens: opener.opens, file: file, entry: entry)
    }
    func isDue(_ edition: Edition) -> Bool { edition.opens.map { $0 <= now } ?? true }
    let (due, later) = (editions.filter(isDue), editions.filter { !isDue($0) })
    return Plan(
      manifest: published.manifest.version, due: due.filter { there[$0.file.name] != $0.file.size },
      open: due.filter { there[$0.file.name] == $0.file.size },
      later: later, names: Set(there.keys))
  }

  /// Makes the openers that are due, uploads them, and reads them back.
  ///
  /// - Parameter root: the root key.
  /// - Throws: ``PackError/Code/wrongKey`` if it is another key than the packs were made with; then nothing is uploaded. ``PackError/Code/wrongPack`` if
  ///   what is there afterwards is something else.
  package func run(_ plan: Plan, root: borrowing PackKey) throws(PackError) {
    guard !plan.due.isEmpty else { return }
    let scratch = try ScratchFolder()
    defer { withExtendedLifetime(scratch) {} }
    for edition in plan.due {
      let opener = try Opener(of: edition.entry.edition(), root: root)
      guard try ManifestOpener(of: opener, opens: edition.opens) == edition.entry.opener else {
        throw PackError(
          .wrongKey, of: "pack '\(edition.id)'", "was made with another root key than \(root.id)",
          hint: "give the key that packer.yml names")
      }
      try OutputFile.write(opener.bytes, to: ReleaseFolder.path(edition.file.name, in: scratch.path), files: SystemFiles())
    }
    try Task.checkpoint()
    let files = plan.due.map(\.file)
    try place.add(files.map(\.name), from: scratch.path)
    guard let first = try place.different(files, from: scratch.path).first else { return }
    throw PackError(.wrongPack, of: place.title, "has another \(first.name) than was uploaded", hint: "run it again")
  }
}
