import ArgumentParser

/// `packer completions`
struct Completions: Verb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "completions",
    abstract: "Prints a completion script for bash, zsh or fish.",
    discussion: """
      Examples:
        packer completions bash > ~/.local/share/bash-completion/completions/packer
        packer completions zsh > ~/.zfunc/_packer
        packer completions fish > ~/.config/fish/completions/packer.fish
      """,
    shouldDisplay: HelpText.isWhole)

  @Argument(help: "bash, zsh or fish.", completion: .list(["bash", "zsh", "fish"]))
  var shell: String

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard let known = CompletionShell(rawValue: shell) else {
      throw PackError(.usage, "there are no completions for '\(shell)'", hint: "use bash, zsh or fish")
    }
    session.console.output(Packer.completionScript(for: known))
    return .done
  }
}
