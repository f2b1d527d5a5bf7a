/// A simulated delivery or rollout, as `packer simulate --json` printed it.
package struct RecordedRehearsal: Sendable {
  /// The members that the page shows.
  let reportValue: JSON

  /// Reads the lines of a file, as ``RecordedLines`` does.
  package static func read(_ path: String, files: any FileSystem = SystemFiles()) throws(PackError) -> RecordedRehearsal {
    try RecordedLines.read(path, of: "packer simulate … --json", files: files) { (records) throws(PackError) in
      try RecordedRehearsal(records, of: path)
    }
  }

  private init(_ records: [[String: JSON]], of path: String) throws(PackError) {
    var members: [String: JSON?] = [:]
    var (events, steps, counts): ([JSON], [JSON], [JSON]) = ([], [], [])
    for fields in records {
      switch fields["type"] {
      case .text("simulation"):
        guard members["title"] == nil else {
          throw PackError(.invalidRecord, of: path, "has several simulations", hint: "keep each in a file of its own")
        }
        members["title"] = fields["event"]
        members["durationMilliseconds"] = fields["durationMilliseconds"]
        members["devices"] = fields["devices"]
      case .text("event"):
        events.append(
          .sorted([
            "actor": fields["actor"], "milliseconds": fields["milliseconds"], "text": fields["text"], "pack": fields["pack"],
            "code": fields["error"], "injected": fields["injected"], "reaction": fields["remedy"],
          ]))
      case .text("step"): steps.append(.members(["seconds", "what"], of: fields))
      case .text("count"): counts.append(.members(["seconds", "runs", "has", "failed", "before", "bytes"], of: fields))
      case .text("verdict"): members["verdict"] = fields["verdict"]
      default: break
      }
    }
    guard members["title"] != nil else { throw PackError(.invalidRecord, of: path, "is no simulation") }
    guard members["verdict"] != nil else { throw PackError(.invalidRecord, of: path, "ends before the verdict of the simulation") }
    if counts.isEmpty { members["events"] = .list(events) } else { (members["steps"], members["counts"]) = (.list(steps), .list(counts)) }
    reportValue = .sorted(members)
  }
}
