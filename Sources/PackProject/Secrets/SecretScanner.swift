/// A search for secrets and for marks of unresolved conflicts in the content of one file, which is passed in pieces.
///
/// Needs less than 4 KiB of memory besides the pieces. A text in UTF-16 (see ``WideText``) or in a compressed file is not understood. In other files, only texts of 16 or
/// more bytes of ASCII and what is near them are searched.
package struct SecretScanner: ~Copyable {
  /// What was found.
  package struct Match: Hashable, Sendable {
    /// The number of the rule in ``SecretRule/all``.
    package let number: Int
    /// Where the fixed text of the rule is, in bytes from the start of the file.
    package let offset: UInt64

    package var rule: SecretRule { SecretRule.all[number] }
  }

  /// The first match of each rule, in the order in which they were found.
  package private(set) var matches: [Match] = []
  /// Where the first conflict starts, in bytes from the start of the file; nil if there is none, or its marks have not all been found yet.
  package var conflict: UInt64? { conflicts?.found }

  /// How many bytes a rule may look at after the start of its fixed text, and before it.
  package static let ahead = 640
  package static let behind = 320

  private let table: SecretTable
  private var conflicts: ConflictSearch?
  /// The end of what was passed last, for what begins there.
  private var carry: [UInt8] = []
  /// Where the next piece starts in the file.
  private var position: UInt64
  /// Up to where candidates have been examined.
  private var examined: UInt64

  /// Makes a scanner for a file, or for the part of a file from an offset on.
  ///
  /// - Parameter start: the offset. The first bytes passed are those ``overlap`` bytes before it, or from the start of the file.
  package init(from start: UInt64 = 0) {
    self.init(from: start, table: .standard)
  }

  init(from start: UInt64 = 0, table: SecretTable) {
    self.table = table
    position = start - min(start, Self.overlap)
    examined = start - min(start, UInt64(Self.ahead))
  }

  /// How many bytes before a part the scanner of that part must see.
  package static let overlap = UInt64(ahead + behind)

  /// Scans the next bytes of the file. What could continue after them is examined with the piece that follows.
  ///
  /// - Parameter isLast: whether the file ends here. Otherwise the scanner of the next part, or the next call, examines the end.
  package mutating func add(_ piece: Span<UInt8>, isLast: Bool) {
    let end = position + UInt64(piece.count)
    let toExamine = isLast ? end : max(examined, end - min(end, UInt64(Self.ahead)))
    var base = position
    if !carry.isEmpty {
      base -= UInt64(carry.count)
      // What starts before the piece, and what looks back before it.
      var joint = carry
      joint.append(copying: piece.extracting(first: min(piece.count, Int(Self.overlap))))
      let jointEnd = base + UInt64(joint.count)
      let border = jointEnd == end ? toExamine : min(toExamine, position + UInt64(Self.behind))
      examine(joint.byteSpan, at: base, to: border)
      examined = max(examined, border)
    }
    if examined < toExamine, examined >= position {
      examine(piece, at: position, to: toExamine)
      examined = toExamine
    }
    searchConflicts(piece, at: position)
    position = end
    guard !isLast else {
      carry = []
      conflicts?.finish()
      return
    }
    if piece.count >= Int(Self.overlap) { carry = [] }
    carry.append(copying: piece.extracting(last: min(piece.count, Int(Self.overlap))))
    if carry.count > Int(Self.overlap) { carry.removeFirst(carry.count - Int(Self.overlap)) }
  }

  /// Returns the first place in a range where a secret or a conflict may be, or nil. For many small files, one search through all of them is faster than
  /// a scanner for each.
  package static func nextCandidate(_ bytes: Span<UInt8>, in range: Range<Int>) -> Int? {
    SecretTable.standard.nextCandidates(bytes, in: range)?.place
  }

  /// Whether a secret may be at the start of a file although ``nextCandidate(_:in:)`` finds none there.
  package static func mayStart(_ file: Span<UInt8>) -> Bool { file.count >= 4 && SecretTable.standard.candidates(atStart: file) != nil }

  // MARK: Candidates

  /// Examines the candidates from ``examined`` to `end`, offsets in the file, in bytes that start at `base`.
  private mutating func examine(_ bytes: Span<UInt8>, at base: UInt64, to end: UInt64) {
    let first = Int(examined - base)
    let last = Int(end - base)
    guard first < last else { return }
    if base == 0, first == 0 { examineStart(bytes) }
    var index = first
    while let (place, candidates) = table.nextCandidates(bytes, in: index..<last) {
      for candidate in candidates { examine(candidate, bytes, place, base) }
      if SecretTable.word(bytes, place) == SecretTable.conflict { noteConflict(bytes, place, base) }
      index = place + 1
    }
  }

  private mutating func examine(_ candidate: SecretTable.Candidate, _ bytes: Span<UInt8>, _ place: Int, _ base: UInt64) {
    let start = place - candidate.literal.anchor
    let literal = candidate.literal.bytes
    guard start >= 0, start + literal.count <= bytes.count else { return }
    for number in literal.indices where bytes[start + number] != literal[number] { return }
    guard !matches.contains(where: { $0.number == candidate.rule }) else { return }
    if SecretText.matches(SecretRule.all[candidate.rule].form, bytes, literalAt: start, count: literal.count) {
      matches.append(Match(number: candidate.rule, offset: base + UInt64(start)))
    }
  }

  /// Examines the rules whose fixed text begins with the byte before the token, at the start of a file. A line feed stands for that byte.
  private mutating func examineStart(_ bytes: Span<UInt8>) {
    guard bytes.count >= 4 else { return }
    guard let candidates = table.candidates(atStart: bytes) else { return }
    var start: [UInt8] = [UInt8(ascii: "\n")]
    start.append(copying: bytes.extracting(first: min(bytes.count, Self.ahead)))
    for candidate in candidates where candidate.literal.anchor == 0 {
      let count = matches.count
      examine(candidate, start.byteSpan, 0, 0)
      if matches.count > count { return }
    }
  }

  // MARK: Conflicts

  /// Starts the search for conflicts if a line that opens one is at a place.
  private mutating func noteConflict(_ bytes: Span<UInt8>, _ place: Int, _ base: UInt64) {
    guard conflicts == nil, place == 0 ? base == 0 : bytes[place - 1] == UInt8(ascii: "\n") else { return }
    conflicts = ConflictSearch(at: base + UInt64(place))
    searchConflicts(bytes, at: base)
  }

  /// Passes those bytes to the search for conflicts that it has not seen. It is slower than the search for secrets, and few files need it.
  private mutating func searchConflicts(_ bytes: Span<UInt8>, at base: UInt64) {
    guard var search = conflicts, search.found == nil, search.next >= base else { return }
    for index in Int(min(search.next - base, UInt64(bytes.count)))..<bytes.count { search.add(bytes[index]) }
    conflicts = search
  }
}
