import PackProject

/// A path that goes into no pack, as a record: `skipped` if packer passes it over by itself, `excluded` if a pattern does.
struct OmissionRecord: Encodable {
  let type: String
  let pack: String?
  let path: String
  let reason: String?
  let size: UInt64?

  init(_ omitted: OmittedPath, pack: String? = nil) {
    type = omitted.skippedBecause == nil ? "excluded" : "skipped"
    self.pack = pack
    path = omitted.path
    reason = omitted.skippedBecause
    size = nil
  }

  init(_ omitted: ConfigurationProposal.OmittedPath) {
    type = omitted.isSkipped ? "skipped" : "excluded"
    pack = nil
    path = omitted.path
    reason = omitted.reason
    size = omitted.size
  }
}

extension OmittedPath {
  /// What became of the path, for a person.
  var line: String { skippedBecause.map { "skipped \(path): \($0)" } ?? "excluded \(path)" }
}
