import ArgumentParser

/// `packer plist merge`
struct PlistMergeVerb: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Writes the keys of a release into an app's Info.plist, and keeps all other values.",
    discussion: """
      Every other key keeps its value and its type, and a binary plist stays binary. XML is edited in place: comments, order and \
      indentation of everything else stay. The file is replaced whole or not at all, and is not touched if nothing changes.

      Values that packer did not write are not overwritten: they are shown beside packer's, and --replace takes packer's. The key \
      PackerMergedValues holds a digest of what packer wrote, to recognise its own values the next time.

      Examples:
        packer plist merge App/Info.plist
        packer plist merge App/Info.plist -o build/Info.plist
        packer plist merge App/Info.plist -c packer.yml --replace
      """)

  @Argument(help: "The app's Info.plist.", completion: .file(extensions: ["plist"]))
  var path: String

  @Option(
    name: [.customShort("o"), .customLong("output")], help: "Write the result here, and keep the plist unchanged.", completion: .file())
  var outputPath: String?

  @Flag(name: .customLong("replace"), help: "Overwrite values that packer did not write.")
  var replaces = false

  @OptionGroup var release: ReleaseKeysOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let app = try InfoPlist.read(path)
    let wanted = try release.wanted(try release.configuration(), for: app)
    let merge = try app.merging(wanted, conflicts: replaces ? .replace : .refuse)
    if merge.isChange || outputPath != nil { try merge.write(to: outputPath) }
    for warning in merge.warnings { session.console.warning(warning, hint: nil) }
    let file = outputPath ?? path
    for change in merge.changes {
      let values = [change.old ?? "missing", change.new ?? "removed"].joined(separator: " -> ")
      session.console.result(change.json(of: file), ["\(file): \(change.key): \(values)"])
    }
    let verdict = merge.changes.isEmpty ? "already has the keys of the release" : Table.count(merge.changes.count, "change", "changes")
    session.console.result(
      [
        "type": "file", "file": .text(file), "changes": .number(merge.changes.count),
        "isWritten": .flag(merge.isChange || outputPath != nil),
      ], ["\(file): \(verdict)"])
    return .done
  }
}
