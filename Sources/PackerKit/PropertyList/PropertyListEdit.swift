/// One change of a property list: the value of a key, in the outermost dictionary or in one that it holds.
package struct PropertyListEdit: Hashable, Sendable {
  /// One key, or the key of an inner dictionary that exists and one in there.
  package var path: [String]
  /// The new value; nil to remove the key.
  package var value: PropertyList?

  package init(_ path: [String], _ value: PropertyList?) {
    self.path = path
    self.value = value
  }
}

extension PropertyList {
  /// The list with the changes made in it.
  package func applying(_ edits: [PropertyListEdit]) -> PropertyList {
    edits.reduce(self) { list, edit in list.applying(edit.path[...], edit.value) }
  }

  private func applying(_ path: ArraySlice<String>, _ value: PropertyList?) -> PropertyList {
    guard var members, let key = path.first else { return self }
    let index = members.firstIndex { $0.key == key }
    if path.count > 1 {
      guard let index else { return self }
      members[index].value = members[index].value.applying(path.dropFirst(), value)
    } else if let index, let value {
      members[index].value = value
    } else if let index {
      members.remove(at: index)
    } else if let value {
      members.insert(Member(key, value), at: Self.place(of: key, among: members.map(\.key)))
    }
    return .dictionary(members)
  }

  /// Where a new key comes: in its place among keys that are in order, else at the end.
  static func place(of key: String, among keys: [String]) -> Int {
    func precedes(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }
    guard zip(keys, keys.dropFirst()).allSatisfy({ precedes($0, $1) }) else { return keys.count }
    return keys.firstIndex { precedes(key, $0) } ?? keys.count
  }
}

extension XMLPropertyList {
  /// What a comment of packer's own starts with; 16 hexadecimal digits and ` -->` follow.
  private static let markerStart = "<!-- packer plist merge: "
  private static let markerEnd = " -->"

  /// The digits in packer's own comment; nil where there is none.
  var marker: String? {
    comments.lazy.map { String(decoding: bytes[$0], as: UTF8.self) }.compactMap { comment -> String? in
      guard comment.hasPrefix(Self.markerStart), comment.hasSuffix(Self.markerEnd) else { return nil }
      return String(comment.dropFirst(Self.markerStart.count).dropLast(Self.markerEnd.count))
    }.first
  }

  /// The bytes with the changes made in them, and the lines of comments that are lost with the values they stood in. All else stays as it
  /// is: order, layout, comments.
  ///
  /// - Parameter marker: the digits for packer's own comment.
  func applying(_ edits: [PropertyListEdit], marker: String) -> (bytes: [UInt8], lostComments: [Int]) {
    var patch = Patch(document: self)
    let outer = edits.filter { $0.path.count == 1 }
    for edit in edits where edit.path.count == 2 {
      guard let member = root.members.first(where: { $0.key == edit.path[0] }) else { continue }
      patch.change(edit.path[1], to: edit.value, in: member.node)
    }
    for edit in outer { patch.change(edit.path[0], to: edit.value, in: root) }
    let comment = "\(Self.markerStart)\(marker)\(Self.markerEnd)"
    // One that stands inside a value that is replaced goes with it.
    if let old = comments.first(where: { bytes[$0].starts(with: Self.markerStart.utf8) && !patch.replaces($0) }) {
      patch.replace(old, with: comment)
    } else {
      patch.append(comment, to: root)
    }
    return patch.finish()
  }
}

/// Changes to the text of a document, gathered and then made at once.
private struct Patch {
  let document: XMLPropertyList
  private let newline: String
  private let step: String
  private var replacements: [(range: Range<Int>, text: String)] = []
  /// What comes between two bytes, by the place of the second one.
  private var insertions: [(place: Int, key: String, text: String)] = []
  /// For dictionaries that are one tag: what they will hold.
  private var filled: [(range: Range<Int>, lines: [(key: String, text: String)])] = []

  init(document: XMLPropertyList) {
    self.document = document
    let bytes = document.bytes
    newline = bytes.firstIndex(of: 0x0A).map { $0 > 0 && bytes[$0 - 1] == 0x0D } == true ? "\r\n" : "\n"
    let outer = Self.indent(at: document.root.range.lowerBound, in: bytes)
    let inner = document.root.members.first.map { Self.indent(at: $0.range.lowerBound, in: bytes) } ?? outer
    step = inner.hasPrefix(outer) && inner != outer ? String(inner.dropFirst(outer.count)) : "\t"
  }

  mutating func replace(_ range: Range<Int>, with text: String) {
    replacements.append((range, text))
  }

  /// Whether a range is gone with what is replaced already.
  func replaces(_ range: Range<Int>) -> Bool {
    replacements.contains { $0.range.overlaps(range) }
  }

