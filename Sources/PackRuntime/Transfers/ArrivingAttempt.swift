/// One attempt to fetch what is missing of a pack that is read while it arrives.
struct ArrivingAttempt: Sendable {
  private let pack: ArrivingPack
  /// The attempt that fetches the whole file, with the addresses that count now.
  private let whole: TransferAttempt
  private let saving: Monitor<Saving>
  private let turn = KeyedLock<String>()

  private struct Saving {
    var unnoted: UInt64 = 0
    var isPlayableNoted = false
    var told: Duration?
    /// The bytes of one request: about what comes in a second.
    var piece: UInt64
    var badCount = 0
  }

  /// The bytes of the first request, and the least of others.
  private static let smallestPiece: UInt64 = 256 << 10
  /// The number of requests at the same time: one brings bytes while the other one is on its way.
  private static let requestCount = 2
  /// The number of answers with wrong bytes after which an attempt ends.
  private static let mostBad = 3

  init(_ pack: ArrivingPack, _ whole: TransferAttempt) {
    self.pack = pack
    self.whole = whole
    saving = Monitor(Saving(piece: min(Self.smallestPiece, whole.policy.largestPiece)))
  }

  private var download: PlannedDownload { whole.download }
  private var identifier: String { whole.identifier }
  private var part: String { whole.part }
  private var place: TransferPlace { whole.place }

  /// - Returns: Nil if the server sends whole files only.
  func run() async -> TransferAttempt.Outcome? {
    let before = pack.received
    // A download of the whole file may go on in the system.
    await whole.transport.end(identifier)
    do throws(Trouble) {
      try await open()
      whole.report.yield(.began(identifier, offset: pack.received))
      let troubles = await withTaskGroup(of: Trouble?.self) { group in
        for _ in 0..<Self.requestCount { group.addTask { await fetchAll() } }
        var troubles: [Trouble] = []
        for await trouble in group {
          guard let trouble else { continue }
          troubles.append(trouble)
          group.cancelAll()
        }
        return troubles
      }
      // The others were cancelled for the first one.
      if let trouble = troubles.first { throw trouble }
      try await note()
      guard pack.isComplete else { throw .failure(.cancelled) }
      place.tidy(identifier)
      return .complete(path: place.path(part))
    } catch {
      try? await note()
      guard !Task.isCancelled else { return .stopped }
      var failure = TransferFailure.malformedResponse
      if case .failure(let reason) = error { failure = reason } else if pack.received == 0 { return nil }
      if failure == .cancelled { return .stopped }
      pack.fail(failure.error(of: download.id))
      return .failed(failure, hasGrown: pack.received > before)
    }
  }

  private enum Trouble: Error {
    case failure(TransferFailure)
    /// The server ignores a range, as one does that sends whole files only.
    case wholeOnly
  }

  // MARK: The start

  /// Finds what is here, and fetches the digests of the segments if they are not.
  private func open() async throws(Trouble) {
    if !pack.hasLeaves { try await blocking { () throws(PackError) in pack.recall(from: place) } }
    try await checkSpace()
    guard !pack.hasLeaves else { return }
    let lead = download.lead ?? pack.lead
    let (leaves, failure) = try await fetch(0..<UInt64(32 * pack.segmentCount), of: lead.url, size: lead.stream.size)
    if let failure {
      pack.keep(ArrivingPack.Beginning(url: lead.url, offset: 0, bytes: leaves))
      throw .failure(failure)
    }
    try await blocking { () throws(PackError) in
      try pack.accept(leaves, of: lead, in: place)
    }
  }

  private func checkSpace() async throws(Trouble) {
    let needed = (pack.size - pack.received).adding(whole.policy.freeSpaceMargin)
    let free = (try? place.files.availableSpace(at: place.handle)) ?? .max
    guard needed <= free else { throw .failure(.noSpace(needed: needed, free: free)) }
  }

  // MARK: Pieces

  /// Fetches pieces until none is left.
  private func fetchAll() async -> Trouble? {
    while !Task.isCancelled, let segments = pack.claim(saving.withLock { $0.piece }) {
      do throws(Trouble) {
        let range = pack.range(of: segments)
        let start = whole.clock.now
        let (bytes, failure) = try await fetch(range, of: download.url, size: pack.size)
        let arrived = pack.segments(segments, endingBy: range.lowerBound + UInt64(bytes.count))
        let end = pack.range(of: arrived).upperBound
        pack.keep(ArrivingPack.Beginning(url: download.url, offset: end, bytes: Array(bytes[Int(end - range.lowerBound)...])))
        if failure == nil { adapt(bytes.count, whole.clock.now - start) }
        if !arrived.isEmpty {
          try await blocking { () throws(PackError) in try write(bytes, arrived) }
          try await noteSome(Int(end - range.lowerBound))
        }
        if let failure { throw .failure(failure) }
      } catch {
        pack.giveBack(segments)
        if case .failure(.wrongDigest) = error {
          let count = saving.withLock { saving in
            saving.badCount += 1
            return saving.badCount
          }
          if count < Self.mostBad { continue }
        }
        return error
      }
    }
    return Task.isCancelled ? .failure(.cancelled) : nil
  }

