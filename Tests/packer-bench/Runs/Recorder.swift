import Foundation

/// Records measurements: as a table on standard output, and as JSON Lines in a file.
final class Recorder {
  private let path: String?
  private let disk = Disk()
  private let encoder = JSONEncoder()
  private(set) var figures: [Figure] = []

  /// - Parameter path: The file to append lines to, or nil for none.
  init(path: String?) throws(PackError) {
    self.path = path
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if let path, !disk.exists(path) { try disk.write("", to: path) }
  }

  func add(_ figure: Figure) throws(PackError) {
    if figures.isEmpty { print(Self.heading) }
    figures.append(figure)
    print(Self.line(figure))
    try keep(figure)
  }

  /// Records a value of another type, and prints `text`.
  func add(_ record: some Encodable, saying text: String) throws(PackError) {
    print(text)
    try keep(record)
  }

  private func keep(_ record: some Encodable) throws(PackError) {
    // Each line is shown at once, even through a pipe.
    fflush(nil)
    guard let path else { return }
    do {
      try disk.append(Array(encoder.encode(record)) + [UInt8(ascii: "\n")], to: path)
    } catch let error as PackError {
      throw error
    } catch {
      throw PackError(.internalError, "a record cannot be written as JSON: \(error)")
    }
  }

  private static let heading =
    left("corpus", 10) + left("what", 20) + left("of", 7) + left("against", 30) + right("ours", 12) + right("theirs", 12)
    + right("figure", 10) + right("smallest", 10) + right("largest", 10) + right("must", 8) + "  "

  private static func line(_ figure: Figure) -> String {
    left(figure.corpus, 10) + left(figure.verb, 20) + left(figure.quantity, 7) + left(figure.against, 30)
      + right(amount(figure.ours, figure.unit), 12) + right(figure.against.isEmpty ? "" : amount(figure.theirs, figure.unit), 12)
      + right(decimal(figure.value, 3), 10) + right(decimal(figure.smallest, 3), 10) + right(decimal(figure.largest, 3), 10)
      + right(figure.must.map { decimal($0, 3) } ?? "", 8)
      + (figure.must == nil ? "  -" : figure.holds ? "  yes" : "  NOT REACHED")
  }

  /// Formats a number with its unit, short enough for a table.
  static func amount(_ value: Double, _ unit: String) -> String {
    switch unit {
    case "s" where value < 1: "\(decimal(value * 1_000, 1)) ms"
    case "s": "\(decimal(value, 2)) s"
    case "MiB": "\(decimal(value, 1)) MiB"
    case "B": "\(ByteCount(UInt64(max(0, value))))"
    default: "\(decimal(value, 1)) \(unit)"
    }
  }

  static func decimal(_ value: Double, _ digits: Int) -> String {
    String(format: "%.\(digits)f", value)
  }

  static func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(1, width - text.count)) + text
  }
}
