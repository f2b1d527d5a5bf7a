extension Manifest {
  /// Makes the manifest of a sample. It expires in the year 2100.
  init(sample packs: [ManifestPack], version: UInt64 = 1, defaults: ManifestDefaults = ManifestDefaults()) throws(PackError) {
    guard let expires = ManifestTime(secondsSince1970: 4_102_444_800) else { throw PackError(.internalError, "no such date") }
    self.init(version: version, issued: nil, expires: expires, budget: nil, defaults: defaults, packs: packs)
  }

  /// Returns the document with the signature of one key.
  func signed(by key: borrowing SigningKey) throws(PackError) -> SignedManifest {
    let signed = try signedBytes()
    return try SignedManifest(signed: signed, signatures: [try SignedManifest.signature(of: signed, by: key)])
  }
}
