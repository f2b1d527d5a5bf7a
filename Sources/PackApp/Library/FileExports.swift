/// Temporary files with the content of packed files, for interfaces that read only files.
struct FileExports: Sendable {
  private let directory: String
  private let files: any FileSystem

  /// Removes what earlier processes left in the directory.
  init(_ directory: String, files: any FileSystem = SystemFiles()) {
    self.directory = directory
    self.files = files
    try? files.removeTree(directory, in: nil)
  }

  /// Returns the path of a file with the content. Writes it unless it exists already.
  func file(_ pack: OpenedPack, _ path: String) async throws(PackError) -> String {
    let place = "\(directory)/\((pack.pack?.contentRoot ?? pack.installed.sha256).hex)/\(path)"
    return try await WorkerPool.settled { () throws(PackError) in
      let size = try pack.size(of: path)
      if let status = try? files.status(of: place, in: nil, following: .asThemselves), status.size == size { return place }
      try makeDirectories(of: place)
      let output = try OutputFile(place, mode: 0o600, isHidden: true, durability: .leftToDirectory, files: files)
      try output.reserve(size)
      var position: UInt64 = 0
      while position < size {
        let piece = try pack.read(path, range: position..<min(position + Self.pieceSize, size))
        try output.write(piece.byteSpan, at: position, of: size)
        position += UInt64(piece.count)
      }
      try output.commit()
      return place
    }
  }

  private static let pieceSize: UInt64 = 4 << 20

  private func makeDirectories(of place: String) throws(PackError) {
    for slash in place.utf8.indices.dropFirst() where place.utf8[slash] == UInt8(ascii: "/") {
      let parent = String(place[..<slash])
      do throws(FileFailure) {
        try files.makeDirectory(parent, mode: 0o700, in: nil)
      } catch {
        guard (try? files.status(of: parent, in: nil, following: .followed))?.kind == .directory else { throw error.writing(parent) }
      }
    }
  }
}
