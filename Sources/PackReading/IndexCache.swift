import PackFormat
import PackPayload
import PackWork

/// Blocks of one pack's index that were read already, for readers that look for single records.
///
/// No lock is held while a block is read, so two readers that miss the same one both read it.
package final class IndexCache: Sendable {
  private struct State {
    /// By number.
    var blocks: [IndexBlock?]
    /// The numbers of those that are held.
    var held: [Int] = []
    var size = 0
    var turn: UInt32 = 1
    /// Of the blocks that were read, by number; empty for those that were not.
    var digests: [[UInt8]]
  }

  private let capacity: Int
  /// Whether a block that is read again must be what it was.
  let remembers: Bool
  private let state: Monitor<State>

  /// What all readers of a tree share, in bytes: the records of some 3000 files.
  package static let sharedCapacity = 256 << 10
  /// What a reader keeps that shares nothing, in bytes.
  static let ownCapacity = 96 << 10

  /// Blocks for all who read one tree. A block that is read again must be what it was: whoever may write to the file, and has the key, could otherwise
  /// change records after they were held against the content root. 32 bytes for each block.
  package static func shared(_ pack: Pack) -> IndexCache {
    IndexCache(pack, capacity: sharedCapacity, remembers: true)
  }

  /// - Parameters:
  ///   - capacity: the bytes of memory that the blocks may take.
  ///   - remembers: whether a block that is read again must be what it was.
  init(_ pack: Pack, capacity: Int, remembers: Bool = false) {
    self.capacity = capacity
    self.remembers = remembers
    let count = pack.index.head.blockCount
    state = Monitor(
      State(blocks: [IndexBlock?](repeating: nil, count: count), digests: [[UInt8]](repeating: [], count: remembers ? count : 0)))
  }

  /// Holds a block that was read against what it was before, if that is known.
  ///
  /// - Returns: whether it is the same.
  func isAsBefore(_ number: Int, digest: [UInt8]) -> Bool {
    state.withLock { state in
      if state.digests[number].isEmpty { state.digests[number] = digest }
      return state.digests[number] == digest
    }
  }

  /// Block `number`, where it is held.
  func block(_ number: Int) -> IndexBlock? {
    state.withLock { $0.blocks[number] }
  }

  /// Holds a block from now on, and lets go of others where there is no room.
  func keep(_ block: IndexBlock) {
    guard block.memorySize <= capacity else { return }
    state.withLock { state in
      guard state.blocks[block.number] == nil else { return }
      while state.size + block.memorySize > capacity {
        // Any of them, and not the one that was used longest ago: who goes through more blocks than there is room for, again and again, would
        // always find the next one gone. The order of a linear congruence is as good as chance.
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

  /// The bytes that are taken now.
  var size: Int { state.withLock { $0.size } }
}
