/// What decides whether a manifest is believed: `TrustedKeys`.
public protocol ManifestTrust: Sendable {
  /// Returns the record of keys documents after those of a manifest.
  ///
  /// - Parameters:
  ///   - document: the manifest. It need not be valid itself.
  ///   - record: the record that was stored last; nil if there is none.
  /// - Returns: the record to store, nil if there is nothing to store, and the error of the first keys document that is refused.
  func followed(_ document: SignedManifest, after record: [UInt8]?) -> (record: [UInt8]?, failure: PackError?)

  /// Checks that a manifest is signed by enough keys. Its signed part may be read only then.
  ///
  /// - Parameters:
  ///   - document: the manifest. Its keys documents count only as far as they are in the record.
  ///   - record: the record that was stored last; nil if there is none.
  ///   - time: the current time, in seconds since 1970, for the expiry of keys documents.
  /// - Throws: ``PackFormat/PackError/Code/untrustedSignature``, ``PackFormat/PackError/Code/keysExpired``.
  func check(_ document: SignedManifest, record: [UInt8]?, at time: Int64) throws(PackError)
}
