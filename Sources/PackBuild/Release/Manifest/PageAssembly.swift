/// The pages of a release, made of its on-demand packs and of the deltas to all its packs (FORMAT.md §9.7).
///
/// Keys decide where a page ends, so a new or changed pack changes the page it is in and the index page above, and hardly ever another one.
package struct PageAssembly: Sendable {
  /// One page.
  package struct File: Sendable {
    /// What the manifest, or an index page, says about it.
    package let reference: PageReference
    /// The bytes to publish.
    package let bytes: [UInt8]
    /// Whether the bytes are those of an earlier page.
    package let isReused: Bool
  }

  /// What the manifest lists, in its order.
  package private(set) var references: [PageReference] = []
  /// All pages, index pages included.
  package private(set) var files: [File] = []

  /// The largest number of on-demand packs that the manifest lists itself. With more, all of them are in pages.
  static let mostOnDemand = 64
  /// The zstd level. Digests do not shrink, so higher levels win less than 2 %.
  private static let level = 9

  /// Makes the pages.
  ///
  /// - Parameters:
  ///   - packs: On-demand packs in any order, without duplicates.
  ///   - updates: The deltas to packs, of the manifest and of pages, in any order, each pack at most once.
  ///   - defaults: Those of the manifest.
  ///   - earlier: Pages by the SHA-256 of their JSON. They are taken as they are, so that another zstd does not change them.
  /// - Throws: ``PackError/Code/invalidManifest``
  package init(
    _ packs: [ManifestPack], updates: [PackUpdates] = [], defaults: ManifestDefaults, backend: any CryptoBackend,
    earlier: [[UInt8]: [UInt8]] = [:]
  ) throws(PackError) {
    guard !packs.isEmpty || !updates.isEmpty else { return }
    var writer = PageWriter(try CompressionContext(level: Self.level), try backend.makeDigest(), defaults, earlier)
    let sorted = packs.sorted { $0.id.precedes($1.id) }
    var pages = try writer.pages(sorted.map { PageEntry($0, defaults) }, .packs)
    let pairs = Self.pairs(of: sorted)
    if !pairs.isEmpty { pages += try writer.pages(pairs.map(PageEntry.init), .tags) }
    if !updates.isEmpty { pages += try writer.pages(updates.sorted { $0.id.precedes($1.id) }.map(PageEntry.init), .updates) }
    if pages.count > PageReference.rootLimit {
      var roots: [PageReference] = []
      for kind in PageKind.known {
        let listed = pages.filter { $0.kind == kind }
        if !listed.isEmpty { roots += try writer.pages(listed.map(PageEntry.init), kind) }
      }
      pages = roots
    }
    guard pages.count <= PageReference.rootLimit else {
      throw PackError(.invalidManifest, "\(packs.count) packs need \(pages.count) index pages, more than \(PageReference.rootLimit)")
    }
    references = pages
    files = writer.files
  }

  /// Returns the pairs of all tags of packs in the order of their keys, each once.
  ///
  /// - Parameter packs: In ascending order of their ids.
  static func pairs(of packs: [ManifestPack]) -> [PagePair] {
    // By the bytes of the tags: equal strings may differ in them.
    var groups: [[UInt8]: [PagePair]] = [:]
    for pack in packs {
      for tag in pack.tags {
        let bytes = Array(tag.utf8)
        if groups[bytes]?.last?.id != pack.id { groups[bytes, default: []].append(PagePair(tag: tag, id: pack.id)) }
      }
    }
    return groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.flatMap(\.value)
  }
}

/// An entry of a page, and the bytes that it adds to the page.
private struct PageEntry {
  enum Value {
    case pack(ManifestPack)
    case pair(PagePair)
    case updates(PackUpdates)
    case reference(PageReference)
  }

  let key: String
  let value: Value
  /// Its length in bytes, without a comma.
  let size: Int

  init(_ pack: ManifestPack, _ defaults: ManifestDefaults) {
    (key, value, size) = (pack.id, .pack(pack), pack.pageSize(defaults))
  }

  init(_ pair: PagePair) {
    (key, value, size) = (pair.key, .pair(pair), pair.id.utf8.count + 2)
  }

  init(_ updates: PackUpdates) {
    (key, value, size) = (updates.id, .updates(updates), updates.pageSize)
  }

  init(_ reference: PageReference) {
    (key, value, size) = (reference.first, .reference(reference), reference.pageSize)
  }

