/// A body that tells how many of its bytes were taken, once: when it ends, or when no more of it is taken.
final class NotedBody: SiteBody {
  let length: UInt64
  private let body: any SiteBody
  private let state: Monitor<(taken: UInt64, isTold: Bool)>
  private let tell: @Sendable (UInt64) -> Void

  /// - Parameter tell: called with the number of bytes, on any thread.
  init(_ body: any SiteBody, tell: @escaping @Sendable (UInt64) -> Void) {
    (self.body, self.tell, length) = (body, tell, body.length)
    state = Monitor((0, false))
  }

  deinit { end() }

  var decryptedBytes: UInt64 { body.decryptedBytes }

  func next(_ receive: (Span<UInt8>) throws(PackError) -> Void) throws(PackError) -> Bool {
    var count = 0
    let isThere = try body.next { (piece) throws(PackError) in
      count = piece.count
      try receive(piece)
    }
    let taken = state.withLock { state in
      state.taken += UInt64(count)
      return state.taken
    }
    if !isThere || taken >= length { end() }
    return isThere
  }

  private func end() {
    let taken: UInt64? = state.withLock { state in
      defer { state.isTold = true }
      return state.isTold ? nil : state.taken
    }
    if let taken { tell(taken) }
  }
}
