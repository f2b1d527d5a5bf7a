/// A service that downloads files: the system's HTTP client, its download service, or a test double.
public protocol Transport: Sendable {
  /// Downloads one file into `sink`, from ``DownloadSink/offset`` on if the server permits it, and returns when the file is complete.
  ///
  /// If the transport is already downloading the identifier since before the process started, it continues that download. The method must return soon
  /// after its task is cancelled, whatever the system does. It leaves what is in the sink for the next attempt.
  func download(_ request: TransferRequest, into sink: DownloadSink) async throws(TransferFailure)

  /// Returns the identifiers of all downloads in progress, including those of other processes. Returns nil if the transport does not know them.
  func inFlight() async -> Set<String>?

  /// Ends a download that no task waits for, left by an earlier process.
  func cancel(_ identifier: String) async

  /// Changes the priority of a download in progress.
  func setPriority(_ priority: Double, of identifier: String) async
}

extension Transport {
  /// Returns nil.
  public func inFlight() async -> Set<String>? { nil }

  /// Does nothing. This is correct for a transport whose downloads end with their tasks.
  public func cancel(_ identifier: String) async {}

  /// Does nothing.
  public func setPriority(_ priority: Double, of identifier: String) async {}
}

/// The input of a transport for one download.
public struct TransferRequest: Hashable, Sendable {
  /// The identifier for the system: the same for each attempt and in each process.
  public let identifier: String
  /// The URL of the file.
  public let url: String
  /// The size of the file in bytes.
  public let size: UInt64
  /// The priority, from 0 to 1.
  public let priority: Double
  /// Whether a system with essential downloads may treat this one as essential.
  public let isEssential: Bool

  /// Creates a request.
  public init(identifier: String, url: String, size: UInt64, priority: Double = 0.5, isEssential: Bool = false) {
    self.identifier = identifier
    self.url = url
    self.size = size
    self.priority = priority
    self.isEssential = isEssential
  }
}
