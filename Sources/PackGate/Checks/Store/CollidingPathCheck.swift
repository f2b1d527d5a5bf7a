import PackBuild
import PackManifest
import PackProject

/// PK6007.
enum CollidingPathCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6007", "managed packs hold the same path", needs: [.files, .configuration],
    what: """
      With managed hosting, no two packs have the same file name, because the system puts all packs into one namespace. Names that differ \
      only in case count as the same. A path with different content in two packs is a warning.
      """,
    onPhone: "The app gets either file, and which one is undefined.",
    remedy: "Give packs ids, and files paths, that start with the name of the game or level.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let configuration = release.configuration, configuration.hosting != .unmanaged else { return [] }
    var findings: [ReleaseFinding] = []
    var first: [String: ManifestPack] = [:]
    for entry in release.entries {
      let name = BAPackageManifest.payloadName(for: entry.id).lowercased()
      if let other = first.updateValue(entry, forKey: name), other.id != entry.id {
        findings.append(
          finding(
            "its file name '\(name)' is also used by '\(other.id)'", pack: entry.id, file: configuration.path,
            hint: "give it another id in \(configuration.path)"))
      }
    }
    if let example = release.colliding.first {
      let count = release.colliding.count
      findings.append(
        finding(
          "'\(example.path)' has different content in \(example.packs.joined(separator: " and "))\(count > 1 ? "; \(count) such paths in all" : "")",
          level: .warning, file: release.manifest.path,
          details: release.colliding.prefix(20).map { "\($0.path): \($0.packs.joined(separator: ", "))" },
          hint: "unpack each into a directory of its own, or rename the files"))
    }
    return findings
  }
}
