/// Packs that are made at the same time, each with as many threads.
///
/// One pack with few frames does not keep all cores busy. At most as many threads work as the caller allows, so memory does not grow with the number
/// of packs.
struct PackingGroup: Hashable {
  /// What decides how a pack is made.
  struct Item: Hashable {
    /// Its index in the list of the caller.
    let index: Int
    /// The time that one core needs for it. Only the proportion counts.
    let cost: UInt64
    /// The number of frames, about.
    let frames: UInt64
  }

  /// The indices of what is made, in the order in which it is started: what takes longest first.
  let packs: [Int]
  let atOnce: Int
  /// The number of threads of each.
  let jobs: Int

  /// Returns the groups in the order in which they are made.
  static func groups(_ items: [Item], threads: Int) -> [PackingGroup] {
    let total = items.reduce(0 as UInt64) { $0.adding($1.cost) }
    // The last pack adds a quarter of the whole time at most. A pack with less than one frame for each thread cannot use all of them.
    let limit = total / UInt64(4 * threads)
    let small = items.filter { $0.cost <= limit || $0.frames <= threads }
    let large = Set(items).subtracting(small)
    let atOnce = max(1, min(threads, small.count))
    let order = small.sorted { ($1.cost, $0.index) < ($0.cost, $1.index) }.map(\.index)
    return [
      PackingGroup(packs: large.map(\.index).sorted(), atOnce: 1, jobs: threads),
      PackingGroup(packs: order, atOnce: atOnce, jobs: threads / atOnce),
    ].filter { !$0.packs.isEmpty }
  }
}

extension Collection {
  /// Returns the first elements whose sizes are at most `limit` together, and always the first one.
  func batch(upTo limit: UInt64, _ size: (Element) -> UInt64) -> SubSequence {
    var (sum, isFirst) = (0 as UInt64, true)
    return prefix { element in
      defer { isFirst = false }
      sum = sum.adding(size(element))
      return isFirst || sum <= limit
    }
  }
}
