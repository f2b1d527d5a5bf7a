import PackBuild
import PackFormat
import PackManifest
import PackProject

/// PK1006.
enum IgnoredRuleCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK1006", "an entry of 'ignore' in packer.yml has no effect", .warning, needs: [.configuration],
    what: """
      Every entry of 'ignore' names a rule that exists and may be ignored, and a pack and an app version that exist. Entries for rules about \
      released apps name the app version and a last day, and no last day is over.
      """,
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
        } else if rule.protectsReleasedApps, ignored.app == nil || ignored.until == nil {
          problem = "'\(rule.id)' protects players of a released app, so an entry must name its version as 'app' and a last day as 'until'"
        } else if let until = ignored.until, until < release.now {
          problem = "'\(rule.id)' is ignored until \(until.description.prefix(10)), which is over"
        } else if let app = ignored.app, release.lock?.apps.contains(where: { $0.version == app }) == false {
          problem = "'\(rule.id)' is ignored for app \(app), which is not recorded"
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
