public import PackFormat
public import PackStore
import PackWork

/// Access to the packs of some tags: nothing of them is purged while it lasts, by any process.
///
/// It lasts until ``end()``, or until the last reference to it goes, or until the process ends, however it does. A pack that was taken out of it
/// (``pack(_:)``) is in use for as long as somebody has that. May be used from any number of tasks at once.
public final class TagAccess: Sendable {
  /// What was asked for.
  public let tags: Set<String>
  /// What confirms the versions of this access that are on trial, where that was asked for (``TagUpdate/onTrial``), for ``AssetStore/confirm(_:)``. Usually none.
  public let trials: [BootToken]

  private let held: Monitor<[OpenedPack]?>

  init(_ tags: Set<String>, _ packs: [OpenedPack], trials: [BootToken]) {
    self.tags = tags
    self.trials = trials
    held = Monitor(packs)
  }

  /// The packs, in the order of the manifest; none after the end.
  public var packs: [OpenedPack] { held.withLock { $0 ?? [] } }

  /// Whether it has ended.
  public var isEnded: Bool { held.withLock { $0 == nil } }

  /// One of the packs.
  ///
  /// - Throws: ``PackError/Code/unknownPack`` where the tags do not stand for it, ``PackError/Code/usage`` after the end.
  public func pack(_ id: String) throws(PackError) -> OpenedPack {
    guard let pack = try lasting().first(where: { $0.installed.id == id }) else {
      throw PackError(.unknownPack, "\(subject) is to no pack '\(printable(id.utf8))'")
    }
    return pack
  }

  /// The content of a file, or of a part of it, from the first of the packs that has it. Blocks the thread, as ``OpenedPack/read(_:range:)`` does.
  ///
  /// - Parameters:
  ///   - path: the path of a file in one of the packs.
  ///   - range: the bytes wanted; all of the file where it is nil.
  /// - Throws: ``PackError/Code/noSuchEntry`` where no pack has the file, ``PackError/Code/usage`` after the end, or what reading throws.
  public func read(_ path: String, range: Range<UInt64>? = nil) throws(PackError) -> [UInt8] {
    for pack in try lasting() {
      do throws(PackError) {
        return try pack.read(path, range: range)
      } catch {
        guard error.code == .noSuchEntry else { throw error }
      }
    }
    throw PackError(.noSuchEntry, "there is no '\(printable(path.utf8))' in the packs of \(names)")
  }

  /// Lets the packs go. Ending twice is harmless.
  public func end() {
    // Let go outside of the lock: that removes files.
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
