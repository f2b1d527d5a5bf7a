/// An in-place edit of a property list in XML. Unchanged parts stay the same byte for byte, and new parts take the layout around them.
///
/// If the keys of a dictionary are in ascending order, a new key is inserted in that order. Otherwise it is inserted in order among the keys that
/// belong together with it, or after all keys if there are none of these. A key is removed with its line. Comments stay, except inside a value that
/// is replaced, and between a key and its value if both are removed.
package struct XMLEdit {
  /// The file with the changes.
  package private(set) var bytes: [UInt8]
  /// The lines of the original file whose comments are lost, each once, in ascending order.
  let lostCommentLines: [Int]

  private let path: String
  /// The keys that belong together.
  private let keys: Set<String>

  /// Makes the changes, with the same meaning as ``PropertyList/applying(_:)``.
  ///
  /// - Parameters:
  ///   - keys: the keys that belong together, whether they change or not.
  ///   - path: the path of the file, for messages.
  package init(_ bytes: [UInt8], making edits: [PropertyListEdit], together keys: [String], path: String) throws(PackError) {
    self.bytes = bytes
    self.path = path
    self.keys = Set(keys)
    let original = try XMLMarkup(bytes, path: path)
    let ranges = edits.compactMap { Self.find($0.path, in: original.root)?.replacedRange(by: $0.value) }
    let lost = original.comments.filter { comment in ranges.contains { $0.contains(comment.lowerBound) } }
    lostCommentLines = Set(lost.map { XMLMarkup.line(of: $0.lowerBound, in: bytes) }).sorted()
    // Each edit parses the result of the previous one, because they may touch neighbouring keys.
    for edit in edits { try make(edit) }
  }

  private static func find(_ path: [String], in element: XMLMarkup.Element) -> XMLMarkup.Member? {
    guard let key = path.first, let member = element.members?.first(where: { $0.key == key }) else { return nil }
    return path.count == 1 ? member : find(Array(path.dropFirst()), in: member.value)
  }

  private mutating func make(_ edit: PropertyListEdit) throws(PackError) {
    let markup = try XMLMarkup(bytes, path: path)
    guard let key = edit.path.last else { return }
    let layout = XMLLayout(bytes, markup)
    if let member = Self.find(edit.path, in: markup.root) {
      if let value = edit.value {
        bytes.replaceSubrange(member.value.range, with: layout.text(value, instead: member))
      } else {
        bytes.removeSubrange(layout.rangeToRemove(member))
      }
      return
    }
    guard let value = edit.value else { return }
    var dictionary = markup.root
    if edit.path.count > 1 {
      guard let outer = Self.find(Array(edit.path.dropLast()), in: markup.root) else { return }
      dictionary = outer.value
    }
    guard let members = dictionary.members else { return }
    let index = place(of: key, among: members.map(\.key))
    let (range, text) = layout.insertion(of: key, value, into: dictionary, at: index, isRoot: edit.path.count == 1)
    bytes.replaceSubrange(range, with: text)
  }

  /// Returns the index for a new key.
  private func place(of key: String, among others: [String]) -> Int {
    func isBefore(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }
    if zip(others, others.dropFirst()).allSatisfy({ isBefore($0, $1) }) {
      return others.firstIndex { isBefore(key, $0) } ?? others.count
    }
    if let last = others.lastIndex(where: { keys.contains($0) && isBefore($0, key) }) { return last + 1 }
    return others.firstIndex { keys.contains($0) } ?? others.count
  }
}

extension XMLMarkup.Member {
  /// Returns the range that is lost if the value is replaced, or if the key is removed.
  fileprivate func replacedRange(by value: PropertyList?) -> Range<Int> {
    value == nil ? keyRange.lowerBound..<self.value.range.upperBound : self.value.range
  }
}
