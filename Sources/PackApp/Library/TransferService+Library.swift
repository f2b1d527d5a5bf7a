import Foundation

extension TransferService {
  /// Creates what downloads without Background Assets: in an app on iOS, tvOS and visionOS tasks of the system that outlive it, elsewhere this process.
  init(_ state: SharedState, downloads: URL, _ options: PackLibrary.Options) async throws(PackError) {
    #if os(iOS) || os(tvOS) || os(visionOS)
      if SystemSession.isAvailable {
        let name = try BackgroundSessionName.of(downloads.path, home: NSHomeDirectory())
        try await self.init(
          state, downloads: downloads.path, logger: options.logger,
          over: BackgroundTransport(SystemSession.named(name, options: options.transport), options: options.transport))
        return
      }
    #endif
    self.init(
      state,
      try await Transfers(directory: downloads.path, transport: URLSessionTransport(options: options.transport), logger: options.logger))
  }

  /// - Parameter transport: One that is not connected yet.
  init(
    _ state: SharedState, downloads: String, logger: (any PackLogger)? = nil, policy: TransferPolicy = TransferPolicy(),
    files: any FileSystem = SystemFiles(), clock: any DeviceClock = SystemClock(), over transport: BackgroundTransport
  ) async throws(PackError) {
    var policy = policy
    // A chunk is copied to the end of its part, and then removed.
    policy.freeSpaceMargin += transport.chunkSize
    let transfers = try await Transfers(
      directory: downloads, transport: transport, policy: policy, files: files, clock: clock, logger: logger)
    await transport.connect(to: transfers.place)
    self.init(state, transfers)
  }
}
