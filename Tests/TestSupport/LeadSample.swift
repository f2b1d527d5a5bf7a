/// A file that arrives in pieces, and its lead: it has the segments of a pack, but its bytes are random.
package struct LeadSample: Sendable {
  package let content: [UInt8]
  package let lead: [UInt8]
  package let stream: ManifestStream

  private static let (header, segment) = (700, 65_536)

  /// Makes one of a number of segments, the last of which is not whole. The first two are the launch.
  package init(segments count: Int, seed: UInt64 = 54) {
    var random = SeededGenerator(seed: seed)
    content = random.bytes(Self.header + (count - 1) * Self.segment + 1000)
    var leaves: [UInt8] = []
    for number in 0..<count {
      let start = number == 0 ? 0 : Self.header + number * Self.segment
      leaves += NumberedFile.digest(Array(content[start..<min(content.count, Self.header + (number + 1) * Self.segment)]))
    }
    let (launch, tail) = (Self.header + 2 * Self.segment, Self.header + (count - 1) * Self.segment)
    lead = leaves + content[tail...] + content[..<launch]
    stream = ManifestStream(
      launch: UInt64(launch), tail: UInt64(tail), leaves: NumberedFile.digest(leaves), size: UInt64(lead.count),
      sha256: NumberedFile.digest(lead))
  }

  /// Its name on the server, and that of the lead.
  package static let name = "movie.pack"
  package var leadName: String { ManifestPack.leadName("movie", stream.sha256) }

  /// Its download from a server.
  package func download(from url: String) -> PlannedDownload? {
    let digest = NumberedFile.digest(content)
    var pack = ManifestPack(
      id: "movie", version: 1, url: "\(url)/\(Self.name)", size: UInt64(content.count), sha256: digest, contentRoot: digest, contentSize: 1,
      installSize: 1, files: 1, maxFrame: 1, keyID: "e545120e613dd715", delivery: .onDemand, install: .packed)
    pack.stream = stream
    return PlannedDownload(arriving: pack, ManifestDefaults(baseURL: "\(url)/"))
  }
}
