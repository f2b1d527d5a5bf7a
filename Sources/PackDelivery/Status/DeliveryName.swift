/// The names in records, identifiers of downloads and file names: those of packs, and those of pages.
///
/// The name of a page is `~` and its file name, so it is never the name of a pack.
package enum DeliveryName {
  private static let pageMark: Character = "~"

  /// Returns the name of a page.
  package static func page(_ reference: PageReference) -> String { "\(pageMark)\(reference.fileName)" }

  /// Whether a name is the one of a page.
  package static func isPage(_ name: String) -> Bool { name.first == pageMark && PageReference.isFileName(String(name.dropFirst())) }

  /// Returns the name for a file.
  static func fileName(of name: String) -> String { (try? PackName(name))?.fileName ?? name }

  /// Reads a name from the name of a file. Returns nil for other files.
  static func name(ofFile fileName: some StringProtocol) -> String? {
    PackName(fileName: fileName)?.text ?? (isPage(String(fileName)) ? String(fileName) : nil)
  }

  /// Whether a text is a name.
  static func isLegal(_ name: String) -> Bool { (try? PackName(name)) != nil || isPage(name) }
}

extension ManifestPack {
  /// Creates the entry by which a page is downloaded: a file of this size and digest, which is kept as it is.
  ///
  /// - Parameter base: the manifest's URL for files.
  package init(page reference: PageReference, base: String) {
    self.init(
      id: DeliveryName.page(reference), version: 0, url: base + reference.fileName, size: reference.size, sha256: reference.sha256,
      contentRoot: [], contentSize: reference.contentSize, installSize: 0, files: 0, maxFrame: 0, keyID: "", delivery: .onDemand,
      install: .packed)
  }
}
