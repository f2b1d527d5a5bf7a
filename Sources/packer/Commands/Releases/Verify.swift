import ArgumentParser

/// `packer verify`
struct Verify: OutputVerb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks a release before it is published, or at the server.",
    discussion: HelpText.text(
      """
      Prints everything that would fail on a phone. Files are compared with the manifest, packs \
      are opened and read whole, budgets are compared with the Info.plist and every app version of the lock file, and hosts, versions and \
      signature are checked. With --app, the Info.plist is that of a built app, and its extension, app groups and files are checked too. \
      'packer explain' lists the rules.
      """,
      more: """
        With --live, the server is asked for the published release as a phone does, with curl: every file, four at a time, each from its own \
        address. --quick reads large files only in part. --only PK7 checks nothing else, and needs no key. Without --live, nothing is sent anywhere.

        Exit status, the first that applies: 11 wrong key, 14 signature not trusted, 12 damaged, 13 truncated, 3 would not fit an \
        app version already released, 20 faults at the server, 1 findings, 2 only budgets of the team exceeded, 0 none of these. 65 means that the configuration is wrong, 21 \
        that the server does not answer.

        With --for, each pack with pages is also checked as a game for web portals, which get it from 'packer unpack --zip'; 'packer explain PK8' shows \
        what they ask, and where that is written. --run FILE is what 'packer serve --record' wrote.
        """,
      examples: """
        Examples:
          packer verify
          packer verify dist --plist App/Info.plist
          packer verify dist --app build/Game.ipa
          packer verify dist --quick --format github --report junit=verify.xml
          packer verify dist --live --only PK7 --live-state live.txt
          packer verify dist --for itch --only PK8
        """))

  @Argument(help: "A release directory or manifest. (default: dist beside packer.yml)", completion: .file())
  var release: String?

  @OptionGroup var gate: GateOptions
  @OptionGroup var live: LiveOptions
  @OptionGroup var portals: PortalOption
  @OptionGroup(visibility: .hidden) var threads: JobsOption
  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    if let release, ReleasePlaces.exists(release), !ReleasePlaces.isReleasePath(release) {
      let isConfiguration = ReleasePlaces.isConfigurationPath(release)
      throw PackError(
        .usage, "\(release) is a \(isConfiguration ? "configuration" : "file"), not a release",
        hint: "packer \(isConfiguration ? "verify -c" : "check") \(ShellWord.path(release))")
    }
    let gate = ReleaseGate(
      options: gate, live: live, portals: try portals.all(), key: key, jobs: try threads.count(), isJSON: output.isJSON)
    return try await gate.run(release, in: session)
  }
}
