/// The entries of a page (FORMAT.md §9.7): at least one, in ascending order of their keys, none of them twice.
package enum PageContent: Hashable, Sendable {
  /// On-demand packs, by id.
  case packs([ManifestPack])
  /// Pairs of tag and id.
  case tags([PagePair])
  /// Deltas, by the id of their pack.
  case updates([PackUpdates])
  /// References to the pages of one kind, none of them an index.
  case index([PageReference])

  /// The keys of the entries.
  package var keys: [String] {
    switch self {
    case .packs(let packs): packs.map(\.id)
    case .tags(let pairs): pairs.map(\.key)
    case .updates(let updates): updates.map(\.id)
    case .index(let references): references.map(\.first)
    }
  }

  /// Reads the JSON of a page. The caller must have checked its digest.
  ///
  /// - Parameters:
  ///   - kind: The kind that the reference names, which is not one that this build passes over.
  ///   - defaults: Those of the manifest.
  ///   - name: The name of the page in messages.
  /// - Throws: ``PackError/Code/damagedManifest``
  package init(
    parsing bytes: Span<UInt8>, _ kind: PageKind, isIndex: Bool, defaults: ManifestDefaults, name: String
  ) throws(PackError) {
    guard bytes.count <= PageReference.largestContentSize else {
      throw PackError(.damagedManifest, "\(name) is \(bytes.count) bytes, more than \(PageReference.largestContentSize)")
    }
    guard isIndex || PageKind.known.contains(kind) else {
      throw PackError(.unsupported, "\(name) is of the kind '\(kind.rawValue)', which this build does not read", advice: .updateApp)
    }
    let wanted = isIndex ? "pages" : kind.rawValue
    var cursor = CanonicalCursor(at: 0, end: bytes.count, subject: name)
    var object = try cursor.beginObject("a page", depth: 1, in: bytes)
    var content: PageContent?
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      guard key == wanted else {
        try cursor.skip(depth: 2, in: bytes)
        continue
      }
      if isIndex {
        content = .index(try PageReference.list(depth: 2, &cursor, bytes))
      } else if kind == .packs {
        content = .packs(try ManifestEntryReader(defaults, isInPage: true, depth: 2).packs(&cursor, bytes))
      } else if kind == .tags {
        content = .tags(try Self.pairs(&cursor, bytes))
      } else {
        content = .updates(try PackUpdates.list(depth: 2, &cursor, bytes))
      }
    }
    guard cursor.isAtEnd else { throw cursor.fault("continues after its content") }
    guard let content else { throw PackError(.damagedManifest, "\(name) has no '\(wanted)'") }
    if let fault = content.faults(of: kind).first { throw PackError(.damagedManifest, "\(name) breaks its rules: \(fault)") }
    self = content
  }

  /// Throws if the page is not the one that a reference describes, or reaches into the next one.
  ///
  /// - Parameter end: The first key of the next page of the kind, or nil if there is none.
  /// - Throws: ``PackError/Code/damagedManifest``
  package func check(_ reference: PageReference, before end: String?) throws(PackError) {
    let keys = keys
    guard UInt64(keys.count) == reference.count else {
      throw PackError(.damagedManifest, "\(reference.fileName) has \(keys.count) entries, but its reference says \(reference.count)")
    }
    guard let first = keys.first, let last = keys.last, first.utf8.elementsEqual(reference.first.utf8) else {
      throw PackError(.damagedManifest, "\(reference.fileName) starts with another key than its reference says, '\(reference.first)'")
    }
    guard end.map({ last.precedes($0) }) ?? true else {
      throw PackError(.damagedManifest, "\(reference.fileName) has the key '\(last)', which belongs to a later page")
    }
  }

  /// Returns the JSON of the page.
  ///
  /// - Throws: ``PackError/Code/invalidManifest`` for values that a page may not contain. The details list all of them.
  package func bytes(_ kind: PageKind, defaults: ManifestDefaults) throws(PackError) -> [UInt8] {
    let faults = faults(of: kind)
    if let first = faults.first {
      throw PackError(.invalidManifest, "page of \(kind.rawValue): \(first)", details: faults.count == 1 ? [] : faults)
    }
    var writer = CanonicalWriter()
    writer.object { writer in
      switch self {
      case .packs(let packs):
        writer.key("packs")
        writer.array(packs) { writer, pack in pack.write(to: &writer, defaults, isInPage: true) }
      case .tags(let pairs):
        writer.key("tags")
        writer.array(Self.groups(pairs)) { writer, group in
          writer.object { writer in
            writer.key("ids")
            writer.array(Array(group)) { $0.string($1.id) }
            writer.key("tag")
            writer.string(group[group.startIndex].tag)
          }
        }
      case .updates(let updates):
        writer.key("updates")
        writer.array(updates) { $1.write(to: &$0) }
      case .index(let references):
        writer.key("pages")
        writer.array(references) { $1.write(to: &$0) }
      }
    }
    return writer.bytes
  }

  /// Returns the runs of pairs with the same tag.
  private static func groups(_ pairs: [PagePair]) -> [ArraySlice<PagePair>] {
    var groups: [ArraySlice<PagePair>] = []
    var start = pairs.startIndex
    for index in pairs.indices where index + 1 == pairs.endIndex || !pairs[index + 1].tag.utf8.elementsEqual(pairs[index].tag.utf8) {
      groups.append(pairs[start...index])
      start = index + 1
    }
    return groups
  }

  private static func pairs(_ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) -> [PagePair] {
    var array = try cursor.beginArray("tags", depth: 2, in: bytes)
    var pairs: [PagePair] = []
    var previous: String?
    while try cursor.hasNext(in: &array, in: bytes) {
      var object = try cursor.beginObject("a tag", depth: 3, in: bytes)
      var (tag, ids): (String?, [String]?)
      while let key = try cursor.nextKey(of: &object, in: bytes) {
        switch key {
        case "ids": ids = try cursor.texts("id", depth: 4, in: bytes)
        case "tag": tag = try cursor.text("a tag", in: bytes)
        default: try cursor.skip(depth: 4, in: bytes)
        }
      }
      let owner = "\(cursor.subject)'s tag"
      let name = try required(tag, "tag", of: owner)
      // One tag is one group, so that a page has one form.
      guard previous.map({ $0.precedes(name) }) ?? true else {
        throw PackError(.damagedManifest, "\(owner) '\(name)' does not come after the one before")
      }
      previous = name
      let listed = try required(ids, "ids", of: owner)
      guard !listed.isEmpty else { throw PackError(.damagedManifest, "\(owner) '\(name)' lists no pack") }
      pairs += listed.map { PagePair(tag: name, id: $0) }
    }
    return pairs
  }

  /// Returns all faults, as texts.
  private func faults(of kind: PageKind) -> [String] {
    let keys = keys
    var faults: [String] = []
    if keys.isEmpty { faults.append("it has no entry") }
    let most: UInt64
    switch self {
    case .packs(let packs):
      most = PageKind.packs.largestCount
      for pack in packs {
        faults += ManifestRules.faults(of: pack).map { "pack '\(pack.id)': \($0)" }
        if pack.delivery != .onDemand { faults.append("pack '\(pack.id)' is \(pack.delivery.rawValue), so it belongs in the manifest") }
      }
    case .tags(let pairs):
      most = PageKind.tags.largestCount
      for pair in pairs where (try? PackName(pair.id)) == nil { faults.append("id '\(pair.id)' is not a pack name") }
      for pair in pairs where !PagePair.isTag(pair.tag) { faults.append("tag '\(pair.tag)' has a control character") }
    case .updates(let updates):
      most = PageKind.updates.largestCount
      faults += updates.flatMap(\.faults)
    case .index(let references):
      most = PageKind.index.largestCount
      faults += PageReference.faults(of: references)
      for reference in references where reference.kind != kind || reference.isIndex {
        faults.append("it lists a page of another kind, or an index page")
      }
    }
    if keys.count > most { faults.append("it has \(keys.count) entries, more than \(most)") }
    for (left, right) in zip(keys, keys.dropFirst()) where !left.precedes(right) {
      faults.append("key '\(right)' comes after '\(left)', but keys must ascend")
    }
    return faults
  }
}

extension ManifestPack {
  /// The bytes of the entry in a page.
  package func pageSize(_ defaults: ManifestDefaults) -> Int {
    var writer = CanonicalWriter()
    write(to: &writer, defaults, isInPage: true)
    return writer.bytes.count
  }
}

extension PackUpdates {
  /// The bytes of the entry in a page.
  package var pageSize: Int {
    var writer = CanonicalWriter()
    write(to: &writer)
    return writer.bytes.count
  }
}

extension PageReference {
  /// The bytes of the reference in a page.
  package var pageSize: Int {
    var writer = CanonicalWriter()
    write(to: &writer)
    return writer.bytes.count
  }
}

extension PagePair {
  /// The bytes of a group of ids in a page, without the ids.
  package var groupSize: Int {
    var writer = CanonicalWriter()
    writer.string(tag)
    return #"{"ids":[],"tag":}"#.utf8.count + writer.bytes.count
  }
}
