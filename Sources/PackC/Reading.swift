/// Opens a pack.
///
/// - Parameters:
///   - path: the path of the file.
///   - key: the pack's key, or the root key that it is derived from: 32 bytes, or the text of a key (`pkk1-`, `pkx1-`). The caller wipes its own bytes.
///   - keySize: the number of bytes of the key.
///   - pack: receives the handle, for `packer_close`.
@c(packer_open)
public func open(
  _ path: UnsafePointer<CChar>?, _ key: UnsafePointer<UInt8>?, _ keySize: UInt64, _ pack: UnsafeMutablePointer<UInt64>?
) -> PackerStatus {
  call { () throws(PackError) in
    let place = try unsafe place(pack, "pack")
    let path = try unsafe text(path, "path")
    guard keySize > 0 else {
      throw PackError(.noKey, "no key was given", advice: .developer("give 32 bytes, or the text of a key"))
    }
    guard keySize <= 1024 else { throw PackError(.malformedKey, "a key of \(keySize) bytes was given") }
    guard let key = unsafe key else { throw .missing("key") }
    let given = try unsafe PackKey(given: Span(_unsafeStart: key, count: Int(keySize)))
    unsafe place.pointee = Handles.all.add(PackHandle(try Pack.open(path, key: given)))
  }
}

/// Opens a pack with the key that a function returns for it.
///
/// - Parameters:
///   - path: the path of the file.
///   - ask: writes the key. Called once, on the calling thread.
///   - context: its first argument.
///   - pack: receives the handle, for `packer_close`.
@c(packer_open_asking)
public func openAsking(
  _ path: UnsafePointer<CChar>?, _ ask: AskFunction?, _ context: UnsafeMutableRawPointer?, _ pack: UnsafeMutablePointer<UInt64>?
) -> PackerStatus {
  call { () throws(PackError) in
    let place = try unsafe place(pack, "pack")
    let path = try unsafe text(path, "path")
    let start = try PackStart(path, files: SystemFiles())
    let key = try attributing(to: path) { () throws(PackError) in
      try unsafe AskedKeys(Callback(ask, context, "ask")).key(for: KeyRequest(start, path: path))
    }
    unsafe place.pointee = Handles.all.add(
      PackHandle(try Pack(start, path: path, key: key, files: SystemFiles(), backend: CryptoBackends.standard)))
  }
}

/// Returns the number of entries, and the sum of the sizes of all files in bytes. A pointer may be NULL.
@c(packer_info)
public func info(_ pack: UInt64, _ entries: UnsafeMutablePointer<UInt64>?, _ contentSize: UnsafeMutablePointer<UInt64>?) -> PackerStatus {
  call { () throws(PackError) in
    let pack = try PackHandle.of(pack).pack
    unsafe entries?.pointee = UInt64(pack.entryCount)
    unsafe contentSize?.pointee = pack.contentSize
  }
}

/// Lists the entries, in the byte order of their paths.
///
/// - Parameters:
///   - visit: called for each, on the calling thread. If it stops, the status is 130.
///   - context: its first argument.
@c(packer_list)
public func list(_ pack: UInt64, _ visit: VisitFunction?, _ context: UnsafeMutableRawPointer?) -> PackerStatus {
  call { () throws(PackError) in
    let pack = try PackHandle.of(pack).pack
    let visit = try unsafe Callback(visit, context, "visit")
    try pack.forEachEntry { (entry) throws(PackError) in
      let path = unsafe copied(entry.path)
      defer { unsafe path.deallocate() }
      let answer = unsafe visit.run { unsafe $0($1, path, PackerKind(entry.kind), entry.size) }
      guard answer == 0 else { throw PackError(.cancelled, "the list was stopped") }
    }
  }
}

/// Returns what an entry is. A pointer for a result may be NULL.
///
/// - Parameters:
///   - path: a path in the pack, without a slash at its start or its end.
///   - kind: receives whether it is a file or a directory.
///   - size: receives the size of a file in bytes; 0 for a directory.
///   - sha256: receives the 32 bytes of the digest of a file; zeros for a directory.
@c(packer_find)
public func find(
  _ pack: UInt64, _ path: UnsafePointer<CChar>?, _ kind: UnsafeMutablePointer<PackerKind>?, _ size: UnsafeMutablePointer<UInt64>?,
  _ sha256: UnsafeMutablePointer<UInt8>?
) -> PackerStatus {
  call { () throws(PackError) in
    let entry = try PackHandle.of(pack).pack.entry(at: try unsafe text(path, "path"))
    unsafe kind?.pointee = PackerKind(entry.kind)
    unsafe size?.pointee = entry.size
    if let sha256 = unsafe sha256 {
      for place in 0..<32 { unsafe sha256[place] = entry.kind == .file ? entry.sha256[place] : 0 }
    }
  }
}

