/// A way to download files: in this process, by the system's tasks that outlive it, or a test double.
public protocol Transport: Sendable {
  /// Downloads one file into `sink`, from ``DownloadSink/offset`` on if the server permits it, and returns when the file is complete.
  ///
  /// The method must return soon after its task is cancelled. It leaves what is in the sink for the next attempt. A transport whose downloads outlive the
  /// process lets this one go on, until ``end(_:)``.
  func download(_ request: TransferRequest, into sink: DownloadSink) async throws(TransferFailure)

  /// Fetches some bytes of a file, for a pack that is read while it arrives.
  ///
  /// - Parameter onBytes: receives them in order, as they arrive. They count also if the method throws after that.
  /// - Returns: false if the server sends whole files only; then it gave none.
  func bytes(
    _ range: Range<UInt64>, of request: TransferRequest, onBytes: @escaping @Sendable (Span<UInt8>) -> Void
  ) async throws(TransferFailure) -> Bool

  /// Changes the priority of a download in progress.
  func setPriority(_ priority: Double, of identifier: String) async

  /// Ends a download that goes on although its task was cancelled, or its process ended. Nothing of it is written after this returns.
  func end(_ identifier: String) async

  /// Returns the identifiers of the downloads that go on without a task, as those of an earlier process.
  func lasting() async -> Set<String>

  /// Begins nothing any more. Called once, when no download has a task. What outlives the process goes on.
  func close() async
}

extension Transport {
  /// Returns false, so that a pack is read when it is here as a whole.
  public func bytes(
    _ range: Range<UInt64>, of request: TransferRequest, onBytes: @escaping @Sendable (Span<UInt8>) -> Void
  ) async throws(TransferFailure) -> Bool { false }
  /// Does nothing.
  public func setPriority(_ priority: Double, of identifier: String) async {}
  /// Does nothing: a download ends with its task.
  public func end(_ identifier: String) async {}
  /// Returns none: a download ends with its task.
  public func lasting() async -> Set<String> { [] }
  /// Does nothing: nothing begins without a task.
  public func close() async {}
}

/// The input of a transport for one download.
public struct TransferRequest: Hashable, Sendable {
  /// The same for each attempt and in each process.
  public let identifier: String
  /// The URL of the file.
  public let url: String
  /// The size of the file in bytes.
  public let size: UInt64
  /// The priority, from 0 to 1.
  public let priority: Double

  /// Creates a request.
  public init(identifier: String, url: String, size: UInt64, priority: Double = 0.5) {
    self.identifier = identifier
    self.url = url
    self.size = size
    self.priority = priority
  }
}
