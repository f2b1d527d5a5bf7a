/// The system's files for a process that may be killed at any operation. That operation and all later ones fail, including clean-up.
///
/// Sync operations do nothing, because power cuts are not simulated and the device is discarded afterwards.
package final class CrashInjectingFiles: FileSystem {
  private struct State {
    var count: Int
    var death: String?
  }

  private let base = SystemFiles()
  private let deathAt: Int?
  private let state: Monitor<State>

  /// - Parameters:
  ///   - count: the number of operations of earlier processes.
  ///   - deathAt: the number of the operation before which the process is killed, from 1 and including operations of earlier processes; nil if it is
  ///     not killed.
  package init(count: Int = 0, deathAt: Int? = nil) {
    self.deathAt = deathAt
    state = Monitor(State(count: count))
  }

  /// The number of operations so far, including those of earlier processes.
  package var count: Int { state.withLock { $0.count } }
  /// The operation at which the process was killed; nil if it was not killed.
  package var death: String? { state.withLock { $0.death } }

  private func live(_ operation: String, _ name: String = "") throws(FileFailure) {
    let lives = state.withLock { state in
      guard state.death == nil else { return false }
      state.count += 1
      guard state.count == deathAt else { return true }
      let short = name.split(separator: "/").suffix(2).joined(separator: "/")
      state.death = short.isEmpty ? operation : "\(operation) \(short)"
      return false
    }
    guard lives else { throw FileFailure.inputOutput }
  }

  package func open(_ name: String, _ access: FileAccess, in directory: OpenFile?) throws(FileFailure) -> OpenFile {
    try live("open", name)
    return try base.open(name, access, in: directory)
  }

  package func read(_ file: OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int {
    try live("read")
    return try unsafe base.read(file, at: offset, into: buffer)
  }

  package func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int {
    try live("read")
    return try unsafe base.read(file, into: buffer)
  }

  package func write(_ file: OpenFile, at offset: UInt64, _ buffer: UnsafeRawBufferPointer) throws(FileFailure) -> Int {
    try live("write")
    return try unsafe base.write(file, at: offset, buffer)
  }

  package func write(_ file: OpenFile, _ buffer: UnsafeRawBufferPointer) throws(FileFailure) -> Int {
    try live("write")
    return try unsafe base.write(file, buffer)
  }

  package func status(of file: OpenFile) throws(FileFailure) -> FileStatus {
    try live("status")
    return try base.status(of: file)
  }

  package func status(of name: String, in directory: OpenFile?, following links: LinkPolicy) throws(FileFailure) -> FileStatus {
    try live("status", name)
    return try base.status(of: name, in: directory, following: links)
  }

  package func names(in directory: OpenFile) throws(FileFailure) -> [DirectoryName] {
    try live("names")
    return try base.names(in: directory)
  }

  package func makeDirectory(_ name: String, mode: UInt32, in directory: OpenFile?) throws(FileFailure) {
    try live("make directory", name)
    try base.makeDirectory(name, mode: mode, in: directory)
  }

  package func remove(_ name: String, _ kind: FileStatus.Kind, in directory: OpenFile?) throws(FileFailure) {
    try live("remove", name)
    try base.remove(name, kind, in: directory)
  }

  package func rename(_ name: String, to newName: String, in directory: OpenFile?) throws(FileFailure) {
    try live("rename to", newName)
    try base.rename(name, to: newName, in: directory)
  }

  package func link(_ file: OpenFile, as name: String, in directory: OpenFile?) throws(FileFailure) {
    try live("link", name)
    try base.link(file, as: name, in: directory)
  }

  package func link(
    _ name: String, in directory: OpenFile?, as newName: String, in newDirectory: OpenFile?
  ) throws(FileFailure) {
    try live("link", newName)
    try base.link(name, in: directory, as: newName, in: newDirectory)
  }

  package func clone(_ file: OpenFile, as name: String, mode: UInt32, in directory: OpenFile?) throws(FileFailure) -> OpenFile {
    try live("clone", name)
    return try base.clone(file, as: name, mode: mode, in: directory)
  }

  package func exchange(_ name: String, with otherName: String, in directory: OpenFile?) throws(FileFailure) {
    try live("exchange", otherName)
    try base.exchange(name, with: otherName, in: directory)
  }

  package func setMode(_ mode: UInt32, of file: OpenFile) throws(FileFailure) {
    try live("set mode")
    try base.setMode(mode, of: file)
  }

  package func reserve(_ size: UInt64, for file: OpenFile) throws(FileFailure) {
    try live("reserve")
    try base.reserve(size, for: file)
  }

  package func sync(_ file: OpenFile) throws(FileFailure) {
    try live("sync")
  }

  package var syncsWholeVolumes: Bool { base.syncsWholeVolumes }

  package func syncVolume(of directory: OpenFile) throws(FileFailure) {
    try live("sync")
  }

  package func freeSpace(at file: OpenFile) throws(FileFailure) -> UInt64 {
    try live("free space")
    return try base.freeSpace(at: file)
  }

  package func availableSpace(at file: OpenFile) throws(FileFailure) -> UInt64 {
    try live("available space")
    return try base.availableSpace(at: file)
  }

  package func tryLock(_ file: OpenFile) throws(FileFailure) -> Bool {
    try live("lock")
    return try base.tryLock(file)
  }

  package func canonicalPath(of name: String) throws(FileFailure) -> String {
    try live("canonical path", name)
    return try base.canonicalPath(of: name)
  }
}
