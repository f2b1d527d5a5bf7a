/// A tag and the id of a pack that has it: an entry of a page of tags (FORMAT.md §9.7).
package struct PagePair: Hashable, Sendable {
  package var tag: String
  package var id: String

  package init(tag: String, id: String) {
    self.tag = tag
    self.id = id
  }

  /// The key by which pairs are sorted: tag, tab, id. Tags have no control characters, so the order is that of tags first.
  package var key: String { "\(tag)\t\(id)" }

  /// The keys of all pairs with a tag are in this range, without its end.
  package static func keys(of tag: String) -> (start: String, end: String) { ("\(tag)\t", "\(tag)\n") }

  /// Whether a text may be the tag of a pair.
  package static func isTag(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 } }
}
