/// A simulated delivery, as `packer simulate --json` printed it.
package struct RecordedRehearsal: Sendable {
  /// The members that the page shows.
  let reportValue: JSON

  /// Reads the lines of a file.
  ///
  /// Time and memory grow with its size, of which at most ``RecordFile/largestSize`` bytes are read.
  ///
  /// - Throws: ``PackError/Code/missingInput``, ``PackError/Code/cannotRead``, or ``PackError/Code/invalidRecord`` if it has other lines or none.
  package static func read(_ path: String, files: any FileSystem = SystemFiles()) throws(PackError) -> RecordedRehearsal {
    do throws(PackError) {
      let lines = try files.contents(of: path, limit: RecordFile.largestSize).split(separator: UInt8(ascii: "\n"))
      return try RecordedRehearsal(lines, of: path)
    } catch {
      guard error.code == .invalidRecord else { throw error }
      throw error.advising(.developer("give what 'packer simulate … --json' printed"))
    }
  }

  private init(_ lines: [ArraySlice<UInt8>], of path: String) throws(PackError) {
    var members: [String: JSON?] = [:]
    var events: [JSON] = []
    for (number, line) in lines.enumerated() {
      let value: JSON
      do throws(PackError) {
        value = try JSON(parsing: Array(line))
      } catch {
        throw PackError(.invalidRecord, of: path, "has no record in line \(number + 1): \(error.message)")
      }
      guard case .object(let pairs) = value else { throw PackError(.invalidRecord, of: path, "has no record in line \(number + 1)") }
      let fields = Dictionary(pairs.map { ($0.key, $0.value) }) { first, _ in first }
      switch fields["type"] {
      case .text("simulation"):
        guard members["title"] == nil else {
          throw PackError(.invalidRecord, of: path, "has several simulations", hint: "keep each in a file of its own")
        }
        members["title"] = fields["event"]
        members["durationMilliseconds"] = fields["durationMilliseconds"]
      case .text("event"):
        events.append(
          .sorted([
            "actor": fields["actor"], "milliseconds": fields["milliseconds"], "text": fields["text"], "pack": fields["pack"],
            "code": fields["error"], "injected": fields["injected"], "reaction": fields["remedy"],
          ]))
      case .text("verdict"): members["verdict"] = fields["verdict"]
      default: break
      }
    }
    guard members["title"] != nil else { throw PackError(.invalidRecord, of: path, "is no simulation") }
    guard members["verdict"] != nil else { throw PackError(.invalidRecord, of: path, "ends before the verdict of the simulation") }
    members["events"] = .list(events)
    reportValue = .sorted(members)
  }
}
