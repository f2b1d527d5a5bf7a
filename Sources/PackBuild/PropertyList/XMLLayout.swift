/// The layout of a property list in XML: its line ends, its indentation, and the gap between a key and its value.
struct XMLLayout {
  private typealias Element = XMLMarkup.Element
  private typealias Member = XMLMarkup.Member

  /// The space between a key and its value.
  private enum Gap: Hashable {
    /// These bytes, without a line end.
    case sameLine([UInt8])
    /// A line end, the indentation of the key, and these bytes.
    case nextLine([UInt8])
  }

  /// The longest gap in bytes that counts as layout.
  private static let longestGap = 200

  private let bytes: [UInt8]
  private let root: Element
  private let comments: [Range<Int>]
  /// The most frequent line end in the file.
  private let lineEnd: [UInt8]
  /// The indentation of the parts of a value, relative to the value itself.
  private let unit: [UInt8]

  init(_ bytes: [UInt8], _ markup: XMLMarkup) {
    self.bytes = bytes
    root = markup.root
    comments = markup.comments
    let pairs = zip(bytes, bytes.dropFirst()).count { $0 == 0x0D && $1 == 0x0A }
    let (feeds, returns) = (bytes.count { $0 == 0x0A } - pairs, bytes.count { $0 == 0x0D } - pairs)
    lineEnd = pairs > feeds ? [0x0D, 0x0A] : returns > feeds ? [0x0D] : [0x0A]
    var units: [[UInt8]] = []
    Self.collectUnits(of: markup.root, in: bytes, into: &units)
    unit = Self.mostFrequent(units) ?? [0x09]
  }

  // MARK: Texts

  /// Returns the text of a value that replaces another one.
  func text(_ value: PropertyList, instead member: XMLMarkup.Member) -> [UInt8] {
    let old = member.value
    let isInLine =
      !old.range.contains(where: isLineEnd) && startOfLine(old.range.lowerBound) == nil && startOfLine(member.keyRange.lowerBound) == nil
    let gap = Self.mostFrequent(gaps(in: root)) ?? .nextLine([])
    return text(value, indentation: isInLine ? nil : indentation(ofLineAt: old.range.lowerBound), gap: gap)
  }

  /// Returns the range to replace and the new text for a new key of a dictionary.
  ///
  /// - Parameter index: the number of members before the new key.
  func insertion(
    of key: String, _ value: PropertyList, into dictionary: XMLMarkup.Element, at index: Int, isRoot: Bool
  ) -> (Range<Int>, [UInt8]) {
    let members = dictionary.members ?? []
    guard !members.isEmpty else { return insertion(of: key, value, intoEmpty: dictionary, isRoot: isRoot) }
    let own = gaps(of: members)
    let indentations = members.compactMap { startOfLine($0.keyRange.lowerBound).map { Array(bytes[$0]) } }
    guard let indentation = Self.mostFrequent(indentations) else {
      let gap = Self.mostFrequent(own) ?? .sameLine([])
      let text = member(key, value, indentation: nil, gap: gap)
      // The spaces between two members, or before the first one.
      let ends = [dictionary.inside.lowerBound] + members.map(\.value.range.upperBound)
      let (end, start) = members.count > 1 ? (ends[1], members[1].keyRange.lowerBound) : (ends[0], members[0].keyRange.lowerBound)
      let space = bytes[end..<start].allSatisfy(Self.isBlank) ? Array(bytes[end..<start]) : []
      if index == 0 {
        let place = members[0].keyRange.lowerBound
        return (place..<place, text + space)
      }
      return (ends[index]..<ends[index], space + text)
    }
    let gap = Self.mostFrequent(own) ?? Self.mostFrequent(gaps(in: root)) ?? .nextLine([])
    let place = endOfLine(after: index == 0 ? dictionary.inside.lowerBound : members[index - 1].value.range.upperBound)
    return (place..<place, lineEnd + indentation + member(key, value, indentation: indentation, gap: gap))
  }

