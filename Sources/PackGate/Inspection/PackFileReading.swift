/// Inspects pack files one after the other, with its own buffer of 256 KiB.
final class PackFileReading {
  private let files: any FileSystem
  private let isQuick: Bool
  private var buffer = [UInt8](repeating: 0, count: 256 << 10)

  init(files: any FileSystem, isQuick: Bool) throws(PackError) {
    self.files = files
    self.isQuick = isQuick
  }

  /// Inspects the file of a manifest entry. Faults of the file are part of the result.
  func look(
    at entry: ManifestPack, path: String, key: Shared<PackKey>?, _ survey: ContentSurvey, number: Int
  ) throws(PackError) -> (PackSighting, PackContents) {
    var (sighting, contents) = (PackSighting(path: path), PackContents())
    guard PathParts(path) != nil else { return (sighting, contents) }
    let file = PublishedFile(path, files: files)
    (sighting.size, sighting.absence) = (file.size, file.absence)
    guard file.size != nil else { return (sighting, contents) }
    do throws(PackError) {
      sighting.start = PackSighting.Start(try PackStart(path, files: files))
      var search = PlaintextSearch()
      if let pack = try key?.key.open(path, files: files) {
        sighting.content = PackSighting.Content(
          isNamed: Self.isNamed(pack, entry.id), contentRoot: pack.contentRoot, contentSize: pack.contentSize,
          files: UInt64(pack.entryCount),
          maxFrame: UInt64(pack.largestFrame))
        if !isQuick { try survey.look(into: pack, number: number, &contents, &search) }
      }
      sighting.sha256 = try read(path, search: isQuick ? nil : search, &contents)
    } catch {
      guard error.code != .cancelled else { throw error }
      sighting.failure = error
      // A pack that cannot be opened may still be the published file.
      if sighting.sha256 == nil { sighting.sha256 = try? read(path, search: nil, &contents) }
    }
    return (sighting, contents)
  }

  private static func isNamed(_ pack: Pack, _ id: String) -> Bool {
    guard let name = try? PackName(id) else { return false }
    return (try? pack.source.checkName(name)) != nil
  }

  /// Reads a file once, to compute its digest and to search for plaintext.
  private func read(_ path: String, search: PlaintextSearch?, _ contents: inout PackContents) throws(PackError) -> [UInt8] {
    let file = try files.open(path, .read)
    var search = search
    var offset: UInt64 = 0
    // A digest context that a failure left in the middle of a file would spoil the next digest.
    let digest = try CryptoBackends.standard.makeDigest()
    // Moved out and back: spans of a class's own arrays cannot be lent.
    var buffer: [UInt8] = []
    swap(&buffer, &self.buffer)
    defer { swap(&buffer, &self.buffer) }
    while true {
      try Task.checkpoint()
      var target = buffer.mutableByteSpan
      let count = try files.read(file, at: offset, filling: &target, name: path)
      guard count > 0 else { break }
      let piece = buffer.byteSpan.extracting(first: count)
      try digest.update(piece)
      search?.look(at: piece)
      offset += UInt64(count)
    }
    if let search { contents.visible = search.sightings }
    return try digest.finish()
  }
}

extension PackSighting.Start {
  init(_ start: PackStart) {
    self.init(
      format: "\(PackHeader.major).\(start.header.minor)", packVersion: start.header.packVersion, packID: start.header.packID,
      keyID: "\(start.stanzas.keyID)", recipientIDs: start.stanzas.recipientIDs.map(\.description),
      core: Array(start.bytes.prefix(PackHeader.size)))
  }
}
