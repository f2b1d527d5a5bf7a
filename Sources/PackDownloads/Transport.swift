/// What brings files over: the system's HTTP client, its download service, or a test's.
public protocol Transport: Sendable {
  /// Downloads one file into `sink`, from ``DownloadSink/offset`` on where the server lets it, and returns when all of it is there.
  ///
  /// Where the transport is at work on the identifier already, since before the process was started, it goes on with that. It returns soon after its task
  /// was cancelled, whatever the system does, and leaves what is in the sink for the next attempt.
  func download(_ request: TransferRequest, into sink: DownloadSink) async throws(TransferFailure)

  /// The identifiers of all that is under way, whoever asked for it; nil where the transport does not know.
  func inFlight() async -> Set<String>?

  /// Ends what goes on under an identifier that no task waits for: left by an earlier process.
  func cancel(_ identifier: String) async

  /// Changes the priority of what is under way.
  func setPriority(_ priority: Double, of identifier: String) async
}

extension Transport {
  /// Knows nothing.
  public func inFlight() async -> Set<String>? { nil }

  /// Does nothing: what ends with its task needs nothing more.
  public func cancel(_ identifier: String) async {}

  /// Does nothing.
  public func setPriority(_ priority: Double, of identifier: String) async {}
}

/// What a transport is asked for.
public struct TransferRequest: Hashable, Sendable {
  /// What the system may know the download by: the same for each attempt, in each process.
  public let identifier: String
  /// Where the file is.
  public let url: String
  /// The bytes of the file.
  public let size: UInt64
  /// How urgent it is, from 0 to 1.
  public let priority: Double
  /// Whether a system that knows the difference may count it as essential.
  public let isEssential: Bool

  /// Makes a request.
  public init(identifier: String, url: String, size: UInt64, priority: Double = 0.5, isEssential: Bool = false) {
    self.identifier = identifier
    self.url = url
    self.size = size
    self.priority = priority
    self.isEssential = isEssential
  }
}
