/// The tar of a pack that is made of a delta and its bases, and how it is cut into frames (FORMAT.md §13.8).
///
/// First come the contents of the bases in their order there, then the new ones in the order of the stream, then what has no content of its own:
/// directories, empty files, and links. So what stays of a base is in the same place in the tar, and its frames can be taken as they are.
///
/// Memory: about 100 bytes for each record.
struct RewritePlan: Sendable {
  /// Bytes of the tar.
  struct Part: Sendable {
    enum Source: Sendable {
      /// The header of a record, which links to the other one if there is one.
      case header(record: Int, target: Int?)
      /// The row of contents of a base, from an offset on.
      case old(base: Int, start: UInt64)
      case new(content: Int)
      case zeros
    }

    var source: Source
    /// Which bytes of the source.
    var range: Range<UInt64>

    var size: UInt64 { range.upperBound - range.lowerBound }
    var isNew: Bool { if case .new = source { true } else { false } }
  }

  /// A frame.
  enum Frame: Sendable {
    /// The frame of a pack that is a base.
    case taken(base: Int, number: Int, size: UInt32)
    /// Bytes to compress.
    ///
    /// - Parameter turn: How many frames with new contents come before. Nil if this one has none.
    case coded([Part], size: Int, turn: Int?)

    /// The length of its content in bytes.
    var size: UInt32 {
      switch self {
      case .taken(_, _, let size): size
      case .coded(_, let size, _): UInt32(size)
      }
    }
  }

  /// The largest number of bytes of the tar in a frame that is made. Smaller than what packing takes by default: the device reads files from it.
  static let frameSize: UInt64 = 1 << 20

  private(set) var frames: [Frame] = []
  /// Where the content of each record starts in the tar, in bytes; 0 if it has none.
  private(set) var offsets: [UInt64]
  /// The length of the tar in bytes.
  private(set) var tarSize: UInt64 = 0

  private let application: DeltaApplication
  /// The parts of the frame that is open.
  private var open: [Part] = []
  private var openSize: UInt64 = 0
  private var turns = 0
  /// Parts that stand in a row in a pack that is a base.
  private var run: [(part: Part, place: Range<UInt64>, entrySize: UInt64?)] = []
  private var runBase = 0

  /// - Throws: The error of a base.
  init(_ application: DeltaApplication) throws(PackError) {
    self.application = application
    offsets = [UInt64](repeating: 0, count: application.target.count)
    var links: [(record: Int, target: Int)] = []
    let contents = Self.contents(of: application)
    let owners = try Self.owners(of: contents, application)
    for (number, content) in contents.enumerated() {
      for group in groups(content.records, first: owners[number]) {
        let source = Part.Source.old(base: content.base, start: content.range.lowerBound)
        let size = content.range.upperBound - content.range.lowerBound
        add(group[0], source, size, at: content.range.lowerBound, in: content.base, isInPlace: group[0] == owners[number])
        links += group.dropFirst().map { ($0, group[0]) }
      }
    }
    endRun()
    var again: [(content: Int, group: [Int])] = []
    for (number, content) in application.target.new.enumerated() {
      let groups = groups(content.records, first: nil)
      add(groups[0][0], .new(content: number), content.size)
      links += groups[0].dropFirst().map { ($0, groups[0][0]) }
      again += groups.dropFirst().map { (number, $0) }
    }
    // A link has the permissions of its file, so an executable file with the content of another one needs an entry of its own.
    for (number, group) in again {
      add(group[0], .new(content: number), application.target.new[number].size)
      links += group.dropFirst().map { ($0, group[0]) }
    }
    for record in 0..<application.target.count where application.target.size(of: record) == 0 { add(headerOf: record, target: nil) }
    for link in links.sorted(by: { $0.record < $1.record }) {
      add(headerOf: link.record, target: link.target)
      offsets[link.record] = offsets[link.target]
    }
    append([Part(source: .zeros, range: 0..<UInt64(TarHeader.endSize))], together: UInt64(TarHeader.endSize))
    tarSize += UInt64(TarHeader.endSize)
    endFrame()
  }

