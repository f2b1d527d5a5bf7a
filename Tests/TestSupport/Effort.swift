import Foundation

/// How much the tests try: a sample on every push, everything in `Scripts/soak`.
///
/// A sample is chosen by the seed of the run, which ``SeededGenerator`` prints. The same seed gives the same sample.
package enum Effort {
  /// Whether everything is tried, because the variable `PACKER_TEST_EFFORT` is `full`.
  package static let isFull = ProcessInfo.processInfo.environment["PACKER_TEST_EFFORT"] == "full"

  /// Returns one of two values: sizes, numbers of rounds, or lists of cases.
  package static func number<Value>(quick: Value, full: Value) -> Value { isFull ? full : quick }

  /// Returns the first case, the last one, and others between them at about equal distances, in order; for a count of one, any. Returns all cases if
  /// everything is tried, or if there are not more than `count`.
  ///
  /// - Parameter test: what the cases belong to. Other tests, and other loops of one test, get a sample at other places.
  package static func sample<Cases: RandomAccessCollection>(of cases: Cases, _ count: Int, for test: String = #function) -> [Cases.Element]
  {
    guard !isFull else { return Array(cases) }
    return sample(of: cases, count, seed: SeededGenerator.run, for: test)
  }

  static func sample<Cases: RandomAccessCollection>(
    of cases: Cases, _ count: Int, seed: UInt64, for test: String
  ) -> [Cases.Element] {
    guard count < cases.count else { return Array(cases) }
    guard count > 0 else { return [] }
    // FNV-1a, because the hash of a text is another one in each process.
    let place = test.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    var random = SeededGenerator(seed: seed ^ place)
    func element(_ number: Int) -> Cases.Element { cases[cases.index(cases.startIndex, offsetBy: number)] }
    guard count > 1 else { return [element(Int.random(in: 0..<cases.count, using: &random))] }
    let (inner, parts) = (cases.count - 2, count - 2)
    let shift = Int.random(in: 0..<inner, using: &random)
    let chosen = (0..<parts).map { ($0 * inner + shift) / parts + 1 }
    return ([0] + chosen + [cases.count - 1]).map(element)
  }

  /// The numbers of the operations of a program at which a test interferes: all of them, from 0, until there is none with that number, or a sample.
  package struct Operations {
    private var next = 0
    private var sample: [Int]

    /// - Parameters:
    ///   - total: how many operations the program has if nobody interferes. It may have more or fewer.
    ///   - count: how many of them are tried, unless everything is.
    ///   - test: what the operations belong to, as in ``Effort/sample(of:_:for:)``.
    package init(of total: Int, _ count: Int, for test: String = #function) {
      sample = isFull ? [] : Array(Effort.sample(of: 0..<total, count, for: test).reversed())
    }

    /// Returns the next number, or nil at the end.
    ///
    /// - Parameter isReached: whether there was an operation with the last number.
    package mutating func next(isReached: Bool = true) -> Int? {
      guard isReached else { return nil }
      guard isFull else { return sample.popLast() }
      defer { next += 1 }
      return next
    }
  }
}
