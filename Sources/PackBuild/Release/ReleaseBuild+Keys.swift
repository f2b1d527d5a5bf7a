/// What apps trust that get a release.
struct ReleaseTrust {
  /// The keys that an app trusts.
  var keys: TrustedKeys
  /// The keys documents that the manifest must contain for the oldest app version of the lock file.
  var documents: [KeysDocument] = []
  /// A remark about a document that too few people have signed.
  var remark: ReleaseBuildReport.Remark?
}

extension ReleaseBuild {
  /// Finds out what apps trust. Reads the file of keys documents, unless it was read before.
  ///
  /// - Throws: ``PackError/Code/untrustedSignature`` if the signing keys are too few of those that the newest keys document lists,
  ///   ``PackError/Code/limitExceeded`` if an app version is too far behind, or the error of the file.
  func trust(of signers: [SigningPublicKey], _ lock: ReleaseLock) throws(PackError) -> ReleaseTrust {
    guard let path = configuration.keysFile else { return ReleaseTrust(keys: TrustedKeys(signers)) }
    let file = if let keysFile { keysFile } else { try KeysFile(reading: path) }
    try file.checkBeginning()
    let newest = try file.required()
    let listed = signers.filter { newest.content.signingKeys.contains($0) }
    guard listed.count >= newest.content.signingThreshold else {
      let others = signers.filter { !listed.contains($0) }.map(\.id).joined(separator: ", ")
      throw PackError(
        .untrustedSignature,
        "keys document \(newest.content.version) in \(path) needs \(newest.content.signingThreshold) of its signing keys, and \(listed.count) were given"
          + (others.isEmpty ? "" : " (it does not list \(others))"),
        hint: hint(file.draft, signers, at: path) ?? "sign with a key that 'packer key trust show \(ShellWord.path(path))' lists")
    }
    let documents = file.documents(after: file.oldestVersion(of: lock.apps))
    guard documents.count <= SignedManifest.keysLimit else {
      throw PackError(
        .limitExceeded,
        "the oldest app version needs \(documents.count) keys documents, but a manifest has at most \(SignedManifest.keysLimit)",
        hint: "retire that app version: packer release retire VERSION")
    }
    return ReleaseTrust(
      keys: try TrustedKeys(newest), documents: documents, remark: file.draft.map { remark($0, newest, listed, at: path) })
  }

  /// Returns the hint for keys that only the draft lists.
  private func hint(_ draft: KeysDocument?, _ signers: [SigningPublicKey], at path: String) -> String? {
    guard let draft, signers.contains(where: draft.content.signingKeys.contains) else { return nil }
    return
      "keys document \(draft.content.version) lists it, but too few people have signed that: packer key trust sign \(ShellWord.path(path))"
  }

  private func remark(
    _ draft: KeysDocument, _ newest: KeysDocument, _ signers: [SigningPublicKey], at path: String
  ) -> ReleaseBuildReport.Remark {
    let dropped = signers.filter { !draft.content.signingKeys.contains($0) }.map(\.id).joined(separator: ", ")
    return .warning(
      "too few people have signed keys document \(draft.content.version) in \(path), so document \(newest.content.version) counts"
        + (dropped.isEmpty ? "" : "; the new one drops \(dropped), with which this release is signed"))
  }
}
