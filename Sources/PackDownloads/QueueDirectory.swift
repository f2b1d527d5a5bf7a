import PackFiles
import PackFormat

/// The directory of a queue. Only one process can use it at a time.
struct QueueDirectory: Sendable {
  /// The directory of groups.
  let groups: OpenFile
  /// Its absolute path.
  let path: String
  /// The lock, held until this is released.
  let lock: OpenFile

  private static let marker = Array("packer-downloads/1\n".utf8)

  /// Opens the directory. Creates it if only its parent exists. The caller already holds the lock.
  init(_ root: String, lock: OpenFile, files: any FileSystem) throws(PackError) {
    let top = try Self.open(root, files: files)
    let isNew: Bool
    do throws(FileFailure) {
      let names = try files.names(in: top).map(\.text)
      isNew = !names.contains("queue")
      if isNew {
        // Leftovers of a process that ended while it created the directory.
        guard names.allSatisfy({ $0 == "lock" || $0 == "groups" || $0.hasPrefix(".queue") }) else { throw Self.foreign }
      } else {
        guard (try? files.contents(of: "\(root)/queue", limit: 100)) == Self.marker else { throw Self.foreign }
      }
    } catch {
      throw Self.failure(error, root)
    }
    if isNew { try OutputFile.write(Self.marker, to: "\(root)/queue", files: files) }
    do throws(FileFailure) {
      do throws(FileFailure) {
        try files.makeDirectory("groups", mode: 0o700, in: top)
      } catch {
        guard error.isExisting else { throw error }
      }
      // Synced each time, because an earlier process may have ended before it synced.
      try files.sync(top)
      groups = try files.open("groups", .directoryUnlinked, in: top)
      path = try files.canonicalPath(of: "\(root)/groups")
    } catch {
      throw error.writing(root)
    }
    self.lock = lock
  }

  private static let foreign = FileFailure.unsupported

  private static func failure(_ failure: FileFailure, _ root: String) -> PackError {
    guard failure == foreign else { return failure.writing(root) }
    return PackError(.notAQueue, of: root, "is not a download queue, or belongs to a newer version", advice: .chooseDirectory)
  }

  private static func open(_ root: String, files: any FileSystem) throws(PackError) -> OpenFile {
    do throws(FileFailure) {
      do throws(FileFailure) {
        try files.makeDirectory(root, mode: 0o700, in: nil)
      } catch {
        guard error.isExisting else { throw error }
      }
      // The app may not be allowed to open the parent directory; then it did not create this directory either.
      if let above = PathParts(root)?.directory, let parent = try? files.open(above, .directory, in: nil) { try files.sync(parent) }
      return try files.open(root, .directory, in: nil)
    } catch {
      throw error.writing(root)
    }
  }

  /// Takes the lock of a queue. Returns nil if it is held already, by another process or by another queue in this one.
  static func lock(_ root: String, files: any FileSystem) throws(PackError) -> OpenFile? {
    let top = try open(root, files: files)
    do throws(FileFailure) {
      let file: OpenFile
      do throws(FileFailure) {
        file = try files.open("lock", .create(mode: 0o600), in: top)
      } catch {
        guard error.isExisting else { throw error }
        file = try files.open("lock", .writeUnlinked, in: top)
      }
      return try files.tryLock(file) ? file : nil
    } catch {
      throw error.writing(root)
    }
  }
}
