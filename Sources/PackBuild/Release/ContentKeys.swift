/// The keys that packs are made with.
package enum ContentKeys: Sendable {
  /// The application key of all packs, or the root key from which the key of each is derived.
  case one(HeldKey)
  /// The own key of each pack, by its id.
  case each([String: HeldKey])

  func key(of id: String) -> HeldKey {
    switch self {
    case .one(let key): return key
    case .each(let keys):
      guard let key = keys[id] else { preconditionFailure("every pack has a key") }
      return key
    }
  }
}
