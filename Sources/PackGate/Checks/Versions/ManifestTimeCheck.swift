import PackManifest

/// PK5006.
enum ManifestTimeCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5006", "the times of the manifest cannot be", .warning, needs: [.manifest],
    what: "The manifest was not issued in the future, and expires after it was issued.",
    onPhone: "Expiry is all that counts there: a clock that is wrong where it was made makes a manifest that lives too long or too short.",
    remedy: "Set the clock of the building machine or SOURCE_DATE_EPOCH, then run 'packer build --renew'.")

  /// What clocks may differ by.
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
      finding("the manifest was issued at \(issued), and it is \(release.now)", file: release.manifest.path, hint: "packer build --renew")
    ]
  }
}
