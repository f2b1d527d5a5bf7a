import ArgumentParser
import PackFormat
import PackGate

/// `packer explain`
struct Explain: Verb {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Tells the whole story of a rule of 'packer verify', or lists them all.",
    discussion: """
      What is checked, what happens on a phone where it is shipped nevertheless, and how to put it right.

      Examples:
        packer explain PK3007
        packer explain
      """)

  @Argument(help: "Ids of rules, or the first characters of several, as in PK3. All are listed where there is none.")
  var rules: [String] = []

  @OptionGroup var output: OutputOptions

  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard !rules.isEmpty else {
      for rule in ReleaseRule.all { session.console.result(RuleRecord(rule), ["\(rule.id)  \(rule.title)"]) }
      return .done
    }
    for id in rules {
      let found = ReleaseRule.all.filter { $0.id.hasPrefix(id.uppercased()) }
      guard !found.isEmpty, !id.isEmpty else {
        throw PackError(.usage, "there is no rule '\(id)'", hint: "list them with 'packer explain'")
      }
      for rule in found { session.console.result(RuleRecord(rule), rule.story) }
    }
    return .done
  }
}

private struct RuleRecord: Encodable {
  let type = "rule"
  let id: String
  let title: String
  let level: String
  let kind: String
  let checks: String
  let onPhone: String
  let remedy: String
  let baCode: Int?
  let ignorable: Bool

  init(_ rule: ReleaseRule) {
    id = rule.id
    title = rule.title
    level = rule.level.rawValue
    kind = rule.kind.rawValue
    checks = rule.what
    onPhone = rule.onPhone
    remedy = rule.remedy
    baCode = rule.phone?.code
    ignorable = rule.isIgnorable
  }
}
