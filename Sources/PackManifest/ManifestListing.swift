/// A manifest whose packs are read from the document one at a time. In between, each takes four bytes of memory.
package struct ManifestListing: Sendable {
  /// The manifest without its packs.
  package let head: Manifest
  private let document: SignedManifest?
  /// Where the entries start in the document.
  private let places: [UInt32]
  /// The packs that are not in the document, after those that are.
  private var others: [ManifestPack]
  /// Whose candidates the device takes. Nil as long as nothing was chosen.
  var takers: Set<String>?

  /// A manifest that has been read already.
  package init(_ manifest: Manifest) {
    var head = manifest
    head.packs = []
    self.head = head
    (document, places, others) = (nil, [], manifest.packs)
  }

  /// Reads a document once, and checks all that `Manifest(parsingSigned:)` checks. The caller must have checked its signatures.
  package init(_ document: SignedManifest) throws(PackError) {
    var places: [UInt32] = []
    head = try Manifest.read(document.content.byteSpan, document.signedBytes) { _, place in places.append(UInt32(place)) }
    (self.document, self.places, others) = (document, places, [])
  }

  /// The whole manifest.
  package var manifest: Manifest {
    var manifest = head
    manifest.packs = Array(self)
    return manifest
  }

  /// The same manifest with more packs, which its catalogue lists.
  package func adding(_ packs: [ManifestPack]) -> ManifestListing {
    var sum = self
    sum.others += packs
    return sum
  }
}

extension ManifestListing: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { places.count + others.count }

  package subscript(position: Int) -> ManifestPack {
    let pack = listed(position)
    guard pack.candidate != nil, let takers else { return pack }
    return takers.contains(pack.id) ? pack.takingCandidate(head.defaults) ?? pack : pack.takingStable
  }

  private func listed(_ position: Int) -> ManifestPack {
    guard position < places.count, let document else { return others[position - places.count] }
    var cursor = CanonicalCursor(at: Int(places[position]), end: document.signedBytes.upperBound)
    let reader = ManifestEntryReader(head.defaults, depth: 3)
    guard let pack = try? reader.pack(number: position, &cursor, document.content.byteSpan) else {
      preconditionFailure("the entry could be read before, and a document never changes")
    }
    return pack
  }
}
