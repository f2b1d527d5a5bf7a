/// A position in a text file.
package struct SourcePosition: Hashable, Sendable {
  /// The line, from 1.
  package var line: Int
  /// The column in characters, from 1.
  package var column: Int
}
