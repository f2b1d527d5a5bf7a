/// What downloads the files of a plan: a queue in this process, or the system's download service.
protocol DownloadService: Sendable {
  /// The events from now on.
  func events() -> AsyncStream<ServiceNotice>
  /// Starts receiving events and downloading. Returns when its task is cancelled.
  func run() async
  /// Returns the identifiers of the downloads in progress. Returns nil if the service did not answer.
  func underWay() async -> Set<String>?
  /// Starts the downloads of a plan, and ends those that the plan cancels.
  ///
  /// - Parameter asked: The names of the packs that somebody waits for.
  func hand(_ plan: DeliveryPlan, asked: Set<String>) async throws(PackError)
  /// Ends the download of a pack, and records that it is not wanted.
  func cancel(_ id: String) async throws(PackError)
}

/// An event of a download service that is not recorded yet.
struct ServiceNotice: Sendable {
  /// Records the event. Not while a plan is made and handed over: a file that is taken in between would be downloaded again.
  var record: @Sendable () async -> Void = {}
  /// What it means.
  let events: [ServiceEvent]
}

/// An event of a download service.
enum ServiceEvent: Sendable {
  /// A record changed, or a file arrived: a plan should be made.
  case changed
  /// A download received bytes.
  case progress(id: String, received: UInt64, size: UInt64)
  /// A download failed, and is tried again without help.
  case retrying(id: String)
  /// A download failed. Retried only if somebody asks again.
  case failed(id: String, PackError)
  /// The network went away or came back.
  case network(isAvailable: Bool)
}
