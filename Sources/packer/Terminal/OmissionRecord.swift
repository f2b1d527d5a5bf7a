import PackProject

/// A record of a path that is in no pack: `skipped` if packer always skips it, `excluded` if a pattern excludes it.
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
  /// The line to print for the path.
  var line: String { skippedBecause.map { "skipped \(path): \($0)" } ?? "excluded \(path)" }
}
