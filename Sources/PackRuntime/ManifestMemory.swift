public import PackCrypto
public import PackFormat
import PackManifest

/// What a client remembers of the manifests it accepted, so that nobody can lead it back (FORMAT.md §9.4).
///
/// A plain value: whoever holds it writes it to where it lasts.
public struct ManifestMemory: Hashable, Sendable {
  /// The lowest manifest version that the app takes: one it embeds.
  public var lowestVersion: UInt64
  /// The manifest that was accepted last, which is the highest one.
  public private(set) var accepted: Accepted?

  /// A manifest that was accepted.
  public struct Accepted: Hashable, Sendable {
    /// Its version.
    public var version: UInt64
    /// SHA-256 of its signed part, 32 bytes.
    public var signedDigest: [UInt8]
    /// The trusted keys that vouched for it, in ascending order of their ids.
    public var signers: [String]
    /// The versions of its packs, by id.
    public var packVersions: [String: UInt64]

    /// Makes a value from its parts, such as they were written down.
    public init(version: UInt64, signedDigest: [UInt8], signers: [String], packVersions: [String: UInt64]) {
      self.version = version
      self.signedDigest = signedDigest
      self.signers = signers
      self.packVersions = packVersions
    }
  }

  /// What an app remembers at its start.
  ///
  /// - Parameters:
  ///   - accepted: what was remembered last, by this or an earlier release of the app.
  ///   - lowestVersion: the lowest manifest version that this release takes.
  ///   - keys: the keys that this release trusts. Where none of those is among them that vouched for what was accepted, it is forgotten:
  ///     a stolen key could otherwise lock the app out for ever.
  public init(_ accepted: Accepted? = nil, lowestVersion: UInt64 = 0, trusting keys: [SigningPublicKey]) {
    self.lowestVersion = lowestVersion
    self.accepted = accepted
  }

  /// Refuses a manifest that would lead back. Changes nothing.
  ///
  /// - Throws: ``PackError/Code/manifestRollback``
  public func check(_ manifest: VerifiedManifest) throws(PackError) {
    throw PackError(.internalError, "unfinished")
  }

  /// Checks a manifest and remembers it.
  ///
  /// - Throws: ``PackError/Code/manifestRollback``, and then remembers what it did before.
  public mutating func accept(_ manifest: VerifiedManifest) throws(PackError) {
    throw PackError(.internalError, "unfinished")
  }
}
