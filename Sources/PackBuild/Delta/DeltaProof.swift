/// Computes the content root that a reader of a delta gets, from the head as it is in the payload (FORMAT.md §13.7).
enum DeltaProof {
  /// Throws unless a head makes the new tree out of the old one.
  ///
  /// The digests of new contents were computed and compared when their windows were made.
  static func check(_ head: DeltaHead, of new: DeltaTree, over old: DeltaTree, backend: any CryptoBackend) throws(PackError) {
    var digests = DeltaPlaces.samePaths(new.entries, old.entries).map { $0.map { old.entries[$0].sha256 } }
    for record in head.new { digests[Int(record)] = new.entries[Int(record)].sha256 }
    for moved in head.moved { digests[Int(moved.record)] = old.entries[Int(moved.content)].sha256 }
    for repeated in head.repeated { digests[Int(repeated.record)] = new.entries[Int(head.new[Int(repeated.source)])].sha256 }
    let root = try ContentRoot(backend: backend)
    for (entry, digest) in zip(new.entries, digests) {
      // Nothing, and directories, have the same digest everywhere.
      let digest = entry.size == 0 ? entry.sha256 : digest ?? []
      let path = Array(entry.path.utf8)
      try root.add(path: path.byteSpan, kind: entry.recordKind, size: entry.size, digest: digest.byteSpan)
    }
    guard try root.finish() == head.target, head.bases == [old.contentRoot] else {
      throw PackError(.internalError, "the delta does not make the new tree out of the old one")
    }
  }
}
