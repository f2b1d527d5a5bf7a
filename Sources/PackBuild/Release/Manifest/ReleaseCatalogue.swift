/// All packs of a release: those that its manifest lists itself, and those of its pages; and the deltas to them (FORMAT.md §9.7).
///
/// Time and memory grow with the number of packs. Devices never need all of them.
package struct ReleaseCatalogue: Sendable {
  /// The packs, in the order of the manifest. If it has pages, in ascending order of their ids.
  package let packs: [ManifestPack]
  /// The deltas to packs, in ascending order of the packs' ids.
  package let updates: [PackUpdates]
  /// All pages, index pages included.
  package let pages: [PageReference]

  /// Reads and checks the pages of a manifest, in the directory that it is in.
  ///
  /// - Parameter kinds: The kinds of pages to read: for packs also those of tags, which are compared with them.
  /// - Throws: ``PackError/Code/missingInput`` if a page does not exist, ``PackError/Code/wrongPage`` if it is another file,
  ///   ``PackError/Code/damagedManifest`` if it breaks a rule, or if the pages of tags differ from the tags of the packs.
  package init(
    _ manifest: Manifest, in directory: String, kinds: Set<PageKind> = Set(PageKind.known), files: any FileSystem = SystemFiles()
  ) throws(PackError) {
    let found: PageFinding<ReleaseCatalogue>
    do throws(PackError) {
      found = try Self.look(at: manifest, kinds: kinds) { (page) throws(PackError) in try Self.read(page, in: directory, files: files) }
    } catch {
      guard error.code == .wrongPage || error.code == .damagedManifest else { throw error }
      // A device would fetch the page again.
      throw error.advising(.developer("packer build"))
    }
    switch found {
    case .found(let catalogue): self = catalogue
    case .needs(let pages):
      throw PackError(
        .missingInput, of: Self.path(of: pages[0], in: directory), "does not exist, but the manifest names it", hint: "packer build")
    }
  }

  private init(packs: [ManifestPack], updates: [PackUpdates] = [], pages: [PageReference]) {
    self.packs = packs
    self.updates = updates
    self.pages = pages
  }

  /// The kinds that list packs.
  package static let ofPacks: Set<PageKind> = [.packs, .tags]

  /// Reads and checks the pages of a manifest.
  ///
  /// - Parameter source: Returns the bytes of a page, or nil if they are not at hand.
  /// - Returns: The packs and deltas, or the pages that are needed first.
  static func look(
    at manifest: Manifest, kinds: Set<PageKind> = Set(PageKind.known), in source: PageSearch.Source
  ) throws(PackError) -> PageFinding<ReleaseCatalogue> {
    guard !manifest.pages.isEmpty else { return .found(ReleaseCatalogue(packs: manifest.packs, pages: [])) }
    let search = PageSearch(manifest)
    var listed: [ManifestPack] = []
    let packPages = try search.all(.packs, in: source) { content in if case .packs(let packs) = content { listed += packs } }
    var comparison = TagComparison(listed)
    let tagPages = try search.all(.tags, in: source) { content in if case .tags(let pairs) = content { comparison.take(pairs) } }
    var updates: [PackUpdates] = []
    let updatePages =
      kinds.contains(.updates)
      ? try search.all(.updates, in: source) { content in if case .updates(let listed) = content { updates += listed } } : .found([])
    var (pages, missing): ([PageReference], [PageReference]) = ([], [])
    for finding in [packPages, tagPages, updatePages] {
      switch finding {
      case .found(let found): pages += found
      case .needs(let needed): missing += needed
      }
    }
    guard missing.isEmpty else { return .needs(missing) }
    if let fault = comparison.fault { throw PackError(.damagedManifest, fault) }
    return .found(ReleaseCatalogue(packs: (manifest.packs + listed).sorted { $0.id.precedes($1.id) }, updates: updates, pages: pages))
  }

  // MARK: Files

  /// Returns the path of the file of a page.
  package static func path(of page: PageReference, in directory: String) -> String {
    ReleaseFolder.path(page.fileName, in: directory)
  }

  /// Reads the file of a page, and no more of it than a page may have. Returns nil if it does not exist.
  package static func read(_ page: PageReference, in directory: String, files: any FileSystem) throws(PackError) -> [UInt8]? {
    let path = path(of: page, in: directory)
    do throws(PackError) {
      return try files.contents(of: path, limit: Int(page.size))
    } catch {
      switch error.code {
      case .missingInput: return nil
      case .limitExceeded:
        throw PackError(.wrongPage, "\(page.fileName) is more than the \(page.size) bytes that the manifest says")
      default: throw error
      }
    }
  }
}

/// Compares the pages of tags with the tags of the packs. The pairs come in the order of their keys.
package struct TagComparison: Sendable {
  private let expected: [PagePair]
  private var position = 0
  private var first: String?

  /// - Parameter packs: All packs of the pages, in ascending order of their ids.
  package init(_ packs: [ManifestPack]) {
    expected = PageAssembly.pairs(of: packs)
  }

  /// Compares the pairs of the next page.
  package mutating func take(_ pairs: [PagePair]) {
    for pair in pairs where first == nil {
      guard position < expected.count, !pair.key.precedes(expected[position].key) else {
        first = "the pages of tags list pack '\(pair.id)' under '\(pair.tag)', which is not a tag of it"
        return
      }
      guard pair.key.utf8.elementsEqual(expected[position].key.utf8) else {
        first = absence
        return
      }
      position += 1
    }
  }

  private var absence: String {
    "pack '\(expected[position].id)' has the tag '\(expected[position].tag)', but the pages of tags do not list it there"
  }

  /// The first difference, after the last page; nil if there is none.
  package var fault: String? { first ?? (position < expected.count ? absence : nil) }
}
