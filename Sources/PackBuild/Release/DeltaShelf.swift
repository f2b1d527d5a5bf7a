/// The deltas that the cache has, and the packs of editions that others are made from. Only some are on the disk at once.
final class DeltaShelf {
  let files: CachedFiles
  /// The deltas that the cache has, in the order in which they are needed, and which of them were asked for.
  private var deltas: [(name: String, file: CachedFile, limit: UInt64, title: String)] = []
  private var next = 0
  /// The places of the deltas in the list, by their names.
  private var places: [String: Int] = [:]
  private var found: Set<CachedFile> = []
  /// The packs that are here.
  private var bases: Set<CachedFile> = []

  /// The largest sum of the sizes of the deltas that are fetched at once, in bytes.
  private static let largestBatch: UInt64 = 1 << 30

  init(_ files: CachedFiles, for wanted: [DeltaIdentity]) throws(PackError) {
    self.files = files
    var names: [(name: String, wanted: DeltaIdentity)] = []
    for item in wanted { names.append((try files.name(item.members), item)) }
    let references = try files.references(names.map(\.name))
    deltas = names.compactMap { name, item in
      references[name].map { (name, $0, item.made.size.adding(1 << 20), item.title) }
    }
    places = Dictionary(deltas.enumerated().map { ($1.name, $0) }) { first, _ in first }
  }

  /// Returns the file of a delta that the cache had. It is here until ``CachedFiles/drop(_:)``.
  func file(of wanted: DeltaIdentity) throws(PackError) -> CachedFile? {
    let name = try files.name(wanted.members)
    guard let place = places[name] else { return nil }
    if place >= next {
      var size: UInt64 = 0
      let first = next
      repeat {
        size = size.adding(deltas[next].limit)
        next += 1
      } while next <= place || next < deltas.count && size.adding(deltas[next].limit) <= Self.largestBatch
      found.formUnion(try files.bring(deltas[first..<next].map { ($0.file, $0.limit, $0.title) }))
    }
    return found.contains(deltas[place].file) ? deltas[place].file : nil
  }

  /// Returns the path of the pack of an edition, if the cache has it. It is here until ``dropBases()``.
  func path(of pack: ReleaseLock.Pack) throws(PackError) -> String? {
    let file = CachedFile(sha256: pack.sha256)
    if !bases.contains(file) {
      bases.formUnion(try files.bring([(file, pack.size ?? 1 << 40, "version \(pack.version) of pack '\(pack.id)'")]))
    }
    return bases.contains(file) ? files.path(of: file.name) : nil
  }

  func dropBases() {
    for file in bases { files.drop(file.name) }
    bases = []
  }
}
