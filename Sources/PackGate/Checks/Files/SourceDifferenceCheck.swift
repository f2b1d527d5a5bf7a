import PackManifest
import PackProject

/// PK2011.
enum SourceDifferenceCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2011", "a pack differs from its source directory", needs: [.files, .payload, .configuration, .sources],
    what:
      "Every pack has the same paths, sizes, permissions and contents as its root directory in packer.yml, if that directory exists.",
    onPhone: "Players get an older version of the assets than the one that was tested.",
    remedy: "Run 'packer build'.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let packs = release.configuredPacks
    return release.pairs.compactMap { entry, file in
      guard let differences = file.differences, let first = differences.first else { return nil }
      let source = packs[entry.id]
      return finding(
        "'\(first.path)' \(first.message)\(differences.count > 1 ? "; \(differences.count) differences from \(source?.rootInProject ?? "its root") in all" : "")",
        pack: entry.id, file: release.configuration?.path, line: source?.position.line,
        details: differences.prefix(20).map { "\($0.kind.rawValue): \($0.path) \($0.message)" }, hint: release.rebuild(entry.id))
    }
  }
}
