import Dispatch
import TestSupport

/// A pack on a disk in memory, read in all ways.
struct PackTrial {
  /// An entry that a reader returned.
  struct Content: Hashable {
    var path: String
    var isDirectory: Bool
    var bytes: [UInt8]
  }

  private let disk = MemoryDisk()
  private let files: MemoryFiles
  /// The largest content size that is accepted, as a manifest would set it.
  static let contentLimit: UInt64 = 4 << 20
  /// The largest number of entries that are checked one by one.
  private static let mostEntries = 64

  /// - Parameter pack: The bytes of the file.
  init(_ pack: [UInt8]) {
    disk.write(pack, to: "/p/fuzz.pack")
    disk.write([], to: "/out/beside")
    files = MemoryFiles(disk)
  }

  /// Opens the pack with the known key.
  func open() throws(BrokenPromise) -> Pack? {
    try accepted { () throws(PackError) in
      try Pack("/p/fuzz.pack", key: knownKey(), files: files, backend: CryptoBackends.standard)
    }
  }

  /// Applies the delta to bases in all ways, and returns the tree if it is valid.
  func apply(over bases: [Pack]) throws(BrokenPromise) -> (delta: DeltaPack, tree: [Content])? {
    guard let delta = try accepted({ () throws(PackError) in try DeltaPack.open("/p/fuzz.pack", key: knownKey(), files: files) }) else {
      return nil
    }
    let application = try accepted { () throws(PackError) in
      var application = try DeltaApplication(delta, over: bases, contentLimit: Self.contentLimit)
      try application.prove()
      return application
    }
    let isUnpacked = try isAccepted { () throws(PackError) in
      try wait { () async throws(PackError) in
        let made = try await DeltaUnpacking(delta, over: bases, jobs: 1).run(contentLimit: Self.contentLimit) { (_, _) throws(PackError) in
          try OutputDirectory("/out/tree", files: files)
        }
        try made.output.commit()
      }
    }
    // A tree may have paths that the disk does not take, or too many directories.
    try hold(!isUnpacked || application != nil, "a delta is unpacked that is not valid")
    if let application { try rewrite(application) }
    guard let tree = try unpackedTree(isUnpacked) else { return nil }
    return (delta, tree)
  }

  /// Makes a pack of a valid delta, which must pass the checks of any pack.
  private func rewrite(_ application: DeltaApplication) throws(BrokenPromise) {
    let made = try isAccepted { () throws(PackError) in
      let output = try writing("/p/made.pack", files.open("/p/made.pack", .create(mode: 0o644), in: nil))
      try wait { () async throws(PackError) in
        _ = try await PackRewriter.write(
          application.delta, over: application.bases, to: output, path: "/p/made.pack", key: try knownKey(), limit: 64 << 20,
          contentLimit: Self.contentLimit, jobs: 1)
      }
    }
    guard made else { return }
    try required("what was made of a delta") { () throws(PackError) in
      let pack = try Pack("/p/made.pack", key: knownKey(), files: files, backend: CryptoBackends.standard)
      guard pack.contentRoot == application.delta.head.target else { throw PackError(.internalError, "has another content") }
      try wait { () async throws(PackError) in
        _ = try await PackVerification.run(pack, allowsUnportablePaths: true, jobs: 1)
      }
    }
  }

