/// A cache of blocks of one pack's index, for readers that look up single records.
///
/// No lock is held while a block is read, so two readers that miss the same block both read it.
package final class IndexCache: Sendable {
  private struct State {
    /// By block number.
    var blocks: [IndexBlock?]
    /// The numbers of the cached blocks.
    var held: [Int] = []
    var size = 0
    var turn: UInt32 = 1
    /// The digests of the blocks read so far, by block number; empty for blocks not read yet.
    var digests: [[UInt8]]
  }

  private let capacity: Int
  /// Whether a block that is read again must have the same content.
  let remembers: Bool
  private let state: Monitor<State>

  /// The capacity of a cache that readers share, in bytes: the records of about 3000 files.
  package static let sharedCapacity = 256 << 10

  /// Returns a cache for all readers of one tree. A block that is read again must have the same content. Otherwise an attacker who has the key and
  /// can write to the file could change records after they were checked against the content root. Takes 32 bytes per block in addition.
  package static func shared(_ pack: Pack) -> IndexCache {
    IndexCache(pack.index, remembers: true)
  }

  /// - Parameters:
  ///   - capacity: the bytes of memory that the blocks may take.
  ///   - remembers: whether a block that is read again must have the same content.
  init(_ index: IndexReader, capacity: Int = sharedCapacity, remembers: Bool = false) {
    self.capacity = capacity
    self.remembers = remembers
    let count = index.head.blockCount
    state = Monitor(
      State(blocks: [IndexBlock?](repeating: nil, count: count), digests: [[UInt8]](repeating: [], count: remembers ? count : 0)))
  }

  /// Compares the digest of a block with the digest from the previous time the block was read. Records the digest if this is the first time.
  ///
  /// - Returns: whether the block is unchanged.
  func isAsBefore(_ number: Int, digest: [UInt8]) -> Bool {
    state.withLock { state in
      if state.digests[number].isEmpty { state.digests[number] = digest }
      return state.digests[number] == digest
    }
  }

  /// Returns block `number`. Returns nil if it is not cached.
  func block(_ number: Int) -> IndexBlock? {
    state.withLock { $0.blocks[number] }
  }

  /// Adds a block to the cache. Removes others if there is not enough room.
  func keep(_ block: IndexBlock) {
    guard block.memorySize <= capacity else { return }
    state.withLock { state in
      guard state.blocks[block.number] == nil else { return }
      while state.size + block.memorySize > capacity {
        // Removes a pseudorandom block, not the least recently used one: a reader that repeatedly goes through more blocks than fit would never find
        // the next one in an LRU cache. A linear congruential generator is random enough.
        state.turn = state.turn &* 1_664_525 &+ 1_013_904_223
        let place = Int(state.turn >> 8) % state.held.count
        let number = state.held[place]
        state.held[place] = state.held[state.held.count - 1]
        state.held.removeLast()
        state.size -= state.blocks[number]?.memorySize ?? 0
        state.blocks[number] = nil
      }
      state.blocks[block.number] = block
      state.held.append(block.number)
      state.size += block.memorySize
    }
  }

  /// Frees all blocks.
  func removeAll() {
    state.withLock { state in
      for number in state.held { state.blocks[number] = nil }
      (state.held, state.size) = ([], 0)
    }
  }

  /// The number of bytes of memory in use.
  var size: Int { state.withLock { $0.size } }
}
