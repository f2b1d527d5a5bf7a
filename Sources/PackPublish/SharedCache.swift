/// A place as the cache of builds.
package struct SharedCache: PackStorage {
  private let place: any PublishingPlace

  /// - Parameter text: as for ``PlaceName/place(_:showsProgress:isPatient:)``.
  package init(_ text: String) throws(PackError) { place = try PlaceName.place(text, isPatient: false) }

  package var title: String { place.title }

  package func bring(_ files: [(name: String, limit: UInt64)], to directory: String) throws(PackError) -> [String] {
    guard let folder = place as? FolderPlace else {
      try place.bring(files.map(\.name), to: directory, limit: files.reduce(0) { $0.adding($1.limit) })
      return []
    }
    var large: [String] = []
    for (name, limit) in files {
      do throws(PackError) {
        try folder.bring([name], to: directory, limit: limit)
        if !ReleasePlaces.exists(ReleaseFolder.path(name, in: directory)), folder.hasFile(name) { large.append(name) }
      } catch {
        // One that somebody made unreadable, or that was just removed.
        guard error.code == .cannotRead || error.code == .missingInput || error.code == .sourceChanged else { throw error }
      }
    }
    return large
  }

  package func keep(_ names: [String], from directory: String) throws(PackError) {
    // Only the names of the files are needed for that.
    try place.add(names.map { ReleaseFiles.File(name: $0, size: 0, sha256: []) }, from: directory)
  }
}
