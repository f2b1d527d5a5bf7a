#if canImport(BackgroundAssets)
  import BackgroundAssets
  import Foundation

  /// A transport that uses the system's download service. A download continues while the app is suspended. If the app is no longer running at the
  /// end, the extension puts the file into the shared directory.
  ///
  /// The system delivers whole files, so downloads are not resumed by ranges, and no bytes are copied: the queue adopts the file and checks it. If
  /// the system already has a download, from the extension or an earlier process, the transport waits for it and does not start another one.
  ///
  /// A request's ``TransferRequest/identifier`` is the system's identifier of the download. ``AppDelivery`` uses ``PackDelivery/DownloadIdentifier``,
  /// so that the extension can process a file that arrives while the app is not running. With other identifiers such a file is lost and downloaded
  /// again.
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  public final class BackgroundTransport: Transport {
    private let downloads: BackgroundDownloads
    private let foregroundPriority: Double

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - downloads: the app's side of the download manager, which must be listening.
    ///   - foregroundPriority: downloads with at least this priority start in the foreground, where the system's policies on battery and network do
    ///     not apply.
    public init(_ downloads: BackgroundDownloads, foregroundPriority: Double = 0.75) {
      self.downloads = downloads
      self.foregroundPriority = foregroundPriority
    }

    /// Hands the request to the system, or finds its download there, and waits for the file.
    ///
    /// If the task is cancelled, the system's download continues: see ``cancel(_:)``.
    public func download(_ request: TransferRequest, into sink: DownloadSink) async throws(TransferFailure) {
      guard try await !isHere(request.identifier) else { throw .cancelled }
      let (results, end) = AsyncStream.makeStream(of: Result<Void, TransferFailure>.self, bufferingPolicy: .bufferingOldest(1))
      let listener = downloads.listener
      guard listener.expect(request.identifier, DownloadListener.Receiver(sink: sink, end: end)) else { throw .other }
      defer { listener.stopExpecting(request.identifier) }
      try await begin(request)
      for await result in results {
        try result.get()
        return
      }
      throw .cancelled
    }

    private func begin(_ request: TransferRequest) async throws(TransferFailure) {
      let inForeground = request.priority >= foregroundPriority
      if let known = await downloads.listed()?.first(where: { $0.identifier == request.identifier }) {
        if inForeground { _ = BackgroundDownloads.bringForward(known) }
        return
      }
      guard let address = URL(string: request.url), address.scheme?.lowercased() == "https", let size = Int(exactly: request.size) else {
        throw .insecure
      }
      let download = BAURLDownload(
        identifier: request.identifier, request: URLRequest(url: address), essential: false, fileSize: size,
        applicationGroupIdentifier: downloads.group, priority: DownloadPriority.system(request.priority, place: 0))
      let beginning = await downloads.control.run { _ in BackgroundDownloads.begin(download, inForeground: inForeground) }
      guard case .refused(let failure) = beginning, failure.remedy != .alreadyScheduled else { return }
      throw TransferFailure(failure, size: request.size)
    }

    /// Returns whether the pack arrived in another way meanwhile, from the extension or after a queue stopped waiting for it. The request is not
    /// needed then.
    private func isHere(_ identifier: String) async throws(TransferFailure) -> Bool {
      guard let download = DownloadIdentifier(identifier) else { return false }
      let status = try? await WorkerPool.settled { [downloads] () throws(PackError) in try downloads.state.status(of: download.id) }
      guard let status, status.identifier == download else { return false }
      switch status.state.kind {
      case .toBeTransferred, .installing, .ready: return true
      default: return false
      }
    }

    /// Returns the system's downloads, including those of other processes, except failed ones.
    public func inFlight() async -> Set<String>? { await downloads.current() }

    /// Ends a download in the system. There is no partial file to keep.
    public func cancel(_ identifier: String) async { await downloads.drop(identifier) }

    /// Moves a download that has become urgent to the foreground. The system cannot change the priority of a download it has.
    public func setPriority(_ priority: Double, of identifier: String) async {
      if priority >= foregroundPriority { _ = await downloads.promote(identifier) }
    }
  }
#endif
