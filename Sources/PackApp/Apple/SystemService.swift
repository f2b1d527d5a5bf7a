#if canImport(BackgroundAssets)

  /// Downloads with Background Assets, which continue while the app does not run.
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  struct SystemService: DownloadService {
    let delivery: AppDelivery
    let downloads: BackgroundDownloads

    var isListExact: Bool { false }

    func events() -> AsyncStream<ServiceNotice> {
      let events = downloads.events()
      // From here on the system notifies the app and no longer starts the extension.
      downloads.listen()
      let (stream, continuation) = AsyncStream.makeStream(of: ServiceNotice.self)
      let task = Task {
        for await event in events { continuation.yield(ServiceNotice(events: Self.translate(event))) }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
      return stream
    }

    /// The system goes on without the app.
    func stop() async {}

    func underWay() async -> Set<String>? { await downloads.current() }

    func hand(_ plan: DeliveryPlan, asked: Set<String>) async throws(PackError) {
      _ = await downloads.hand(plan)
      // The plan's own downloads start in the foreground if somebody waits for them. Those that the system has already, from the extension or from before
      // somebody waited, start when the system decides, unless they are moved.
      for id in plan.underWay where asked.contains(id) {
        guard let record = try await WorkerPool.settled({ [delivery] () throws(PackError) in try delivery.state.status(of: id) }) else {
          continue
        }
        _ = await downloads.promote(record.identifier.description)
      }
    }

    func setPriority(_ priority: Double, of identifier: String) async {
      // The system cannot change the priority of a download that it has, but start it at once.
      if priority >= 0.75 { _ = await downloads.promote(identifier) }
    }

    func cancel(_ id: String) async throws(PackError) {
      try await downloads.cancel(id)
    }

    func availableSpace() async -> UInt64? { nil }

    /// The system keeps no part that could be removed.
    func freeSpace(keeping ids: Set<String>, launchesOf required: [PlannedDownload]) async throws(PackError) -> Bool { false }

    private static func translate(_ event: BackgroundEvent) -> [ServiceEvent] {
      func pack(_ identifier: String) -> String { DownloadIdentifier(identifier)?.id ?? identifier }
      switch event {
      case .paused, .manifestFailed, .refused: return [.changed]
      case .began, .arrived: return [.network(isAvailable: true), .changed]
      case .progress(let download, let received, let size):
        return [.network(isAvailable: true), .progress(id: pack(download), received: received, size: size)]
      // The delegate has handed it over again. A plan moves it to the foreground if somebody waits.
      case .failed(let download, _, .handOverAsNonEssential): return [.retrying(id: pack(download)), .changed]
      case .failed(let download, let failure, .planAgain(let record)) where record.state.kind == .failed:
        let error = failure.error(of: record.id)
        return (failure == .offline ? [.network(isAvailable: false)] : []) + [.failed(id: pack(download), error)]
      // The system does not permit it now. A plan at once would only repeat this.
      case .failed(let download, _, _): return [.retrying(id: pack(download))]
      }
    }
  }
#endif
