extension AssetStore {
  /// The pages of the accepted manifest. A caller that fetches pages keeps them here.
  package nonisolated var pages: PageFolder { manifests.pages }

  /// Finds packs of the accepted manifest by their ids, in it and in its pages.
  ///
  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/damagedManifest`` if a page breaks a rule, ``PackError/Code/cannotRead``.
  package func lookUp(_ ids: Set<String>) async throws(PackError) -> PackLookup {
    try await WorkerPool.settled { [manifests] () throws(PackError) in
      try manifests.lookUp(ids, in: try manifests.required().manifest)
    }
  }

  /// Copies the pages that are missing to look up packs, and the deltas to them, from another folder, as far as it has them.
  ///
  /// - Parameter ids: The packs. If nil, those of which the store has a record.
  /// - Throws: as ``lookUp(_:)``, and ``PackError/Code/wrongPage`` if the folder has another file under the name of a page.
  package func takePages(for ids: Set<String>? = nil, from folder: PageFolder) async throws(PackError) {
    try await WorkerPool.settled { [manifests] () throws(PackError) in
      let manifest = try manifests.required().manifest
      let wanted = if let ids { ids } else { try manifests.recordedIDs() }
      var isNew = true
      // After the index pages, the pages that they list.
      while isNew {
        isNew = false
        let missing = try manifests.lookUp(wanted, in: manifest).missing
        for page in missing + (try manifests.pages.updates(to: Array(wanted), in: manifest).missing) {
          guard let bytes = try folder.read(page) else { continue }
          try manifests.pages.keep(bytes, as: page)
          isNew = true
        }
      }
    }
  }
}
