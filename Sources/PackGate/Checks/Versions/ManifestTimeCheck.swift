import PackManifest

/// PK5006.
enum ManifestTimeCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5006", "the dates of the manifest are impossible", .warning, needs: [.manifest],
    what: "The manifest was not issued in the future, and expires after it was issued.",
    onPhone: "Only the expiry date counts: if the clock was wrong at build time, the manifest expires too late or too early.",
    remedy: "Set the clock of the building machine or SOURCE_DATE_EPOCH, then run 'packer build --renew'.")

  /// The allowed difference between clocks, in seconds.
  private static let tolerance: Int64 = 300

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let manifest = release.manifest.manifest, let issued = manifest.issued else { return [] }
    if manifest.expires <= issued {
      return [
        finding(
          "the manifest expires at \(manifest.expires), not after it was issued at \(issued)", file: release.manifest.path,
          hint: "packer build --renew")
      ]
    }
    guard issued.secondsSince1970 > release.now.secondsSince1970 + tolerance else { return [] }
    return [
      finding(
        "the manifest was issued at \(issued), but now it is \(release.now)", file: release.manifest.path,
        hint: "packer build --renew")
    ]
  }
}
