/// The pages on a device, with what was found in them for the current manifest, so that repeated plans open no page twice.
final class KnownPages: ManifestPages {
  let folder: PageFolder
  private let known = Monitor(Known())

  private struct Known {
    var pages: [PageReference] = []
    var defaults = ManifestDefaults()
    /// What was found, by id. The value is nil for ids that the manifest does not offer.
    var packs: [String: ManifestPack?] = [:]
    /// The deltas that were found, by the id of their pack.
    var updates: [String: [ManifestDelta]] = [:]

    func isOf(_ manifest: Manifest) -> Bool { pages == manifest.pages && defaults == manifest.defaults }
  }

  init(_ folder: PageFolder) {
    self.folder = folder
  }

  func lookup(_ ids: [String], in manifest: Manifest) throws(PackError) -> PageLookup {
    let packs = known.withLock { $0.isOf(manifest) ? $0.packs : [:] }
    let rest = ids.filter { packs[$0] == nil }
    guard !rest.isEmpty else {
      var lookup = PageLookup()
      lookup.packs = ids.compactMap { packs[$0] ?? nil }
      return lookup
    }
    var lookup = try folder.lookup(rest, in: manifest)
    let found = Dictionary(lookup.packs.map { ($0.id, $0) }) { first, _ in first }
    note(manifest) { known in
      for id in rest where !lookup.unknown.contains(id) { known.packs.updateValue(found[id], forKey: id) }
    }
    lookup.packs += ids.compactMap { packs[$0] ?? nil }
    return lookup
  }

  func updates(to ids: [String], in manifest: Manifest) throws(PackError) -> UpdateLookup {
    let updates = known.withLock { $0.isOf(manifest) ? $0.updates : [:] }
    let rest = ids.filter { updates[$0] == nil }
    var lookup = rest.isEmpty ? UpdateLookup() : try folder.updates(to: rest, in: manifest)
    let found = lookup
    note(manifest) { known in
      for id in rest where !found.unknown.contains(id) { known.updates[id] = found.deltas[id] ?? [] }
    }
    for id in ids { lookup.deltas[id] = lookup.deltas[id] ?? updates[id] }
    return lookup
  }

  /// Adds to what is known of a manifest. What is known of another one is forgotten.
  private func note(_ manifest: Manifest, _ add: (inout Known) -> Void) {
    known.withLock { known in
      if !known.isOf(manifest) { known = Known(pages: manifest.pages, defaults: manifest.defaults) }
      add(&known)
    }
  }

  /// Forgets what was found, because a page may be gone.
  func forget() { known.withLock { $0 = Known() } }

  func take(_ bytes: [UInt8], as reference: PageReference) throws(PackError) -> PackError? { try folder.take(bytes, as: reference) }
}
