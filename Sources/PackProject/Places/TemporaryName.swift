/// Names of temporary files and directories.
package enum TemporaryName {
  /// Returns a path that is not in use, in `TMPDIR` or `/tmp`.
  ///
  /// - Parameter kind: what the file is for.
  package static func path(_ kind: String) -> String {
    "\(ProcessEnvironment.text(of: "TMPDIR") ?? "/tmp")/packer-\(kind)-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
  }
}
