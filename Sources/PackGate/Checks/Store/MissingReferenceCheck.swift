import PackManifest

/// PK6016.
enum MissingReferenceCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6016", "a page refers to a file that the pack does not have", needs: [.files, .payload],
    what: """
      The pack has what index.html always loads, and what that loads in turn: scripts, modules, style sheets, pictures, sounds and frames. Upper and \
      lower case count, no reference is to a file on a developer's computer, and an import map has each bare import. Files of more than 8 MiB are \
      not read.
      """,
    onPhone: "The file is not found, though a developer's computer may find it.",
    remedy:
      "Correct the reference, or add the file. If the game expects that it is missing, accept the finding with a reason in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.flatMap { entry, file in
      rule.findings(file.references.missing, entry, file, hint: "correct it, or add the file, then: \(release.rebuild(entry.id))")
    }
  }
}

extension ReleaseRule {
  /// Returns one finding for all sentences about a pack; none without sentences.
  func findings(
    _ sentences: [String], _ entry: ManifestPack, _ file: PackSighting, level: FindingLevel? = nil, hint: String? = nil
  ) -> [ReleaseFinding] {
    guard let first = sentences.first else { return [] }
    let message = first + sentences.andMore
    return [ReleaseFinding(self, message, level: level, pack: entry.id, file: file.path, details: Array(sentences.prefix(20)), hint: hint)]
  }
}
