import PackFormat
import PackManifest

/// PK6011.
enum MisspelledReferenceCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6011", "a page names a file in the wrong case", .warning, needs: [.files, .payload],
    what: """
      What pages and style sheets of a pack name in src, href, poster and url() is not there in another case only. Names that fit no file at all are \
      not reported, because a script may answer them.
      """,
    onPhone: "The file is not found, though Windows and macOS find it.",
    remedy: "Write the name as the file has it.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.flatMap { entry, file in
      rule.findings(file.misspelled, entry, file, hint: "write it as the file has it, then: \(release.rebuild(entry.id))")
    }
  }
}