  private func insertion(of key: String, _ value: PropertyList, intoEmpty dictionary: Element, isRoot: Bool) -> (Range<Int>, [UInt8]) {
    let inner = bytes[dictionary.inside]
    let outer = indentation(ofLineAt: dictionary.range.lowerBound)
    let isOwnLine = isRoot ? bytes.contains(where: Self.isLineEnd) : isOnOwnLine(dictionary)
    let hasLines = isOwnLine || inner.contains(where: Self.isLineEnd)
    let gap = Self.mostFrequent(gaps(in: root)) ?? (hasLines ? .nextLine([]) : .sameLine([]))
    var opening: [UInt8] = []
    var range = dictionary.inside
    if dictionary.inside.isEmpty, dictionary.range.upperBound == dictionary.inside.lowerBound {
      // A self-closing tag becomes an opening and a closing tag.
      opening = Array(bytes[dictionary.range].dropLast(2))
      while let last = opening.last, Self.isBlank(last) || Self.isLineEnd(last) { opening.removeLast() }
      opening.append(UInt8(ascii: ">"))
      range = dictionary.range
    }
    let closing: [UInt8] = opening.isEmpty ? [] : Array("</dict>".utf8)
    guard hasLines else {
      let place = opening.isEmpty ? range.lowerBound..<range.lowerBound : range
      return (place, opening + member(key, value, indentation: nil, gap: gap) + closing)
    }
    // Comments stay before the new key.
    let last = comments.last { dictionary.inside.contains($0.lowerBound) }
    let indentation = last.flatMap { startOfLine($0.lowerBound) }.map { Array(bytes[$0]) } ?? outer + unit
    let text = lineEnd + indentation + member(key, value, indentation: indentation, gap: gap)
    if opening.isEmpty, let last { range = last.upperBound..<range.upperBound }
    if opening.isEmpty, bytes[range].contains(where: Self.isLineEnd) {
      return (range.lowerBound..<range.lowerBound, text)
    }
    return (range, opening + text + lineEnd + outer + closing)
  }

  /// Returns the text of a key and its value. Without an indentation, everything is in one line.
  private func member(_ key: String, _ value: PropertyList, indentation: [UInt8]?, gap: Gap) -> [UInt8] {
    let start = Array("<key>\(MarkupText.element(key))</key>".utf8)
    switch gap {
    case .nextLine(let further):
      guard let indentation else { return start + text(value, indentation: nil, gap: gap) }
      let inner = indentation + further
      return start + lineEnd + inner + text(value, indentation: inner, gap: gap)
    case .sameLine(let space):
      return start + space + text(value, indentation: indentation, gap: gap)
    }
  }

  private func text(_ value: PropertyList, indentation: [UInt8]?, gap: Gap) -> [UInt8] {
    let parts: [[UInt8]]
    let name: String
    let inner = indentation.map { $0 + unit }
    switch value {
    case .string(let text): return Array("<string>\(MarkupText.element(text))</string>".utf8)
    case .boolean(let isTrue): return Array((isTrue ? "<true/>" : "<false/>").utf8)
    case .integer(let number): return Array("<integer>\(number)</integer>".utf8)
    case .unsigned(let number): return Array("<integer>\(number)</integer>".utf8)
    case .array(let items): (name, parts) = ("array", items.map { text($0, indentation: inner, gap: gap) })
    case .dictionary(let members):
      (name, parts) = ("dict", members.map { member($0.key, $0.value, indentation: inner, gap: gap) })
    case .real, .date, .data: preconditionFailure("a release has no such value")
    }
    guard !parts.isEmpty else { return Array("<\(name)/>".utf8) }
    var element = Array("<\(name)>".utf8)
    for part in parts { element += (inner.map { lineEnd + $0 } ?? []) + part }
    return element + (indentation.map { lineEnd + $0 } ?? []) + Array("</\(name)>".utf8)
  }

  // MARK: Removal

  /// Returns the range to remove for a member. It includes the line if nothing else is in it.
  func rangeToRemove(_ member: XMLMarkup.Member) -> Range<Int> {
    let (start, end) = (member.keyRange.lowerBound, member.value.range.upperBound)
    var next = end
    while next < bytes.count, Self.isBlank(bytes[next]) { next += 1 }
    guard let blank = startOfLine(start) else {
      // Something comes before it in the line: the space between is removed.
      var first = start
      while first > 0, Self.isBlank(bytes[first - 1]) { first -= 1 }
      return first..<end
    }
    // Something follows it in the line and moves to its place.
    guard next < bytes.count, Self.isLineEnd(bytes[next]) else { return start..<next }
    let isPair = bytes[next] == 0x0D && next + 1 < bytes.count && bytes[next + 1] == 0x0A
    return blank.lowerBound..<(next + (isPair ? 2 : 1))
  }

