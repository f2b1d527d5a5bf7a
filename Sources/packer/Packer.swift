import ArgumentParser

/// The root command.
struct Packer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "packer",
    abstract: "Packs directories into encrypted packs, and checks and reads them.",
    discussion: """
      Examples:
        packer key new -o game.key
        packer pack build/game -o game.pack --key game.key
        packer ls game.pack --key game.key
        packer check game.pack --key game.key --against build/game
        packer unpack game.pack -C restored --key game.key

      Keys are never typed on the command line: --key takes file:PATH (or a bare path), env:NAME, fd:N, stdin or cmd:'PROGRAM ARG…'. Without \
      --key, exactly one of PACKER_KEY (the key text), PACKER_KEY_FILE (a path) and PACKER_KEY_COMMAND is used; for --sign-key \
      the same of PACKER_SIGN_KEY.

      --help-hidden also lists the commands that few people need: inspect, explain, plist, advise, delta, simulate, store and completions.

      Results go to standard output, everything else to standard error. --json prints JSON Lines; the last record has \
      the type result.

      Exit status: 0 done, 1 findings, 2 only budgets of the team exceeded, 3 would not fit an app version already released, 10 no key, \
      11 wrong key, 12 damaged or tampered, 13 truncated, 14 signature not trusted, 15 over a limit, 20 and 21 the published release \
      is not right or cannot be reached, 64 usage, 65 bad input: not a pack, an unknown format, or a wrong configuration, \
      66 input missing, 69 cannot serve, 70 internal error (please report), 73 cannot write, 74 read error, 130 interrupted, \
      143 terminated.

      This is not HashiCorp Packer.
      """,
    // Only the title: every run creates this configuration, and the versions of the libraries are needed only when they are printed.
    version: Version.title,
    subcommands: [
      Initialize.self, Build.self, Verify.self, Publish.self, RolloutVerb.self, Prune.self, Release.self, Diff.self, Report.self,
      Observe.self, PackVerb.self, Unpack.self, List.self, Cat.self, Check.self, Key.self, Serve.self,
      Inspect.self, Advise.self, Explain.self, Plist.self, Delta.self, Simulate.self, Store.self, Completions.self,
    ])
}
