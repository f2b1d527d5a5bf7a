/// The only file of an asset pack that the system manages.
package enum AssetPackFile {
  /// Returns the name of the file of a pack. It is the same for all versions, and no other pack's: the system puts the files of all asset packs into
  /// one directory.
  package static func name(of id: String) -> String { "\(id).pack" }
}
