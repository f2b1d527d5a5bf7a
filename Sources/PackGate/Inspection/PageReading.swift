/// One inspected page.
struct PageSighting: Sendable {
  /// Its expected path, starting with the path that the caller gave for the release.
  var path: String
  /// What the manifest, or an index page, says about it.
  var reference: PageReference
  /// Its size in bytes; nil if there is no such file.
  var size: UInt64?
  /// The reason why there is no such file, which continues a sentence about its path.
  var absence = PublishedFile.missing
  /// The reason why it is not the page that the manifest names, or breaks a rule.
  var failure: PackError?

  /// Whether its entries are known.
  var isRead: Bool { size != nil && failure == nil }
}

/// Reads all pages of a release, one after the other. A fault of one page does not hide those of others.
struct PageReading {
  private let manifest: Manifest
  private let place: ReleaseInspection.Place
  private let files: any FileSystem
  /// The pages, index pages before those that they list.
  private(set) var pages: [PageSighting] = []
  /// The packs of the pages, in the order of the pages.
  private(set) var packs: [ManifestPack] = []
  /// The deltas that pages list.
  private(set) var updates: [PackUpdates] = []
  /// The first difference between the pages of tags and the tags of the packs; nil if there is none, or if pages cannot be read.
  private(set) var tagFault: String?

  init(_ manifest: Manifest, in place: ReleaseInspection.Place, files: any FileSystem) throws(PackError) {
    self.manifest = manifest
    self.place = place
    self.files = files
    let kinds = Set(manifest.pages.map(\.kind)).subtracting([.packs, .tags]).sorted { $0.rawValue < $1.rawValue }
    // Readers pass over other kinds, but files of them are still published.
    for kind in [.packs] + kinds { try read(manifest.pages.filter { $0.kind == kind }, before: nil) { _ in } }
    var comparison = TagComparison(packs)
    try read(manifest.pages.filter { $0.kind == .tags }, before: nil) { comparison.take($0) }
    if pages.allSatisfy(\.isRead) { tagFault = comparison.fault }
  }

  /// The pages, with the packs of the manifest and of all pages.
  var sighting: PagesSighting {
    PagesSighting(all: pages, packs: (manifest.packs + packs).sorted { $0.id.precedes($1.id) }, tagFault: tagFault)
  }

  /// - Parameter end: The first key after the last page; nil if there is none.
  private mutating func read(_ references: [PageReference], before end: String?, _ take: ([PagePair]) -> Void) throws(PackError) {
    for (number, reference) in references.enumerated() {
      let next = number + 1 < references.count ? references[number + 1].first : end
      switch try look(at: reference, before: next) {
      case .packs(let listed): packs += listed
      case .tags(let pairs): take(pairs)
      case .updates(let listed): updates += listed
      case .index(let listed): try read(listed, before: next, take)
      case nil: break
      }
    }
  }

  /// Adds the sighting of a page. Returns its entries, or nil if they cannot be read.
  private mutating func look(at reference: PageReference, before end: String?) throws(PackError) -> PageContent? {
    var sighting = PageSighting(path: place.path(reference.fileName), reference: reference)
    defer { pages.append(sighting) }
    let file = PublishedFile(sighting.path, files: files)
    (sighting.size, sighting.absence) = (file.size, file.absence)
    guard file.size != nil else { return nil }
    do throws(PackError) {
      guard let bytes = try ReleaseCatalogue.read(reference, in: place.directory, files: files) else {
        (sighting.size, sighting.absence) = (nil, PublishedFile.missing)
        return nil
      }
      return try Page(bytes.byteSpan, as: reference, before: end, in: manifest).content
    } catch {
      guard error.code != .internalError, error.code != .cancelled else { throw error }
      // A page that readers pass over, whose size and digest are right.
      if error.code != .unsupported { sighting.failure = error }
      return nil
    }
  }
}
