#if canImport(BackgroundAssets)
  import BackgroundAssets
  import Foundation
  import PackBackground
  public import PackRuntime
  import PackWork

  /// Downloads with the system's own download service: what was begun goes on when the app is suspended, and ends up in the shared directory where the
  /// app is gone by then.
  ///
  /// The system makes whole files, so nothing is resumed by ranges here, and no bytes are copied: the queue adopts the file and checks it. A download
  /// that the system has already, from the extension or an earlier process, is waited for and not begun again.
  ///
  /// A request's ``TransferRequest/identifier`` is the system's name of the download. ``AppDelivery`` gives it ``PackDelivery/DownloadIdentifier``, by which the
  /// extension knows what to do with a file that comes while the app is gone; with other names such a file is lost, and fetched again.
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  public final class BackgroundTransport: Transport {
    private let downloads: BackgroundDownloads
    private let foregroundPriority: Double

    /// Makes a transport.
    ///
    /// - Parameters:
    ///   - downloads: the app's side of the download manager, which has to listen.
    ///   - foregroundPriority: the priority from which on a download begins in the foreground, where the system's policies on battery and network do not hold.
    public init(_ downloads: BackgroundDownloads, foregroundPriority: Double = 0.75) {
      self.downloads = downloads
      self.foregroundPriority = foregroundPriority
    }

    /// Hands the request to the system, or finds it there, and waits for the file.
    ///
    /// Where its task is cancelled, the system's download goes on: see ``cancel(_:)``.
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

    /// Whether the pack came by another way meanwhile, so that its request has no use: from the extension, or after a queue stopped waiting for it.
    private func isHere(_ identifier: String) async throws(TransferFailure) -> Bool {
      guard let download = DownloadIdentifier(identifier) else { return false }
      let status = try? await WorkerPool.settled { [downloads] () throws(PackError) in try downloads.state.status(of: download.id) }
      guard let status, status.identifier == download else { return false }
      switch status.state.kind {
      case .toBeTransferred, .installing, .ready: return true
      default: return false
      }
    }

    /// What the system has, whoever asked for it, but for what failed.
    public func inFlight() async -> Set<String>? { await downloads.current() }

    /// Ends a download in the system. It has no part of a file to keep.
    public func cancel(_ identifier: String) async { await downloads.drop(identifier) }

    /// Brings a download to the foreground that became urgent. The system changes no priority of what it has.
    public func setPriority(_ priority: Double, of identifier: String) async {
      if priority >= foregroundPriority { _ = await downloads.promote(identifier) }
    }
  }
#endif
