import PackCrypto
import PackFormat
import PackManifest
import PackProject
import PackTrust

extension ReleaseBuild {
  /// Returns the keys that an app trusts, and the keys documents that the manifest must contain for the oldest app version of the lock file.
  ///
  /// - Throws: ``PackError/Code/untrustedSignature`` if the signing keys are too few of those that the newest keys document lists,
  ///   ``PackError/Code/limitExceeded`` if an app version is too far behind, or the error of the file.
  func trust(of signers: [SigningPublicKey], _ lock: ReleaseLock) throws(PackError) -> (keys: TrustedKeys, documents: [KeysDocument]) {
    guard let path = configuration.keysFile else { return (TrustedKeys(signers), []) }
    let file = try KeysFile(reading: path)
    let newest = try file.required()
    let listed = signers.filter { newest.content.signingKeys.contains($0) }
    guard listed.count >= newest.content.signingThreshold else {
      let others = signers.filter { !listed.contains($0) }.map(\.id).joined(separator: ", ")
      throw PackError(
        .untrustedSignature,
        "keys document \(newest.content.version) in \(path) needs \(newest.content.signingThreshold) of its signing keys, and \(listed.count) were given"
          + (others.isEmpty ? "" : " (it does not list \(others))"),
        hint: "sign with a key that 'packer trust show \(ShellWord.path(path))' lists")
    }
    let documents = file.documents(after: file.oldestVersion(of: lock.apps))
    guard documents.count <= SignedManifest.keysLimit else {
      throw PackError(
        .limitExceeded,
        "the oldest app version needs \(documents.count) keys documents, but a manifest has at most \(SignedManifest.keysLimit)",
        hint: "retire that app version: packer release retire VERSION")
    }
    return (try TrustedKeys(newest), documents)
  }
}
