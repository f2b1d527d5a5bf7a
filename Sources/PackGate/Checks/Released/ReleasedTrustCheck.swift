import PackBuild
import PackManifest
import PackProject

/// PK3009.
enum ReleasedTrustCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3009", "an app version already released trusts no key that signed the manifest", .error, .released, needs: [.manifest, .lock],
    what: "Every app version that is not retired trusts at least one key that signed the manifest.",
    onPhone: "That version refuses the manifest and keeps its packs; a new install gets no packs.",
    remedy:
      "Sign with the old key as well: 'signKey' in packer.yml takes two. Remove the old one when the last version that needs it is retired."
  )

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    // PK5016 checks apps that embed a keys document.
    release.apps.filter { $0.keysVersion == nil }.compactMap { app in
      guard release.manifest.validSigners.isDisjoint(with: app.trustedKeys) else { return nil }
      let disproved = app.trustedKeys.filter { release.manifest.disproved.contains($0) }
      // If the gate trusts the same key, PK5002 reports the wrong signature.
      guard release.manifest.signatureFailure == nil || disproved.allSatisfy({ !release.manifest.trusted.contains($0) }) else { return nil }
      if let key = disproved.first {
        return finding(
          "app \(app.title) trusts a key whose signature is wrong: the manifest was changed after it was signed", app: app.version,
          file: release.lockPath, details: [key], hint: "fetch the manifest again, or sign it again with 'packer build'")
      }
      return finding(
        "app \(app.title) trusts \(app.trustedKeys.count == 1 ? "one key" : "\(app.trustedKeys.count) keys"), none of which signed the manifest (signed by \(release.manifest.signers))",
        app: app.version, file: release.lockPath, details: app.trustedKeys,
        hint: "sign with its key too, or: packer release retire \(ShellWord.quoted(app.version))")
    }
  }
}

extension ManifestSighting {
  /// The ids of the keys that signed, as the manifest names them.
  var signers: String { keyIDs.isEmpty ? "no key" : keyIDs.joined(separator: ", ") }
}
