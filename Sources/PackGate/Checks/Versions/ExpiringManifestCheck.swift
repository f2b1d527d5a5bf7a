import PackManifest

/// PK5005.
enum ExpiringManifestCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5005", "the manifest expires soon", .warning, needs: [.manifest],
    what: "At least 30 days are left until 'expires', or half of the validity if that is shorter.",
    onPhone: "After that, no new pack is installed from it.",
    remedy: "Run 'packer build --renew' and upload the manifest.")

  static let days: Int64 = 30

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let manifest = release.manifest.manifest, manifest.expires > release.now else { return [] }
    let left = manifest.expires.secondsSince1970 - release.now.secondsSince1970
    let validity = manifest.issued.map { manifest.expires.secondsSince1970 - $0.secondsSince1970 } ?? .max
    guard left < min(days * 86_400, validity / 2) else { return [] }
    return [
      finding(
        "the manifest expires at \(manifest.expires), in \(left / 86_400) \(left / 86_400 == 1 ? "day" : "days")",
        file: release.manifest.path, actual: UInt64(left), limit: UInt64(days * 86_400), hint: "packer build --renew")
    ]
  }
}
