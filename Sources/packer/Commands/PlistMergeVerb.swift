import ArgumentParser
import PackBuild
import PackFormat

/// `packer plist merge`
struct PlistMergeVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Puts the keys of a release into an app's Info.plist, and leaves all other values as they are.",
    discussion: """
      Every other key keeps its value and its type, and a binary plist stays binary. XML is written anew, with its keys in order; comments \
      are lost, which a warning says. The file is replaced whole or not at all, and not touched where nothing differs.

      Values that packer did not write are not overwritten: they are shown beside packer's, and --replace takes packer's. The key \
      PackerMergedValues holds a digest of what packer wrote, by which it knows its own values the next time.

      Examples:
        packer plist merge App/Info.plist
        packer plist merge App/Info.plist -o build/Info.plist
        packer plist merge App/Info.plist -c packer.yml --replace
      """)

  @Argument(help: "The app's Info.plist.", completion: .file(extensions: ["plist"]))
  var path: String

  @Option(
    name: [.customShort("o"), .customLong("output")], help: "Write here, and leave the plist itself as it is.", completion: .file())
  var outputPath: String?

  @Flag(name: .customLong("replace"), help: "Overwrite values that packer did not write.")
  var replaces = false

  @OptionGroup var release: ReleaseKeysOptions
  @OptionGroup var output: OutputOptions

  static var leavesNothingBehind: Bool { false }
  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    let wanted = try release.wanted(try release.configuration())
    let merge = try InfoPlist.read(path).merging(wanted, conflicts: replaces ? .replace : .refuse)
    if merge.isChange || outputPath != nil { try merge.write(to: outputPath) }
    for warning in merge.warnings { session.console.warning(warning, hint: nil) }
    let file = outputPath ?? path
    for change in merge.changes {
      let values = [change.old ?? "missing", change.new ?? "removed"].joined(separator: " -> ")
      session.console.result(ChangeRecord(file: file, change), ["\(file): \(change.key): \(values)"])
    }
    let verdict = merge.changes.isEmpty ? "has the keys of the release already" : Table.count(merge.changes.count, "change", "changes")
    session.console.result(
      MergeRecord(file: file, changes: merge.changes.count, isWritten: merge.isChange || outputPath != nil), ["\(file): \(verdict)"])
    return .done
  }
}

private struct ChangeRecord: Encodable {
  let type = "change"
  let file: String
  let key: String
  let old: String?
  let new: String?

  init(file: String, _ change: PlistMerge.Change) {
    self.file = file
    key = change.key
    old = change.old
    new = change.new
  }
}

private struct MergeRecord: Encodable {
  let type = "file"
  let file: String
  let changes: Int
  let isWritten: Bool
}
