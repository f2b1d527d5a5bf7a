/// What a search in the pages of a manifest comes to.
package enum PageFinding<Value: Sendable>: Sendable {
  /// The answer. All pages that it rests on were checked.
  case found(Value)
  /// These pages are needed first. With them the search comes further, and ends after at most two rounds.
  case needs([PageReference])
}

/// What is known about packs whose ids were looked up.
package struct PackLookup: Sendable {
  /// The packs that were found, by id.
  package var packs: [String: ManifestPack] = [:]
  /// The ids that may be in a page that is missing. Other ids that were not found are not in the manifest.
  package var unknown: Set<String> = []
  /// The pages that are missing.
  package var missing: [PageReference] = []

  package init() {}
}

/// Finds packs of a manifest by id and by tag, in the manifest and in its pages (FORMAT.md §9.7).
///
/// A search opens only the pages that the keys in question lie in: at most one index page and one page for an id. It never waits: it says which
/// pages are missing, and is repeated when they are there.
package struct PageSearch: Sendable {
  /// Returns the bytes of a page that is at hand, or nil. The bytes need not be trustworthy.
  package typealias Source = (PageReference) throws(PackError) -> [UInt8]?

  /// The manifest, whose signature the caller has checked.
  package let manifest: Manifest
  private let backend: any CryptoBackend

  package init(_ manifest: Manifest, backend: any CryptoBackend = CryptoBackends.standard) {
    self.manifest = manifest
    self.backend = backend
  }

  /// Finds packs by their ids. Ids that there are not are left out of the answer.
  ///
  /// - Returns: the packs in the order of the ids; or the pages of all ids that are missing, so that they can be fetched at once.
  /// - Throws: ``PackError/Code/wrongPage``, ``PackError/Code/damagedManifest``, or the error of the source.
  package func packs(_ ids: [String], in source: Source) throws(PackError) -> PageFinding<[ManifestPack]> {
    let lookup = try lookUp(Set(ids), in: source)
    return lookup.missing.isEmpty ? .found(ids.compactMap { lookup.packs[$0] }) : .needs(lookup.missing)
  }

  /// Finds as many packs as possible by their ids.
  ///
  /// - Throws: as ``packs(_:in:)``.
  package func lookUp(_ ids: Set<String>, in source: Source) throws(PackError) -> PackLookup {
    var lookup = PackLookup()
    for pack in manifest.packs where ids.contains(pack.id) { lookup.packs[pack.id] = pack }
    var reading = PageReading(manifest, backend)
    var found: [PagePlace] = []
    // In their order, so that each page is opened once.
    for id in ids.subtracting(lookup.packs.keys).sorted(by: { $0.precedes($1) }) {
      if found.first?.contains(id) != true { found = try places(from: id, to: id, .packs, in: source, &reading) }
      for place in found {
        switch try reading.content(place, in: source) {
        case .packs(let packs)?: lookup.packs[id] = packs.first { $0.id == id }
        case nil: lookup.unknown.insert(id)
        default: break
        }
      }
    }
    lookup.missing = reading.missing
    return lookup
  }

  /// Finds as many deltas to packs as possible.
  ///
  /// - Throws: as ``packs(_:in:)``.
  package func updates(to ids: Set<String>, in source: Source) throws(PackError) -> UpdateLookup {
    var lookup = UpdateLookup()
    var reading = PageReading(manifest, backend)
    var found: [PagePlace] = []
    for id in ids.sorted(by: { $0.precedes($1) }) {
      if found.first?.contains(id) != true { found = try places(from: id, to: id, .updates, in: source, &reading) }
      for place in found {
        switch try reading.content(place, in: source) {
        case .updates(let updates)?: lookup.deltas[id] = updates.first { $0.id == id }?.deltas
        case nil: lookup.unknown.insert(id)
        default: break
        }
      }
    }
    lookup.missing = reading.missing
    return lookup
  }

  /// Finds the ids of all packs with a tag.
  ///
  /// - Returns: the ids in ascending order, none if there is no such tag; or the pages that are missing.
  /// - Throws: as ``packs(_:in:)``.
  package func ids(taggedWith tag: String, in source: Source) throws(PackError) -> PageFinding<[String]> {
    var ids = manifest.packs.filter { $0.tags.contains { $0.utf8.elementsEqual(tag.utf8) } }.map(\.id)
    let range = PagePair.keys(of: tag)
    var reading = PageReading(manifest, backend)
    for place in try places(from: range.start, to: range.end, .tags, in: source, &reading) {
      guard case .tags(let pairs)? = try reading.content(place, in: source) else { continue }
      ids += pairs.filter { $0.tag.utf8.elementsEqual(tag.utf8) }.map(\.id)
    }
    return reading.finding(ids.sorted { $0.precedes($1) })
  }

  /// Finds all packs with a tag.
  ///
  /// - Returns: the packs in the order of their ids; or the pages that are missing: those of the tag first, then those of the packs.
  /// - Throws: as ``packs(_:in:)``, and ``PackError/Code/damagedManifest`` if the pages of tags and of packs disagree.
  package func packs(taggedWith tag: String, in source: Source) throws(PackError) -> PageFinding<[ManifestPack]> {
    switch try ids(taggedWith: tag, in: source) {
    case .needs(let pages): return .needs(pages)
    case .found(let ids):
      let finding = try packs(ids, in: source)
      guard case .found(let packs) = finding else { return finding }
      guard packs.count == ids.count, packs.allSatisfy({ $0.tags.contains { $0.utf8.elementsEqual(tag.utf8) } }) else {
        throw PackError(.damagedManifest, "the pages of tags list a pack for '\(tag)' that does not have that tag")
      }
      return finding
    }
  }

  /// Returns the names of the pages that the manifest refers to, itself and through the index pages that are at hand.
  ///
  /// - Throws: as ``packs(_:in:)``.
  package func fileNames(in source: Source) throws(PackError) -> Set<String> {
    var names = Set(manifest.pages.map(\.fileName))
    var reading = PageReading(manifest, backend)
    for kind in Set(manifest.pages.filter(\.isIndex).map(\.kind)) {
      for place in try places(from: "", to: nil, kind, in: source, &reading) { names.insert(place.reference.fileName) }
    }
    return names
  }

  /// Opens all pages of a kind, index pages included, in the order of their keys.
  ///
  /// - Parameter body: takes each page that is not an index page. One is in memory at a time.
  /// - Returns: the references of all pages, index pages first; or the pages that are missing.
  /// - Throws: as ``packs(_:in:)``, or what `body` throws.
  package func all(
    _ kind: PageKind, in source: Source, _ body: (PageContent) throws(PackError) -> Void
  ) throws(PackError) -> PageFinding<[PageReference]> {
    var references = manifest.pages.filter { $0.kind == kind && $0.isIndex }
    var reading = PageReading(manifest, backend)
    for place in try places(from: "", to: nil, kind, in: source, &reading) {
      references.append(place.reference)
      if let content = try reading.content(place, in: source) { try body(content) }
    }
    return reading.finding(references)
  }

  // MARK: Places

  /// Returns the pages in which keys from `start` to `end` lie, both included; to the last page if `end` is nil. An index page that is missing stands
  /// for the pages that it lists.
  private func places(
    from start: String, to end: String?, _ kind: PageKind, in source: Source, _ reading: inout PageReading
  ) throws(PackError) -> [PagePlace] {
    var places: [PagePlace] = []
    for place in Self.cut(manifest.pages.filter { $0.kind == kind }, from: start, to: end, before: nil) {
      if !place.reference.isIndex {
        places.append(place)
      } else if case .index(let listed)? = try reading.content(place, in: source) {
        places += Self.cut(listed, from: start, to: end, before: place.end)
      } else {
        places.append(place)
      }
    }
    return places
  }

  /// Returns those of sorted references in whose ranges keys from `start` to `end` lie.
  private static func cut(_ references: [PageReference], from start: String, to end: String?, before last: String?) -> [PagePlace] {
    var places: [PagePlace] = []
    for (index, reference) in references.enumerated() {
      let next = index + 1 < references.count ? references[index + 1].first : last
      if let next, !start.precedes(next) { continue }
      if let end, end.precedes(reference.first) { break }
      places.append(PagePlace(reference: reference, end: next))
    }
    return places
  }
}

