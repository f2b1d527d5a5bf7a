/// The directory of ``Transfers``. One process at a time uses it:
///
///     downloads             the kind and version of this directory
///     lock                  locked while it is in use
///     <download>.part       the bytes of a file that is not complete
///     <download>.tag        the entity tag that the server gave for them
final class TransferPlace: Sendable {
  private let directory: RecordDirectory
  private let lock: Monitor<OpenFile?>

  private static let form = RecordDirectory.Form("packer-downloads/2", in: "downloads", isPrivate: true)
  private static let temporary = ".downloads"

  var files: any FileSystem { directory.files }
  var handle: OpenFile { directory.handle }
  var path: String { directory.path }

  /// Opens the directory and takes its lock. Creates it if only its parent exists.
  init(_ root: String, timeout: Duration, clock: any DeviceClock, files: any FileSystem) throws(PackError) {
    directory = try RecordDirectory(making: root, Self.form, files: files)
    guard let lock = try directory.lock(LockWait(timeout, clock: clock, isCancelled: { WorkerPool.isCancelled })) else {
      throw PackError(
        .downloadsBusy, "another process downloads into \(root)", advice: .developer("use one library per directory, in one process"))
    }
    self.lock = Monitor(lock)
    switch try directory.kind() {
    case .own: return
    case .unmarked:
      // Leftovers of a process that ended while it created the directory.
      guard try directory.names().allSatisfy({ $0 == RecordDirectory.lockName || $0.hasPrefix(Self.temporary) }) else {
        throw Self.foreign(root)
      }
      try directory.mark(by: Self.temporary)
    case .ofOtherVersion, .foreign: throw Self.foreign(root)
    }
  }

  private static func foreign(_ root: String) -> PackError {
    PackError(.notDownloads, of: root, "is not a directory for downloads, or belongs to a newer version", advice: .chooseDirectory)
  }

  /// Gives up the lock.
  func release() {
    lock.withLock { $0 = nil }
  }

  // MARK: Parts

  static func part(_ identifier: String) -> String { identifier + ".part" }
  static func tag(_ identifier: String) -> String { identifier + ".tag" }

  func path(_ name: String) -> String { directory.path(name) }

  /// Returns the identifiers of which something is here.
  func parts() throws(PackError) -> Set<String> {
    Set(
      try directory.names().compactMap { name in [".part", ".tag"].first { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) } })
  }

  /// Removes a part. If that fails, the next attempt finds it again.
  func removePart(_ identifier: String) {
    try? files.remove(Self.part(identifier), .file, in: handle)
    removeTag(identifier)
  }

  /// Removes the entity tag of a part.
  func removeTag(_ identifier: String) { try? files.remove(Self.tag(identifier), .file, in: handle) }

  /// Returns the entity tag of a part, or nil.
  func entityTag(_ identifier: String) -> String? {
    guard case .file(let bytes)? = try? directory.contents(of: Self.tag(identifier), limit: Self.longestTag) else { return nil }
    return Self.entityTag(bytes)
  }

  /// The maximum length of a stored entity tag in bytes; longer ones are ignored.
  private static let longestTag = 512

  /// Returns an entity tag that was stored or received from a server. Returns nil for invalid tags, such as the zeros that a power failure leaves in
  /// a file. The tag becomes a header line of a request.
  static func entityTag(_ bytes: some Collection<UInt8>) -> String? {
    guard (1...longestTag).contains(bytes.count), bytes.isPrintableASCII else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}
