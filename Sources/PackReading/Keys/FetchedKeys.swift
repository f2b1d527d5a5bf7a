/// A provider whose keys are fetched by a function of the app, for example from a server. Each key is fetched once.
///
/// Fetched keys are kept in a ``KeyRing`` and wiped with the last copy of this value. A request for a key that is being fetched waits for that fetch
/// and shares its result. A failed fetch is not remembered: the next request starts a new one. If the task that fetches is cancelled, one of the
/// waiting requests fetches instead.
public struct FetchedKeys: KeyProvider {
  private let ring = KeyRing()
  private let fetches = Monitor(Fetches())
  private let fetch: @Sendable (KeyRequest) async throws(PackError) -> PackKey

  /// The fetches in progress, by key id.
  private struct Fetches {
    var waiting: [KeyID: [Waiter]] = [:]
    var tickets: UInt64 = 0
  }

  private struct Waiter {
    let ticket: UInt64
    let continuation: CheckedContinuation<Turn, Never>
  }

  /// The next step of a request.
  private enum Turn {
    /// Fetch the key, then resume the requests that wait for it.
    case fetch
    /// Take it from the ring.
    case take
    case fail(PackError)
  }

  /// Creates a provider from a function that fetches a key. The function may return the pack's own key or the root key that it is derived from.
  public init(_ fetch: @escaping @Sendable (KeyRequest) async throws(PackError) -> PackKey) {
    self.fetch = fetch
  }

  /// Returns the key with the requested id. Fetches it if it is not in memory.
  ///
  /// - Throws: the error of the function, ``PackError/Code/wrongKey`` if the function returns a key that cannot open the pack (such a key is not
  ///   kept), or ``PackError/Code/cancelled``.
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

  /// Fetches a key. No other request fetches the same key at the same time.
  private func fetched(_ request: KeyRequest) async throws(PackError) -> PackKey {
    do throws(PackError) {
      // A previous fetch may have ended just after this task checked.
      if let key = try ring.keyIfHeld(for: request) {
        end(request.keyID, .take)
        return key
      }
      let fetched = try await fetch(request)
      guard let key = try request.key(from: fetched) else { throw request.refusal(of: fetched.id) }
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

  /// Waits if the key is being fetched.
  private func turn(for id: KeyID) async -> Turn {
    let ticket = fetches.withLock { fetches in
      fetches.tickets += 1
      return fetches.tickets
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let turn: Turn? = fetches.withLock { fetches in
          // Checked under the lock: either this check sees the cancellation, or the cancellation handler finds the waiter.
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

  /// Ends a fetch and resumes all requests that wait for it with `turn`.
  private func end(_ id: KeyID, _ turn: Turn) {
    let waiting = fetches.withLock { $0.waiting.removeValue(forKey: id) ?? [] }
    for waiter in waiting { waiter.continuation.resume(returning: turn) }
  }

  /// Lets the request that has waited longest fetch the key. The others keep waiting.
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

  /// The ids of the keys that were fetched, without the keys.
  public var customMirror: Mirror { Mirror(self, children: ["keyIDs": ring.keyIDs]) }
}
