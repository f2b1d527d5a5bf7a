import Foundation

/// The system's file operations with injected faults, and a record of all calls.
///
/// Syncing does nothing, because no test cuts the power and the disk is slow.
package final class FaultyFiles: FileSystem {
  /// One call of the protocol.
  package struct Call: Hashable, Sendable {
    package enum Operation: String, Hashable, Sendable {
      case open, read, write, status, names, makeDirectory, remove, rename, exchange, link, clone, setMode, reserve, sync, order, freeSpace,
        lock
      case canonicalPath
    }

    /// Its number, from 0.
    package let number: Int
    package let operation: Operation
    /// The file name in the call, or an empty string if it has none.
    package let name: String
  }

  /// A fault that replaces a call.
  package enum Fault: Hashable, Sendable {
    case failure(FileFailure)
    /// Reads and writes move at most this many bytes.
    case short(Int)
    /// The volume reports this many free bytes, or available bytes if the call has the name ``available``.
    case freeSpace(UInt64)
    /// Another process holds the lock.
    case locked
  }

  package typealias Decision = @Sendable (Call) -> Fault?

  /// The name of the call that asks for the available space, which includes what the system can free.
  package static let available = "available"

  private let base = SystemFiles()
  private let decide: Decision
  private let mask: UInt32
  private let record = Monitor<[Call]>([])
  private let readCount = Monitor<UInt64>(0)
  private let locks = Monitor<[Lock]>([])
  private let protected = Monitor<[(directory: String, isEmpty: Bool)]>([])

  /// A lock, as long as its file is open.
  private struct Lock {
    weak var file: OpenFile?
    let thread: ObjectIdentifier
  }

  /// - Parameter mask: The permissions that new files and directories do not get. Replaces the mask of the process, which all tests share.
  package init(mask: UInt32 = 0, _ decide: @escaping Decision = { _ in nil }) {
    self.decide = decide
    self.mask = mask
  }

  /// Fails only the call with this number.
  package static func failing(at number: Int, with failure: FileFailure = .inputOutput) -> FaultyFiles {
    FaultyFiles { $0.number == number ? .failure(failure) : nil }
  }

  /// Fails every call from this number on, as after a crash: even the cleanup fails.
  package static func stopping(at number: Int) -> FaultyFiles {
    FaultyFiles { $0.number >= number ? .failure(.inputOutput) : nil }
  }

  /// Fails every call of one kind.
  package static func failing(_ operation: Call.Operation, with failure: FileFailure = .inputOutput) -> FaultyFiles {
    FaultyFiles { $0.operation == operation ? .failure(failure) : nil }
  }

  /// Interrupts half of the reads and writes, and lets the others move only a part of the bytes.
  package static func stuttering() -> FaultyFiles {
    FaultyFiles { call in
      guard call.operation == .read || call.operation == .write else { return nil }
      return call.number % 2 == 0 ? .failure(.interrupted) : .short(1 + call.number % 4099)
    }
  }

  /// The number of bytes read at an offset so far.
  package var bytesRead: UInt64 { readCount.withLock { $0 } }

  /// The directories whose protection was set, and whether each was empty then.
  package var protectedDirectories: [(directory: String, isEmpty: Bool)] { protected.withLock { $0 } }

  package func protectUntilFirstUnlock(_ directory: String) {
    let names = try? base.names(in: base.open(directory, .directory, in: nil))
    protected.withLock { $0.append((directory, names?.isEmpty == true)) }
  }

  /// What keeps the system from suspending the process.
  package struct Activities: Hashable, Sendable {
    package var begun = 0
    package var ended = 0
    /// Whether the process is about to be suspended.
    package var isRefused = false
    /// The number of locks that were taken outside of any activity.
    package var unprotectedLocks = 0
    /// The number of times that a thread waited for the disk while it held a lock.
    package var lockedSyncs = 0
  }

  package let activities = Monitor(Activities())

  package func beginActivity() -> ProcessActivity? {
    let isBegun = activities.withLock { activities in
      if !activities.isRefused { activities.begun += 1 }
      return !activities.isRefused
    }
    return isBegun ? ProcessActivity { [activities] in activities.withLock { $0.ended += 1 } } : nil
  }

  /// The calls so far, in order.
  package var calls: [Call] { record.withLock { $0 } }

  private func fault(_ operation: Call.Operation, _ name: String = "") throws(FileFailure) -> Fault? {
    let call = record.withLock { calls in
      let call = Call(number: calls.count, operation: operation, name: name)
      calls.append(call)
      return call
    }
    let fault = decide(call)
    if case .failure(let failure) = fault { throw failure }
    return fault
  }

  package func open(_ name: String, _ access: FileAccess, in directory: OpenFile?) throws(FileFailure) -> OpenFile {
    _ = try fault(.open, name)
    return switch access {
    case .create(let mode): try base.open(name, .create(mode: mode & ~mask), in: directory)
    case .nameless(let mode): try base.open(name, .nameless(mode: mode & ~mask), in: directory)
    default: try base.open(name, access, in: directory)
    }
  }

  package func read(
    _ file: OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileFailure) -> Int {
    var wanted = buffer
    if case .short(let count) = try fault(.read) { wanted = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(count)) }
    let count = try base.read(file, at: offset, into: wanted)
    readCount.withLock { $0 += UInt64(count) }
    return count
  }

  package func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int {
    guard case .short(let count) = try fault(.read) else { return try base.read(file, into: buffer) }
    return try base.read(file, into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(count)))
  }

  package func write(
    _ file: OpenFile, at offset: UInt64, _ buffer: UnsafeRawBufferPointer
  ) throws(FileFailure) -> Int {
    guard case .short(let count) = try fault(.write) else { return try base.write(file, at: offset, buffer) }
    return try base.write(file, at: offset, UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
  }

  package func write(_ file: OpenFile, _ buffer: UnsafeRawBufferPointer) throws(FileFailure) -> Int {
    guard case .short(let count) = try fault(.write) else { return try base.write(file, buffer) }
    return try base.write(file, UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
  }

  package func status(of file: OpenFile) throws(FileFailure) -> FileStatus {
    _ = try fault(.status)
    return try base.status(of: file)
  }

  package func status(
    of name: String, in directory: OpenFile?, following links: LinkPolicy
  ) throws(FileFailure) -> FileStatus {
    _ = try fault(.status, name)
    return try base.status(of: name, in: directory, following: links)
  }

  package func names(in directory: OpenFile) throws(FileFailure) -> [DirectoryName] {
    _ = try fault(.names)
    return try base.names(in: directory)
  }

  package func makeDirectory(_ name: String, mode: UInt32, in directory: OpenFile?) throws(FileFailure) {
    _ = try fault(.makeDirectory, name)
    try base.makeDirectory(name, mode: mode & ~mask, in: directory)
  }

  package func remove(_ name: String, _ kind: FileStatus.Kind, in directory: OpenFile?) throws(FileFailure) {
    _ = try fault(.remove, name)
    try base.remove(name, kind, in: directory)
  }

  package func rename(_ name: String, to newName: String, in directory: OpenFile?) throws(FileFailure) {
    _ = try fault(.rename, newName)
    try base.rename(name, to: newName, in: directory)
  }

  package func link(_ file: OpenFile, as name: String, in directory: OpenFile?) throws(FileFailure) {
    _ = try fault(.link, name)
    try base.link(file, as: name, in: directory)
  }

  package func link(
    _ name: String, in directory: OpenFile?, as newName: String, in newDirectory: OpenFile?
  ) throws(FileFailure) {
    _ = try fault(.link, newName)
    try base.link(name, in: directory, as: newName, in: newDirectory)
  }

  package func clone(_ file: OpenFile, as name: String, mode: UInt32, in directory: OpenFile?) throws(FileFailure) -> OpenFile {
    _ = try fault(.clone, name)
    return try base.clone(file, as: name, mode: mode & ~mask, in: directory)
  }

  package func exchange(_ name: String, with otherName: String, in directory: OpenFile?) throws(FileFailure) {
    _ = try fault(.exchange, otherName)
    try base.exchange(name, with: otherName, in: directory)
  }

  package func setMode(_ mode: UInt32, of file: OpenFile) throws(FileFailure) {
    _ = try fault(.setMode)
    try base.setMode(mode, of: file)
  }

  package func reserve(_ size: UInt64, for file: OpenFile) throws(FileFailure) {
    _ = try fault(.reserve)
    try base.reserve(size, for: file)
  }

  package func sync(_ file: OpenFile) throws(FileFailure) {
    _ = try fault(.sync)
    let isLocked = locks.withLock { locks in
      locks.removeAll { $0.file == nil }
      return locks.contains { $0.thread == ObjectIdentifier(Thread.current) }
    }
    if isLocked { activities.withLock { $0.lockedSyncs += 1 } }
  }

  package func order(_ file: OpenFile) throws(FileFailure) {
    _ = try fault(.order)
  }

  package var syncsWholeVolumes: Bool { base.syncsWholeVolumes }

  package func syncVolume(of directory: OpenFile) throws(FileFailure) {
    _ = try fault(.sync)
  }

  package func freeSpace(at file: OpenFile) throws(FileFailure) -> UInt64 {
    if case .freeSpace(let bytes) = try fault(.freeSpace) { return bytes }
    return try base.freeSpace(at: file)
  }

  package func availableSpace(at file: OpenFile) throws(FileFailure) -> UInt64 {
    if case .freeSpace(let bytes) = try fault(.freeSpace, Self.available) { return bytes }
    return try base.availableSpace(at: file)
  }

  package func tryLock(_ file: OpenFile) throws(FileFailure) -> Bool {
    activities.withLock { if $0.begun == $0.ended { $0.unprotectedLocks += 1 } }
    if case .locked = try fault(.lock) { return false }
    guard try base.tryLock(file) else { return false }
    locks.withLock { $0.append(Lock(file: file, thread: ObjectIdentifier(Thread.current))) }
    return true
  }

  package func canonicalPath(of name: String) throws(FileFailure) -> String {
    _ = try fault(.canonicalPath, name)
    return try base.canonicalPath(of: name)
  }
}

extension FileFailure {
  /// The failures that every operation that writes must handle.
  package static let samples = [inputOutput, fullDisk, interrupted, readOnly, notPermitted]
}
