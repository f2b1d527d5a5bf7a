import PackFormat
import PackProject
import PackReading

/// A search through the content of all files of a pack, in the order in which it is stored, so that each frame is decompressed once.
struct ContentSearch {
  private let pack: Pack

  init(_ pack: Pack) {
    self.pack = pack
  }

  /// Adds what was found in files to a sighting. The rest of a damaged pack is not searched: other rules report the damage.
  func run(_ entries: [Entry], _ sighting: inout PackSighting) throws(PackError) {
    let byPlace = entries.sorted { ($0.offset, $0.path) < ($1.offset, $1.path) }
    var rest = byPlace[...]
    do throws(PackError) {
      while let first = rest.first {
        // Copies share their content.
        let copies = rest.prefix { $0.offset == first.offset }
        rest = rest.dropFirst(copies.count)
        try search(copies, &sighting)
      }
    } catch {
      guard error.code != .cancelled else { throw error }
    }
    sighting.secrets.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    sighting.conflicts.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private func search(_ copies: ArraySlice<Entry>, _ sighting: inout PackSighting) throws(PackError) {
    let entry = copies[copies.startIndex]
    var scanner = SecretScanner()
    var found: [(rule: String, reason: String)] = []
    var position: UInt64 = 0
    try forEachPiece(of: entry, upTo: entry.size) { (piece) throws(PackError) in
      if position == 0, entry.size <= SourceRules.largestSecret, let reason = SourceRules.secret(content: piece) {
        found.append((SecretRule.keyFile, reason))
      }
      position += UInt64(piece.count)
      scanner.add(piece, isLast: position == entry.size)
    }
    let matches = scanner.matches
    for match in matches { found.append((match.rule.id, match.rule.finding(at: try place(of: match.offset, in: entry)))) }
    for copy in copies { sighting.secrets += found.map { PackSighting.Secret(path: copy.path, rule: $0.rule, reason: $0.reason) } }
    guard let conflict = scanner.conflict else { return }
    let place = try place(of: conflict, in: entry)
    sighting.conflicts += copies.map { "'\(printable($0.path.utf8))', \(place)" }
  }

  /// Decompresses the start of a file again, which only a finding needs.
  private func place(of offset: UInt64, in entry: Entry) throws(PackError) -> LinePlace {
    var place = LinePlace()
    try forEachPiece(of: entry, upTo: offset) { (piece) throws(PackError) in place.add(piece) }
    return place
  }

  private func forEachPiece(
    of entry: Entry, upTo end: UInt64, _ body: (Span<UInt8>) throws(PackError) -> Void
  ) throws(PackError) {
    var position: UInt64 = 0
    var decrypted: UInt64 = 0
    while position < end {
      position += try pack.withPiece(of: entry, position..<end, decryptedBytes: &decrypted) { (piece) throws(PackError) in
        try body(piece)
        return UInt64(piece.count)
      }
    }
  }
}
