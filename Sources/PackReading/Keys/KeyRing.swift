/// A set of keys: the key that packs are made with now, keys of older packs, and root keys.
///
/// Each key is used both as a pack's own key and as a root key. If a pack was made with another id, the ring derives the pack's key from each of its
/// keys and compares the ids (FORMAT.md §2.3). So an additional key never opens a wrong pack. A key for which a pack is wrapped opens it, too.
///
/// The ring holds copies of the keys. A copy is wiped when it is removed or when the ring is released. A ring may be used by any number of tasks at
/// once.
public final class KeyRing: KeyProvider {
  private let held = Monitor<[Shared<PackKey>]>([])

  /// Creates an empty ring.
  public init() {}

  /// Creates a ring with a copy of `key`.
  public convenience init(_ key: borrowing PackKey) {
    self.init()
    add(key)
  }

  /// Adds a copy of `key`. Does nothing if the ring has a key with the same id.
  public func add(_ key: borrowing PackKey) {
    let added = Shared(key.copy())
    held.withLock { held in
      if !held.contains(where: { $0.key.id == added.key.id }) { held.append(added) }
    }
  }

  /// Removes the key with this id and wipes it. Does nothing if the ring does not have it. Packs that are already open stay open.
  public func remove(_ id: KeyID) {
    held.withLock { held in held.removeAll { $0.key.id == id } }
  }

  /// The ids of the keys, in the order in which they were added.
  public var keyIDs: [KeyID] { held.withLock { held in held.map { $0.key.id } } }

  /// Returns a key that the request names: a copy of a key in the ring, or one derived from a key in the ring as its root.
  ///
  /// - Throws: ``PackError/Code/noKey`` if the ring is empty, ``PackError/Code/wrongKey`` if none of its keys fits, or
  ///   ``PackError/Code/notWrapped`` if all of them are recipients' keys.
  public func key(for request: KeyRequest) throws(PackError) -> PackKey {
    if let key = try keyIfHeld(for: request) { return key }
    let ids = keyIDs
    guard !ids.isEmpty else {
      throw PackError(
        .noKey, "pack was made with key \(request.keyID), but no key is available", advice: .giveKey(request.keyID))
    }
    guard held.withLock({ held in held.contains { $0.key.kind == .application } }) else {
      throw PackError.notWrapped(for: ids, keyID: request.keyID, recipients: request.recipientIDs)
    }
    // A ring may hold the keys of hundreds of packs.
    let shown = ids.prefix(8).map(\.description).joined(separator: ", ")
    throw PackError(
      .wrongKey,
      "pack was made with key \(request.keyID), but none of the available keys fits: \(shown)\(ids.count > 8 ? " and \(ids.count - 8) more" : "")",
      advice: .giveKey(request.keyID))
  }

  /// Returns the key with the requested id. Returns nil if the ring can neither find nor derive it.
  func keyIfHeld(for request: KeyRequest) throws(PackError) -> PackKey? {
    // Derived outside the lock, so that other tasks need not wait.
    let held = held.withLock { $0 }
    if let found = held.first(where: { $0.key.id == request.keyID }) { return found.key.copy() }
    for given in held {
      if let key = try request.key(from: given.key) { return key }
    }
    return nil
  }
}

extension KeyRing: CustomStringConvertible, CustomReflectable {
  /// The ids of the keys.
  public var description: String { "KeyRing(\(keyIDs.map(\.description).joined(separator: ", ")))" }

  /// The ids of the keys, without the keys.
  public var customMirror: Mirror { Mirror(self, children: ["keyIDs": keyIDs]) }
}

/// A key with shared ownership. It is wiped when the last reference is released.
package final class Shared<Key: ~Copyable & Sendable>: Sendable {
  package let key: Key

  package init(_ key: consuming Key) {
    self.key = key
  }
}
