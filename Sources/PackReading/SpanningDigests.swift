package import PackCrypto
package import PackFormat
package import PackWork

/// Digests of contents that lie in several frames, whose parts different workers hold.
///
/// Workers claim frames in ascending order, so whoever waits here waits for somebody who is at work.
package final class SpanningDigests: Sendable {
  private final class Content {
    let digest: any DigestContext
    /// Where the part that is due starts.
    var due: UInt64
    /// Whether a part is missing, so that there will be no digest.
    var isAbandoned = false

    init(digest: any DigestContext, due: UInt64) {
      self.digest = digest
      self.due = due
    }
  }

  private let backend: any CryptoBackend
  private let pool: WorkerPool
  // A content's digest is touched only by the worker whose part is due, which the lock decides.
  private let contents = Monitor<[UInt64: Content]>([:])

  package init(backend: any CryptoBackend, pool: WorkerPool) {
    self.backend = backend
    self.pool = pool
    let contents = contents
    pool.onStop { contents.wake() }
  }

  /// Adds the bytes of `part`, once all before them were added.
  ///
  /// - Parameter whole: where the content lies; it is known by its start.
  /// - Returns: the digest, where this was the last part; nil otherwise, and where a part was missing.
  package func add(
    _ bytes: Span<UInt8>, _ part: Range<UInt64>, of whole: Range<UInt64>
  ) throws(PackError) -> [UInt8]? {
    let content = try content(of: whole)
    let isDue = contents.wait { _ -> Bool? in
      if pool.isStopped || content.isAbandoned { return false }
      return content.due == part.lowerBound ? true : nil
    }
    guard isDue else {
      try pool.checkpoint()
      return nil
    }
    try content.digest.update(bytes)
    let isLast = part.upperBound == whole.upperBound
    let result = isLast ? try content.digest.finish() : nil
    contents.update { contents in
      content.due = part.upperBound
      if isLast { contents[whole.lowerBound] = nil }
    }
    return result
  }

  /// Gives up a content of which a part cannot be had. Whoever waits for that part goes on.
  package func abandon(_ whole: Range<UInt64>) throws(PackError) {
    let content = try content(of: whole)
    contents.update { _ in content.isAbandoned = true }
  }

  private func content(of whole: Range<UInt64>) throws(PackError) -> Content {
    try contents.withLock { (contents) throws(PackError) in
      if let known = contents[whole.lowerBound] { return known }
      let made = Content(digest: try backend.makeDigest(), due: whole.lowerBound)
      contents[whole.lowerBound] = made
      return made
    }
  }
}