  /// Makes a request as large as what comes in a second, as far as that can be known from the last one.
  private func adapt(_ count: Int, _ duration: Duration) {
    let rate = UInt64(count).times(1_000_000) / max(1, duration.microseconds)
    saving.withLock { $0.piece = min(max(rate, Self.smallestPiece), 2 * $0.piece, whole.policy.largestPiece) }
  }

  /// - Returns: The bytes, or the first of them and why no more came.
  private func fetch(
    _ range: Range<UInt64>, of url: String, size: UInt64
  ) async throws(Trouble) -> (bytes: [UInt8], failure: TransferFailure?) {
    let count = Int(range.upperBound - range.lowerBound)
    let bytes = Monitor(pack.takeBeginning(of: url, at: range.lowerBound, shorterThan: count))
    let begun = UInt64(bytes.withLock { $0.count })
    let areSent: Bool
    do throws(TransferFailure) {
      areSent = try await whole.transport.bytes(
        range.lowerBound + begun..<range.upperBound,
        of: TransferRequest(identifier: identifier, url: url, size: size, priority: whole.priority)
      ) { [pack] more in
        pack.noteBytes()
        bytes.withLock { if more.count <= count - $0.count { $0.append(copying: more) } }
      }
    } catch {
      return (bytes.withLock { $0 }, error)
    }
    guard areSent else { throw .wholeOnly }
    return bytes.withLock { $0.count == count ? ($0, nil) : ($0, .malformedResponse) }
  }

  /// Writes segments whose digests are right, and counts them as here.
  private func write(_ bytes: [UInt8], _ segments: Range<Int>) throws(PackError) {
    let (start, count) = (pack.range(of: segments).lowerBound, Int(pack.size(of: segments)))
    for number in segments {
      let range = pack.range(of: number..<number + 1)
      let segment = bytes.byteSpan.extracting(Int(range.lowerBound - start)..<Int(range.upperBound - start))
      guard try pack.isRight(number, segment, by: CryptoBackends.standard) else { throw ArrivingPack.wrong(download.url) }
    }
    do throws(FileFailure) {
      let file = try place.files.open(part, .writeUnlinked, in: place.handle)
      try place.files.writeAll(file, at: start, bytes.byteSpan.extracting(first: count))
    } catch {
      throw error.writing(part)
    }
    pack.take(segments)
    let due = saving.withLock { saving in
      let now = whole.clock.now
      if let told = saving.told, now - told < whole.policy.progressInterval { return false }
      saving.told = now
      return true
    }
    if due { whole.report.yield(.progress(identifier, received: pack.received, size: pack.size)) }
  }

  // MARK: The map

  /// Notes what is here if so much came that was not noted. The next one who has as much waits for that.
  private func noteSome(_ count: Int) async throws(Trouble) {
    saving.withLock { $0.unnoted += UInt64(count) }
    guard isNoteDue else { return }
    guard (try? await turn.lock("map")) != nil else { throw .failure(.cancelled) }
    defer { turn.unlock("map") }
    if isNoteDue { try await note() }
  }

  /// Enough is there to begin, which a later process can do without a network; or much has come since the last note.
  private var isNoteDue: Bool {
    let isPlayable = pack.isPlayable
    return saving.withLock { $0.unnoted >= whole.policy.unnotedSize || isPlayable && !$0.isPlayableNoted }
  }

  /// Brings what is here to the disk, and then notes it.
  private func note() async throws(Trouble) {
    let isPlayable = pack.isPlayable
    saving.withLock { ($0.unnoted, $0.isPlayableNoted) = (0, isPlayable) }
    guard pack.hasLeaves else { return }
    try await blocking { () throws(PackError) in
      let map = pack.map
      try writing(part, place.files.sync(try place.files.open(part, .readUnlinked, in: place.handle)))
      try pack.noting.withLock { (_) throws(PackError) in try place.keep(map: map, of: identifier) }
    }
  }

  /// Runs code that blocks for the disk on a separate thread. It ends also if the task was cancelled.
  private func blocking(_ body: @escaping @Sendable () throws(PackError) -> Void) async throws(Trouble) {
    do throws(PackError) {
      try await WorkerPool.settled(body)
    } catch {
      switch error.code {
      case .digestMismatch: throw .failure(.wrongDigest)
      case .noSpace: throw .failure(.noSpace(needed: pack.size - pack.received, free: (try? place.files.freeSpace(at: place.handle)) ?? 0))
      case .cancelled: throw .failure(.cancelled)
      default: throw .failure(.cannotWrite)
      }
    }
  }
}

