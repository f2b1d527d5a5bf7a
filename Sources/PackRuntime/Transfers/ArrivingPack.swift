/// A pack that is read while it arrives (FORMAT.md §9.9): which of its segments are here, and who waits for others.
///
/// A segment counts when its bytes have the digest that the signed manifest leads to. What is waited for comes first, then the launch, then the rest.
/// Memory: 34 bytes for each segment, at most 2.2 MiB, some hundred for each wait, and what came of digests and two segments before a connection was lost.
package final class ArrivingPack: PackArrival {
  private struct State {
    /// The SHA-256 of each segment; empty as long as they are not known.
    var leaves: [UInt8] = []
    var isHere: [Bool]
    var isComing: [Bool]
    var received: UInt64 = 0
    /// The segments that somebody asked for, the latest last.
    var wanted: [ClosedRange<Int>] = []
    var waits: [UInt64: Wait] = [:]
    var lastWait: UInt64 = 0
    /// The time of the last segment that came, or of the first wait since then.
    var moved: Duration = .zero
    var isStalled = false
    /// Why the last attempt to fetch something failed.
    var trouble: PackError?
    var end: PackError?
    var isWatched = false
    var isPlayable = false
    var beginnings: [Beginning] = []
  }

  /// What came of digests or of a segment before a connection was lost.
  struct Beginning {
    let url: String
    let offset: UInt64
    let bytes: [UInt8]
  }

  private struct Wait {
    let segments: ClosedRange<Int>
    /// Nil for a thread that looks at `end` itself.
    let continuation: CheckedContinuation<PackError?, Never>?
    var end: End?
  }

  private enum End {
    case here
    case failed(PackError)
  }

  let download: PlannedDownload
  let lead: PackLeadFile
  let layout: SegmentLayout
  /// The path of the file that it arrives in.
  package let path: String
  private let clock: any DeviceClock
  private let policy: TransferPolicy
  private let onChange: @Sendable () -> Void
  private let state: Monitor<State>
  /// Held while it is found out or noted what is here, which an attempt, a lead and somebody who wants to read may do at the same time.
  let noting = Monitor(())

  /// - Parameter onChange: called when it becomes playable, and when what is waited for stops coming, or comes again.
  init(
    _ download: PlannedDownload, _ lead: PackLeadFile, at path: String, policy: TransferPolicy, clock: any DeviceClock,
    onChange: @escaping @Sendable () -> Void
  ) throws(PackError) {
    layout = try lead.stream.layout(packSize: download.bytes.size)
    (self.download, self.lead, self.path, self.policy, self.clock, self.onChange) = (download, lead, path, policy, clock, onChange)
    let count = Int(layout.segmentCount)
    state = Monitor(State(isHere: Array(repeating: false, count: count), isComing: Array(repeating: false, count: count)))
  }

  var segmentCount: Int { Int(layout.segmentCount) }
  /// The size of the pack in bytes.
  package var size: UInt64 { layout.packSize }
  /// The number of its bytes that are here.
  package var received: UInt64 { state.withLock { $0.received } }
  /// Whether it can be opened, and what is read at its launch is here.
  package var isPlayable: Bool { state.withLock { $0.isPlayable } }
  /// Whether nothing came for ``TransferPolicy/stallTime`` while somebody waits.
  package var isStalled: Bool { state.withLock { $0.isStalled } }
  /// Whether somebody waits for bytes of it.
  package var isAwaited: Bool { state.withLock { !$0.waits.isEmpty } }
  /// Whether all of it is here.
  package var isComplete: Bool { state.withLock { $0.received == layout.packSize } }
  /// Whether the digests of the segments are known.
  var hasLeaves: Bool { state.withLock { !$0.leaves.isEmpty } }

  // MARK: Segments

  /// Returns the bytes of the file that belong to segments. The header belongs to the first one.
  func range(of segments: Range<Int>) -> Range<UInt64> {
    func start(_ number: Int) -> UInt64 {
      number == 0 ? 0 : min(layout.packSize, layout.bodyOffset + UInt64(number) * UInt64(layout.segmentSize))
    }
    return start(segments.lowerBound)..<start(segments.upperBound)
  }

  func size(of segments: Range<Int>) -> UInt64 {
    let range = range(of: segments)
    return range.upperBound - range.lowerBound
  }

  private func segment(holding offset: UInt64) -> Int { Int(offset.less(layout.bodyOffset) / UInt64(layout.segmentSize)) }

  func segments(holding range: Range<UInt64>) -> ClosedRange<Int> {
    segment(holding: range.lowerBound)...segment(holding: range.upperBound - 1)
  }

  /// The segments that are read at the launch.
  var launch: Range<Int> { 0..<segments(holding: 0..<lead.stream.launch).upperBound + 1 }
  /// The segments of what every reader needs.
  var tail: Range<Int> { segments(holding: lead.stream.tail..<size).lowerBound..<segmentCount }

  /// Whether the bytes of a segment are those of the pack. Nothing is if its digest is not known.
  func isRight(_ number: Int, _ bytes: Span<UInt8>, by backend: any CryptoBackend) throws(PackError) -> Bool {
    let leaf = state.withLock { $0.leaves.isEmpty ? [] : Array($0.leaves[32 * number..<32 * number + 32]) }
    return try backend.digest(of: bytes) == leaf
  }

  /// Takes the digests, and the segments that are here.
  func begin(leaves: [UInt8], here: (Int) -> Bool) {
    state.update { state in
      state.leaves = leaves
      for number in state.isHere.indices where !state.isHere[number] && here(number) { note(number, &state) }
    }
    tell()
  }

  private func note(_ number: Int, _ state: inout State) {
    state.isHere[number] = true
    state.received += size(of: number..<number + 1)
  }

  /// One bit for each segment that is here, the first in the lowest bit of the first byte.
  var map: [UInt8] {
    state.withLock { state in Self.map(of: state.isHere.count) { state.isHere[$0] } }
  }

  static func map(of count: Int, _ isHere: (Int) -> Bool) -> [UInt8] {
    var map = [UInt8](repeating: 0, count: (count + 7) / 8)
    for number in 0..<count where isHere(number) { map[number / 8] |= 1 << UInt8(number % 8) }
    return map
  }

  /// Chooses the segments to fetch next, at most this many bytes of them, but at least one. They are not chosen again before ``take(_:)`` or ``giveBack(_:)``.
  ///
  /// - Returns: Nil if all are here or on their way.
  func claim(_ most: UInt64) -> Range<Int>? {
    state.withLock { state in
      let all = 0..<state.isHere.count
      state.wanted.removeAll { range in range.allSatisfy { state.isHere[$0] } }
      var found: (first: Int, end: Int, most: UInt64)?
      // What was asked for last is what somebody waits for now. What follows it is likely to be next.
      for range in state.wanted.reversed() {
        let range = range.lowerBound..<range.upperBound + 1
        guard let first = Self.firstFree(range, state) else { continue }
        found = (first, all.upperBound, min(most, size(of: first..<range.upperBound).adding(Self.readAhead)))
        break
      }
      // Without launch and tail nothing can be read, and they are not to wait for what follows them.
      for part in [launch, tail, all] where found == nil {
        if let first = Self.firstFree(part, state) { found = (first, part.upperBound, most) }
      }
      guard let (first, end, most) = found else { return nil }
      let count = max(1, Int(most / UInt64(layout.segmentSize)))
      var last = first
      while last + 1 < end, last + 1 - first < count, Self.firstFree(last + 1..<last + 2, state) != nil { last += 1 }
      for number in first...last { state.isComing[number] = true }
      return first..<last + 1
    }
  }

  /// The bytes that are fetched with what is asked for.
  private static let readAhead: UInt64 = 256 << 10

  /// Returns the first segment of some that is neither here nor on its way.
  private static func firstFree(_ segments: Range<Int>, _ state: borrowing State) -> Int? {
    for number in segments where !state.isHere[number] && !state.isComing[number] { return number }
    return nil
  }

  /// Counts segments as here whose digests were right and whose bytes are in the file.
  func take(_ segments: Range<Int>) {
    let woken = state.update { state -> [Wait] in
      for number in segments {
        state.isComing[number] = false
        if !state.isHere[number] { note(number, &state) }
      }
      state.moved = clock.now
      state.trouble = nil
      return Self.wake(&state)
    }
    for wait in woken { wait.continuation?.resume(returning: nil) }
    tell()
  }

  /// Notes that bytes come, which do not count yet.
  func noteBytes() {
    state.withLock { $0.moved = clock.now }
  }

  /// Lets others fetch segments that did not come.
  func giveBack(_ segments: Range<Int>) {
    state.withLock { state in for number in segments { state.isComing[number] = false } }
  }

  /// Returns the segments, of those of a piece, whose bytes are all in front of an offset.
  func segments(_ segments: Range<Int>, endingBy end: UInt64) -> Range<Int> {
    segments.lowerBound..<(segments.lastIndex { range(of: $0..<$0 + 1).upperBound <= end }.map { $0 + 1 } ?? segments.lowerBound)
  }

  /// Keeps what came of a segment, or of the digests, so that it is not fetched again. The oldest gives way.
  func keep(_ beginning: Beginning) {
    guard !beginning.bytes.isEmpty else { return }
    state.withLock { state in
      if state.beginnings.count == Self.mostBeginnings { state.beginnings.removeFirst() }
      state.beginnings.append(beginning)
    }
  }

  /// Removes and returns what came of a piece; nothing if all of it did.
  func takeBeginning(of url: String, at offset: UInt64, shorterThan count: Int) -> [UInt8] {
    state.withLock { state in
      guard let index = state.beginnings.firstIndex(where: { $0.url == url && $0.offset == offset && $0.bytes.count < count })
      else { return [] }
      return state.beginnings.remove(at: index).bytes
    }
  }

  /// Those of the digests, and of as many segments as there are requests.
  private static let mostBeginnings = 3

  /// Removes the waits that are over.
  private static func wake(_ state: inout State) -> [Wait] {
    var woken: [Wait] = []
    for (number, wait) in state.waits where wait.segments.allSatisfy({ state.isHere[$0] }) {
      if wait.continuation == nil {
        state.waits[number]?.end = .here
      } else {
        woken.append(wait)
        state.waits[number] = nil
      }
    }
    return woken
  }

  private func tell() {
    let isNew = state.withLock { state in
      let (playable, stalled) = (state.isPlayable, state.isStalled)
      if !state.isPlayable, !state.leaves.isEmpty {
        state.isPlayable = launch.allSatisfy { state.isHere[$0] } && tail.allSatisfy { state.isHere[$0] }
      }
      state.isStalled = !state.waits.isEmpty && clock.now - state.moved >= policy.stallTime
      return state.isPlayable != playable || state.isStalled != stalled
    }
    if isNew { onChange() }
  }

  // MARK: The end

  /// Remembers why nothing comes now, for those who wait too long.
  func fail(_ error: PackError) { state.withLock { $0.trouble = error } }

  /// Ends all waits: the file does not arrive any more.
  func stop(_ error: PackError) {
    let woken = state.update { state -> [Wait] in
      guard state.received < layout.packSize else { return [] }
      state.end = error
      return Self.end(error, &state)
    }
    for wait in woken { wait.continuation?.resume(returning: error) }
  }

  /// Ends all waits. Those of threads are removed by these, the others are returned.
  private static func end(_ error: PackError, _ state: inout State) -> [Wait] {
    let woken = state.waits.values.filter { $0.continuation != nil }
    state.waits = state.waits.filter { $0.value.continuation == nil }
    for number in state.waits.keys { state.waits[number]?.end = .failed(error) }
    return woken
  }

  // MARK: Waiting

  package func has(_ range: Range<UInt64>) -> Bool {
    state.withLock { state in
      if state.received == layout.packSize { return true }
      let segments = segments(holding: range)
      guard !segments.allSatisfy({ state.isHere[$0] }) else { return true }
      state.wanted.removeAll { $0 == segments }
      state.wanted.append(segments)
      return false
    }
  }

  package func wait(for range: Range<UInt64>) throws(PackError) {
    let number = state.withLock { add(Wait(segments: segments(holding: range), continuation: nil), &$0) }
    watch()
    let end = state.wait { state -> End? in
      let end = state.waits[number]?.end ?? (WorkerPool.isCancelled ? End.failed(PackError(.cancelled, "cancelled")) : nil)
      if end != nil { state.waits[number] = nil }
      return end
    }
    if case .failed(let error) = end { throw error }
  }

  package func arrival(of range: Range<UInt64>) async throws(PackError) {
    let own = Monitor<UInt64?>(nil)
    let end: PackError? = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let segments = segments(holding: range)
        let now = state.withLock { state -> PackError?? in
          if segments.allSatisfy({ state.isHere[$0] }) { return .some(nil) }
          if let end = state.end { return end }
          if Task.isCancelled { return PackError(.cancelled, "cancelled") }
          let number = add(Wait(segments: segments, continuation: continuation), &state)
          own.withLock { $0 = number }
          return nil
        }
        if let now { return continuation.resume(returning: now) }
        watch()
      }
    } onCancel: {
      let wait = state.withLock { state in own.withLock { $0 }.flatMap { state.waits.removeValue(forKey: $0) } }
      wait?.continuation?.resume(returning: PackError(.cancelled, "cancelled"))
    }
    if let end { throw end }
  }

  private func add(_ wait: Wait, _ state: inout State) -> UInt64 {
    var wait = wait
    if wait.continuation == nil {
      if wait.segments.allSatisfy({ state.isHere[$0] }) { wait.end = .here } else if let end = state.end { wait.end = .failed(end) }
    }
    if state.waits.isEmpty { state.moved = clock.now }
    state.lastWait += 1
    state.waits[state.lastWait] = wait
    return state.lastWait
  }

  /// Ends waits that take too long, as long as there are any. On a thread of its own, because reading may block all others.
  private func watch() {
    let isFirst = state.withLock { state in
      defer { state.isWatched = true }
      return !state.isWatched
    }
    guard isFirst else { return }
    let thread = DetachedThread { [self] in
      repeat { clock.pause(for: policy.stallTime / 6) } while look()
    }
    if !thread.start() { state.withLock { $0.isWatched = false } }
  }

  /// - Returns: Whether somebody still waits.
  private func look() -> Bool {
    tell()
    let (isOver, error, late) = state.update { state -> (Bool, PackError?, [Wait]) in
      guard !state.waits.isEmpty else {
        state.isWatched = false
        return (true, nil, [])
      }
      guard clock.now - state.moved >= policy.patience else { return (false, nil, []) }
      let error =
        state.trouble
        ?? PackError(
          .downloadFailed, "what is read of pack '\(download.id)' did not arrive within \(policy.patience.components.seconds) s",
          advice: .tryAgain)
      state.moved = clock.now
      return (false, error, Self.end(error, &state))
    }
    for wait in late { wait.continuation?.resume(returning: error) }
    if isOver { tell() }
    return !isOver
  }
}
