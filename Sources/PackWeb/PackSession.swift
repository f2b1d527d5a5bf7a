/// A pack of the host from its first byte on: opened, listed, read and checked by asking again.
final class PackSession: Conversation {
  private let file: OpenFile
  private let kind: PackKey.Kind
  private let backend = HostBackend()
  private var source: PackSource?
  private(set) var pack: Pack?
  private var responder: PackResponder?
  /// Bodies that are being read, by their numbers.
  private var bodies: [Int: OpenBody] = [:]
  private var bodyCount = 0
  private var check: PackCheck?

  /// - Parameters:
  ///   - size: the size of the pack in bytes.
  ///   - kind: what the key is that the host has as number 0.
  init(path: String, size: UInt64, kind: PackKey.Kind) {
    file = OpenFile(size: size)
    self.kind = kind
    super.init(path: path)
  }

  var segments: SegmentStore? { source?.segments }

  /// Takes the first bytes of the pack.
  func take(start bytes: [UInt8]) { file.take(bytes) }

  /// Opens the pack.
  func open() throws(PackError) {
    guard pack == nil else { return }
    if source == nil {
      let start = try PackStart(file, size: file.size, path: path, files: HostFiles())
      let key = try PackKey(secret: SecretBytes(key: 0, count: 32), kind: kind, backend: backend)
      source = try PackSource(start, path: path, key: key, backend: backend)
    }
    if let source { pack = try Pack(source) }
    forget()
  }

  /// The open pack.
  func opened() throws(PackError) -> Pack {
    guard let pack else { throw PackError(.usage, "the pack is not open") }
    return pack
  }

  override func wants(_ text: inout CanonicalWriter) {
    super.wants(&text)
    guard let source else {
      text.integer("start", UInt64(file.wanted))
      return
    }
    list(source.segments.wanted, of: source, &text)
  }

  private func list(_ numbers: [UInt64], of source: PackSource, _ text: inout CanonicalWriter) {
    if let key = source.segmentKey { text.integer("key", UInt64(key)) }
    text.array("segments", numbers) { text, number in
      let range = source.layout.packRange(ofSegment: number)
      let isLast = number == source.layout.segmentCount - 1
      text.object { text in
        text.integer("number", number)
        text.integer("start", range.lowerBound)
        text.integer("end", range.upperBound)
        text.string("nonce", source.segments.nonce(of: number, isLast: isLast).hex)
        if isLast { text.string("middle", source.segments.nonce(of: number, isLast: false).hex) }
      }
    }
  }

  // MARK: What is in it

  /// Writes what is known of the open pack.
  func describe(_ text: inout CanonicalWriter) throws(PackError) {
    let pack = try opened()
    text.integer("entryCount", UInt64(pack.entryCount))
    text.integer("contentSize", pack.contentSize)
    text.string("contentRoot", pack.contentRoot.hex)
    text.string("keyID", pack.keyID.description)
    text.array("recipientIDs", pack.recipientIDs) { text, id in text.string(id.description) }
    text.string("packID", pack.header.packID.hex)
    text.integer("version", pack.header.packVersion)
    text.integer("blockCount", UInt64(pack.index.head.blockCount))
  }

  /// Writes the entries of a block of the index.
  func describe(block number: Int, _ text: inout CanonicalWriter) throws(PackError) {
    let block = try opened().withReader { (reader) throws(PackError) in try reader.block(number, isKept: false) }
    text.array("entries", Array(0..<block.count)) { text, row in text.object { Self.describe(block.entry(row), &$0) } }
  }

  private static func describe(_ entry: Entry, _ text: inout CanonicalWriter) {
    text.string("path", entry.path)
    text.string("kind", entry.kind == .file ? "file" : "directory")
    text.integer("size", entry.size)
    if entry.kind == .file { text.string("sha256", entry.sha256.hex) }
  }

  // MARK: Reading

  /// Begins to read a file or a part of it, and writes the number of the body.
  func open(_ name: String, from start: UInt64, to end: UInt64?, _ text: inout CanonicalWriter) throws(PackError) {
    let pack = try opened()
    let entry = try pack.entry(at: name)
    guard entry.kind == .file else { throw PackError(.noSuchEntry, "'\(printable(name))' is a directory", advice: .chooseEntry) }
    let wanted = start..<max(start, end ?? entry.size)
    guard wanted.upperBound <= entry.size else { throw entry.unsatisfiable(wanted).about(pack.source) }
    Self.describe(entry, &text)
    describe(body: PackBody(pack, wanted.isEmpty ? [] : [.content(entry, wanted)]), &text)
  }

