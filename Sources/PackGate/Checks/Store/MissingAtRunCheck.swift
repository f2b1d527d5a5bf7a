import PackBuild
import PackManifest

/// PK6013.
enum MissingAtRunCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6013", "a game asks for files that its pack does not have", .warning, needs: [.manifest, .run],
    what: "No game asked for a path that is not in its pack, while 'packer serve --record' recorded it.",
    onPhone: "The game gets status 404 for it, as it did in the recorded run.",
    remedy:
      "Correct the path in the game, or add the file. If the game expects that it is missing, accept the finding with a reason in packer.yml."
  )

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.runs.compactMap { entry, run in
      // A pack without pages was opened as a game, and nothing of it was loaded.
      guard run.requests.isEmpty || run.requests.contains(where: { $0.status < 400 }) else { return nil }
      let lines = run.missing.map { missing in missing.near.map { "'\(missing.path)', but has '\($0)'" } ?? "'\(missing.path)'" }
      guard let first = lines.first else { return nil }
      return finding("its pack has no \(first)\(lines.andMore)", pack: entry.id, details: Array(lines.prefix(20)))
    }
  }
}

extension ReleaseContext {
  /// The recorded runs of the packs of this release, by their content.
  var runs: [(entry: ManifestPack, run: LoadRun.Pack)] {
    (run?.packs ?? []).compactMap { run in
      let same = entries.filter { $0.contentRoot == run.contentRoot }
      return (same.first { $0.id == run.id } ?? same.first).map { ($0, run) }
    }
  }
}
