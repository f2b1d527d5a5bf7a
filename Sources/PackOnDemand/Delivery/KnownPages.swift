import PackFormat
import PackManifest
import PackPages
import PackWork

/// The pages on a device, with what was found in them for the current manifest, so that repeated plans open no page twice.
final class KnownPages: ManifestPages {
  let folder: PageFolder
  private let known = Monitor(Known())

  private struct Known {
    var pages: [PageReference] = []
    var defaults = ManifestDefaults()
    /// What was found, by id. The value is nil for ids that the manifest does not offer.
    var packs: [String: ManifestPack?] = [:]

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
    known.withLock { known in
      if !known.isOf(manifest) { known = Known(pages: manifest.pages, defaults: manifest.defaults) }
      for id in rest where !lookup.unknown.contains(id) { known.packs.updateValue(found[id], forKey: id) }
    }
    lookup.packs += ids.compactMap { packs[$0] ?? nil }
    return lookup
  }

  /// Forgets what was found, because a page may be gone.
  func forget() { known.withLock { $0 = Known() } }

  func take(_ bytes: [UInt8], as reference: PageReference) throws(PackError) -> PackError? { try folder.take(bytes, as: reference) }
}