  /// Sets the options of responses.
  func respond(with options: PackResponder.Options) throws(PackError) { responder = PackResponder(try opened(), options: options) }

  /// Answers a request, and writes the number of the body if there is one.
  func respond(to request: PackRequest, _ text: inout CanonicalWriter) throws(PackError) {
    if responder == nil { try respond(with: .init()) }
    guard let response = try responder?.respond(to: request) else { return }
    text.integer("status", UInt64(response.status))
    text.array("headers", response.headers.fields) { text, field in
      text.object { text in
        text.string("name", field.name)
        text.string("value", field.value)
      }
    }
    if let body = response.body { describe(body: body, &text) }
  }

  private func describe(body: PackBody, _ text: inout CanonicalWriter) {
    bodyCount += 1
    bodies[bodyCount] = OpenBody(body)
    text.integer("body", UInt64(bodyCount))
    text.integer("length", body.length)
    // The digest of a file that is sent as a whole. Who has all of it may compare.
    if body.parts.count == 1, case .content(let entry, let range) = body.parts[0], range == 0..<entry.size {
      text.string("whole", entry.sha256.hex)
      text.string("wholePath", entry.path)
    }
  }

  /// Returns the next piece of a body; nil at its end.
  func next(_ number: Int) throws(PackError) -> [UInt8]? {
    guard let body = bodies[number] else { throw PackError(.usage, "the body is closed") }
    if let piece = try body.next() { return piece }
    bodies[number] = nil
    return nil
  }

  /// Writes which segments the next pieces of a body need, up to a number of bytes of its content.
  func lookAhead(_ number: Int, _ count: UInt64, _ text: inout CanonicalWriter) {
    guard let source, let body = bodies[number] else { return }
    list(body.ahead(count), of: source, &text)
  }

  func close(_ number: Int) { bodies[number] = nil }

  // MARK: Checking

  /// Checks that this is the pack of a release, and that its index is the tree that the release names.
  ///
  /// Reads the whole index. Blocks that are read again later have to be the same.
  func match(_ entry: ManifestPack) throws(PackError) {
    let pack = try opened()
    try pack.check(against: entry)
    try checkTree(pack)
  }

  /// Checks that its index is the tree with a content root.
  func match(root: [UInt8]) throws(PackError) {
    let pack = try opened()
    guard pack.contentRoot == root else {
      throw PackError(.wrongPack, of: path, "has content root \(pack.contentRoot.hex), not \(root.hex)", advice: .fetchAgain)
    }
    try checkTree(pack)
  }

  private func checkTree(_ pack: Pack) throws(PackError) {
    try attributing(to: path) { () throws(PackError) in
      _ = try ContentTable(pack, reader: PackReader(pack), pool: WorkerPool())
    }
  }

  /// Checks everything that a client can check, a step at a time. Returns the bytes of content that are done; nil at the end.
  func checkNext() throws(PackError) -> UInt64? {
    let running: PackCheck
    if let check { running = check } else { running = try PackCheck(try opened()) }
    check = running
    guard try running.next() else {
      check = nil
      return nil
    }
    return running.done
  }
}

/// A body and how far it was read.
private final class OpenBody {
  private let body: PackBody
  private var part = 0
  private var position: UInt64 = 0

  init(_ body: PackBody) {
    self.body = body
  }

  func next() throws(PackError) -> [UInt8]? {
    guard part < body.parts.count else { return nil }
    switch body.parts[part] {
    case .text(let bytes):
      part += 1
      return bytes
    case .content(let entry, let range):
      let rest = range.lowerBound + position..<range.upperBound
      try body.pack.need(entry, rest)
      var decrypted: UInt64 = 0
      let piece = try body.pack.withPiece(of: entry, rest, decryptedBytes: &decrypted) { [UInt8](copying: $0) }
      position += UInt64(piece.count)
      if range.lowerBound + position == range.upperBound { (part, position) = (part + 1, 0) }
      return piece
    }
  }

