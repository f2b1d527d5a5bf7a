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
    let held = held.withLock { $0 }
    guard !held.isEmpty else {
      throw PackError(.noKey, "key \(request.keyID) is wanted, and there is none", hint: "give the key whose id is \(request.keyID)")
    }
    if let found = held.first(where: { $0.key.id == request.keyID }) { return found.key.copy() }
    for root in held {
      if let key = try root.key.key(request.keyID, ofPack: request.packID) { return key }
    }
    let ids = held.map { "\($0.key.id)" }.joined(separator: ", ")
    throw PackError(
      .wrongKey,
      "pack was made with key \(request.keyID), but the \(held.count == 1 ? "key" : "keys") at hand \(held.count == 1 ? "is" : "are") \(ids)",
      hint: "give the key whose id is \(request.keyID), or the root key it was made from")
  }
}

/// A key in memory that several may refer to.
private final class HeldKey: Sendable {
  let key: PackKey

  init(_ key: consuming PackKey) {
    self.key = key
  }
}
