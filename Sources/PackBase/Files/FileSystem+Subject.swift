// Operations of a file system throw what the system said. These functions add what the operation was about, for a person.

/// Runs an operation. If it fails, throws the error that `subject` cannot be read.
@discardableResult
package func reading<Result>(
  _ subject: @autoclosure () -> String, _ operation: @autoclosure () throws(FileFailure) -> Result
) throws(PackError) -> Result {
  do throws(FileFailure) { return try operation() } catch { throw error.reading(subject()) }
}

/// Runs an operation. If it fails, throws the error that `subject` cannot be written.
@discardableResult
package func writing<Result>(
  _ subject: @autoclosure () -> String, _ operation: @autoclosure () throws(FileFailure) -> Result
) throws(PackError) -> Result {
  do throws(FileFailure) { return try operation() } catch { throw error.writing(subject()) }
}

/// Runs an operation. Returns nil if what it is about does not exist.
@discardableResult
package func ifPresent<Result>(_ operation: @autoclosure () throws(FileFailure) -> Result) throws(FileFailure) -> Result? {
  do throws(FileFailure) { return try operation() } catch {
    guard error.isMissing else { throw error }
    return nil
  }
}

/// Runs an operation that makes something. Returns nil if its name is taken.
@discardableResult
package func unlessExisting<Result>(_ operation: @autoclosure () throws(FileFailure) -> Result) throws(FileFailure) -> Result? {
  do throws(FileFailure) { return try operation() } catch {
    guard error.isExisting else { throw error }
    return nil
  }
}

extension FileSystem {
  /// Runs an operation that writes `bytes` more bytes to the volume of an open file or directory. The error of a full disk says how many are missing.
  package func filling<Result>(
    _ subject: @autoclosure () -> String, with bytes: @autoclosure () -> UInt64, at place: OpenFile,
    _ operation: @autoclosure () throws(FileFailure) -> Result
  ) throws(PackError) -> Result {
    do throws(FileFailure) { return try operation() } catch {
      guard error.isFullDisk, let free = try? freeSpace(at: place) else { throw error.writing(subject()) }
      throw error.writing(subject(), missingBytes: bytes() > free ? bytes() - free : nil)
    }
  }

  /// Opens a file or directory to be read, by its path.
  package func open(_ path: String, _ access: FileAccess) throws(PackError) -> OpenFile { try reading(path, open(path, access, in: nil)) }

  /// Returns the status of what a path leads to.
  package func status(of path: String, following links: LinkPolicy = .followed) throws(PackError) -> FileStatus {
    try reading(path, status(of: path, in: nil, following: links))
  }

  /// Returns the names in the directory at a path, in the order of their bytes.
  package func names(at path: String, _ access: FileAccess = .directory) throws(PackError) -> [String] {
    let names = try reading(path, names(in: open(path, access, in: nil)))
    return names.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
