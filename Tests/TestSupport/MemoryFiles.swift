import Foundation

/// The file operations of one process on a ``MemoryDisk``. They can fail, or end the process, at any call.
package final class MemoryFiles: FileSystem {
  /// One call of the protocol.
  package struct Call: Hashable, Sendable, CustomStringConvertible {
    /// Its number, from 0.
    package let number: Int
    package let operation: String
    /// The file name in the call, or an empty string if it has none.
    package let name: String
    /// Whether it changes the disk, or what survives a power cut.
    package let isChange: Bool

    package var description: String { "operation \(number), \(operation) \(name)" }
  }

  /// The faults to inject.
  package enum Plan: Sendable {
    case nothing
    /// The process ends before the call with this number. If it is a write, half of it is done.
    case stop(before: Int)
    /// The process ends before the change with this number. Only calls that change something are counted.
    case stopBeforeChange(Int)
    /// The call with this number fails, and the process continues.
    case fail(Int, FileFailure)
    /// Every call for which the closure returns true fails.
    case failing(FileFailure, @Sendable (Call) -> Bool)
  }

  package let disk: MemoryDisk
  private let plan: Plan
  private let process: Monitor<Process>
  private let before: @Sendable () -> Void

  private struct Process {
    var calls = 0
    var changes = 0
    var hasEnded = false
    /// The open nodes, by descriptor.
    var open: [CInt: Int] = [:]
    /// Far from the descriptors of the system, so that using one in place of the other fails.
    var nextDescriptor: CInt = 1_000_000
    /// The call at which the fault was injected.
    var struck: Call?
  }

  /// - Parameter before: Called before each call, and may block. Other processes may use the disk meanwhile.
  package init(_ disk: MemoryDisk, _ plan: Plan = .nothing, before: @escaping @Sendable () -> Void = {}) {
    self.disk = disk
    self.plan = plan
    self.before = before
    process = Monitor(Process())
  }

  /// The number of calls so far.
  package var callCount: Int { process.withLock { $0.calls } }
  /// The number of calls so far that changed something.
  package var changeCount: Int { process.withLock { $0.changes } }
  /// The call that failed, or at which the process ended, or nil.
  package var struck: Call? { process.withLock { $0.struck } }

  /// Ends the process: releases its locks, and lets all further calls fail.
  package func end() {
    process.withLock { $0.hasEnded = true }
    disk.volume.withLock { $0.locks = $0.locks.filter { $0.value.process != ObjectIdentifier(self) } }
  }

  // MARK: One call

  /// Counts a call, and lets it fail if that is planned. Otherwise runs it while no other call runs.
  private func call<Result>(
    _ operation: String, _ name: String = "", changes isChange: Bool = false, half: ((inout MemoryVolume) -> Void)? = nil,
    _ body: (inout MemoryVolume) throws(FileFailure) -> Result
  ) throws(FileFailure) -> Result {
    before()
    return try disk.volume.withLock { (volume) throws(FileFailure) in
      let failure: (FileFailure, ends: Bool)? = process.withLock { process in
        guard !process.hasEnded else { return (.inputOutput, false) }
        let call = Call(number: process.calls, operation: operation, name: name, isChange: isChange)
        let change = process.changes
        process.calls += 1
        if isChange { process.changes += 1 }
        let failure: (FileFailure, ends: Bool)? =
          switch plan {
          case .nothing: nil
          case .stop(let number): number == call.number ? (.inputOutput, true) : nil
          case .stopBeforeChange(let number): isChange && number == change ? (.inputOutput, true) : nil
          case .fail(let number, let failure): number == call.number ? (failure, false) : nil
          case .failing(let failure, let isMeant): isMeant(call) ? (failure, false) : nil
          }
        if failure != nil { process.struck = call }
        if failure?.ends == true { process.hasEnded = true }
        return failure
      }
      if let failure {
        if failure.ends { half?(&volume) }
        throw failure.0
      }
      return try body(&volume)
    }
  }

  private func node(of file: OpenFile) throws(FileFailure) -> Int {
    guard let node = process.withLock({ $0.open[file.descriptor] }) else { throw FileFailure(number: EBADF) }
    return node
  }

  private func start(_ directory: OpenFile?) throws(FileFailure) -> Int {
    guard let directory else { return 0 }
    return try node(of: directory)
  }

  private func opened(_ node: Int) -> OpenFile {
    process.withLock { process in
      process.nextDescriptor += 1
      process.open[process.nextDescriptor] = node
      return OpenFile(borrowing: process.nextDescriptor)
    }
  }

  // MARK: The protocol

  package func open(_ name: String, _ access: FileAccess, in directory: OpenFile?) throws(FileFailure) -> OpenFile {
    switch access {
    case .create(let mode):
      return try call("create", name, changes: true) { (volume) throws(FileFailure) in
        let place = try volume.place(name, from: start(directory))
        guard volume.nodes[place.directory].entries[place.name] == nil else { throw .exists }
        return opened(volume.make(.init(kind: .file, mode: mode), as: place.name, in: place.directory))
      }
    case .nameless(let mode):
      return try call("open nameless", name) { (volume) throws(FileFailure) in
        guard disk.kind.syncsWhole else { throw .unsupported }
        _ = try volume.find(name, from: start(directory))
        return opened(volume.makeNameless(mode: mode))
      }
    case .read, .readUnlinked, .directory, .directoryUnlinked, .writeUnlinked, .rewriteUnlinked:
      return try call("open", name) { (volume) throws(FileFailure) in
        let node = try volume.find(name, from: start(directory))
        let kind = volume.nodes[node].kind
        let wantsDirectory = access == .directory || access == .directoryUnlinked
        guard !wantsDirectory || kind == .directory else { throw .notADirectory }
        guard access != .writeUnlinked || kind == .file else { throw .isDirectory }
        return opened(node)
      }
    }
  }

  package func read(
    _ file: OpenFile, at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileFailure) -> Int {
    try call("read") { (volume) throws(FileFailure) in
      let node = try node(of: file)
      guard volume.nodes[node].kind == .file else { throw .isDirectory }
      return volume.nodes[node].content.withUnsafeBytes { content in
        guard offset < UInt64(content.count) else { return 0 }
        let part = content[Int(offset)...].prefix(buffer.count)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
        return part.count
      }
    }
  }

  package func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int {
    throw .unsupported
  }

  package func write(_ file: OpenFile, at offset: UInt64, _ buffer: UnsafeRawBufferPointer) throws(FileFailure) -> Int {
    func writeHalf(_ volume: inout MemoryVolume) {
      guard let node = try? node(of: file) else { return }
      Self.put(buffer.prefix(buffer.count / 2), at: offset, into: &volume.nodes[node].content)
    }
    func writeAll(_ volume: inout MemoryVolume) throws(FileFailure) -> Int {
      let node = try node(of: file)
      guard volume.nodes[node].kind == .file else { throw .isDirectory }
      try checkSpace(offset + UInt64(buffer.count), for: node, in: volume)
      Self.put(buffer[...], at: offset, into: &volume.nodes[node].content)
      volume.touch(node)
      return buffer.count
    }
    return try call("write", changes: true, half: writeHalf, writeAll)
  }

  private static func put(_ bytes: Slice<UnsafeRawBufferPointer>, at offset: UInt64, into content: inout [UInt8]) {
    let start = Int(offset)
    if content.count < start { content += [UInt8](repeating: 0, count: start - content.count) }
    let overlap = min(content.count - start, bytes.count)
    content.replaceSubrange(start..<start + overlap, with: bytes)
  }

  package func write(_ file: OpenFile, _ buffer: UnsafeRawBufferPointer) throws(FileFailure) -> Int {
    throw .unsupported
  }

  private func status(_ node: Int, in volume: MemoryVolume) -> FileStatus {
    let found = volume.nodes[node]
    return FileStatus(
      kind: found.kind, size: found.kind == .file ? UInt64(found.content.count) : 4096, mode: found.mode, device: 1,
      inode: UInt64(node) + 2,
      linkCount: found.links, modified: found.time, changed: found.time)
  }

  package func status(of file: OpenFile) throws(FileFailure) -> FileStatus {
    try call("status") { (volume) throws(FileFailure) in status(try node(of: file), in: volume) }
  }

  package func status(
    of name: String, in directory: OpenFile?, following links: LinkPolicy
  ) throws(FileFailure) -> FileStatus {
    try call("status", name) { (volume) throws(FileFailure) in status(try volume.find(name, from: start(directory)), in: volume) }
  }

  package func names(in directory: OpenFile) throws(FileFailure) -> [DirectoryName] {
    try call("names") { (volume) throws(FileFailure) in
      let node = try node(of: directory)
      guard volume.nodes[node].kind == .directory else { throw .notADirectory }
      return volume.nodes[node].entries.keys.sorted().map { DirectoryName(text: $0, isUTF8: true) }
    }
  }

  package func makeDirectory(_ name: String, mode: UInt32, in directory: OpenFile?) throws(FileFailure) {
    try call("make directory", name, changes: true) { (volume) throws(FileFailure) in
      let place = try volume.place(name, from: start(directory))
      guard volume.nodes[place.directory].entries[place.name] == nil else { throw .exists }
      guard volume.used + 4096 <= disk.kind.capacity else { throw .fullDisk }
      _ = volume.make(.init(kind: .directory, mode: mode), as: place.name, in: place.directory)
    }
  }

  package func remove(_ name: String, _ kind: FileStatus.Kind, in directory: OpenFile?) throws(FileFailure) {
    try call("remove", name, changes: true) { (volume) throws(FileFailure) in
      let place = try volume.place(name, from: start(directory))
      guard let node = volume.nodes[place.directory].entries[place.name] else { throw FileFailure(number: ENOENT) }
      if kind == .directory {
        guard volume.nodes[node].kind == .directory else { throw .notADirectory }
        guard volume.nodes[node].entries.isEmpty else { throw FileFailure(number: ENOTEMPTY) }
      } else {
        guard volume.nodes[node].kind != .directory else { throw .isDirectory }
      }
      volume.change([.init(directory: place.directory, name: place.name, node: nil)])
    }
  }

  package func rename(_ name: String, to newName: String, in directory: OpenFile?) throws(FileFailure) {
    try call("rename", "\(name) to \(newName)", changes: true) { (volume) throws(FileFailure) in
      let old = try volume.place(name, from: start(directory))
      let new = try volume.place(newName, from: start(directory))
      guard let node = volume.nodes[old.directory].entries[old.name] else { throw FileFailure(number: ENOENT) }
      guard !volume.isWithin(node, new.directory) else { throw FileFailure(number: EINVAL) }
      if let replaced = volume.nodes[new.directory].entries[new.name] {
        guard replaced != node else { return }
        guard !volume.isWithin(replaced, old.directory) else { throw FileFailure(number: ENOTEMPTY) }
        if volume.nodes[node].kind == .directory {
          guard volume.nodes[replaced].kind == .directory else { throw .notADirectory }
          guard volume.nodes[replaced].entries.isEmpty else { throw FileFailure(number: ENOTEMPTY) }
        } else {
          guard volume.nodes[replaced].kind != .directory else { throw .isDirectory }
        }
      }
      volume.change([
        .init(directory: old.directory, name: old.name, node: nil), .init(directory: new.directory, name: new.name, node: node),
      ])
    }
  }

  package func link(_ file: OpenFile, as name: String, in directory: OpenFile?) throws(FileFailure) {
    try call("link", name, changes: true) { (volume) throws(FileFailure) in
      let place = try volume.place(name, from: start(directory))
      guard volume.nodes[place.directory].entries[place.name] == nil else { throw .exists }
      volume.change([.init(directory: place.directory, name: place.name, node: try node(of: file))])
    }
  }

  package func link(
    _ name: String, in directory: OpenFile?, as newName: String, in newDirectory: OpenFile?
  ) throws(FileFailure) {
    try call("link", "\(name) as \(newName)", changes: true) { (volume) throws(FileFailure) in
      let node = try volume.find(name, from: start(directory))
      let place = try volume.place(newName, from: start(newDirectory))
      guard volume.nodes[place.directory].entries[place.name] == nil else { throw .exists }
      guard volume.nodes[node].kind == .file else { throw FileFailure(number: EPERM) }
      volume.change([.init(directory: place.directory, name: place.name, node: node)])
    }
  }

  package func clone(_ file: OpenFile, as name: String, mode: UInt32, in directory: OpenFile?) throws(FileFailure) -> OpenFile {
    try call("clone", name, changes: true) { (volume) throws(FileFailure) in
      guard disk.kind.canClone else { throw .unsupported }
      let source = try node(of: file)
      let place = try volume.place(name, from: start(directory))
      guard volume.nodes[place.directory].entries[place.name] == nil else { throw .exists }
      let size = volume.nodes[source].sizeOnDevice
      guard volume.used + size <= disk.kind.capacity else { throw .fullDisk }
      let clone = volume.make(.init(kind: .file, mode: mode), as: place.name, in: place.directory)
      volume.nodes[clone].content = volume.nodes[source].content
      return opened(clone)
    }
  }

  package func exchange(_ name: String, with otherName: String, in directory: OpenFile?) throws(FileFailure) {
    try call("exchange", "\(name) with \(otherName)", changes: true) { (volume) throws(FileFailure) in
      guard disk.kind.canExchange else { throw .unsupported }
      let one = try volume.place(name, from: start(directory))
      let other = try volume.place(otherName, from: start(directory))
      guard let first = volume.nodes[one.directory].entries[one.name], let second = volume.nodes[other.directory].entries[other.name] else {
        throw FileFailure(number: ENOENT)
      }
      volume.change([
        .init(directory: one.directory, name: one.name, node: second), .init(directory: other.directory, name: other.name, node: first),
      ])
    }
  }

  package func setMode(_ mode: UInt32, of file: OpenFile) throws(FileFailure) {
    try call("set mode", changes: true) { (volume) throws(FileFailure) in volume.nodes[try node(of: file)].mode = mode }
  }

  package func reserve(_ size: UInt64, for file: OpenFile) throws(FileFailure) {
    try call("reserve") { (volume) throws(FileFailure) in
      try checkSpace(size, for: try node(of: file), in: volume)
    }
  }

  /// Throws if the volume has no room for a file of this size.
  private func checkSpace(_ size: UInt64, for node: Int, in volume: MemoryVolume) throws(FileFailure) {
    let wanted = (size + 4095) / 4096 * 4096
    let held = volume.nodes[node].sizeOnDevice
    guard wanted <= held || volume.used + (wanted - held) <= disk.kind.capacity else { throw .fullDisk }
  }

  package func sync(_ file: OpenFile) throws(FileFailure) {
    try call("sync", changes: true) { (volume) throws(FileFailure) in
      let node = try node(of: file)
      if disk.kind.isHonest { volume.sync(node) }
    }
  }

  package var syncsWholeVolumes: Bool { disk.kind.syncsWhole }

  package func syncVolume(of directory: OpenFile) throws(FileFailure) {
    try call("sync volume", changes: true) { (volume) throws(FileFailure) in
      _ = try node(of: directory)
      if disk.kind.syncsWhole, disk.kind.isHonest { volume.syncAll() }
    }
  }

  package func freeSpace(at file: OpenFile) throws(FileFailure) -> UInt64 {
    try call("free space") { (volume) throws(FileFailure) in
      disk.kind.capacity - min(disk.kind.capacity, volume.used)
    }
  }

  package func availableSpace(at file: OpenFile) throws(FileFailure) -> UInt64 { try freeSpace(at: file) }

  package func tryLock(_ file: OpenFile) throws(FileFailure) -> Bool {
    try call("lock") { (volume) throws(FileFailure) in
      let node = try node(of: file)
      if let holder = volume.locks[node]?.file, holder !== file { return false }
      volume.locks[node] = MemoryVolume.Lock(process: ObjectIdentifier(self), file: file)
      return true
    }
  }

  package func canonicalPath(of name: String) throws(FileFailure) -> String {
    try call("canonical path", name) { (volume) throws(FileFailure) in
      let node = try volume.find(name, from: 0)
      guard volume.nodes[node].kind == .directory else {
        let place = try volume.place(name, from: 0)
        return Self.path(place.directory, volume) + "/" + place.name
      }
      return node == 0 ? "/" : Self.path(node, volume)
    }
  }

  private static func path(_ directory: Int, _ volume: MemoryVolume) -> String {
    guard directory != 0 else { return "" }
    let parent = volume.nodes[directory].parent
    let name = volume.nodes[parent].entries.first { $0.value == directory }?.key ?? ""
    return path(parent, volume) + "/" + name
  }
}
