import PackManifest

/// PK2008.
enum WrongPackCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2008", "a file is another pack than its entry says", .error, .damaged, needs: [.files],
    what: "Name and version that a pack was made under, and its key id, are those of its entry.",
    onPhone: "The app refuses the pack before it unpacks anything: packs were mixed up or renamed.",
    remedy: "Run 'packer build'; never copy one pack over another.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard let start = file.start else { return nil }
      var differences: [String] = []
      if let content = file.content, !content.isNamed {
        differences.append("it was made under another name than '\(entry.id)'")
      }
      if start.packVersion != entry.version {
        differences.append("it has version \(start.packVersion), but the manifest says \(entry.version)")
      }
      if start.keyID != entry.keyID {
        differences.append("it was made with key \(start.keyID), but the manifest says \(entry.keyID)")
      }
      guard let first = differences.first else { return nil }
      return finding(
        "\(file.path) is another pack: \(first)", pack: entry.id, file: file.path, details: Array(differences.dropFirst()),
        hint: release.rebuild(entry.id))
    }
  }
}
