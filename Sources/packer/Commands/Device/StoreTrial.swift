import ArgumentParser

/// `packer store activate`
struct StoreActivate: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "activate",
    abstract: "Activates an installed version on trial, and prints the token that confirms it.",
    discussion: """
      Unless 'packer store confirm' is run with the token, the previous version becomes current again: with 'packer store rollback', or with \
      'packer store reconcile' after this process has ended, as if the app had crashed. With --confirmed, the version becomes current at once.

      Examples:
        packer store activate game-puzzle --store phone > token
        packer store activate game-puzzle --version 4 --confirmed --store phone
      """)

  @Argument(help: "The name of the pack.")
  var id: String

  @Option(
    help: ArgumentHelp("The version. (default: the manifest's, if it is installed and did not fail; otherwise the newest)", valueName: "n"))
  var version: UInt64?

  @Flag(name: .customLong("confirmed"), help: "Make it current without a trial.")
  var isConfirmed = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let opened = try await store.open(decidesByManifest: version == nil, in: session)
    let token = try await opened.activate(id, version: version, onTrial: !isConfirmed)
    let runs = try await opened.current(id)
    guard runs?.state == .trial else {
      session.console.result(
        activation(of: id, version: token.version, state: .current),
        ["\(id): version \(token.version) is current"])
      return .done
    }
    session.console.result(
      activation(of: id, version: token.version, state: .trial, token: "\(token)"), ["\(token)"])
    session.console.note("\(id): version \(token.version) is on trial; the printed token confirms it")
    return .done
  }
}

/// `packer store confirm`
struct StoreConfirm: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "confirm",
    abstract: "Makes the version on trial the current one.",
    discussion: """
      The token is valid for one trial of one version, and for nothing else, even if it comes late.

      Examples:
        packer store confirm "$(cat token)" --store phone
      """)

  @Argument(help: "The token that 'packer store activate' printed.")
  var token: String

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let token: BootToken
    do throws(PackError) {
      token = try BootToken(parsing: self.token)
    } catch {
      throw error.advising(.developer("give the token that 'packer store activate' printed, unchanged"))
    }
    try await store.open(decidesByManifest: false, in: session).confirm(token)
    session.console.result(
      activation(of: token.id, version: token.version, state: .current),
      ["\(token.id): version \(token.version) is confirmed"])
    return .done
  }
}

/// `packer store rollback`
struct StoreRollback: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "rollback",
    abstract: "Rolls back to the previous version.",
    discussion: """
      The current version is recorded as failed, and not used again until its bytes change.

      Examples:
        packer store rollback game-puzzle --reason 'black screen' --store phone
      """)

  @Argument(help: "The name of the pack.")
  var id: String

  @Option(help: ArgumentHelp("The reason to record with the failed version.", valueName: "text"))
  var reason = "rolled back by hand"

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let opened = try await store.open(decidesByManifest: false, in: session)
    let now = try await opened.rollback(id, reason: reason)
    session.console.result(
      activation(of: id, version: now?.version, state: now?.state),
      [now.map { "\(id): version \($0.version) is active again" } ?? "\(id): no version is left to run"])
    return .done
  }
}

/// The record of the version of a pack that is active now. Its state is `trial`, `current`, or `none`.
private func activation(of id: String, version: UInt64?, state: InstalledPack.State?, token: String? = nil) -> JSON {
  [
    "type": "activation", "id": .text(id), "version": .number(version), "state": .text(state?.rawValue ?? "none"), "token": .text(token),
  ]
}
