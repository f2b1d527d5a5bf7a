/// The exit statuses and error codes that `packer explain` knows.
///
/// Scripts/run-readme.py writes the texts into Documentation/TROUBLESHOOTING.md.
enum FailureCatalog {
  /// The meaning of one status or code, and what to do.
  struct Entry: Sendable {
    /// The number of an exit status, or the identifier of an error code.
    let code: String
    let cause: String
    let remedy: String

    var isExitStatus: Bool { code.allSatisfy(\.isNumber) }
  }

  /// Returns the entry for an exit status such as `11`, or for an error code such as `wrong-key`; nil if there is none.
  static func entry(_ code: String) -> Entry? {
    // A line for each: code, cause and remedy.
    let lines = String(decoding: PackageResources.failures_txt, as: UTF8.self).split(separator: "\n")
    let row = lines.lazy.map { $0.split(separator: " | ").map(String.init) }.first { $0[0] == code.lowercased() }
    return row.map { Entry(code: $0[0], cause: $0[1], remedy: $0[2]) }
  }
}
