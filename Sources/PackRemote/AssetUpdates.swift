/// The values of a ``RemoteAsset``: the one that is there, and then each that takes its place.
public struct AssetUpdates<Value: Sendable>: AsyncSequence, Sendable {
  /// What the sequence gives.
  public typealias Element = Value

  let latest: LatestValue<Value>

  /// One listener, who begins with the value that is there.
  public func makeAsyncIterator() -> Iterator { Iterator(latest: latest) }

  /// One listener.
  public struct Iterator: AsyncIteratorProtocol, Sendable {
    let latest: LatestValue<Value>
    private var seen: UInt64 = 0

    init(latest: LatestValue<Value>) {
      self.latest = latest
    }

    /// Waits for a value later than the last one.
    ///
    /// - Returns: nil where the asset is gone, or the task was cancelled.
    public mutating func next() async -> Value? {
      guard let (revision, value) = await latest.next(after: seen) else { return nil }
      seen = revision
      return value
    }
  }
}