  // MARK: Looking around

  private static func collectUnits(of element: Element, in bytes: [UInt8], into units: inout [[UInt8]]) {
    let parts: [(start: Int, value: Element)]
    switch element.content {
    case .scalar: return
    case .array(let items): parts = items.map { ($0.range.lowerBound, $0) }
    case .dictionary(let members): parts = members.map { ($0.keyRange.lowerBound, $0.value) }
    }
    let indentations = parts.compactMap { startOfLine($0.start, in: bytes) }
    if !indentations.isEmpty {
      // A line ends inside the element, so only the elements around it start in the same line. A long line is not scanned for each of many elements.
      let outer = indentation(ofLineAt: element.range.lowerBound, in: bytes)
      units += indentations.filter { bytes[$0].starts(with: outer) }.map { Array(bytes[$0].dropFirst(outer.count)) }
    }
    for part in parts { collectUnits(of: part.value, in: bytes, into: &units) }
  }

  /// Returns the gaps in all dictionaries.
  private func gaps(in element: Element) -> [Gap] {
    switch element.content {
    case .scalar: []
    case .array(let items): items.flatMap { gaps(in: $0) }
    case .dictionary(let members): gaps(of: members) + members.flatMap { gaps(in: $0.value) }
    }
  }

  private func gaps(of members: [Member]) -> [Gap] {
    members.compactMap { member in
      let (start, end) = (member.keyRange.upperBound, member.value.range.lowerBound)
      guard end - start <= Self.longestGap else { return nil }
      if bytes[start..<end].allSatisfy(Self.isBlank) { return .sameLine(Array(bytes[start..<end])) }
      guard bytes[start..<end].allSatisfy({ Self.isBlank($0) || Self.isLineEnd($0) }), let inner = startOfLine(end) else { return nil }
      let outer = indentation(ofLineAt: member.keyRange.lowerBound)
      return .nextLine(bytes[inner].starts(with: outer) ? Array(bytes[inner].dropFirst(outer.count)) : [])
    }
  }

  /// Returns the most frequent value, or the first one if several are equally frequent.
  private static func mostFrequent<Value: Hashable>(_ values: [Value]) -> Value? {
    var counts: [Value: Int] = [:]
    for value in values { counts[value, default: 0] += 1 }
    let most = counts.values.max()
    return values.first { counts[$0] == most }
  }

  /// Whether a dictionary or its key starts a line.
  private func isOnOwnLine(_ dictionary: Element) -> Bool {
    if startOfLine(dictionary.range.lowerBound) != nil { return true }
    var start = dictionary.range.lowerBound
    while start > 0, !Self.isLineEnd(bytes[start - 1]) { start -= 1 }
    return bytes[start..<dictionary.range.lowerBound].drop(while: Self.isBlank).starts(with: "<key".utf8)
  }

  /// Returns the range of the blanks before a place, or nil if they do not start a line.
  private func startOfLine(_ place: Int) -> Range<Int>? { Self.startOfLine(place, in: bytes) }

  private static func startOfLine(_ place: Int, in bytes: [UInt8]) -> Range<Int>? {
    var start = place
    while start > 0, isBlank(bytes[start - 1]) { start -= 1 }
    return start == 0 || isLineEnd(bytes[start - 1]) ? start..<place : nil
  }

  private func indentation(ofLineAt place: Int) -> [UInt8] { Self.indentation(ofLineAt: place, in: bytes) }

  private static func indentation(ofLineAt place: Int, in bytes: [UInt8]) -> [UInt8] {
    var start = place
    while start > 0, !isLineEnd(bytes[start - 1]) { start -= 1 }
    return Array(bytes[start..<place].prefix { isBlank($0) })
  }

  /// Returns the end of the line if only blanks and comments follow the place, otherwise the place itself.
  private func endOfLine(after place: Int) -> Int {
    var end = place
    var next = comments.firstIndex { $0.lowerBound >= place } ?? comments.count
    while end < bytes.count, !Self.isLineEnd(bytes[end]) {
      if next < comments.count, comments[next].lowerBound == end {
        end = comments[next].upperBound
        next += 1
      } else if Self.isBlank(bytes[end]) {
        end += 1
      } else {
        return place
      }
    }
    return end
  }

  private func isLineEnd(_ place: Int) -> Bool { Self.isLineEnd(bytes[place]) }

  private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
