/// A search through the content of all files of a pack while it is verified: for secrets, unresolved merges, pointers of Git LFS and what cannot be the
/// content of such a file.
///
/// The workers that check the digests search the frames that they have opened. The parts of a file that spans frames are searched in order: a worker
/// waits for the worker of the frame before.
final class ContentSearch: Sendable {
  /// What was found in a file.
  private enum Finding {
    case secret(rule: String, reason: String)
    /// A secret in a file that spans frames, whose line is not known yet.
    case match(SecretScanner.Match)
    case conflict(LinePlace)
    case farConflict(UInt64)
    case pointer
    /// A content that some files cannot have.
    case unfit(UnfitContent)
  }

  /// The search through a file that spans frames. Only the worker whose part is next uses it.
  private final class Spanning: @unchecked Sendable {
    var scanner = SecretScanner()
    /// The start of the part to be searched next.
    var due: UInt64

    init(due: UInt64) {
      self.due = due
    }
  }

  private enum Turn {
    case now(Spanning)
    /// The search was closed.
    case never
  }

  private struct State {
    var found: [(path: String, finding: Finding)] = []
    /// The searches that are not finished, by the start of the content.
    var spanning: [UInt64: Spanning] = [:]
    var isClosed = false
  }

  private let state = Monitor(State())

  /// Makes the observer of one worker.
  func makeObserver() -> any FrameObserver { Observer(self) }

  /// Ends the search early, so that no worker waits.
  func close() {
    state.update { $0.isClosed = true }
  }

  /// Adds what was found to the contents of a pack, in the order of the paths.
  func finish(_ pack: Pack, _ contents: inout PackContents) {
    let found = state.withLock { $0.found }.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    for (path, finding) in found {
      let shown = "'\(printable(path.utf8))'"
      switch finding {
      case .secret(let rule, let reason):
        contents.secrets.append(PackContents.Secret(path: path, rule: rule, reason: reason))
      case .match(let match):
        let place = Self.place(of: match.offset, in: path, pack)
        contents.secrets.append(PackContents.Secret(path: path, rule: match.rule.id, reason: match.rule.finding(at: place)))
      case .conflict(let place):
        contents.conflicts.append("\(shown), \(place)")
      case .farConflict(let offset):
        contents.conflicts.append("\(shown), \(Self.place(of: offset, in: path, pack))")
      case .pointer:
        contents.pointers.append(shown)
      case .unfit(let content):
        contents.unfit.append("\(shown) \(content.reason)")
      }
    }
    // The names were judged before.
    contents.secrets.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }

  /// Decompresses the start of a file again, which only a finding needs.
  private static func place(of offset: UInt64, in path: String, _ pack: Pack) -> LinePlace {
    var place = LinePlace()
    if let entry = try? pack.entry(at: path) {
      // A pack that cannot be read again was damaged meanwhile.
      try? pack.read(entry, range: 0..<offset) { piece in place.add(piece) }
    }
    return place
  }

  // MARK: Contents

  /// Searches a content that is whole.
  private func search(_ content: Span<UInt8>) -> [Finding] {
    var scanner = SecretScanner()
    scanner.add(content, isLast: true)
    var found = SecretScanner.secrets(scanner.matches, in: content).map { Finding.secret(rule: $0.rule, reason: $0.reason) }
    if let conflict = scanner.conflict {
      var place = LinePlace()
      place.add(content.extracting(first: Int(conflict)))
      found.append(.conflict(place))
    }
    if SourceRules.pointerSizes.contains(UInt64(content.count)), SourceRules.isPointer(content) {
      found.append(.pointer)
    } else if let unfit = UnfitContent(content) {
      found.append(.unfit(unfit))
    }
    if let narrow = WideText.narrowed(content) { found += search(narrow.byteSpan) }
    return found
  }

  /// Searches a part of a content, after all parts before it.
  private func search(_ bytes: Span<UInt8>, _ part: Range<UInt64>, of whole: Range<UInt64>) -> [Finding] {
    if part.lowerBound == whole.lowerBound {
      state.update { $0.spanning[whole.lowerBound] = Spanning(due: whole.lowerBound) }
    }
    // The part before it was claimed before, and is searched by a worker that is running.
    let turn = state.wait { state -> Turn? in
      if state.isClosed { return .never }
      guard let content = state.spanning[whole.lowerBound], content.due == part.lowerBound else { return nil }
      return .now(content)
    }
    guard case .now(let content) = turn else { return [] }
    let isLast = part.upperBound == whole.upperBound
    content.scanner.add(bytes, isLast: isLast)
    var found: [Finding] = []
    if isLast {
      found = content.scanner.matches.map { .match($0) }
      if let conflict = content.scanner.conflict { found.append(.farConflict(conflict)) }
    }
    state.update { state in
      content.due = part.upperBound
      if isLast { state.spanning[whole.lowerBound] = nil }
    }
    return found
  }

  private func add(_ found: [Finding], in path: Span<UInt8>) {
    let path = String(decoding: [UInt8](copying: path), as: UTF8.self)
    let fitting = found.filter { if case .unfit(let content) = $0 { content.isUnfit(for: path) } else { true } }
    guard !fitting.isEmpty else { return }
    state.withLock { $0.found += fitting.map { (path, $0) } }
  }

  private final class Observer: FrameObserver {
    private let search: ContentSearch

    init(_ search: ContentSearch) {
      self.search = search
    }

    func observe(
      _ frame: SeekTable.Frame, _ content: Span<UInt8>, _ table: ContentTable, _ records: RecordBatch, reader: PackReader
    ) throws(PackError) {
      var rest = table.items(in: frame.tarRange)
      while let first = rest.first {
        // Copies share their content.
        let copies = rest.prefix { $0.offset == first.offset }
        rest = rest.dropFirst(copies.count)
        let part = first.range.clamped(to: frame.tarRange)
        let start = Int(part.lowerBound - frame.tarRange.lowerBound)
        let bytes = content.extracting(start..<start + part.count)
        let found = part == first.range ? search.search(bytes) : search.search(bytes, part, of: first.range)
        guard !found.isEmpty else { continue }
        for index in copies.indices {
          try records.withRecord(of: index, in: table, reader: reader) { (path, _, _) in search.add(found, in: path) }
        }
      }
    }
  }
}
