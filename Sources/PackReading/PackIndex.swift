/// The index of an open pack: its own, or the one that was made from a delta and its bases.
package enum PackIndex: Sendable {
  case stored(IndexReader)
  case derived(DerivedIndex)

  /// The head.
  package var head: IndexHead {
    switch self {
    case .stored(let index): index.head
    case .derived(let index): index.head
    }
  }

  /// Returns the block that may hold a path, or nil if none can.
  package func block(holding path: Span<UInt8>) -> Int? {
    switch self {
    case .stored(let index): index.block(holding: path)
    case .derived(let index): index.block(holding: path)
    }
  }
}

/// The index of a tree that a delta describes, in memory: about 60 bytes and the path for each record.
package struct DerivedIndex: Sendable {
  package let head: IndexHead
  let blocks: [IndexBlock]

  package init(head: IndexHead, blocks: [IndexBlock]) {
    self.head = head
    self.blocks = blocks
  }

  func block(holding path: Span<UInt8>) -> Int? {
    var low = 0
    var high = blocks.count
    while low < high {
      let middle = (low + high) / 2
      if blocks[middle].withPath(of: 0, { precedes(path, $0) }) { high = middle } else { low = middle + 1 }
    }
    return low == 0 ? nil : low - 1
  }
}
