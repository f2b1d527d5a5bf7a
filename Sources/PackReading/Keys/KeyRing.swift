import PackWork

/// Several keys side by side: the one that packs are made with now, those of packs that were made before, root keys.
///
/// Each key counts as it is and as a root key: a pack that was made with another id is tried under the key that would be its own
/// (FORMAT.md §2.3). Ids decide, so a key more never opens anything wrongly.
///
/// The ring holds copies, which are wiped when they are removed or the ring goes away. May be used from any number of tasks at once.
public final class KeyRing: KeyProvider {
  private let held = Monitor<[HeldKey]>([])

  /// A ring without keys.
  public init() {}

  /// A ring that holds a copy of `key`.
  public convenience init(_ key: borrowing PackKey) {
    self.init()
    add(key)
  }

  /// Adds a copy of `key`. A key that is in the ring already is not added again.
  public func add(_ key: borrowing PackKey) {
    let added = HeldKey(key.copy())
    held.withLock { held in
      if !held.contains(where: { $0.key.id == added.key.id }) { held.append(added) }
    }
  }

  /// Removes the key with this id and wipes it, where the ring holds it. Packs that are open stay so.
  public func remove(_ id: KeyID) {
    held.withLock { held in held.removeAll { $0.key.id == id } }
  }

  /// The ids of the keys, in the order they were added.
  public var keyIDs: [KeyID] { held.withLock { held in held.map { $0.key.id } } }

  /// The key with the wanted id: a copy of one that the ring holds, or made from one as its root.
  ///
  /// - Throws: ``PackError/Code/noKey`` where the ring is empty, ``PackError/Code/wrongKey`` where none of its keys fits.
  public func key(for request: KeyRequest) throws(PackError) -> PackKey {
    if let key = try keyIfHeld(for: request) { return key }
    let ids = keyIDs
    guard !ids.isEmpty else {
      throw PackError(
        .noKey, "pack was made with key \(request.keyID), and no key is at hand", advice: .giveKey(request.keyID))
    }
    // A ring may hold the keys of hundreds of packs.
    let shown = ids.prefix(8).map(\.description).joined(separator: ", ")
    throw PackError(
      .wrongKey,
      "pack was made with key \(request.keyID), and none at hand fits: \(shown)\(ids.count > 8 ? " and \(ids.count - 8) more" : "")",
      advice: .giveKey(request.keyID))
  }

  /// The key with the wanted id, nil where the ring can give none.
  func keyIfHeld(for request: KeyRequest) throws(PackError) -> PackKey? {
    // Derived outside of the lock, which others wait for.
    let held = held.withLock { $0 }
    if let found = held.first(where: { $0.key.id == request.keyID }) { return found.key.copy() }
    for root in held {
      if let key = try root.key.key(request.keyID, ofPack: request.packID) { return key }
    }
    return nil
  }
}

extension KeyRing: CustomStringConvertible, CustomReflectable {
  /// The ids of the keys.
  public var description: String { "KeyRing(\(keyIDs.map(\.description).joined(separator: ", ")))" }

  /// The ids of the keys, and nothing of the keys.
  public var customMirror: Mirror { Mirror(self, children: ["keyIDs": keyIDs]) }
}

/// A key that several may refer to; wiped when the last of them lets go.
private final class HeldKey: Sendable {
  let key: PackKey

  init(_ key: consuming PackKey) {
    self.key = key
  }
}
