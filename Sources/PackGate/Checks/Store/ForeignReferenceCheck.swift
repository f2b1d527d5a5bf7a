import PackManifest

/// PK6017.
enum ForeignReferenceCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6017", "a page loads something from another host", .warning, needs: [.files, .payload],
    what: """
      What index.html always loads is on no other host. What it may load, such as a font of a style sheet, is a note; links do not count. Files of \
      more than 8 MiB are not read.
      """,
    onPhone: """
      Without a network it is missing. With one, the other host learns the address of the player, which belongs in the privacy details of the app.
      """,
    remedy: "Put what it loads into the pack. If the game works without it, accept the finding with a reason in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.flatMap { entry, file in
      rule.findings(file.references.foreign, entry, file) + rule.findings(file.references.foreignGuesses, entry, file, level: .note)
    }
  }
}
