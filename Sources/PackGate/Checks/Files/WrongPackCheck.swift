import PackManifest

/// PK2008.
enum WrongPackCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2008", "a file is not the pack that its manifest entry names", .error, .damaged, needs: [.files],
    what: "Name, version and key id of every pack are those of its manifest entry.",
    onPhone: "The app refuses the pack before it unpacks anything: packs were mixed up or renamed.",
    remedy: "Run 'packer build'; never copy one pack over another.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard let start = file.start else { return nil }
      var differences: [String] = []
      if let content = file.content, !content.isNamed {
        differences.append("its name is not '\(entry.id)'")
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