  /// The bytes that it adds after another entry, a comma included.
  func growth(after previous: PageEntry?) -> Int {
    let comma = previous == nil ? 0 : 1
    guard case .pair(let pair) = value else { return size + comma }
    if case .pair(let other)? = previous?.value, other.tag.utf8.elementsEqual(pair.tag.utf8) { return size + 1 }
    return size + comma + pair.groupSize
  }
}

/// Cuts entries into pages and compresses these.
private struct PageWriter: ~Copyable {
  private let context: CompressionContext
  private let digest: any DigestContext
  private let defaults: ManifestDefaults
  private let earlier: [[UInt8]: [UInt8]]
  private(set) var files: [PageAssembly.File] = []

  init(
    _ context: consuming CompressionContext, _ digest: any DigestContext, _ defaults: ManifestDefaults, _ earlier: [[UInt8]: [UInt8]]
  ) {
    self.context = context
    self.digest = digest
    self.defaults = defaults
    self.earlier = earlier
  }

  /// Makes the pages of sorted entries, and returns their references.
  mutating func pages(_ entries: [PageEntry], _ kind: PageKind) throws(PackError) -> [PageReference] {
    var references: [PageReference] = []
    var start = 0
    while start < entries.count {
      let end = try end(of: entries, from: start, kind)
      references.append(try page(entries[start..<end], kind))
      start = end
    }
    return references
  }

  /// Returns where the page that starts at an entry ends: after a key whose SHA-256 says so, or before it would be too large.
  private func end(of entries: [PageEntry], from start: Int, _ kind: PageKind) throws(PackError) -> Int {
    var most = PageKind.packs.largestCount
    // The brackets and the key around the entries.
    var size = #"{"packs":[]}"#.utf8.count
    switch entries[start].value {
    case .pair: (most, size) = (PageKind.tags.largestCount, size - 1)
    case .updates: size += 2
    case .pack, .reference: break
    }
    let least = most / 8
    for index in start..<entries.count {
      size += entries[index].growth(after: index == start ? nil : entries[index - 1])
      guard size <= PageReference.largestContentSize else {
        guard index > start else {
          throw PackError(.invalidManifest, "the entry of '\(entries[index].key)' is \(size) bytes, too large for a page")
        }
        return index
      }
      let count = UInt64(index - start + 1)
      guard count < most else { return index + 1 }
      if count >= least, try mark(entries[index].key) % least == 0 { return index + 1 }
    }
    return entries.count
  }

  /// Returns the number that decides whether a page ends after a key.
  private func mark(_ key: String) throws(PackError) -> UInt64 {
    try digest.update(Array(key.utf8).byteSpan)
    let bytes = try digest.finish()
    return UInt64(bytes[0]) | UInt64(bytes[1]) << 8
  }

  private mutating func page(_ entries: ArraySlice<PageEntry>, _ kind: PageKind) throws(PackError) -> PageReference {
    var packs: [ManifestPack] = []
    var pairs: [PagePair] = []
    var updates: [PackUpdates] = []
    var listed: [PageReference] = []
    for entry in entries {
      switch entry.value {
      case .pack(let pack): packs.append(pack)
      case .pair(let pair): pairs.append(pair)
      case .updates(let deltas): updates.append(deltas)
      case .reference(let reference): listed.append(reference)
      }
    }
    let content: PageContent =
      !listed.isEmpty ? .index(listed) : !updates.isEmpty ? .updates(updates) : !pairs.isEmpty ? .tags(pairs) : .packs(packs)
    let json = try content.bytes(kind, defaults: defaults)
    let known = try earlier(json)
    let frame = if let known { known } else { try context.compressed(json) }
    try digest.update(frame.byteSpan)
    let reference = PageReference(
      kind: kind, isIndex: !listed.isEmpty, first: entries[entries.startIndex].key, count: UInt64(entries.count),
      size: UInt64(frame.count), contentSize: UInt64(json.count), sha256: try digest.finish())
    files.append(PageAssembly.File(reference: reference, bytes: frame, isReused: known != nil))
    return reference
  }

  /// Returns the earlier page with the same JSON; nil if there is none.
  private func earlier(_ json: [UInt8]) throws(PackError) -> [UInt8]? {
    guard !earlier.isEmpty else { return nil }
    try digest.update(json.byteSpan)
    return earlier[try digest.finish()]
  }
}