  /// Returns the contents of the bases. Equal ones of unpacked bases, where each file has its own, are one.
  private static func contents(of application: DeltaApplication) -> [OldFiles.Content] {
    var places: [ContentDigest: Int] = [:]
    var contents: [OldFiles.Content] = []
    for content in OldFiles.contents(of: application) {
      guard application.bases[content.base] is BaseTree else {
        contents.append(content)
        continue
      }
      let digest = ContentDigest(application.target.digest(of: content.records[0]).byteSpan)
      if let known = places[digest] {
        contents[known].records += content.records
      } else {
        places[digest] = contents.count
        contents.append(content)
      }
    }
    return contents
  }

  /// Returns the header of a record.
  static func header(_ record: Int, target: Int?, _ tree: DeltaTarget) -> TarHeader {
    TarHeader(
      path: tree.path(of: record), kind: tree.kind(of: record), size: target == nil ? tree.size(of: record) : 0,
      linkTarget: target.map(tree.path))
  }

  private func headerSize(_ record: Int, target: Int?) -> UInt64 {
    let header = Self.header(record, target: target, application.target)
    return UInt64(header.byteCount)
  }

  /// Divides records with the same content by their permissions. The one that is to be first is the first of all.
  private func groups(_ records: [Int], first: Int?) -> [[Int]] {
    let leader = first ?? records[0]
    let kind = application.target.kind(of: leader)
    let same = [leader] + records.filter { $0 != leader && application.target.kind(of: $0) == kind }
    let others = records.filter { application.target.kind(of: $0) != kind }
    return others.isEmpty ? [same] : [same, others]
  }

  // MARK: Entries

  /// Adds an entry with content.
  ///
  /// - Parameters:
  ///   - offset, base: Where the content starts in the tar of a base, if it is from one.
  ///   - isInPlace: Whether the same header stands before it there.
  private mutating func add(
    _ record: Int, _ source: Part.Source, _ size: UInt64, at offset: UInt64? = nil, in base: Int = 0, isInPlace: Bool = false
  ) {
    let header = headerSize(record, target: nil)
    let padding = (512 - size % 512) % 512
    let whole = header + size + padding
    let parts = [
      Part(source: .header(record: record, target: nil), range: 0..<header), Part(source: source, range: 0..<size),
      Part(source: .zeros, range: 0..<padding),
    ]
    offsets[record] = tarSize + header
    tarSize += whole
    guard let offset, application.bases[base] is Pack else {
      endRun()
      return append(parts, together: whole)
    }
    if isInPlace, run.last.map({ runBase == base && $0.place.upperBound == offset - header }) ?? true {
      runBase = base
    } else {
      endRun()
      runBase = base
    }
    if isInPlace {
      run.append((parts[0], offset - header..<offset, whole))
    } else {
      append([parts[0]], together: whole)
    }
    run.append((parts[1], offset..<offset + size, nil))
    if padding > 0 { run.append((parts[2], offset + size..<offset + size + padding, nil)) }
  }

  private mutating func add(headerOf record: Int, target: Int?) {
    let size = headerSize(record, target: target)
    append([Part(source: .header(record: record, target: target), range: 0..<size)], together: size)
    tarSize += size
  }

  /// Takes the frames of a base that have nothing but bytes of the run. The others are made anew.
  private mutating func endRun() {
    defer { run = [] }
    guard let first = run.first, let last = run.last, let pack = application.bases[runBase] as? Pack else { return }
    let all = first.place.lowerBound..<last.place.upperBound
    var taken: [Int] = []
    var number = pack.table.frame(holding: all.lowerBound)
    if pack.table[number].tarRange.lowerBound < all.lowerBound { number += 1 }
    while number < pack.table.dataFrameCount, pack.table[number].tarRange.upperBound <= all.upperBound {
      taken.append(number)
      number += 1
    }
    guard let firstTaken = taken.first, let lastTaken = taken.last else { return appendRun(all) }
    appendRun(all.lowerBound..<pack.table[firstTaken].tarRange.lowerBound)
    endFrame()
    frames += taken.map { .taken(base: runBase, number: $0, size: pack.table[$0].size) }
    appendRun(pack.table[lastTaken].tarRange.upperBound..<all.upperBound)
  }

