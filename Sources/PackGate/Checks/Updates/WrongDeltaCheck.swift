import PackFormat
import PackManifest

/// PK2025.
enum WrongDeltaCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2025", "a file is not the delta that the manifest names", .error, .damaged, needs: [.files, .pages],
    what: """
      Every listed delta is a delta to the pack of its id, with the pack's version and key. Opened over its base, it makes the content of \
      the pack, or the content that the page says.
      """,
    onPhone: "The app refuses the delta, downloads the full pack instead, and says so.",
    remedy: "Run 'packer build' and upload all of it; never copy one pack over another.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let entries = Dictionary(release.entries.map { ($0.id, $0) }) { first, _ in first }
    return release.deltas.compactMap { sighting in
      guard let entry = entries[sighting.id] else {
        return finding(
          "\(sighting.title) is for a pack that the manifest does not list", pack: sighting.id, file: sighting.path, hint: "packer build")
      }
      // Other bytes than those of the page are another finding.
      guard sighting.isPublished else { return nil }
      let differences = differences(sighting, entry)
      guard let first = differences.first else { return nil }
      return finding(
        "\(sighting.title): \(first)", pack: sighting.id, file: sighting.path, details: Array(differences.dropFirst()), hint: "packer build"
      )
    }
  }

  private static func differences(_ sighting: DeltaSighting, _ entry: ManifestPack) -> [String] {
    guard let start = sighting.start else { return [] }
    guard sighting.isDelta == true else { return ["it is a full pack"] }
    var differences: [String] = []
    if sighting.isNamed == false { differences.append("its name is not '\(entry.id)'") }
    if sighting.delta.target == nil, start.packVersion != entry.version {
      differences.append("it has version \(start.packVersion), but the pack has \(entry.version)")
    }
    if sighting.delta.target != nil, start.packVersion >= entry.version {
      differences.append("it has version \(start.packVersion), but leads to an edition before version \(entry.version)")
    }
    if start.keyID != entry.keyID { differences.append("it was made with key \(start.keyID), but the pack with \(entry.keyID)") }
    if let failure = sighting.failure, failure.code == .wrongBase { differences.append(failure.message) }
    let target = sighting.delta.target ?? entry.contentRoot
    if let root = sighting.contentRoot, root != target {
      differences.append("it makes content \(root.prefix(8).hex), but the manifest says \(target.prefix(8).hex)")
    }
    return differences
  }
}
