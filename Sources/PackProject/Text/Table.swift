/// Text in columns.
package enum Table {
  /// Returns rows of a name and a value.
  package static func fields(_ rows: [(String, String)]) -> [String] {
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { "  " + left($0.0, width) + "  " + $0.1 }
  }

  /// Returns rows of a name, a number of bytes and a remark, with the sum below.
  package static func sizes(_ rows: [(name: String, bytes: Int64, remark: String)], total: String) -> [String] {
    let sum = rows.reduce(0) { $0 + $1.bytes }
    let all = rows + [(name: total, bytes: sum, remark: "")]
    let names = all.map(\.name.count).max() ?? 0
    let numbers = all.map { grouped($0.bytes).count }.max() ?? 0
    var lines = all.map { row in
      let line = "  " + left(row.name, names) + "  " + right(grouped(row.bytes), numbers)
      return row.remark.isEmpty ? line : line + "  " + row.remark
    }
    lines.insert("  " + String(repeating: "-", count: names + 2 + numbers), at: lines.count - 1)
    return lines
  }

  /// Returns rows in aligned columns, without spaces at the end. All rows have the same number of cells. `numbers` are the columns to align at the right.
  package static func columns(_ rows: [[String]], numbers: Set<Int>) -> [String] {
    guard let first = rows.first else { return [] }
    let widths = first.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = row.indices.map { column in
        if numbers.contains(column) { return right(row[column], widths[column]) }
        return column == row.count - 1 ? row[column] : left(row[column], widths[column])
      }
      var line = "  " + cells.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line
    }
  }

  package static func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  package static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// Returns a number with its digits in groups of three.
  package static func grouped(_ number: some BinaryInteger) -> String {
    var digits = Array(String(number.magnitude))
    var index = digits.count - 3
    while index > 0 {
      digits.insert(" ", at: index)
      index -= 3
    }
    return (number < 0 ? "-" : "") + String(digits)
  }

  /// Returns a count with its noun in the singular or plural.
  package static func count(_ number: some BinaryInteger, _ one: String, _ many: String) -> String {
    "\(number) \(number == 1 ? one : many)"
  }
}
