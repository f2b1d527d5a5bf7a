import PackReading

/// A game's files, read straight from their pack.
struct Assets {
  let pack: Pack

  /// Tells a wrong key, a truncated pack and a damaged one apart before anything is read.
  init(packPath: String, key: borrowing PackKey) throws(PackError) {
    pack = try Pack.open(packPath, key: key)
  }

  /// A whole file, checked against its digest.
  func file(_ path: String) throws(PackError) -> [UInt8] {
    try pack.read(path)
  }

  /// A part of a file that may be large. Only the segments and frames that hold it are read.
  func part(of path: String, at offset: UInt64, count: UInt64) throws(PackError) -> [UInt8] {
    try pack.read(path, range: offset..<(offset + count))
  }

  /// All files, on all cores. The directory appears whole, every file checked, or not at all.
  func unpack(to directory: String) async throws(PackError) {
    try await pack.unpack(to: directory) { progress in
      print("\(progress.phase): \(progress.done) of \(progress.total) bytes")
    }
  }
}
