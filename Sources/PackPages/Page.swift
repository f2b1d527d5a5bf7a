/// A page that is exactly the file that a signed manifest names (FORMAT.md §9.7), and its entries.
package struct Page: Hashable, Sendable {
  /// What the manifest, or an index page, says about it.
  package let reference: PageReference
  /// Its entries.
  package let content: PageContent

  /// Opens a page: checks size and digest, then decompresses and parses.
  ///
  /// Memory: the content, at most 1 MiB, and the values of its entries.
  ///
  /// - Parameters:
  ///   - bytes: The file, from anywhere.
  ///   - reference: The reference to it.
  ///   - end: The first key of the next page of the kind, or nil if there is none.
  ///   - manifest: The manifest that led to the reference.
  /// - Throws: ``PackError/Code/wrongPage`` if it is another file: truncated, changed, or of another release. ``PackError/Code/damagedManifest`` if it
  ///   is the right file and breaks a rule.
  package init(
    _ bytes: Span<UInt8>, as reference: PageReference, before end: String?, in manifest: Manifest,
    backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) {
    let name = reference.fileName
    try reference.check(bytes, backend: backend)
    let json = try Self.decompress(bytes, reference, name: name)
    let content = try PageContent(
      parsing: json.byteSpan, reference.kind, isIndex: reference.isIndex, defaults: manifest.defaults, name: name)
    try content.check(reference, before: end)
    self.reference = reference
    self.content = content
    try checkIDs(apartFrom: manifest)
  }

  /// Throws if a pack is also in the manifest itself.
  private func checkIDs(apartFrom manifest: Manifest) throws(PackError) {
    guard case .packs(let packs) = content else { return }
    let known = Set(manifest.packs.map(\.id))
    guard let pack = packs.first(where: { known.contains($0.id) }) else { return }
    throw PackError(.damagedManifest, "\(reference.fileName) lists pack '\(pack.id)', which the manifest lists itself")
  }

  /// Decompresses a page into a buffer of exactly the size that its reference says, which is at most 1 MiB.
  private static func decompress(_ bytes: Span<UInt8>, _ reference: PageReference, name: String) throws(PackError) -> [UInt8] {
    guard (1...PageReference.largestContentSize).contains(reference.contentSize) else {
      throw PackError(.damagedManifest, "\(name) would be \(reference.contentSize) bytes")
    }
    var content = [UInt8](repeating: 0, count: Int(reference.contentSize))
    var span = content.mutableByteSpan
    do throws(PackError) {
      try DecompressionContext().decompress(bytes, into: &span, name: name)
    } catch  where error.code == .damagedPayload {
      throw PackError(.damagedManifest, error.message)
    }
    return content
  }
}

extension PackError.Code {
  /// A page is not the file that the manifest names: it was truncated, changed, or belongs to another release.
  package static let wrongPage = Self(rawValue: "wrong-page")
}
