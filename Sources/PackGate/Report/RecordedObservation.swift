/// What access logs say of releases, as `packer observe --json` printed it.
package struct RecordedObservation: Sendable {
  /// The members that the page shows.
  let reportValue: JSON

  /// Reads the lines of a file, as ``RecordedLines`` does.
  package static func read(_ path: String, files: any FileSystem = SystemFiles()) throws(PackError) -> RecordedObservation {
    try RecordedLines.read(path, of: "packer observe … --json", files: files) { (records) throws(PackError) in
      try RecordedObservation(records, of: path)
    }
  }

  private init(_ records: [[String: JSON]], of path: String) throws(PackError) {
    var members: [String: JSON?] = [:]
    var lists: [String: [JSON]] = [:]
    let kinds = ["release": "releases", "otherReleases": "releases", "file": "files", "error": "errors", "finding": "findings"]
    for fields in records {
      guard case .text(let type)? = fields["type"] else { continue }
      if type == "observation" {
        guard members["counts"] == nil else {
          throw PackError(.invalidRecord, of: path, "has several observations", hint: "keep each in a file of its own")
        }
        for name in ["first", "last", "deviceEstimate", "counts"] { members[name] = fields[name] }
      } else if let list = kinds[type] {
        lists[list, default: []].append(
          .members(
            [
              "manifest", "deviceEstimate", "counts", "name", "kind", "id", "version", "size", "status", "count", "first", "last",
              "message",
            ],
            of: fields))
      }
    }
    guard members["counts"] != nil else { throw PackError(.invalidRecord, of: path, "is no observation") }
    for (name, list) in lists { members[name] = .list(list) }
    reportValue = .sorted(members)
  }
}
