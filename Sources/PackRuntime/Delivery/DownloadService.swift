/// What downloads the files of plans: this process, or the system's download service.
package protocol DownloadService: Sendable {
  /// Whether ``underWay()`` is complete at the moment of the call. Otherwise it may be older than the records.
  var isListExact: Bool { get }
  /// The events from now on, for one listener. From here on the service downloads.
  func events() -> AsyncStream<ServiceNotice>
  /// Ends everything that would not outlive the process.
  func stop() async
  /// Returns the identifiers of the downloads in progress. Returns nil if the service did not answer.
  func underWay() async -> Set<String>?
  /// Starts the downloads of a plan, and ends those that the plan cancels.
  ///
  /// - Parameter asked: The names of the packs that somebody waits for.
  func hand(_ plan: DeliveryPlan, asked: Set<String>) async throws(PackError)
  /// Returns the pack of a download that is read while it arrives; nil if it is not.
  func arriving(_ identifier: String) -> ArrivingPack?
  /// Lets a pack be read while it arrives, from now on. Its download is begun by a plan.
  ///
  /// - Returns: Nil if it can be read only when it is here as a whole.
  func arrive(_ download: PlannedDownload) async -> ArrivingPack?
  /// Takes what a lead has of its pack, which the system downloaded before the app was started. The file stays.
  ///
  /// - Returns: Whether it is not needed any more.
  func take(lead: String, of download: PlannedDownload) async -> Bool
  /// Changes the priority of a download, from 0 to 1, as far as the service can.
  func setPriority(_ priority: Double, of identifier: String) async
  /// Ends the download of a pack, and records that it is not wanted.
  func cancel(_ id: String) async throws(PackError)
  /// Returns the bytes that are available for downloads. Returns nil if that is not known.
  func availableSpace() async -> UInt64?
  /// Ends the downloads of all packs except some, and removes what is kept of them. Later plans begin those again that the manifest requires.
  ///
  /// - Parameter required: Packs of which what is read at the launch stays, if it is here.
  /// - Returns: Whether there was something.
  func freeSpace(keeping ids: Set<String>, launchesOf required: [PlannedDownload]) async throws(PackError) -> Bool
}

extension DownloadService {
  /// Returns nil.
  package func arriving(_ identifier: String) -> ArrivingPack? { nil }
  /// Returns nil.
  package func arrive(_ download: PlannedDownload) async -> ArrivingPack? { nil }
  /// Does nothing: the pack is read when it is here as a whole.
  package func take(lead: String, of download: PlannedDownload) async -> Bool { true }
}

/// An event of a download service that is not recorded yet.
package struct ServiceNotice: Sendable {
  /// Records the event. Not while a plan is made and handed over: a file that is taken in between would be downloaded again.
  package var record: @Sendable () async -> Void = {}
  /// What it means.
  package let events: [ServiceEvent]

  package init(record: @escaping @Sendable () async -> Void = {}, events: [ServiceEvent]) {
    self.record = record
    self.events = events
  }
}

/// An event of a download service.
package enum ServiceEvent: Sendable {
  /// A record changed, or a file arrived: a plan should be made.
  case changed
  /// A pack can be read, although not all of it is here; or what is wanted of it does not come, or comes again.
  case playable(id: String)
  /// A download received bytes.
  case progress(id: String, received: UInt64, size: UInt64)
  /// A download failed, and the service tries it again by itself.
  case retrying(id: String)
  /// A download failed. The next attempt follows after the delay in its record.
  case failed(id: String, PackError)
  /// A download needs so many bytes of free space.
  case noSpace(id: String, needed: UInt64, free: UInt64)
  /// The network went away or came back.
  case network(isAvailable: Bool)
}
