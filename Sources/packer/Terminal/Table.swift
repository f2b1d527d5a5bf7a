/// Text in columns.
enum Table {
  /// Returns rows of a name and a value.
  static func fields(_ rows: [(String, String)]) -> [String] {
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { "  " + left($0.0, width) + "  " + $0.1 }
  }

  /// Returns rows of a name, a number of bytes and a remark, with the sum below.
  static func sizes(_ rows: [(name: String, bytes: Int64, remark: String)], total: String) -> [String] {
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

  /// Returns rows in aligned columns. All rows have the same number of cells. `numbers` are the columns to align at the right.
  static func columns(_ rows: [[String]], numbers: Set<Int>) -> [String] {
    guard let first = rows.first else { return [] }
    let widths = first.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = row.indices.map { column in
        if numbers.contains(column) { return right(row[column], widths[column]) }
        return column == row.count - 1 ? row[column] : left(row[column], widths[column])
      }
      return "  " + cells.joined(separator: "  ")
    }
  }

  static func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// Returns a number with its digits in groups of three.
  static func grouped(_ number: Int64) -> String {
    var digits = Array(String(number.magnitude))
    var index = digits.count - 3
    while index > 0 {
      digits.insert(" ", at: index)
      index -= 3
    }
    return (number < 0 ? "-" : "") + String(digits)
  }

  /// Returns a count with its noun in the singular or plural.
  static func count(_ number: some BinaryInteger, _ one: String, _ many: String) -> String {
    "\(number) \(number == 1 ? one : many)"
  }
}
