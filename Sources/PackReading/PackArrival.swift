/// The file of a pack that is still arriving. What is read of it has to be here first.
package protocol PackArrival: Sendable {
  /// Whether all of these bytes of the file are here. If not, they come before others from now on.
  func has(_ range: Range<UInt64>) -> Bool
  /// Blocks the thread until these bytes are here. Throws if they do not come.
  func wait(for range: Range<UInt64>) throws(PackError)
  /// Returns when these bytes are here, without blocking a thread. Throws if they do not come.
  func arrival(of range: Range<UInt64>) async throws(PackError)
}

/// Reading that blocks no thread for bytes of a pack that are not here.
package enum ParkedReading {
  /// Bytes of a pack that have to arrive first.
  package struct Missing: Sendable {
    fileprivate let pack: any PackArrival
    fileprivate let range: Range<UInt64>

    /// Returns when they are here.
    package func arrive() async throws(PackError) { try await pack.arrival(of: range) }
  }

  /// The result of ``read(_:)``.
  package enum Outcome<Value: Sendable>: Sendable {
    case value(Value)
    /// What has to be here before the reading can be repeated.
    case missing(Missing)
  }

  @TaskLocal private static var found: Monitor<Missing?>?

  /// Runs `body` as far as it comes with the bytes that are here. If it misses any, what it did does not count.
  package static func read<Value: Sendable>(_ body: () throws(PackError) -> Value) throws(PackError) -> Outcome<Value> {
    let missing = Monitor<Missing?>(nil)
    let result = $found.withValue(missing) { Result(catching: body) }
    if case .failure(let error) = result, error.code == .notArrived, let missing = missing.withLock({ $0 }) { return .missing(missing) }
    return .value(try result.get())
  }

  /// Returns when bytes of a pack are here; within ``read(_:)``, throws at once if they are not.
  static func require(_ range: Range<UInt64>, of pack: any PackArrival) throws(PackError) {
    guard !pack.has(range) else { return }
    guard let found else { return try pack.wait(for: range) }
    found.withLock { $0 = Missing(pack: pack, range: range) }
    throw PackError(.notArrived, "bytes \(range.lowerBound) to \(range.upperBound - 1) have not arrived")
  }
}