  mutating func change(_ key: String, to value: PropertyList?, in node: XMLPropertyList.Node) {
    let bytes = document.bytes
    if let member = node.members.first(where: { $0.key == key }) {
      if let value {
        let indent = Self.indent(at: member.node.range.lowerBound, in: bytes)
        replace(member.node.range, with: value.element(indent: indent, step: step, newline: newline))
      } else {
        replace(Self.startOfLine(before: member.range.lowerBound, in: bytes)..<member.range.upperBound, with: "")
      }
      return
    }
    guard let value else { return }
    let indent = innerIndent(of: node)
    let text = PropertyList.Member(key, value).element(indent: indent, step: step, newline: newline)
    let index = PropertyList.place(of: key, among: node.members.map(\.key))
    insert(text, key: key, behind: index > 0 ? node.members[index - 1].range.upperBound : nil, in: node)
  }

  /// Adds a line at the end of a dictionary.
  mutating func append(_ line: String, to node: XMLPropertyList.Node) {
    var end = node.content?.upperBound
    while let place = end, place > node.content?.lowerBound ?? place, Self.isSpace(document.bytes[place - 1]) { end = place - 1 }
    // Behind every key.
    insert(innerIndent(of: node) + line, key: "\u{10FFFF}", behind: end, in: node)
  }

  private mutating func insert(_ text: String, key: String, behind place: Int?, in node: XMLPropertyList.Node) {
    guard let content = node.content else {
      if let index = filled.firstIndex(where: { $0.range == node.range }) {
        filled[index].lines.append((key, text))
      } else {
        filled.append((node.range, [(key, text)]))
      }
      return
    }
    insertions.append((behindComments(on: place ?? content.lowerBound), key, newline + text))
  }

  /// Goes behind comments on the same line, which belong to what stands in front of them.
  private func behindComments(on place: Int) -> Int {
    var place = place
    var next = place
    let bytes = document.bytes
    while next < bytes.count {
      if bytes[next] == 0x20 || bytes[next] == 0x09 {
        next += 1
      } else if let comment = document.comments.first(where: { $0.lowerBound == next }) {
        (place, next) = (comment.upperBound, comment.upperBound)
      } else {
        return place
      }
    }
    return place
  }

  private func innerIndent(of node: XMLPropertyList.Node) -> String {
    if let first = node.members.first { return Self.indent(at: first.range.lowerBound, in: document.bytes) }
    return Self.indent(at: node.range.lowerBound, in: document.bytes) + step
  }

  func finish() -> (bytes: [UInt8], lostComments: [Int]) {
    let bytes = document.bytes
    var changes: [(range: Range<Int>, order: String, text: String)] = replacements.map { ($0.range, "", $0.text) }
    for (range, lines) in filled {
      let outer = Self.indent(at: range.lowerBound, in: bytes)
      let inner = lines.sorted { $0.key < $1.key }.map { $0.text + newline }.joined()
      changes.append((range, "", "<dict>\(newline)\(inner)\(outer)</dict>"))
    }
    for (place, key, text) in insertions {
      changes.append((place..<place, key, text))
      // A dictionary on one line gets its end on a line of its own.
      if key == "\u{10FFFF}", bytes[place...].starts(with: "</dict>".utf8) {
        changes[changes.count - 1].text += newline + Self.indent(at: document.root.range.lowerBound, in: bytes)
      }
    }
    // What is put in at the start of something that is replaced or removed comes in front of it.
    changes.sort {
      ($0.range.lowerBound, $0.range.isEmpty ? 0 : 1, $0.order) < ($1.range.lowerBound, $1.range.isEmpty ? 0 : 1, $1.order)
    }
    let lost = document.comments.filter { comment in
      replacements.contains { $0.range.lowerBound < comment.lowerBound && comment.upperBound <= $0.range.upperBound && $0.range != comment }
    }
    var result: [UInt8] = []
    var position = 0
    for change in changes where change.range.lowerBound >= position {
      result += bytes[position..<change.range.lowerBound]
      result += change.text.utf8
      position = change.range.upperBound
    }
    result += bytes[position...]
    return (result, lost.map { document.line(of: $0.lowerBound) })
  }

  // MARK: Lines

  /// The white space that the line of a byte starts with.
  private static func indent(at offset: Int, in bytes: [UInt8]) -> String {
    let start = bytes[..<offset].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    return String(decoding: bytes[start..<offset].prefix { $0 == 0x20 || $0 == 0x09 }, as: UTF8.self)
  }

  /// Where the white space in front of a byte starts, one line end included.
  private static func startOfLine(before offset: Int, in bytes: [UInt8]) -> Int {
    var start = offset
    while start > 0, bytes[start - 1] == 0x20 || bytes[start - 1] == 0x09 { start -= 1 }
    if start > 0, bytes[start - 1] == 0x0A { start -= 1 } else { return offset }
    if start > 0, bytes[start - 1] == 0x0D { start -= 1 }
    return start
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }
}
