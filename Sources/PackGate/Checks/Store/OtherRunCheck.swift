import PackBuild
import PackManifest

/// PK6015.
enum OtherRunCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6015", "a recorded run is of other content", .note, needs: [.manifest, .run],
    what: "The recorded run is of the packs of this release, so that PK6013 and PK6014 are about them.",
    onPhone: "Nothing: the run says nothing about this release.",
    remedy: "Record the run again with 'packer serve --record'.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let known = Set(release.entries.map(\.contentRoot))
    let others = (release.run?.packs ?? []).filter { !known.contains($0.contentRoot) }.map { "'\($0.id)' version \($0.version)" }
    guard let first = others.first else { return [] }
    return [
      finding(
        "the run is of \(first)\(others.andMore), whose content is not in this release", details: Array(others.prefix(20)),
        hint: "packer serve \(release.directory) --record run.json")
    ]
  }
}
