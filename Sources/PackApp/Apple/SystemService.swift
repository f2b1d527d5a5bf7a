#if canImport(BackgroundAssets)
  import PackBackground
  import PackBackgroundApp
  import PackFormat
  import PackOnDemand

  /// Downloads with Background Assets, which continue while the app does not run.
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  struct SystemService: DownloadService {
    let delivery: AppDelivery
    let downloads: BackgroundDownloads

    func events() -> AsyncStream<ServiceNotice> {
      let events = downloads.events()
      // From here on the system notifies the app and no longer starts the extension.
      downloads.listen()
      let (stream, continuation) = AsyncStream.makeStream(of: ServiceNotice.self)
      let task = Task {
        for await event in events { continuation.yield(ServiceNotice(events: [Self.translate(event)])) }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
      return stream
    }

    /// The system downloads by itself.
    func run() async {}

    func underWay() async -> Set<String>? { await downloads.current() }

    func hand(_ plan: DeliveryPlan, asked: Set<String>) async throws(PackError) {
      let handed = await downloads.hand(plan)
      // Somebody waits for these, so they start in the foreground instead of when the system decides.
      for identifier in handed.scheduled + handed.known {
        guard let id = DownloadIdentifier(identifier)?.id, asked.contains(id) else { continue }
        _ = await downloads.promote(identifier)
      }
    }

    func cancel(_ id: String) async throws(PackError) {
      try await downloads.cancel(id)
    }

    private static func translate(_ event: BackgroundEvent) -> ServiceEvent {
      func pack(_ identifier: String) -> String { DownloadIdentifier(identifier)?.id ?? identifier }
      switch event {
      case .began, .paused, .arrived, .manifestFailed, .refused: return .changed
      case .progress(let download, let received, let size): return .progress(id: pack(download), received: received, size: size)
      case .failed(let download, _, _): return .retrying(id: pack(download))
      }
    }
  }
#endif
