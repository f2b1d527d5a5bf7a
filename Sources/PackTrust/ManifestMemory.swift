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
    self.accepted = accepted.flatMap { accepted in
      keys.contains { accepted.signers.contains($0.id) } ? accepted : nil
    }
  }

  /// Refuses a manifest that would lead back. Changes nothing.
  ///
  /// - Throws: ``PackError/Code/manifestRollback``
  public func check(_ candidate: VerifiedManifest) throws(PackError) {
    let version = candidate.manifest.version
    guard version >= lowestVersion else {
      throw PackError(
        .manifestRollback, "manifest has version \(version), and this app takes none below \(lowestVersion)", advice: .fetchManifestAgain)
    }
    guard let accepted else { return }
    guard version >= accepted.version else {
      throw PackError(
        .manifestRollback, "manifest has version \(version), and version \(accepted.version) was accepted before",
        advice: .fetchManifestAgain)
    }
    guard version > accepted.version || candidate.signedDigest == accepted.signedDigest else {
      throw PackError(
        .manifestRollback, "manifest says something else under version \(version), which was accepted before",
        advice: .raiseManifestVersion)
    }
    for pack in candidate.manifest.packs {
      guard let known = accepted.packVersions[pack.id], pack.version < known else { continue }
      throw PackError(
        .manifestRollback, "manifest has version \(pack.version) of pack '\(pack.id)', and version \(known) was accepted before",
        advice: .fetchManifestAgain)
    }
  }

  /// Checks a manifest and remembers it.
  ///
  /// - Throws: ``PackError/Code/manifestRollback``, and then remembers what it did before.
  public mutating func accept(_ candidate: VerifiedManifest) throws(PackError) {
    try check(candidate)
    var signers = Set(candidate.signers)
    // The same document may come again with one signature more or less: whoever vouched for it before still did.
    if let accepted, accepted.version == candidate.manifest.version { signers.formUnion(accepted.signers) }
    var packVersions: [String: UInt64] = [:]
    for pack in candidate.manifest.packs { packVersions[pack.id] = pack.version }
    accepted = Accepted(
      version: candidate.manifest.version, signedDigest: candidate.signedDigest, signers: signers.sorted(),
      packVersions: packVersions)
  }
}
