import PackBuild
import PackManifest

/// PK6014.
enum ForeignHostCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6014", "a game asks other hosts", .warning, needs: [.manifest, .run],
    what: """
      No page loaded anything from another host or sent anything there, while 'packer serve --record' recorded it. Links to other hosts and frames in \
      a sandbox are not noticed.
      """,
    onPhone: """
      Without a network, the request fails, and the game with it if it waits for the reply. With one, the other host learns the address of the player, \
      which belongs in the privacy details of the app.
      """,
    remedy: "Put what it loads into the pack. If the game works without it, accept the finding with a reason in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.runs.compactMap { entry, run in
      let lines = run.foreign.map { "\($0.url) (\($0.directive))" }
      guard let first = lines.first else { return nil }
      return finding("it asks for \(first)\(lines.andMore)", pack: entry.id, details: Array(lines.prefix(20)))
    }
  }
}
