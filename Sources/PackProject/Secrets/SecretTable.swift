/// The tables with which candidates are found, made once from all rules.
struct SecretTable: Sendable {
  /// The search for the four bytes of all candidates.
  let anchors: AnchorSearch
  /// The four bytes that are searched for, in an open hash table. An empty place has 0.
  private let keys: [UInt32]
  /// For each of them, the range in ``candidates``.
  private let ranges: [Range<Int32>]
  private let candidates: [Candidate]

  /// A literal that may be where four bytes were found.
  struct Candidate: Sendable {
    /// The number of the rule.
    let rule: Int
    let literal: SecretRule.Literal
  }

  static let standard = SecretTable(SecretRule.all)

  init(_ rules: [SecretRule], method: AnchorSearch.Method = .best) {
    var found: [UInt32: [Candidate]] = [:]
    for (number, rule) in rules.enumerated() {
      for literal in rule.literals {
        let key = (0..<4).reduce(0 as UInt32) { $0 | UInt32(literal.bytes[literal.anchor + $1]) << UInt32(8 * $1) }
        found[key, default: []].append(Candidate(rule: number, literal: literal))
      }
    }
    // The start of a conflict has no rule.
    found[Self.conflict, default: []] += []
    var keys = [UInt32](repeating: 0, count: Self.keyCount)
    var ranges = [Range<Int32>](repeating: 0..<0, count: Self.keyCount)
    var candidates: [Candidate] = []
    precondition(2 * found.count < Self.keyCount, "the hash table is too small for its keys")
    for (key, some) in found {
      var slot = Self.slot(key)
      while keys[slot] != 0 { slot = (slot + 1) & (Self.keyCount - 1) }
      keys[slot] = key
      ranges[slot] = Int32(candidates.count)..<Int32(candidates.count + some.count)
      candidates += some
    }
    anchors = AnchorSearch(found.keys.map { ($0, Self.listedGroup(of: $0) ?? 0) }, method: method)
    self.keys = keys
    self.ranges = ranges
    self.candidates = candidates
  }

  /// Four of the bytes with which a merge marks the start of a conflict.
  static let conflict: UInt32 = 0x3C3C_3C3C
  /// Longer than each literal.
  static let longestLiteral = 64
  private static let keyCount = 1 << 10

  @inline(__always)
  private static func slot(_ key: UInt32) -> Int { Int((key &* 0x85EB_CA6B) >> 22) }

  // MARK: Groups

  /// The groups in which the four bytes are searched for: those of many tried with which the fewest other places in scripts and texts are looked at.
  /// What is in none is found as well, but slower.
  /// Shorter texts stand for all that have any byte before them, and any byte after the two.
  private static let groups = [
    ["GR13", ":AA", "T_AC", "o_v1", "r_v1", "p_v1"],
    ["AIza", "AKIA", "ABIA", "ABSK", "AKCp", "ASIA", "ACCA", "<<<<", "EZTK", "EZAK", "APA9"],
    ["SG.", "SK", "SSH2"],
    ["ilgu", "Blbk", "isco", "Acco", "hvb."],
    ["pul-", "PuTT", "ks1-", "kk1-", "kt1-", "kx1-", "pp-1", "imt-"],
    ["dp.p", "ntn_", "npm_", "dt0c", "ck.c"],
    ["Bot", "hf_", "bhoo", "gho_"],
    ["e_oa", "b_pa", "e_tk", "e_pw", "k_pr", "k_li", "e_ac", "n_ap"],
    ["xoxe", "xoxa", "xoxo", "xoxr", "xoxb", "xoxs", "xoxp", "po_t", "po_l", "fo1_", "fm2_", "fm1r", "fm1a"],
    ["sbp_", "nfp_", "ryu_", "rys_", "oas-", "lasv"],
    ["LTAI", "ATAT", "ISCO", "GOCS", "ILGU", "HRKU", "-SEC", "-BEG", "PMAK", "NRAK"],
    ["glsa", "glpa", "glso", "glcb", "glc_", "glff", "glft", "gldt", "glrt", "glpt", "ghu_", "ghs_", "ghp_", "ghr_"],
    ["igd_", "i/we", "byge", "k_te"],
    ["sq0c", "sq0a", "sk-a", "shps", "shpc", "shpp", "shpa", "hvs.", "whse"],
    ["s_ey", "t_ac", "tAcc", "pplx"],
    ["pypi", "eysi", "edAc", "dapi"],
  ]

  private static let groupsByText: [UInt32: Int] = {
    var numbers: [UInt32: Int] = [:]
    for (number, group) in groups.enumerated() {
      for text in group { numbers[text.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }] = number }
    }
    return numbers
  }()

  /// Returns the group that lists four bytes, or nil.
  static func listedGroup(of key: UInt32) -> Int? {
    groupsByText[key] ?? groupsByText[key >> 8] ?? groupsByText[key >> 8 & 0xFFFF]
  }

  // MARK: Searching

  /// Returns the first place in a range where a candidate may be, with all that may be there; nil if there is none. What is after the range may be looked
  /// at.
  func nextCandidates(_ bytes: Span<UInt8>, in range: Range<Int>) -> (place: Int, candidates: ArraySlice<Candidate>)? {
    // Four bytes are searched for.
    let end = min(range.upperBound, bytes.count - 3)
    var index = range.lowerBound
    // The shortest secret is a text of 20 bytes. Most of pictures and sounds is passed over.
    while index < end, let text = anchors.nextText(bytes, in: index..<bytes.count) {
      index = max(index, text - SecretScanner.ahead - Self.longestLiteral)
      let part = min(end, max(index, text) + Self.searchedAtOnce)
      while index < part, let place = anchors.next(bytes, in: index..<part) {
        if let candidates = candidates(for: Self.word(bytes, place)) { return (place, candidates) }
        index = place + 1
      }
      index = max(index, part)
    }
    return nil
  }

  /// The number of bytes after the start of a text that are searched before the next text is looked for.
  private static let searchedAtOnce = 4096

  /// Returns the candidates whose first byte only separates, at the start of a file of at least four bytes.
  func candidates(atStart bytes: Span<UInt8>) -> ArraySlice<Candidate>? {
    candidates(for: Self.word(bytes, 0) << 8 | UInt32(UInt8(ascii: "\n")))
  }

  /// Returns four bytes as a number.
  static func word(_ bytes: Span<UInt8>, _ index: Int) -> UInt32 {
    (0..<4).reduce(0 as UInt32) { $0 | UInt32(bytes[index + $1]) << UInt32(8 * $1) }
  }

  /// Returns the candidates for four bytes; nil if they are not searched for.
  func candidates(for key: UInt32) -> ArraySlice<Candidate>? {
    var slot = Self.slot(key)
    while keys[slot] != 0 {
      if keys[slot] == key { return candidates[Int(ranges[slot].lowerBound)..<Int(ranges[slot].upperBound)] }
      slot = (slot + 1) & (Self.keyCount - 1)
    }
    return nil
  }
}
