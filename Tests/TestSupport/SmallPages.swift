/// Pages that end after a few keys, so that a few packs need many of them. The rules of FORMAT.md §9.7 for cutting apply to writers only.
package struct SmallPages {
  /// What the manifest lists.
  package private(set) var references: [PageReference] = []
  /// The files, by reference.
  package private(set) var files: [PageReference: [UInt8]] = [:]
  private let defaults: ManifestDefaults

  /// - Parameters:
  ///   - packs: packs on demand, in any order.
  ///   - updates: the deltas to packs, in any order.
  ///   - size: the number of keys of a page.
  ///   - isIndexed: whether index pages lead to the pages.
  package init(
    _ packs: [ManifestPack], updates: [PackUpdates] = [], defaults: ManifestDefaults, size: Int, isIndexed: Bool
  ) throws(PackError) {
    self.defaults = defaults
    let sorted = packs.sorted { $0.id.precedes($1.id) }
    let pairs = sorted.flatMap { pack in pack.tags.map { PagePair(tag: $0, id: pack.id) } }.sorted { $0.key.precedes($1.key) }
    let deltas = updates.sorted { $0.id.precedes($1.id) }
    let contents: [(PageKind, Int, (Range<Int>) -> PageContent)] = [
      (.packs, sorted.count, { .packs(Array(sorted[$0])) }), (.tags, pairs.count, { .tags(Array(pairs[$0])) }),
      (.updates, deltas.count, { .updates(Array(deltas[$0])) }),
    ]
    for (kind, count, content) in contents {
      var pages: [PageReference] = []
      for start in stride(from: 0, to: count, by: size) { pages.append(try write(content(start..<min(start + size, count)), kind)) }
      guard isIndexed else {
        references += pages
        continue
      }
      for start in stride(from: 0, to: pages.count, by: size) {
        references.append(try write(.index(Array(pages[start..<min(start + size, pages.count)])), kind))
      }
    }
  }

  private mutating func write(_ content: PageContent, _ kind: PageKind) throws(PackError) -> PageReference {
    let json = try content.bytes(kind, defaults: defaults)
    let frame = try CompressionContext(level: 3).compressed(json)
    let isIndex = if case .index = content { true } else { false }
    let reference = PageReference(
      kind: kind, isIndex: isIndex, first: content.keys[0], count: UInt64(content.keys.count), size: UInt64(frame.count),
      contentSize: UInt64(json.count), sha256: try CryptoBackends.standard.digest(of: frame.byteSpan))
    files[reference] = frame
    return reference
  }
}

extension Manifest {
  /// Returns the manifest with its packs on demand in pages, and the files of these.
  ///
  /// - Parameter updates: the deltas to packs, of the manifest and of pages.
  package func inPages(
    of size: Int = 2, isIndexed: Bool = true, updates: [PackUpdates] = []
  ) throws(PackError) -> (manifest: Manifest, files: [PageReference: [UInt8]]) {
    var root = self
    root.defaults = ManifestDefaults(baseURL: defaults.baseURL ?? "https://cdn.example.com/")
    let pages = try SmallPages(
      packs.filter { $0.delivery == .onDemand }, updates: updates, defaults: root.defaults, size: size, isIndexed: isIndexed)
    root.packs.removeAll { $0.delivery == .onDemand }
    root.pages = pages.references
    return (root, pages.files)
  }
}
