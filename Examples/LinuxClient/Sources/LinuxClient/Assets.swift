import PackReading

/// A game's files, read directly from their pack.
struct Assets {
  let pack: Pack

  /// Opens the pack. Wrong keys, truncated and damaged packs have different errors. `borrowing`: the key is not copied.
  init(packPath: String, key: borrowing PackKey) throws(PackError) {
    pack = try Pack.open(packPath, key: key)
  }

  /// Reads a whole file and checks its digest.
  func file(_ path: String) throws(PackError) -> [UInt8] {
    try pack.read(path)
  }

  /// Reads a part of a file that may be large. Only the segments and frames of that part are read.
  func part(of path: String, at offset: UInt64, count: UInt64) throws(PackError) -> [UInt8] {
    try pack.read(path, range: offset..<(offset + count))
  }

  /// Unpacks all files on all cores. The directory appears whole and checked, or not at all.
  func unpack(to directory: String) async throws(PackError) {
    try await pack.unpack(to: directory) { progress in
      print("\(progress.phase): \(progress.done) of \(progress.total) bytes")
    }
  }
}
