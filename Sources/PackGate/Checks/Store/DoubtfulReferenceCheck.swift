import PackManifest

/// PK6018.
enum DoubtfulReferenceCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6018", "a reference probably leads nowhere", .note, needs: [.files, .payload],
    what: """
      What pages, style sheets and scripts may load is in the pack: pictures of style rules, icons, links, what scripts fetch with a literal address, \
      and all references of pages that index.html does not show. Files of more than 8 MiB are not read.
      """,
    onPhone: "If it is loaded, it is not found.",
    remedy: "Correct the reference, add the file, or remove what is not used.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.flatMap { entry, file in rule.findings(file.references.doubtful, entry, file) }
  }
}
