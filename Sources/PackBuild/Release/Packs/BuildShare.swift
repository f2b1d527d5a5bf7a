/// One of several shares of a list of packs, each for one machine.
package struct BuildShare: Hashable, Sendable {
  /// The number of the share, from 1.
  package let number: Int
  /// How many shares there are.
  package let count: Int

  /// Parses a text such as `2/10`.
  ///
  /// - Throws: ``PackError/Code/usage`` if the text is of another form.
  package init(parsing text: String) throws(PackError) {
    let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    guard numbers.count == 2, (1...10_000).contains(numbers[1]), (1...numbers[1]).contains(numbers[0]) else {
      throw PackError(.usage, "'\(text)' is not a share", hint: "write its number and how many there are, up to 10000, as in 2/10")
    }
    (number, count) = (numbers[0], numbers[1])
  }

  /// Returns the items of the share: every `count`-th. Each item of a list is in exactly one share.
  func items<Item>(of list: [Item]) -> [Item] { stride(from: number - 1, to: list.count, by: count).map { list[$0] } }
}
