import PackManifest

/// PK2008.
enum WrongPackCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2008", "a file is not the pack that its manifest entry names", .error, .damaged, needs: [.files],
    what:
      "Name, version and key id of every pack are those of its manifest entry, and it is no copy that was wrapped for other recipients.",
    onPhone: "The app refuses the pack before it unpacks anything: packs were mixed up or renamed.",
    remedy: "Run 'packer build'; never copy one pack over another.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let misplaced = release.misplaced
    let findings = release.pairs.compactMap { entry, file -> ReleaseFinding? in
      guard let start = file.start, misplaced[entry.id] == nil else { return nil }
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
      if !start.recipientIDs.isEmpty {
        differences.append("it is a copy that is wrapped for \(start.recipientIDs.joined(separator: ", "))")
      }
      guard let first = differences.first else { return nil }
      return finding(
        "\(file.path) is another pack: \(first)", pack: entry.id, file: file.path, details: Array(differences.dropFirst()),
        hint: release.rebuild(entry.id))
    }
    let others = release.pairs.compactMap { entry, file in
      misplaced[entry.id].map {
        finding("\(file.path) is the pack '\($0)'", pack: entry.id, file: file.path, hint: release.rebuild(entry.id))
      }
    }
    guard others.count > 1 else { return findings + others }
    return findings + [
      finding(
        "\(others.count) files are other packs of this release", file: release.manifest.path, details: others.map(\.message),
        hint: "packer build")
    ]
  }

  /// The rules whose findings about a file follow from its being another pack of the release.
  static let consequences: Set<String> = [
    "PK2003", "PK2004", "PK2005", "PK2006", "PK2009", "PK2010", "PK2011", "PK2012", "PK2015",
  ]
}

extension ReleaseContext {
  /// The ids of the packs whose file has the bytes of another pack of the release, with the id of that pack.
  var misplaced: [String: String] {
    let owners = Dictionary(entries.map { ($0.sha256, $0.id) }, uniquingKeysWith: { first, _ in first })
    var misplaced: [String: String] = [:]
    for (entry, file) in pairs {
      guard let sha256 = file.sha256, sha256 != entry.sha256, let owner = owners[sha256] else { continue }
      misplaced[entry.id] = owner
    }
    return misplaced
  }
}
