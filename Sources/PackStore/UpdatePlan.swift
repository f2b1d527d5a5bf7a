public import PackManifest

/// What separates a store from the manifest it adopted last, as a value: nothing was fetched, changed or removed for it.
public struct UpdatePlan: Hashable, Sendable {
  /// The packs to fetch and install, in the order of the manifest: those whose very bytes are not installed, but for ``failed``.
  ///
  /// A pack with the content of an installed one but other bytes, because it was wrapped anew, is among them: what runs is what a publisher signed.
  public let downloads: [ManifestPack]
  /// The names of the packs whose version in the manifest is installed.
  public let installed: [String]
  /// The packs whose version in the manifest failed here. They are not fetched again until their bytes change.
  public let failed: [ManifestPack]
  /// What is installed of packs that the manifest does not name any more. They stay until they are purged or removed.
  public let obsolete: [InstalledPack]
  /// The bytes to fetch.
  public let downloadSize: UInt64
  /// The bytes that must be free on the device for all of it, when each pack is installed as it arrives and its file is moved: what the packs take,
  /// and the largest file that is unpacked.
  public let peakSize: UInt64

  /// Whether there is nothing to fetch.
  public var isEmpty: Bool { downloads.isEmpty }
}
