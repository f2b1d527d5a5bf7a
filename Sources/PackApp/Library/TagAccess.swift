/// Access to the packs of some tags. No process purges or removes these packs while the access lasts.
///
/// The access lasts until ``end()``, until its last reference is released, or until the process ends in any way. A pack returned by ``pack(_:)``
/// stays in use until it is released too. Any number of tasks may use an access at the same time.
public final class TagAccess: Sendable {
  /// The requested tags.
  public let tags: Set<String>
  /// The tokens for ``AssetStore/confirm(_:)`` of the versions that are on trial. Empty unless the request used ``TagUpdate/onTrial``.
  public let trials: [BootToken]

  private let held: Monitor<[OpenedPack]?>

  init(_ tags: Set<String>, _ packs: [OpenedPack], trials: [BootToken]) {
    self.tags = tags
    self.trials = trials
    held = Monitor(packs)
  }

  /// The packs, in the order of the manifest. Empty after the end of the access.
  public var packs: [OpenedPack] { held.withLock { $0 ?? [] } }

  /// Whether the access has ended.
  public var isEnded: Bool { held.withLock { $0 == nil } }

  /// Returns one of the packs.
  ///
  /// - Throws: ``PackError/Code/unknownPack`` if the pack has none of the tags, ``PackError/Code/usage`` after the end of the access.
  public func pack(_ id: String) throws(PackError) -> OpenedPack {
    guard let pack = try lasting().first(where: { $0.installed.id == id }) else {
      throw PackError(.unknownPack, "\(subject) does not include pack '\(printable(id.utf8))'")
    }
    return pack
  }

  /// Reads a file, or a part of it, from the first of the packs that has it. Blocks the thread, like ``OpenedPack/read(_:range:)``.
  ///
  /// - Parameters:
  ///   - path: The path of a file in one of the packs.
  ///   - range: The range of bytes to read. If nil, the whole file is read.
  /// - Throws: ``PackError/Code/noSuchEntry`` if no pack has the file, ``PackError/Code/usage`` after the end of the access, or an error of reading.
  public func read(_ path: String, range: Range<UInt64>? = nil) throws(PackError) -> [UInt8] {
    for pack in try lasting() {
      if let bytes = try unless(.noSuchEntry, pack.read(path, range: range)) { return bytes }
    }
    throw PackError(.noSuchEntry, "there is no '\(printable(path.utf8))' in the packs of \(names)")
  }

  /// Ends the access, so that its packs may be purged. Ending twice is harmless.
  public func end() {
    // The packs are released outside the lock, because that removes files.
    let packs = held.withLock { held in
      let packs = held
      held = nil
      return packs
    }
    withExtendedLifetime(packs) {}
  }

  private func lasting() throws(PackError) -> [OpenedPack] {
    guard let packs = held.withLock({ $0 }) else {
      throw PackError(.usage, "\(subject) has ended", advice: .tryAgain)
    }
    return packs
  }

  private var subject: String { "the access to \(names)" }
  private var names: String { tags.sorted().map { "'\(printable($0.utf8))'" }.joined(separator: ", ") }
}
