/// The values of a ``RemoteAsset``: the current value, and then each new one.
public struct AssetUpdates<Value: Sendable>: AsyncSequence, Sendable {
  /// The type of the values.
  public typealias Element = Value

  let latest: LatestValue<Value>

  /// Returns a new listener, which starts with the current value.
  public func makeAsyncIterator() -> Iterator { Iterator(latest: latest) }

  /// A listener for the values of an asset.
  public struct Iterator: AsyncIteratorProtocol, Sendable {
    let latest: LatestValue<Value>
    private var seen: UInt64 = 0

    init(latest: LatestValue<Value>) {
      self.latest = latest
    }

    /// Waits for a value that is newer than the last one returned.
    ///
    /// - Returns: The latest value. Nil if the asset no longer exists or the task was cancelled.
    public mutating func next() async -> Value? {
      guard let (revision, value) = await latest.next(after: seen) else { return nil }
      seen = revision
      return value
    }
  }
}
