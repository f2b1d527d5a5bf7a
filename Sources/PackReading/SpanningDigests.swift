/// Digests of contents that span several frames, whose parts are held by different workers.
///
/// Workers claim frames in ascending order, so a worker that waits here always waits for a worker that is running.
package final class SpanningDigests: Sendable {
  private final class Content {
    let digest: any DigestContext
    /// The start of the part to be added next.
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
  // Only the worker whose part is next uses a content's digest; the lock decides which worker that is.
  private let contents = Monitor<[UInt64: Content]>([:])

  package init(backend: any CryptoBackend, pool: WorkerPool) {
    self.backend = backend
    self.pool = pool
    let contents = contents
    pool.onStop { contents.wake() }
  }

  /// Adds the bytes of `part` after all bytes before it were added. Waits for them.
  ///
  /// - Parameter whole: the range of the whole content. Its start identifies the content.
  /// - Returns: the digest if this was the last part; nil for any other part and if a part is missing.
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

  /// Gives up a content because one of its parts cannot be read. Workers that wait for that part continue.
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
