/// Keys that a function of the app fetches, from a server for example, each once.
///
/// What was fetched is kept in memory and wiped with the last copy of this value. Requests for one key that come while it is being fetched wait for
/// that fetch. A fetch that fails is not remembered: the next request tries again.
public struct FetchedKeys: KeyProvider {
  private let ring = KeyRing()
  private let fetch: @Sendable (KeyRequest) async throws(PackError) -> PackKey

  /// Takes the function that fetches a key. It may return the root key in place of the pack's own.
  public init(_ fetch: @escaping @Sendable (KeyRequest) async throws(PackError) -> PackKey) {
    self.fetch = fetch
  }

  /// The key with the wanted id, fetched where it is not at hand.
  public func key(for request: KeyRequest) async throws(PackError) -> PackKey {
    ring.add(try await fetch(request))
    return try ring.key(for: request)
  }
}
