public import PackCrypto
public import PackFormat
import PackManifest

/// The record of the manifests that a client accepted, which protects it against rollback (FORMAT.md §9.4).
///
/// A plain value: the caller stores it persistently.
public struct ManifestMemory: Hashable, Sendable {
  /// The lowest manifest version that the app accepts, embedded in the app.
  public var lowestVersion: UInt64
  /// The manifest that was accepted last, which has the highest version.
  public private(set) var accepted: Accepted?

  /// A manifest that was accepted.
  public struct Accepted: Hashable, Sendable {
    /// Its version.
    public var version: UInt64
    /// SHA-256 of its signed part, 32 bytes.
    public var signedDigest: [UInt8]
    /// The ids of the trusted keys that signed it, in ascending order.
    public var signers: [String]
    /// The versions of its packs, by id.
    public var packVersions: [String: UInt64]

    /// Creates a value from its stored parts.
    public init(version: UInt64, signedDigest: [UInt8], signers: [String], packVersions: [String: UInt64]) {
      self.version = version
      self.signedDigest = signedDigest
      self.signers = signers
      self.packVersions = packVersions
    }
  }

  /// Creates the memory of an app at its start.
  ///
  /// - Parameters:
  ///   - accepted: The manifest that was accepted last, by this or an earlier release of the app.
  ///   - lowestVersion: The lowest manifest version that this release accepts.
  ///   - keys: The keys that this release trusts. If none of them signed `accepted`, it is forgotten. Otherwise, a stolen key could
  ///     lock the app out forever.
  public init(_ accepted: Accepted? = nil, lowestVersion: UInt64 = 0, trusting keys: [SigningPublicKey]) {
    self.init(accepted, lowestVersion: lowestVersion, trusting: TrustedKeys(keys))
  }

  /// Creates the memory of an app at its start, or after it followed a keys document.
  ///
  /// - Parameters:
  ///   - accepted: The manifest that was accepted last, by this or an earlier release of the app.
  ///   - lowestVersion: The lowest manifest version that this release accepts.
  ///   - keys: The keys that count now. If too few of them signed `accepted`, it is forgotten: it would not be accepted today.
  public init(_ accepted: Accepted? = nil, lowestVersion: UInt64 = 0, trusting keys: TrustedKeys) {
    self.lowestVersion = lowestVersion
    self.accepted = accepted.flatMap { accepted in
      Set(keys.signingKeys.map(\.id)).intersection(accepted.signers).count >= keys.threshold ? accepted : nil
    }
  }

  /// Throws if the manifest is older than the accepted one or ``lowestVersion``, differs from the accepted one under the same version, or has an
  /// older version of one of its packs. Changes nothing.
  ///
  /// - Throws: ``PackError/Code/manifestRollback``
  public func check(_ candidate: VerifiedManifest) throws(PackError) {
    let version = candidate.manifest.version
    guard version >= lowestVersion else {
      throw PackError(
        .manifestRollback, "manifest has version \(version), but this app accepts no version below \(lowestVersion)",
        advice: .fetchManifestAgain)
    }
    guard let accepted else { return }
    guard version >= accepted.version else {
      throw PackError(
        .manifestRollback, "manifest has version \(version), but version \(accepted.version) was accepted before",
        advice: .fetchManifestAgain)
    }
    guard version > accepted.version || candidate.signedDigest == accepted.signedDigest else {
      throw PackError(
        .manifestRollback, "manifest \(version) differs from the manifest \(version) that was accepted before",
        advice: .raiseManifestVersion)
    }
    for pack in candidate.manifest.packs {
      guard let known = accepted.packVersions[pack.id], pack.version < known else { continue }
      throw PackError(
        .manifestRollback, "manifest has version \(pack.version) of pack '\(pack.id)', but version \(known) was accepted before",
        advice: .fetchManifestAgain)
    }
  }

  /// Checks a manifest and records it as accepted.
  ///
  /// - Throws: ``PackError/Code/manifestRollback``. Then the value is unchanged.
  public mutating func accept(_ candidate: VerifiedManifest) throws(PackError) {
    try check(candidate)
    var signers = Set(candidate.signers)
    // The same manifest may come again with one signature more or less. The earlier signatures still count.
    if let accepted, accepted.version == candidate.manifest.version { signers.formUnion(accepted.signers) }
    var packVersions: [String: UInt64] = [:]
    for pack in candidate.manifest.packs { packVersions[pack.id] = pack.version }
    accepted = Accepted(
      version: candidate.manifest.version, signedDigest: candidate.signedDigest, signers: signers.sorted(),
      packVersions: packVersions)
  }
}