/// A page, and the first key after it.
private struct PagePlace {
  var reference: PageReference
  var end: String?

  /// Whether a key that is not before the page is in it.
  func contains(_ key: String) -> Bool { end.map { key.precedes($0) } ?? true }
}

/// The pages of one search: the last ones stay open, and those that are missing are noted.
private struct PageReading {
  private let manifest: Manifest
  private let backend: any CryptoBackend
  private var index: Page?
  private var page: Page?
  private(set) var missing: [PageReference] = []

  init(_ manifest: Manifest, _ backend: any CryptoBackend) {
    self.manifest = manifest
    self.backend = backend
  }

  /// Returns the entries of a page, or nil if it is missing.
  mutating func content(_ place: PagePlace, in source: PageSearch.Source) throws(PackError) -> PageContent? {
    if let open = place.reference.isIndex ? index : page, open.reference == place.reference { return open.content }
    guard !missing.contains(place.reference) else { return nil }
    guard let bytes = try source(place.reference) else {
      missing.append(place.reference)
      return nil
    }
    let opened = try Page(bytes.byteSpan, as: place.reference, before: place.end, in: manifest, backend: backend)
    if place.reference.isIndex { index = opened } else { page = opened }
    return opened.content
  }

  func finding<Value>(_ value: Value) -> PageFinding<Value> { missing.isEmpty ? .found(value) : .needs(missing) }
}
