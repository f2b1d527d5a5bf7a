/// The differences between a store and a manifest. Computing the plan fetches, changes and removes nothing.
public struct UpdatePlan: Hashable, Sendable {
  /// The packs to fetch and install, in the order of the manifest: all packs for this device whose exact bytes are not installed, except those
  /// in ``failed``.
  ///
  /// This includes a pack with the same content as an installed one but other bytes, for example because its key was wrapped again: only the
  /// signed bytes run. Of the packs in the manifest's catalogue, only those are included of which a version is installed or was purged.
  public let downloads: [ManifestPack]
  /// The names of the packs whose version in the manifest is installed.
  public let installed: [String]
  /// The packs whose version in the manifest failed here, or is lower than one that was installed from the catalogue. They are not fetched again until
  /// their bytes change.
  public let failed: [ManifestPack]
  /// The installed versions of packs that the manifest no longer names, or names for other devices. They stay until they are purged or removed.
  public let obsolete: [InstalledPack]
  /// The names of the shards that are missing to look up all installed packs. Until they are there, the plan has nothing about those packs.
  package let missingShards: [String]
  /// The number of bytes to fetch.
  public let downloadSize: UInt64
  /// The number of bytes that must be free on the device to install all downloads, if each file is moved and installed as it arrives: the sizes of
  /// the installed packs, plus the largest pack file that is unpacked.
  public let peakSize: UInt64

  /// Whether there is nothing to fetch.
  public var isEmpty: Bool { downloads.isEmpty && missingShards.isEmpty }
}