  /// The segments that are missing for the next bytes.
  func ahead(_ count: UInt64) -> [UInt64] {
    guard part < body.parts.count, case .content(let entry, let range) = body.parts[part] else { return [] }
    let start = range.lowerBound + position
    let end = min(range.upperBound, start + count)
    guard start < end else { return [] }
    let table = body.pack.table
    let (first, last) = (table.frame(holding: entry.offset + start), table.frame(holding: entry.offset + end - 1))
    var all: [UInt64] = []
    for number in first...last {
      for segment in body.pack.source.segments.missing(in: body.pack.payload(of: entry, start..<end, in: number)) where segment != all.last
      {
        all.append(segment)
      }
    }
    return all
  }
}

extension Pack {
  /// Makes sure that what the first frame of a range needs is there, all at once.
  fileprivate func need(_ entry: Entry, _ range: Range<UInt64>) throws(PackError) {
    try attributing(to: source.path) { () throws(PackError) in
      try source.segments.need(payload(of: entry, range, in: table.frame(holding: entry.offset + range.lowerBound)))
    }
  }

  /// The bytes of the payload that a range of a file needs of one frame: all of it, or up to the range's end if nothing in it shrank.
  fileprivate func payload(of entry: Entry, _ range: Range<UInt64>, in number: Int) -> Range<UInt64> {
    let frame = table[number]
    let whole = frame.offset..<frame.offset + UInt64(frame.compressedSize)
    guard frame.compressedSize >= frame.size else { return whole }
    let end = min(entry.offset + range.upperBound, frame.tarRange.upperBound) - frame.tarRange.lowerBound
    // The header of the frame, and those of the blocks before.
    let headers = UInt64(FrameHeader.largestSize + BlockHeader.length) * (end / UInt64(BlockHeader.largestBlock) + 2)
    return whole.lowerBound..<min(whole.upperBound, whole.lowerBound + end + headers)
  }
}

/// The checks of a client that unpacks a pack (FORMAT.md §4.9), a frame at a time.
private final class PackCheck {
  private let pack: Pack
  private let reader: PackReader
  private var table: ContentTable?
  private var rest: UInt64
  private var frame = 0
  private(set) var done: UInt64 = 0
  /// The digest of a content, which the frames before may have begun. At its end it is that of nothing again.
  private let spanning = SHA256()

  init(_ pack: Pack) throws(PackError) {
    self.pack = pack
    reader = try PackReader(pack, blocks: .shared(pack))
    rest = pack.table[pack.table.dataFrameCount].offset
  }

  /// Does the next step. Returns false if all is done.
  func next() throws(PackError) -> Bool {
    try attributing(to: pack.source.path) { () throws(PackError) in try step() }
  }

  private func step() throws(PackError) -> Bool {
    // The index is small beside what a store keeps, or is read in several rounds.
    guard let table else {
      self.table = try ContentTable(pack, reader: reader, pool: WorkerPool())
      return true
    }
    if rest < pack.layout.payloadSize {
      let piece = rest..<min(pack.layout.payloadSize, rest + UInt64(SegmentStore.capacity / 4))
      try pack.source.segments.need(piece)
      rest = piece.upperBound
      return true
    }
    guard frame < pack.table.dataFrameCount else { return false }
    let place = pack.table[frame]
    try pack.source.segments.need(place.offset..<place.offset + UInt64(place.compressedSize))
    let range = try reader.load(frame)
    try reader.withFrame { (content) throws(PackError) in try check(content, range, table) }
    frame += 1
    return true
  }

  private func check(_ content: Span<UInt8>, _ place: Range<UInt64>, _ table: ContentTable) throws(PackError) {
    for group in table.groups(in: place) {
      let first = group[group.startIndex]
      let part = first.range.clamped(to: place)
      let start = Int(part.lowerBound - place.lowerBound)
      try spanning.update(content.extracting(start..<start + part.count))
      done += UInt64(part.count) * UInt64(group.count)
      guard part.upperBound == first.range.upperBound else { continue }
      let digest = try spanning.finish()
      for item in group {
        let block = try reader.block(item.block, isKept: false)
        guard block.withDigest(of: item.row, { equal($0, digest.byteSpan) }) else {
          throw PackReader.digestMismatch(block.path(of: item.row))
        }
      }
    }
  }
}
