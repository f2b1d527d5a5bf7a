package import PackFormat

/// Numbers of units as text: `1,4,7-9`.
package enum UnitNumbers {
  /// Returns the text for ascending numbers.
  package static func text(_ numbers: [Int]) -> String {
    var ranges: [ClosedRange<Int>] = []
    for number in numbers {
      if let last = ranges.last, last.upperBound + 1 == number {
        ranges[ranges.count - 1] = last.lowerBound...number
      } else {
        ranges.append(number...number)
      }
    }
    return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ",")
  }

  /// Returns the numbers of a text, in its order.
  ///
  /// - Parameter count: the largest number.
  /// - Throws: ``PackError/Code/usage`` if the text is of another form, or has a number outside 1 to `count`.
  package static func parse(_ text: String, upTo count: Int) throws(PackError) -> [Int] {
    var numbers: [Int] = []
    for piece in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = piece.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
      guard ends.count <= 2, let first = ends.first, let last = ends.last, first >= 1, first <= last else {
        throw PackError(.usage, "'\(text)' does not name units", hint: "write numbers from 1 and ranges, as in 1,4,7-9")
      }
      guard last <= count else {
        throw PackError(.usage, "there is no unit \(last): the plan has \(count == 0 ? "none" : "units 1 to \(count)")")
      }
      numbers += first...last
    }
    return numbers
  }

  /// Returns a share and how many there are, from a text such as `2/10`.
  ///
  /// - Throws: ``PackError/Code/usage`` if the text is of another form.
  package static func share(_ text: String) throws(PackError) -> (Int, of: Int) {
    let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    guard numbers.count == 2, (1...10_000).contains(numbers[1]), (1...numbers[1]).contains(numbers[0]) else {
      throw PackError(.usage, "'\(text)' is not a share", hint: "write its number and how many there are, up to 10000, as in 2/10")
    }
    return (numbers[0], of: numbers[1])
  }
}