  /// Reads everything in all ways, and returns the tree if the whole pack is valid.
  func examine(_ pack: Pack) throws(BrokenPromise) -> [Content]? {
    var entries: [Entry] = []
    let isListed =
      try isAccepted { () throws(PackError) in
        try pack.forEachEntry { entries.append($0) }
      }
    if isListed { try hold(entries.count == pack.entryCount, "the number of listed entries is wrong") }
    var read: [Content] = []
    for entry in entries.prefix(Self.mostEntries) {
      let found = try accepted { () throws(PackError) in try pack.entry(at: entry.path) }
      if isListed { try hold(found == entry, "'\(entry.path)' is listed, but not found") }
      guard entry.kind == .file, entry.size <= 1 << 20 else { continue }
      guard let bytes = try accepted({ () throws(PackError) in try pack.read(entry.path) }) else { continue }
      try hold(UInt64(bytes.count) == entry.size, "'\(entry.path)' has another size than the bytes that were read")
      let digest = try required("a digest") { () throws(PackError) in try Sealing.digest(bytes) }
      try hold(digest == entry.sha256, "'\(entry.path)' was returned with a wrong digest")
      read.append(Content(path: entry.path, isDirectory: false, bytes: bytes))
      if entry.size > 2 {
        let range = entry.size / 3..<entry.size - 1
        let part = try required("a part of what was read whole") { () throws(PackError) in try pack.read(entry.path, range: range) }
        try hold(part == Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]), "a part of '\(entry.path)' has wrong bytes")
      }
      try ask(pack, for: entry, bytes)
    }
    let isSound =
      try isAccepted { () throws(PackError) in
        try wait { () async throws(PackError) in try await pack.verify(jobs: 1, contentLimit: Self.contentLimit) }
      }
    let tree = try unpack(pack, isSound: isSound)
    if let tree {
      try hold(isListed && tree.count == entries.count, "the unpacked tree differs from the listing")
      for content in read { try hold(tree.contains(content), "'\(content.path)' differs between unpacking and reading") }
    }
    try gate(pack, isSound: isSound)
    return tree
  }

  /// Serves a file, whole and in part.
  private func ask(_ pack: Pack, for entry: Entry, _ bytes: [UInt8]) throws(BrokenPromise) {
    let responder = PackResponder(pack)
    let target = "/" + RequestTarget.encoded(entry.path)
    let whole = try required("an answer") { () throws(PackError) in try responder.respond(to: PackRequest(target: target)) }
    try hold(whole.status == 200 && whole.headers["Content-Length"] == "\(entry.size)", "'\(entry.path)' is readable, but not served")
    guard entry.size > 0 else { return }
    let part = try required("an answer") { () throws(PackError) in
      try responder.respond(to: PackRequest(target: target, headers: ["Range": "bytes=-1"]))
    }
    try hold(part.status == 206, "the last byte of '\(entry.path)' is not served")
    let served = try required("a body") { () throws(PackError) in
      var served: [UInt8] = []
      if let reader = part.body?.makeReader() {
        while try reader.next({ served.append(copying: $0) }) {}
      }
      return served
    }
    try hold(served == [bytes[bytes.count - 1]], "the served byte of '\(entry.path)' differs from the one that was read")
  }

  /// Unpacks the pack, and checks the result on the disk.
  private func unpack(_ pack: Pack, isSound: Bool) throws(BrokenPromise) -> [Content]? {
    let isUnpacked =
      try isAccepted { () throws(PackError) in
        try wait { () async throws(PackError) in try await pack.unpack(to: "/out/tree", jobs: 1, contentLimit: Self.contentLimit) }
      }
    try hold(isUnpacked == isSound, "a pack is \(isSound ? "valid, but not unpacked" : "unpacked, but not valid")")
    return try unpackedTree(isUnpacked)
  }

  /// Returns the tree on the disk, or checks that nothing is left.
  private func unpackedTree(_ isUnpacked: Bool) throws(BrokenPromise) -> [Content]? {
    let tree = disk.tree(below: "/out")
    guard isUnpacked else {
      try hold(tree.keys.sorted() == ["beside"], "a failed unpacking leaves \(tree.keys.sorted())")
      return nil
    }
    let inner = disk.tree(below: "/out/tree")
    var filled: Set<String> = []
    for path in inner.keys {
      if let slash = path.lastIndex(of: "/") { filled.insert(String(path[..<slash])) }
    }
    return inner.compactMap { path, bytes in
      if let bytes { return Content(path: path, isDirectory: false, bytes: bytes) }
      return filled.contains(path) ? nil : Content(path: path, isDirectory: true, bytes: [])
    }
  }

  /// Checks that the gate before a release accepts no pack that a client refuses. It may refuse packs that a client accepts.
  private func gate(_ pack: Pack, isSound: Bool) throws(BrokenPromise) {
    let passes =
      try isAccepted { () throws(PackError) in
        try wait { () async throws(PackError) in _ = try await PackVerification.run(pack, allowsUnportablePaths: true, jobs: 1) }
      }
    try hold(!passes || isSound || pack.contentSize > Self.contentLimit, "the gate accepts a pack that a client refuses")
  }

  /// Waits for asynchronous work. Blocks the engine's thread, which has nothing else to do.
  private func wait<Value: Sendable>(_ body: @escaping @Sendable () async throws(PackError) -> Value) throws(PackError) -> Value {
    let done = DispatchSemaphore(value: 0)
    let result = Monitor<Result<Value, PackError>?>(nil)
    Task {
      let value: Result<Value, PackError>
      do throws(PackError) {
        value = .success(try await body())
      } catch {
        value = .failure(error)
      }
      result.withLock { $0 = value }
      done.signal()
    }
    done.wait()
    guard let value = result.withLock({ $0 }) else { throw PackError(.internalError, "nothing was waited for") }
    return try value.get()
  }
}