extension ArrivingPack {
  private var identifier: String { download.identifier.description }

  /// Takes what an earlier attempt or process has noted. Nothing if that is not of this pack.
  func recall(from place: TransferPlace) {
    noting.withLock { _ in
      if !hasLeaves { recallNoted(from: place) }
    }
  }

  private func recallNoted(from place: TransferPlace) {
    guard let (leaves, map) = place.arrived(identifier, segments: segmentCount),
      (try? CryptoBackends.standard.digest(of: leaves.byteSpan)) == lead.stream.leaves,
      let size = (try? place.size(of: TransferPlace.part(identifier))) ?? nil
    else { return }
    begin(leaves: leaves) { number in
      map[number / 8] & 1 << UInt8(number % 8) != 0 && range(of: number..<number + 1).upperBound <= size
    }
  }

  static func wrong(_ file: String) -> PackError {
    PackError(.digestMismatch, of: file, "has other bytes than the manifest says", advice: .fetchAgain)
  }

  /// Begins with the digests of the segments, and with what an attempt for the whole file has brought. Does nothing if it has begun.
  func accept(_ leaves: [UInt8], of lead: PackLeadFile, in place: TransferPlace) throws(PackError) {
    guard try CryptoBackends.standard.digest(of: leaves.byteSpan) == lead.stream.leaves else { throw Self.wrong(lead.url) }
    try noting.withLock { (_) throws(PackError) in
      guard !hasLeaves else { return }
      let here = try arrivedInOrder(leaves, in: place)
      begin(leaves: leaves) { here.contains($0) }
      try place.keep(leaves: leaves, map: map, of: identifier)
    }
  }

  /// Takes the segments of a lead that is here as a file. They are checked one by one, so its own digest is not needed.
  func take(leadAt path: String, in place: TransferPlace) throws(PackError) {
    let (file, status) = try place.files.openFile(path)
    guard status.size == lead.stream.size else { throw Self.wrong(path) }
    func read(_ count: Int, at offset: UInt64) throws(PackError) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: count)
      var span = bytes.mutableByteSpan
      try place.files.readExactly(file, at: offset, into: &span, name: path)
      return bytes
    }
    var offset = UInt64(32 * segmentCount)
    if !hasLeaves { try accept(try read(32 * segmentCount, at: 0), of: lead, in: place) }
    let name = TransferPlace.part(identifier)
    let part = try writing(name, place.files.open(name, .writeUnlinked, in: place.handle))
    for segments in [tail, launch] {
      for number in segments {
        let range = range(of: number..<number + 1)
        let bytes = try read(Int(range.upperBound - range.lowerBound), at: offset)
        offset += UInt64(bytes.count)
        guard try isRight(number, bytes.byteSpan, by: CryptoBackends.standard) else { throw Self.wrong(path) }
        try writing(name, place.files.writeAll(part, at: range.lowerBound, bytes.byteSpan))
        take(number..<number + 1)
      }
    }
    // What others write meanwhile is not in it.
    let map = map
    try writing(name, place.files.sync(part))
    try noting.withLock { (_) throws(PackError) in try place.keep(map: map, of: identifier) }
  }

  /// Removes everything but what is read at the launch. Only of one that is playable, and that is not read any more.
  ///
  /// - Returns: Whether there was anything else.
  func shorten(in place: TransferPlace) throws(PackError) -> Bool {
    let kept = [launch, tail]
    let hadChunks = place.removeChunks(identifier)
    guard received > kept.reduce(0, { $0 + size(of: $1) }) else { return hadChunks }
    try noting.withLock { (_) throws(PackError) in
      try place.shorten(
        identifier, to: kept.map(range(of:)), map: Self.map(of: segmentCount) { number in kept.contains { $0.contains(number) } })
    }
    return true
  }

  /// Returns the segments that a download of the whole file has brought, and whose digests are right.
  func arrivedInOrder(_ leaves: [UInt8], in place: TransferPlace) throws(PackError) -> Set<Int> {
    var here: Set<Int> = []
    let name = TransferPlace.part(identifier)
    guard !place.hasMap(identifier), let extent = try? place.join(identifier), extent.offset > 0,
      let file = try? place.files.open(name, .readUnlinked, in: place.handle)
    else {
      place.removePart(identifier)
      _ = try writing(name, place.files.open(name, .create(mode: 0o600), in: place.handle))
      return []
    }
    for number in 0..<segmentCount {
      let range = range(of: number..<number + 1)
      guard range.upperBound <= extent.offset else { break }
      var bytes = [UInt8](repeating: 0, count: Int(range.upperBound - range.lowerBound))
      var span = bytes.mutableByteSpan
      try place.files.readExactly(file, at: range.lowerBound, into: &span, name: name)
      if try CryptoBackends.standard.digest(of: bytes.byteSpan) == Array(leaves[32 * number..<32 * number + 32]) { here.insert(number) }
    }
    return here
  }
}
