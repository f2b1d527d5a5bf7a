/// A place in a text file.
package struct SourcePosition: Hashable, Sendable {
  /// From 1.
  package var line: Int
  /// From 1, in characters.
  package var column: Int

  /// Makes a place from its numbers.
  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }
}
