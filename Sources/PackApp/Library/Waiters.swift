/// The calls that wait for packs now.
struct Waiters {
  /// What failed for a call.
  struct Trouble {
    /// The last error.
    var last: PackError
    /// The number of errors.
    var count: Int
  }

  private struct Call {
    let packs: Set<String>
    var priority: Double?
    var troubles: [String: Trouble] = [:]
    /// The packs whose next error does not count: their attempts began before the call.
    var earlier: Set<String>
  }

  private var calls: [Int: Call] = [:]
  private var numbers: [String: Set<Int>] = [:]

  private static let lastNumber = Monitor(0)

  /// Returns the number of another call.
  static func number() -> Int {
    lastNumber.withLock { number in
      number += 1
      return number
    }
  }

  var isEmpty: Bool { calls.isEmpty }
  /// The packs that any call waits for.
  var packs: Set<String> { Set(numbers.keys) }

  func contains(_ id: String) -> Bool { numbers[id] != nil }

  /// - Parameters:
  ///   - priority: Nil for a call that has none.
  ///   - underWay: The packs whose downloads are in progress.
  mutating func begin(_ number: Int, for packs: Set<String>, priority: Double?, underWay: Set<String>) {
    calls[number] = Call(packs: packs, priority: priority, earlier: underWay.intersection(packs))
    for id in packs { numbers[id, default: []].insert(number) }
  }

  mutating func end(_ number: Int) {
    guard let call = calls.removeValue(forKey: number) else { return }
    for id in call.packs {
      numbers[id]?.remove(number)
      if numbers[id]?.isEmpty ?? false { numbers[id] = nil }
    }
  }

  /// Returns the highest priority of the calls that wait for a pack. Nil if none of them has a priority of its own.
  func priority(of id: String) -> Double? {
    let waiting = (numbers[id] ?? []).compactMap { calls[$0] }
    guard waiting.contains(where: { $0.priority != nil }) else { return nil }
    return waiting.map { $0.priority ?? PlannedDownload.wantedPriority }.max()
  }

  mutating func setPriority(_ priority: Double, of number: Int) { calls[number]?.priority = priority }

  /// Counts an error for each call that waits for a pack.
  mutating func note(_ error: PackError, of id: String) {
    for number in numbers[id] ?? [] {
      let isEarlier = calls[number]?.earlier.remove(id) != nil
      let count = calls[number]?.troubles[id]?.count ?? 0
      calls[number]?.troubles[id] = Trouble(last: error, count: isEarlier ? count : count + 1)
    }
  }

  /// Returns what failed for a pack since a call began.
  func trouble(of id: String, in number: Int) -> Trouble? { calls[number]?.troubles[id] }
}
