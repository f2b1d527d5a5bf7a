/// The records of a file, one in each line, as `--json` prints them.
enum RecordedLines {
  /// Reads the lines of a file.
  ///
  /// Time and memory grow with its size, of which at most ``RecordFile/largestSize`` bytes are read.
  ///
  /// - Parameters:
  ///   - command: what prints such lines.
  ///   - body: makes the value of the members of all records.
  /// - Throws: ``PackError/Code/missingInput``, ``PackError/Code/cannotRead``, or ``PackError/Code/invalidRecord`` if it has other lines or none.
  static func read<Value>(
    _ path: String, of command: String, files: any FileSystem, _ body: ([[String: JSON]]) throws(PackError) -> Value
  ) throws(PackError) -> Value {
    do throws(PackError) {
      var records: [[String: JSON]] = []
      for (number, line) in try files.contents(of: path, limit: RecordFile.largestSize).split(separator: UInt8(ascii: "\n")).enumerated() {
        let value: JSON
        do throws(PackError) {
          value = try JSON(parsing: Array(line))
        } catch {
          throw PackError(.invalidRecord, of: path, "has no record in line \(number + 1): \(error.message)")
        }
        guard case .object(let pairs) = value else { throw PackError(.invalidRecord, of: path, "has no record in line \(number + 1)") }
        records.append(Dictionary(pairs.map { ($0.key, $0.value) }) { first, _ in first })
      }
      return try body(records)
    } catch {
      guard error.code == .invalidRecord else { throw error }
      throw error.advising(.developer("give what '\(command)' printed"))
    }
  }
}

extension JSON {
  /// Returns the named members of a record that it has.
  static func members(_ names: [String], of fields: [String: JSON]) -> JSON {
    .sorted(Dictionary(names.map { ($0, fields[$0]) }) { first, _ in first })
  }
}
