/// The record of the manifests that a client accepted, which protects it against rollback (FORMAT.md §9.4).
///
/// A plain value: the caller stores it persistently.
public struct ManifestMemory: Hashable, Sendable {
  /// The lowest manifest version that the app accepts, embedded in the app.
  public var lowestVersion: UInt64
  /// The manifest that was accepted last, which has the highest version.
  public private(set) var accepted: Accepted?

  /// The versions of packs in the catalogue that were installed.
  private var installed: [Installed] = []

  /// The versions of packs in the catalogue that were installed from manifests with the same signers.
  public struct Installed: Hashable, Sendable {
    /// The ids of the trusted keys that signed these manifests, in ascending order.
    public var signers: [String]
    /// The highest versions, by pack id.
    public var versions: [String: UInt64]

    /// Creates a value from its stored parts.
    public init(signers: [String], versions: [String: UInt64]) {
      self.signers = signers
      self.versions = versions
    }
  }

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
    /// The versions of packs in the catalogue that were installed from this and earlier manifests, in ascending order of the signers.
    public var installed: [Installed]

    /// The largest number of versions in ``installed``. With the longest ids they take 700 kB.
    package static let installedLimit = 8192

    /// Creates a value from its stored parts.
    public init(
      version: UInt64, signedDigest: [UInt8], signers: [String], packVersions: [String: UInt64], installed: [Installed] = []
    ) {
      self.version = version
      self.signedDigest = signedDigest
      self.signers = signers
      self.packVersions = packVersions
      self.installed = installed
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
    let trusted = Set(keys.signingKeys.map { $0.id })
    let counts = { (signers: [String]) in trusted.intersection(signers).count >= keys.threshold }
    self.accepted = accepted.flatMap { counts($0.signers) ? $0 : nil }
    installed = accepted?.installed.filter { counts($0.signers) } ?? []
    self.accepted?.installed = installed
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
    // Then the versions are its own.
    guard candidate.signedDigest != accepted.signedDigest else { return }
    for pack in candidate.manifest.packs {
      guard let known = accepted.packVersions[pack.id], pack.version < known else { continue }
      throw PackError(
        .manifestRollback, "manifest has version \(pack.version) of pack '\(pack.id)', but version \(known) was accepted before",
        advice: .fetchManifestAgain)
    }
  }

  /// Throws if a pack of the accepted manifest is older than one that was installed from its catalogue. Checks packs that are found there, which are not
  /// at hand when the manifest is accepted. Changes nothing.
  ///
  /// - Throws: ``PackError/Code/manifestRollback``
  package func check(_ pack: ManifestPack) throws(PackError) {
    guard let known = installed.compactMap({ $0.versions[pack.id] }).max(), pack.lastingVersion < known else { return }
    throw PackError(
      .manifestRollback, "manifest has version \(pack.lastingVersion) of pack '\(pack.id)', but version \(known) was installed before",
      advice: .fetchManifestAgain)
  }

  /// Records that the accepted manifest lists packs in its catalogue, and that they are installed or being installed.
  ///
  /// - Returns: Whether that changes anything.
  @discardableResult
  package mutating func note(_ packs: [ManifestPack]) -> Bool {
    guard let accepted else { return false }
    var isChanged = false
    for pack in packs where accepted.packVersions[pack.id] == nil {
      if note(pack.id, pack.lastingVersion, accepted.signers) { isChanged = true }
    }
    if isChanged { self.accepted?.installed = installed }
    return isChanged
  }

  @discardableResult
  private mutating func note(_ id: String, _ version: UInt64, _ signers: [String]) -> Bool {
    let place = installed.firstIndex { $0.signers == signers }
    if let known = place.flatMap({ installed[$0].versions[id] }) {
      guard known < version else { return false }
    } else {
      guard installed.reduce(0, { $0 + $1.versions.count }) < Accepted.installedLimit else { return false }
    }
    if let place {
      installed[place].versions[id] = version
    } else {
      installed.append(Installed(signers: signers, versions: [id: version]))
      installed.sort { $0.signers.lexicographicallyPrecedes($1.signers) }
    }
    return true
  }

  /// Checks a manifest and records it as accepted.
  ///
  /// - Throws: ``PackError/Code/manifestRollback``. Then the value is unchanged.
  public mutating func accept(_ candidate: VerifiedManifest) throws(PackError) { try accept(candidate, keeping: []) }

  /// - Parameter ids: The packs on the device. What was installed of others is forgotten.
  package mutating func accept(_ candidate: VerifiedManifest, keeping ids: Set<String>) throws(PackError) {
    try check(candidate)
    var signers = Set(candidate.signers)
    // The same manifest may come again with one signature more or less. The earlier signatures still count.
    if let accepted, accepted.version == candidate.manifest.version { signers.formUnion(accepted.signers) }
    var packVersions: [String: UInt64] = [:]
    for pack in candidate.manifest.packs { packVersions[pack.id] = pack.version }
    installed = installed.compactMap { group in
      let versions = group.versions.filter { ids.contains($0.key) }
      return versions.isEmpty ? nil : Installed(signers: group.signers, versions: versions)
    }
    if let accepted, !candidate.manifest.catalogue.isEmpty {
      // A pack that the manifest no longer lists itself may be in its catalogue now.
      for (id, version) in accepted.packVersions where packVersions[id] == nil && ids.contains(id) { note(id, version, accepted.signers) }
    }
    accepted = Accepted(
      version: candidate.manifest.version, signedDigest: candidate.signedDigest, signers: signers.sorted(),
      packVersions: packVersions, installed: installed)
  }
}
