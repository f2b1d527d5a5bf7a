import PackWork

/// Keys that a function of the app fetches, from a server for example, each of them once.
///
/// What was fetched is kept in a ``KeyRing``, and wiped with the last copy of this value. Who asks for a key that is being fetched already waits for
/// that fetch and shares its outcome. A fetch that failed is not remembered: the next request begins another. One whose task was cancelled
/// fails nobody else: somebody who waits for it fetches in its place.
public struct FetchedKeys: KeyProvider {
  private let ring = KeyRing()
  private let fetches = Monitor(Fetches())
  private let fetch: @Sendable (KeyRequest) async throws(PackError) -> PackKey

  /// Those under way, by the id of the key.
  private struct Fetches {
    var waiting: [KeyID: [Waiter]] = [:]
    var tickets: UInt64 = 0
  }

  private struct Waiter {
    let ticket: UInt64
    let continuation: CheckedContinuation<Turn, Never>
  }

  /// What somebody is to do who wants a key.
  private enum Turn {
    /// Fetch it, and tell those who come to wait for it.
    case fetch
    /// Take it from the ring.
    case take
    case fail(PackError)
  }

  /// Takes the function that fetches a key. It may return the pack's own key, or the root key from which that is made.
  public init(_ fetch: @escaping @Sendable (KeyRequest) async throws(PackError) -> PackKey) {
    self.fetch = fetch
  }

  /// The key with the wanted id, fetched where it is not at hand.
  ///
  /// - Throws: what the function throws, ``PackError/Code/wrongKey`` where it returns a key that cannot open the pack, which is not kept then, and
  ///   ``PackError/Code/cancelled``.
  public func key(for request: KeyRequest) async throws(PackError) -> PackKey {
    while true {
      if let key = try ring.keyIfHeld(for: request) { return key }
      switch await turn(for: request.keyID) {
      case .fetch: return try await fetched(request)
      case .take: continue
      case .fail(let error): throw error
      }
    }
  }

  /// Fetches a key, which nobody else does meanwhile.
  private func fetched(_ request: KeyRequest) async throws(PackError) -> PackKey {
    do throws(PackError) {
      // The fetch before this one may have ended just after this task looked.
      if let key = try ring.keyIfHeld(for: request) {
        end(request.keyID, .take)
        return key
      }
      let fetched = try await fetch(request)
      guard let key = try fetched.key(request.keyID, ofPack: request.packID) else { throw request.refusal(of: fetched.id) }
      ring.add(fetched)
      end(request.keyID, .take)
      return key
    } catch {
      if error.code == .cancelled || Task.isCancelled {
        handOver(request.keyID)
      } else {
        end(request.keyID, .fail(error))
      }
      throw error
    }
  }

  // MARK: Turns

  /// Waits where the key is being fetched.
  private func turn(for id: KeyID) async -> Turn {
    let ticket = fetches.withLock { fetches in
      fetches.tickets += 1
      return fetches.tickets
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let turn: Turn? = fetches.withLock { fetches in
          // Looked at under the lock: either this sees the cancellation, or its handler finds the waiter.
          if Task.isCancelled { return .fail(Self.cancelled) }
          guard fetches.waiting[id] != nil else {
            fetches.waiting[id] = []
            return .fetch
          }
          fetches.waiting[id, default: []].append(Waiter(ticket: ticket, continuation: continuation))
          return nil
        }
        if let turn { continuation.resume(returning: turn) }
      }
    } onCancel: {
      let waiter: Waiter? = fetches.withLock { fetches in
        guard let index = fetches.waiting[id]?.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        return fetches.waiting[id]?.remove(at: index)
      }
      waiter?.continuation.resume(returning: .fail(Self.cancelled))
    }
  }

  private static let cancelled = PackError(.cancelled, "cancelled")

  /// Ends a fetch, and has all who wait for it do the same.
  private func end(_ id: KeyID, _ turn: Turn) {
    let waiting = fetches.withLock { $0.waiting.removeValue(forKey: id) ?? [] }
    for waiter in waiting { waiter.continuation.resume(returning: turn) }
  }

  /// Lets the one who waits longest fetch, and the others go on waiting.
  private func handOver(_ id: KeyID) {
    let next: Waiter? = fetches.withLock { fetches in
      guard let next = fetches.waiting[id]?.first else {
        fetches.waiting[id] = nil
        return nil
      }
      fetches.waiting[id]?.removeFirst()
      return next
    }
    next?.continuation.resume(returning: .fetch)
  }
}

extension FetchedKeys: CustomStringConvertible, CustomReflectable {
  /// The ids of the keys that were fetched.
  public var description: String { "FetchedKeys(\(ring.keyIDs.map(\.description).joined(separator: ", ")))" }

  /// The ids of the keys that were fetched, and nothing of the keys.
  public var customMirror: Mirror { Mirror(self, children: ["keyIDs": ring.keyIDs]) }
}
