import ArgumentParser
import PackRuntime
import PackerKit

/// `packer plist print`
struct PlistPrint: Verb {
  static let configuration = CommandConfiguration(
    commandName: "print",
    abstract: "Prints the keys of a release as a property list.",
    discussion: """
      Examples:
        packer plist print
        packer plist print --dist dist > Release.plist
        packer plist print -c packer.yml --json
      """)

  @OptionGroup var release: ReleaseKeysOptions
  @OptionGroup var output: OutputOptions

  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    let keys = try release.wanted(try release.configuration())
    if output.isJSON {
      session.console.result(KeysRecord(keys), [])
    } else {
      let bytes = try InfoPlist.fragment(of: keys)
      try session.console.stream(bytes.span, remaining: UInt64(bytes.count))
    }
    return .done
  }
}
