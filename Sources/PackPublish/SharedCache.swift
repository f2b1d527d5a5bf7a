import PackBuild
package import PackFormat

/// A place as the cache of builds.
package struct SharedCache: PackStorage {
  private let place: any PublishingPlace

  /// - Parameter text: as for ``PlaceName/place(_:showsProgress:isPatient:)``.
  package init(_ text: String) throws(PackError) { place = try PlaceName.place(text, isPatient: false) }

  package var title: String { place.title }

  package func bring(_ names: [String], to directory: String) throws(PackError) { try place.bring(names, to: directory) }

  package func keep(_ names: [String], from directory: String) throws(PackError) {
    // Only the names of the files are needed for that.
    try place.add(names.map { ReleaseFiles.File(name: $0, size: 0, sha256: []) }, from: directory)
  }
}
