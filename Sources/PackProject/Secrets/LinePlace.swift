/// The line and column of a byte in a text, counted from the bytes before it.
package struct LinePlace: Sendable, CustomStringConvertible {
  private var line = 1
  private var column = 1

  package init() {}

  /// Counts the bytes that come next before the place.
  package mutating func add(_ bytes: Span<UInt8>) {
    for index in bytes.indices {
      if bytes[index] == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else {
        column += 1
      }
    }
  }

  /// The column counts bytes. It matters in scripts that are a single line.
  package var description: String { "line \(line), column \(column)" }
}
