import ArgumentParser

/// `packer plist print`
struct PlistPrint: OutputVerb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "print",
    abstract: "Prints the keys of a release as a property list.",
    discussion: """
      With --part, prints the whole Info.plist of the extension, or the entitlements that app and extension both need.

      Examples:
        packer plist print
        packer plist print --part entitlements > App.entitlements
        packer plist print --dist dist > Release.plist
        packer plist print -c packer.yml --json
      """)

  @Option(
    help: ArgumentHelp("The file to print: app, extension or entitlements. (default: app)", valueName: "part"),
    completion: .list(AppPart.allCases.map(\.rawValue)),
    transform: { text in
      guard let part = AppPart(rawValue: text) else {
        throw ValidationError("'\(text)' is not a part: use app, extension or entitlements")
      }
      return part
    })
  var part = AppPart.app

  @OptionGroup var release: ReleaseKeysOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard output.isJSON, part != .app else { return }
    throw ValidationError("--json prints the keys of the app's Info.plist only, not --part \(part.rawValue)")
  }

  func run(in session: Session) async throws(PackError) -> Outcome {
    let keys = try release.wanted(try release.configuration())
    if output.isJSON {
      session.console.result(keys.json)
    } else {
      let bytes = try part.bytes(for: keys)
      try session.console.stream(bytes.byteSpan, remaining: UInt64(bytes.count))
    }
    return .done
  }
}
