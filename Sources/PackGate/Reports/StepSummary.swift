/// The file with the summary that GitHub Actions shows for a step. Every command of the step appends to it.
package enum StepSummary {
  /// The environment variable with the path of the file.
  package static let variable = "GITHUB_STEP_SUMMARY"

  /// Appends the text that `text` returns for the number of bytes that are left.
  package static func append(to path: String, _ text: (_ limit: Int) -> String) throws(PackError) {
    try append(to: path, files: SystemFiles(), text)
  }

  package static func append(to path: String, files: any FileSystem, _ text: (_ limit: Int) -> String) throws(PackError) {
    let found = try writing(path, ifPresent(files.open(path, .writeUnlinked, in: nil)))
    let file = if let found { found } else { try writing(path, files.open(path, .create(mode: 0o666), in: nil)) }
    let size = try writing(path, files.status(of: file).size)
    let room = size >= UInt64(GitHubReport.largestSummary) ? 0 : GitHubReport.largestSummary - Int(size)
    try writing(path, files.writeAll(file, at: size, Array(text(room).utf8).byteSpan))
  }
}