/// Reads bytes of a file. All of them are authenticated. A file that is read whole in one call is also compared with its digest.
///
/// - Parameters:
///   - offset: the place of the first byte. Its end is a place, too, where nothing is read.
///   - buffer: room for `size` bytes. After a failure, what is in it is not to be used.
///   - size: how many bytes to read at most.
///   - count: receives how many bytes were read: less than `size` only at the end of the file.
@c(packer_read)
public func read(
  _ pack: UInt64, _ path: UnsafePointer<CChar>?, _ offset: UInt64, _ buffer: UnsafeMutablePointer<UInt8>?, _ size: UInt64,
  _ count: UnsafeMutablePointer<UInt64>?
) -> PackerStatus {
  call { () throws(PackError) in
    let count = try unsafe place(count, "count")
    let pack = try PackHandle.of(pack).pack
    let entry = try pack.entry(at: try unsafe text(path, "path"))
    guard offset <= entry.size else {
      throw PackError(.rangeNotSatisfiable, "'\(entry.path)' is \(entry.size) bytes, but bytes from \(offset) on were requested")
    }
    let wanted = offset..<(offset + min(size, entry.size - offset))
    if !wanted.isEmpty || entry.size == 0 && size > 0 {
      let buffer = try unsafe place(buffer, "buffer")
      var filled = 0
      try pack.read(entry, range: wanted == 0..<entry.size ? nil : wanted) { piece in
        unsafe copy(piece, to: buffer + filled)
        filled += piece.count
      }
    }
    unsafe count.pointee = wanted.upperBound - wanted.lowerBound
  }
}

/// Checks the whole pack on all processors, without writing anything: every tag, every frame, the digest of every file.
///
/// - Parameters:
///   - progress: called on other threads, one call at a time. If it cancels, the status is 130. It may be NULL.
///   - context: its first argument.
@c(packer_verify)
public func verify(_ pack: UInt64, _ progress: ProgressFunction?, _ context: UnsafeMutableRawPointer?) -> PackerStatus {
  call { () throws(PackError) in
    let pack = try PackHandle.of(pack).pack
    try unsafe withProgress(progress, context) { (handler) async throws(PackError) in try await pack.verify(progress: handler) }
  }
}

/// Unpacks a pack on all processors, all or nothing.
///
/// - Parameters:
///   - directory: the directory to make. It must not exist, or must be empty.
///   - progress: as in `packer_verify`.
///   - context: its first argument.
@c(packer_unpack)
public func unpack(
  _ pack: UInt64, _ directory: UnsafePointer<CChar>?, _ progress: ProgressFunction?, _ context: UnsafeMutableRawPointer?
) -> PackerStatus {
  call { () throws(PackError) in
    let pack = try PackHandle.of(pack).pack
    let directory = try unsafe text(directory, "directory")
    try unsafe withProgress(progress, context) { (handler) async throws(PackError) in
      try await pack.unpack(to: directory, progress: handler)
    }
  }
}

/// Runs work whose progress a function of C gets, which may cancel it.
private func withProgress(
  _ progress: ProgressFunction?, _ context: UnsafeMutableRawPointer?,
  _ work: @escaping @Sendable (ProgressHandler?) async throws(PackError) -> Void
) throws(PackError) {
  guard unsafe progress != nil else { return try waiting { () async throws(PackError) in try await work(nil) } }
  let callback = try unsafe Callback(progress, context, "progress")
  try waiting { () async throws(PackError) in
    let stop = Signal()
    let handler: ProgressHandler = { progress in
      if unsafe callback.run({ unsafe $0($1, progress.done, progress.total) }) != 0 { stop.give() }
    }
    try await stop.cancelling { () async throws(PackError) in try await work(handler) }
  }
}

/// Copies bytes to memory of the caller, who says that there is room.
func copy(_ bytes: Span<UInt8>, to place: UnsafeMutablePointer<UInt8>) {
  guard !bytes.isEmpty else { return }
  unsafe bytes.withUnsafeBufferPointer { unsafe place.update(from: $0.baseAddress!, count: $0.count) }
}

/// What cancels a task from outside.
private final class Signal: Sendable {
  private let state = Monitor<(isGiven: Bool, task: Task<Void, any Error>?)>((false, nil))

  func give() {
    state.withLock { state in
      state.isGiven = true
      state.task?.cancel()
    }
  }

  /// Runs work in a task that ``give()`` cancels.
  func cancelling(_ work: @escaping @Sendable () async throws(PackError) -> Void) async throws(PackError) {
    let task = Task { try await work() }
    state.withLock { state in
      state.task = task
      if state.isGiven { task.cancel() }
    }
    do { try await task.value } catch {
      throw error as? PackError ?? PackError(.internalError, "\(error)")
    }
  }
}
