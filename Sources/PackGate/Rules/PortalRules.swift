/// Rules about games that a web portal gets as plain files. What each portal asks is in ``Portal``.
enum PortalRules {
  static let all: [ReleaseRule] = [
    rule("PK8001", "a game lacks a file that a portal opens"),
    rule("PK8002", "a game is larger than a portal takes"),
    rule("PK8003", "a game has more files than a portal takes"),
    rule("PK8004", "a file is larger than a portal takes"),
    rule("PK8005", "a path is none that a portal takes"),
    rule("PK8006", "a game refers to the top of its host"),
    rule("PK8007", "a game loads from hosts that a portal refuses"),
    rule("PK8008", "a game loads more than a portal takes before it can be played"),
    ReleaseRule("PK8009", "a game takes longer than a portal takes until it can be played", .warning) {
      (files: Files, payload: Payload, portals: Portals, _: LoadRun) -> [Finding] in findings("PK8009", files, payload, portals)
    },
  ]

  private static func rule(_ id: String, _ title: String) -> ReleaseRule {
    ReleaseRule(id, title) { (files: Files, payload: Payload, portals: Portals) -> [Finding] in findings(id, files, payload, portals) }
  }

  private static func findings(_ rule: String, _ files: Files, _ payload: Payload, _ portals: Portals) -> [Finding] {
    portals.all.flatMap { portal -> [Finding] in
      let packs = files.with(payload)
      let games = packs.compactMap { pack in pack.contents.game.map { (pack, $0) } }.filter { $0.1.isGame(for: portal) }
      // Of a pack that could not be read, it is not known whether it is a game.
      if games.isEmpty, rule == "PK8001", packs.allSatisfy({ $0.contents.game != nil }) { return [portal.missingGame] }
      return games.flatMap { pack, game in
        portal.findings(rule, in: game).map { finding in
          Finding(
            finding.message, level: finding.level, pack: pack.entry.id, file: pack.file.path, actual: finding.actual, limit: finding.limit,
            details: finding.details, hint: finding.hint)
        }
      }
    }
  }
}

extension PortalGame {
  /// Returns what portals find in it, the most severe first.
  package func findings(of portals: [Portal]) -> [ReleaseFinding] {
    PortalRules.all.flatMap { rule in portals.flatMap { $0.findings(rule.id, in: self) }.map { ReleaseFinding(rule, $0) } }
      .sorted(by: ReleaseFinding.precedes)
  }
}
