import ArgumentParser

/// `packer explain`
struct Explain: OutputVerb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explains a verify rule, an exit status or an error code, or lists the rules.",
    discussion: """
      For a rule of 'packer verify', prints what is checked, what happens on a phone if the release is shipped anyway, and how to correct it. \
      For an exit status or an error code, prints the cause and the remedy.

      Examples:
        packer explain PK3007
        packer explain 11
        packer explain wrong-key
        packer explain
      """,
    shouldDisplay: HelpText.isWhole)

  @Argument(
    help: ArgumentHelp(
      "Rule ids, or the first characters of several (PK3), exit statuses (11) or error codes (wrong-key). (default: list all rules)",
      valueName: "rule|status|code"))
  var subjects: [String] = []

  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let console = session.console
    guard !subjects.isEmpty else {
      for rule in ReleaseRule.all { console.result(rule.json, ["\(rule.id)  \(rule.title)"]) }
      console.note("exit statuses and error codes are explained too, as in 'packer explain 11' and 'packer explain wrong-key'")
      return .done
    }
    for subject in subjects {
      if let entry = FailureCatalog.entry(subject) {
        console.result(
          [
            "type": .text(entry.isExitStatus ? "exit-status" : "error-code"), "code": .text(entry.code), "cause": .text(entry.cause),
            "remedy": .text(entry.remedy),
          ], ["\(entry.isExitStatus ? "exit status " : "")\(entry.code)  \(entry.cause)", "  remedy  \(entry.remedy)"])
        continue
      }
      let found = ReleaseRule.all.filter { $0.id.hasPrefix(subject.uppercased()) }
      guard !found.isEmpty, !subject.isEmpty else {
        throw PackError(
          .usage, "there is no rule, exit status or error code '\(subject)'",
          hint: "list the rules with 'packer explain'; Documentation/TROUBLESHOOTING.md lists statuses and codes")
      }
      for rule in found { console.result(rule.json, rule.story) }
    }
    return .done
  }
}
