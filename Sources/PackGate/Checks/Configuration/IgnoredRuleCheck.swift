import PackFormat
import PackManifest
import PackProject

/// PK1006.
enum IgnoredRuleCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK1006", "packer.yml ignores a rule or pack that does not exist, or a rule that cannot be ignored", .warning, needs: [.configuration],
    what: "Every entry of 'ignore' names a rule that exists and may be ignored, and a pack that exists.",
    onPhone:
      "No effect. But a misspelt entry ignores nothing, and the entry of a removed pack hides findings of a later pack of that name.",
    remedy: "Correct or remove the entry; 'packer explain' lists the rules.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let configuration = release.configuration else { return [] }
    let known = Set(configuration.packs.map(\.id.text)).union(release.entries.map(\.id))
    return configuration.ignored.compactMap { ignored in
      let problem: String
      if let rule = ReleaseRule.all.first(where: { $0.id == ignored.rule }) {
        if !rule.isIgnorable {
          problem = "'\(rule.id)' cannot be ignored: \(rule.title)"
        } else if let pack = ignored.pack, !known.contains(pack) {
          problem = "'\(rule.id)' is ignored for '\(pack)', which does not exist"
        } else {
          return nil
        }
      } else {
        problem = "there is no rule '\(ignored.rule)'"
      }
      return finding(problem, file: configuration.path, line: ignored.position.line, hint: "packer explain")
    }
  }
}