  /// Appends what of the run is in a range of the base's tar.
  private mutating func appendRun(_ range: Range<UInt64>) {
    guard !range.isEmpty else { return }
    for item in run {
      let place = item.place.clamped(to: range)
      guard !place.isEmpty else { continue }
      let start = item.part.range.lowerBound + (place.lowerBound - item.place.lowerBound)
      append(
        [Part(source: item.part.source, range: start..<start + UInt64(place.count))], together: start == 0 ? item.entrySize ?? 0 : 0)
    }
  }

  // MARK: Frames

  /// Appends parts of the tar to frames that are made.
  ///
  /// - Parameter size: The number of bytes, beginning with these, that are in one frame if one has room for them.
  private mutating func append(_ parts: [Part], together size: UInt64) {
    if openSize > 0, openSize + size > Self.frameSize { endFrame() }
    for part in parts {
      var rest = part
      while rest.size > 0 {
        if openSize == Self.frameSize { endFrame() }
        let count = min(Self.frameSize - openSize, rest.size)
        open.append(Part(source: rest.source, range: rest.range.lowerBound..<rest.range.lowerBound + count))
        openSize += count
        rest.range = rest.range.lowerBound + count..<rest.range.upperBound
      }
    }
  }

  private mutating func endFrame() {
    guard openSize > 0 else { return }
    let hasNew = open.contains(where: \.isNew)
    frames.append(.coded(open, size: Int(openSize), turn: hasNew ? turns : nil))
    if hasNew { turns += 1 }
    (open, openSize) = ([], 0)
  }

  // MARK: Owners

  /// Returns for each content of a pack the record of the target whose header stands before it there, unchanged. Nil if there is none.
  private static func owners(of contents: [OldFiles.Content], _ application: DeltaApplication) throws(PackError) -> [Int?] {
    var owners = [Int?](repeating: nil, count: contents.count)
    var candidates = [[Int]](repeating: [], count: contents.count)
    var counts = [Int](repeating: 0, count: contents.count)
    for (base, source) in application.bases.enumerated() {
      guard let pack = source as? Pack else { continue }
      let own = contents.indices.filter { contents[$0].base == base }
      let numbers = Dictionary(uniqueKeysWithValues: own.map { (contents[$0].range.lowerBound, $0) })
      try pack.forEachContent { (path, kind, size, offset, _) throws(PackError) in
        guard size > 0, let number = numbers[offset] else { return }
        counts[number] += 1
        let same = contents[number].records.first { record in
          application.target.kind(of: record) == kind && application.target.withPath(of: record) { equal($0, path) }
        }
        if let same { candidates[number].append(same) }
      }
      let reader = try pack.makeContentReader()
      for number in own {
        // If several files have it, the tar says which one is before the content.
        for record in candidates[number] where owners[number] == nil {
          let header = Self.header(record, target: nil, application.target)
          let isOwner = counts[number] == 1 ? true : try Self.stands(header, before: contents[number].range.lowerBound, reader)
          if isOwner { owners[number] = record }
        }
      }
    }
    return owners
  }

  private static func stands(_ header: TarHeader, before offset: UInt64, _ reader: any BaseReader) throws(PackError) -> Bool {
    let expected = header.bytes
    guard UInt64(expected.count) <= offset else { return false }
    var bytes = [UInt8](repeating: 0, count: expected.count)
    try reader.copy(offset - UInt64(expected.count)..<offset, to: &bytes, at: 0)
    return bytes == expected
  }
}
